import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageCount } from '@stak/accounts/tables';
import { accountDay, memoryJob, state, tenantDay, userDay } from '@stak/agents/tables';
import { send } from '@stak/inbox/tables';
import type { AnyEntity, Attributes } from '@stak/table';
import { reminder } from '@stak/tasks/tables';
import { erasure, tenant, tenantCount, user, userCount } from '@stak/tenants/tables';
import { connection, delivery, job } from '@stak/webhooks/tables';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importAccounts } from '../src/store/archive/import-account.ts';
import {
  allItems,
  everything,
  idsOf,
  itemOf,
  ofMallory,
  openTarget,
  type Stored,
  storedAs,
  writeArchive as writeArchiveTo,
} from './forged-archive-fixture.ts';

// Items that belong to the account, with values that it could not have made itself.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-forged-values-'));
});
afterAll(() => rm(folder, { recursive: true }));

const writeArchive = (items: readonly Stored[]) =>
  writeArchiveTo(items, undefined, { to: folder, written: new Map() });
const openStore = async () => {
  const target = await openTarget();
  return { ...target, options: { ...target.options, folder } };
};

const ids = idsOf('mallory');
const own = (entity: AnyEntity, values: object = {}): Stored => storedAs(entity, itemOf(entity, ids, values));

describe('what the server has counted', () => {
  const counts: readonly Stored[] = [
    own(usageCount, { events: -1_000_000_000 }),
    own(tenantCount, { count: -1_000_000, counted_at_ms: Date.now() + 1e12 }),
    own(userCount, { count: -1_000_000, counted_at_ms: Date.now() + 1e12 }),
    own(accountDay, { spend_micros: -1e12, used_micros: -1e12 }),
    own(tenantDay, { messages: -1e9, spend_micros: -1e12 }),
    own(userDay, { messages: -1e9, spend_micros: -1e12 }),
  ];
  const keysOf = (items: ReadonlyMap<string, Attributes>) =>
    [...items.keys()].filter(key => / (USAGE#|SPEND#)|COUNT$/.test(key));

  test('is left out of an archive without a seal, whatever the operator vouches for', async () => {
    await writeArchive([...ofMallory(), ...counts]);
    const { engine, options, close } = await openStore();
    const { leftOut } = await importAccounts({ ...options, keep: everything });
    expect(keysOf(await allItems(engine.client))).toEqual([]);
    expect([...leftOut.values()].reduce((sum, count) => sum + count, 0)).toBe(counts.length);
    await close();
  });

  test('arrives with an archive of this server', async () => {
    await writeArchive([...ofMallory(), ...counts]);
    const { engine, options, close } = await openStore();
    await importAccounts({ ...options, isVerified: true });
    expect(keysOf(await allItems(engine.client))).toHaveLength(counts.length);
    await close();
  });
});

describe('what no request could have made is refused', () => {
  const refused = async (forged: Stored, why: RegExp) => {
    await writeArchive([...ofMallory(), forged]);
    const { options, close } = await openStore();
    await expect(importAccounts(options)).rejects.toThrow(why);
    await close();
  };
  const connectionWith = (settings: object): Stored =>
    own(connection, { connectionId: 'con_other', ...settings });
  const settings: readonly object[] = [
    { retryConfig: JSON.stringify({ delaysS: Array(10_000).fill(0) }) },
    { retryConfig: JSON.stringify({ maxAttempts: 1e9 }) },
    { retryConfig: 'no JSON' },
    { maxConcurrency: 1_000_000 },
    { ratePerSecond: 1e9 },
    { transform: JSON.stringify({ type: 'script', code: 'x'.repeat(300_000) }) },
    { filters: JSON.stringify([{ anything: true }]) },
  ];
  test.each(settings.map(one => [Object.keys(one)[0]!, one] as const))('a connection’s %s', (name, one) =>
    refused(connectionWith(one), new RegExp(`has a ${name}.* that no connection can have`)),
  );

  test('attempts that were not made', async () => {
    for (const entity of [delivery, state, memoryJob]) {
      const [table, item] = own(entity);
      await refused([table, { ...item, attempts: -1e9 }], /has attempts of another type/);
    }
  });
});

// One such item in the queue would stop the worker that all accounts share.
test('work that no worker could handle is refused', async () => {
  const { options, close } = await openStore();
  const refused = async ([table, item]: Stored, why: RegExp) => {
    await writeArchive([...ofMallory(), [table, item]]);
    await expect(importAccounts(options)).rejects.toThrow(why);
  };
  for (const [entity, name] of [
    [reminder, 'fence'],
    [reminder, 'attempts'],
    [delivery, 'version'],
    [job, 'failures'],
    [send, 'delivered'],
    [memoryJob, 'attempts'],
    [erasure, 'steps_done'],
    [erasure, 'failures'],
  ] as const) {
    const [table, { [name]: value, ...rest }] = own(entity);
    await refused([table, rest], new RegExp(`has no ${name}`));
    if (typeof value !== 'number') continue;
    await refused([table, { ...rest, [name]: Number.MAX_SAFE_INTEGER }], /out of range/);
  }
  await close();
});

describe('an item that no store takes', () => {
  let target: Awaited<ReturnType<typeof openStore>>;
  beforeAll(async () => {
    target = await openStore();
  });
  afterAll(() => target.close());

  const deep = (levels: number): unknown => (levels === 0 ? 'x' : { of: deep(levels - 1) });
  const withValue = (value: unknown): Stored => {
    const [table, item] = own(tenant, { tenant_id: 'another' });
    return [table, { ...item, more: value }];
  };
  const long = (length: number): string => 'k'.repeat(length);
  const withLongKey = (): Stored => {
    const [table, item] = own(user);
    return [table, { ...item, user_id: long(2_000), sk: `USER#${long(2_000)}` }];
  };

  test.each<[string, Stored]>([
    ['a sort key of two kilobytes', withLongKey()],
    ['an item of half a megabyte', withValue(long(500_000))],
    ['forty levels', withValue(deep(40))],
    ['a number of three hundred digits', withValue(BigInt(`1${'0'.repeat(300)}`))],
    ['an empty set', withValue(new Set())],
    ['a number that is none', withValue(Number.NaN)],
  ])('is refused before anything is written: %s', async (_, forged) => {
    const { engine, options } = target;
    const before = await allItems(engine.client);
    await writeArchive([...ofMallory(), forged]);
    await expect(importAccounts(options)).rejects.toThrow(/Nothing was written/);
    expect((await allItems(engine.client)).size).toBe(before.size);
  });

  test('a key that is a number or bytes belongs to nobody', async () => {
    const { engine, options } = target;
    const before = await allItems(engine.client);
    for (const key of [7, new Uint8Array([1]), null, true, ['TENANT#mallory-tenant']]) {
      const [table, item] = own(user);
      for (const name of ['pk', 'sk'] as const) {
        expect(Object.hasOwn(item, name)).toBe(true);
        await writeArchive([...ofMallory(), [table, { ...item, [name]: key }]]);
        await expect(importAccounts(options)).rejects.toThrow(/Nothing was written/);
      }
    }
    expect((await allItems(engine.client)).size).toBe(before.size);
  });
});
