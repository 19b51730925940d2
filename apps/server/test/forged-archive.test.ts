import { createHash, randomBytes } from 'node:crypto';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { apiKey, apiKeyHash, emailLock, member, profile, session } from '@stak/accounts/tables';
import { createSealer } from '@stak/kit';
import type { AnyEntity } from '@stak/table';
import { tenant } from '@stak/tenants/tables';
import { connection, delivery, event, source } from '@stak/webhooks/tables';
import { describe, expect, test, vi } from 'vitest';
import { importFrom } from '../src/cli/store/archive-actions.ts';
import { accountTables } from '../src/store/archive/account.ts';
import { type Manifest, sealManifest } from '../src/store/archive/format.ts';
import { importAccounts } from '../src/store/archive/import-account.ts';
import { ruleOf } from '../src/store/archive/keep.ts';
import { mentions } from '../src/store/archive/ownership.ts';
import { designs } from '../src/store/designs.ts';
import {
  allItems,
  at,
  attack,
  everything,
  folder,
  harmless,
  type Ids,
  idsOf,
  itemOf,
  mallory,
  ofMallory,
  openTarget,
  person,
  put,
  type Stored,
  storedAs,
  victim,
  writeArchive,
} from './forged-archive-fixture.ts';

const entities = accountTables.flatMap(table => table.entities.map(entity => ({ table, entity })));

test('an honest archive is imported', async () => {
  await writeArchive(ofMallory());
  const { options, store, close } = await openTarget();
  expect(await importAccounts(options)).toMatchObject({ items: 7, unopened: 0 });
  const { importedAt, ...stored } = (await store.get(profile, { userId: mallory }))!;
  expect(stored).toMatchObject({ plan: 'free' });
  expect(Date.now() - Date.parse(importedAt!)).toBeLessThan(60_000); // not what the archive says
  await close();
});

const isOtherLock = /(?:GitHub|Google|Stripe customer) lock/; // this account has none

// Some wait for the attacks of others.
describe.concurrent('every entity of every table', { timeout: 120_000 }, () => {
  test('is imported if it is the account’s own', async () => {
    const first = new Set(person('mallory').map(([entity]) => entity));
    const others = entities.filter(
      ({ entity }) => ruleOf(entity) !== undefined && !first.has(entity) && !isOtherLock.test(entity.name),
    );
    expect(others.length).toBeGreaterThan(60);
    await Promise.all(
      others.map(async ({ table, entity }) => {
        const own = itemOf(entity, idsOf('mallory'));
        const { error } = await attack([...ofMallory(), storedAs(entity, own)], false);
        expect(error, `${table.name}: ${entity.name}`).toBeUndefined();
      }),
    );
  });

  test.each(entities.map(({ table, entity }) => [table.name, entity.name, entity] as const))(
    '%s: %s of somebody else is refused',
    async (_, name, entity) => {
      const forged = storedAs(entity, itemOf(entity, idsOf('victim')));
      const { error, added } = await attack([...ofMallory(), forged], true); // which checks less than without
      expect(error).toContain(`${name} `);
      expect(error).toContain('Nothing was written');
      expect(added).toEqual([]);
    },
  );

  test('with one id of somebody else, whichever it is, nothing arrives among their items', async () => {
    const mentioned = entities.flatMap(({ table, entity }) =>
      Object.keys(entity.schema.shape)
        .filter(name => Object.hasOwn(mentions, name))
        .map(name => ({ table, entity, name })),
    );
    expect(mentioned.length).toBeGreaterThan(100);
    await Promise.all(
      mentioned.map(async ({ table, entity, name }) => {
        const mixed = { ...idsOf('mallory'), [name]: idsOf('victim')[name as keyof Ids] };
        const forged = storedAs(entity, itemOf(entity, mixed, { [name]: mixed[name as keyof Ids] }));
        const { added } = await attack([...ofMallory(), forged], false);
        // With --keep roles, an operator says that these people are members.
        expect(entity === member ? [] : added, `${table.name}: ${entity.name} with ${name}`).toEqual([]);
      }),
    );
  });

  test('with a key of any index that is somebody else’s, it is refused', async () => {
    const indexed = entities.flatMap(({ table, entity }) =>
      Object.entries(table.indexes).map(([index, keys]) => ({ table, entity, index, keys })),
    );
    expect(indexed.length).toBeGreaterThan(100);
    await Promise.all(
      indexed.map(async ({ table, entity, index, keys: { partition, sort } }) => {
        const [, item] = storedAs(entity, itemOf(entity, idsOf('mallory')));
        const keys = { [partition]: 'EMAIL#victim@example.com', ...(sort && { [sort]: 'USER' }) };
        const { error, added } = await attack([...ofMallory(), [table.name, { ...item, ...keys }]], false);
        expect(error, `${entity.name} in ${index}`).toBeDefined();
        expect(added).toEqual([]);
      }),
    );
  });

  test('has a rule, and one that nobody has thought of is refused', () => {
    const without = entities
      .filter(({ entity }) => ruleOf(entity) === undefined)
      .map(({ entity }) => entity.name);
    expect(without.toSorted()).toEqual([
      'OAuth client',
      'OAuth state',
      'Stripe event',
      'account deletion',
      'attempts in a window',
      'authorization code',
      'checkpoint of counts',
      'creation',
      'known place',
      'number of due shards',
      'number of due shards',
      'passkey challenge',
      'signing key',
      'start of counting',
    ]);
  });

  // A new attribute that names something is added to `mentions`, or here if what it names cannot be somebody else's.
  test('mentions owners only by known attributes', () => {
    const known = new Set([...Object.keys(mentions), ...harmless]);
    const attributes = new Set(
      entities
        .flatMap(({ entity }) => Object.keys(entity.schema.shape))
        .filter(name => /(?:id|ids|Id|Ids|_key|By|_by)$/.test(name)),
    );
    expect([...attributes].filter(name => !known.has(name))).toEqual([]);
  });
});

describe('a forged archive', () => {
  const refused = async (items: readonly Stored[], message: RegExp) => {
    const { error, added } = await attack(items, false);
    expect(error).toMatch(message);
    expect(added).toEqual([]);
  };
  const forged = (entity: AnyEntity, values: object): Stored => storedAs(entity, values);

  test('does not give its key to the account of somebody else', () =>
    refused(
      [
        ...ofMallory(),
        forged(apiKeyHash, { keyHash: 'a'.repeat(64), keyId: 'key_1', userId: victim, permissions: 'admin' }),
      ],
      /API key by hash KEYHASH#a+ KEY in ferryhook-main belongs to nobody in the archive/,
    ));

  test('does not list a key of its own under the hash of another', async () => {
    const { engine, options, close } = await openTarget();
    const theirs = itemOf(apiKeyHash, idsOf('victim'), { keyHash: 'b'.repeat(64) });
    await engine.client.put({ TableName: apiKeyHash.table.name, Item: put(apiKeyHash, theirs) });
    const mine = itemOf(apiKey, idsOf('mallory'), { keyHash: 'b'.repeat(64) });
    await engine.client.put({
      TableName: apiKey.table.name,
      Item: put(apiKey, itemOf(apiKey, idsOf('victim'), { keyHash: 'b'.repeat(64) })),
    });
    await writeArchive([...ofMallory(), forged(apiKey, mine)]);
    await expect(importAccounts({ ...options, keep: everything })).rejects.toThrow(
      /would be among items of others/,
    );
    await close();
  });

  test('does not take a tenant, a source or an event that exists', async () => {
    const tenants = { ...idsOf('mallory'), tenant_id: 'victim-tenant' };
    for (const goOn of [false, true])
      for (const items of [
        [forged(tenant, itemOf(tenant, tenants))],
        [forged(source, itemOf(source, { ...idsOf('mallory'), sourceId: 'src_victim' }))],
        [
          forged(source, itemOf(source, { ...idsOf('mallory'), sourceId: 'src_victim' })),
          forged(
            connection,
            itemOf(connection, { ...idsOf('mallory'), sourceId: 'src_victim' }, { connectionId: 'con_2' }),
          ),
        ],
        [forged(event, itemOf(event, { ...idsOf('mallory'), eventId: 'evt_victim' }, { deliveries: {} }))],
        [forged(delivery, itemOf(delivery, { ...idsOf('mallory'), eventId: 'evt_victim' }))],
        [forged(delivery, itemOf(delivery, idsOf('mallory'), { dueIn: 'con_victim', dueAt: 1 }))],
      ]) {
        const { error, added } = await attack([...ofMallory(), ...items], goOn);
        expect(error).toContain('Nothing was written');
        expect(added).toEqual([]);
      }
  });

  test('does not take Stak’s own tenant, nor reserve an address that its profile does not have', async () => {
    await refused(
      [...ofMallory(), forged(tenant, itemOf(tenant, { ...idsOf('mallory'), tenant_id: 'stak' }))],
      /TENANT#stak/,
    );
    await refused(
      [...ofMallory(), forged(emailLock, { email: 'ceo@example.com', userId: mallory })],
      /is not what the profile says/,
    );
  });

  test('has no item twice, none whose keys disagree with it, and none of other types', async () => {
    const [, item] = ofMallory()[2]!;
    await refused([...ofMallory(), ['tenants', { ...item, name: 'Other' }]], /is there twice/);
    await refused(
      [...ofMallory().slice(0, 2), ['tenants', { ...item, tenant_id: 'other' }]],
      /keys that disagree/,
    );
    await refused(
      [...ofMallory().slice(0, 2), ['tenants', { ...item, status: 7 }]],
      /status of another type/,
    );
    await refused([...ofMallory(), ['tenants', { pk: 'NEW#1', sk: 'META' }]], /nothing that an account has/);
  });

  test('names its accounts, which have profiles and do not exist yet', async () => {
    const { options, close } = await openTarget();
    for (const [accounts, message] of [
      [[], /names no account/],
      [['*'], /cannot be/],
      [[mallory, 'usr_nobody'], /no profile of usr_nobody/],
      [[mallory, victim], /usr_victim already exists/],
    ] as const) {
      await writeArchive(ofMallory(), manifest => ({ ...manifest, accounts: [...accounts] }));
      await expect(importAccounts(options)).rejects.toThrow(message);
    }
    await close();
  });

  test('has files in its folder only, and no tables but those of accounts', async () => {
    const { options, close } = await openTarget();
    await writeArchive(ofMallory());
    const content = gzipSync('{}\n');
    const part = { items: 1, sha256: createHash('sha256').update(content).digest('hex') };
    const withPart = (name: string, file: string) => (manifest: Manifest) => ({
      ...manifest,
      tables: { ...manifest.tables, [name]: { isWhole: true, parts: [{ ...part, file }] } },
    });
    for (const file of ['../secrets-00001.ndjson.gz', '/etc/passwd', 'tenants-00001.ndjson.gz/../../x']) {
      await writeArchive(ofMallory(), withPart('tenants', file));
      await expect(importAccounts(options), file).rejects.toThrow(/damaged/);
    }
    const outside = join(folder, 'outside');
    await writeFile(outside, content);
    await symlink(outside, join(folder, 'tenants-00002.ndjson.gz'));
    await writeArchive(ofMallory(), withPart('tenants', 'tenants-00002.ndjson.gz'));
    await expect(importAccounts(options)).rejects.toThrow(/is not a file/);
    for (const { name } of designs.filter(one => !accountTables.includes(one))) {
      await writeFile(join(folder, `${name}-00001.ndjson.gz`), content);
      await writeArchive(ofMallory(), withPart(name, `${name}-00001.ndjson.gz`));
      await expect(importAccounts(options), name).rejects.toThrow(/does not know/);
    }
    await close();
  });

  test('has lines and parts of limited size', async () => {
    const { options, close } = await openTarget();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    const endless = gzipSync('{}\n'.repeat(100_000));
    for (const [content, message] of [
      [bomb, /longer than/],
      [endless, /more items instead of 1/],
    ] as const) {
      await writeArchive(ofMallory(), manifest => {
        const sha256 = createHash('sha256').update(content).digest('hex');
        const parts = [{ file: 'conversations-00009.ndjson.gz', items: 1, sha256 }];
        return { ...manifest, tables: { ...manifest.tables, conversations: { isWhole: true, parts } } };
      });
      await writeFile(join(folder, 'conversations-00009.ndjson.gz'), content);
      await expect(importAccounts(options)).rejects.toThrow(message);
    }
    await close();
  });
});

test('what only a server grants is left out unless the operator asks for it', async () => {
  const granted = {
    plan: 'team',
    planFixed: true,
    emailVerified: true,
    passwordHash: 'x',
    secondFactor: 'totp',
    githubId: '1',
    disabledAt: at,
  };
  const values = { ...itemOf(profile, idsOf('mallory')), ...granted, version: 1, importedAt: at };
  const items = [
    storedAs(profile, values),
    ...ofMallory().slice(1),
    storedAs(apiKeyHash, itemOf(apiKeyHash, idsOf('mallory'))),
    storedAs(session, itemOf(session, idsOf('mallory'))),
    storedAs(member, itemOf(member, idsOf('mallory'), { role: 'owner' })),
  ];
  await writeArchive(items);
  for (const keep of [new Set<never>(), everything]) {
    const { engine, options, store, close } = await openTarget();
    const { leftOut } = await importAccounts({ ...options, keep });
    const stored = await store.get(profile, { userId: mallory });
    expect(stored!.importedAt).not.toBe(at);
    const found = [...(await allItems(engine.client)).keys()].join();
    if (keep.size > 0) expect(stored).toMatchObject(granted);
    else {
      expect(stored).not.toHaveProperty('emailVerified');
      expect(stored).toMatchObject({ plan: 'free', disabledAt: at }); // who was disabled stays so
      for (const name of Object.keys(granted))
        if (name !== 'plan' && name !== 'disabledAt') expect(stored).not.toHaveProperty(name);
      expect([...leftOut.keys()]).toEqual(
        expect.arrayContaining(['plan', 'emailVerified', 'session', 'member']),
      );
    }
    for (const name of ['KEYHASH#', 'SESSION#', 'MEMBER#']) expect(found.includes(name)).toBe(keep.size > 0);
    await close();
  }
});

test('an archive without a seal of this server needs the operator’s word', async () => {
  const path = join(folder, 'data');
  const secret = randomBytes(32);
  vi.stubEnv('STAK_SECRET_KEYS', `k1:${secret.toString('base64')}`);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    const ours = createSealer({ keys: [{ id: 'k1', secret }] });
    const flags = { path, from: folder, asStored: true, json: true };
    const theirs = createSealer({ keys: [{ id: 'k1', secret: randomBytes(32) }] });
    const seals: readonly ((manifest: Manifest) => string | undefined)[] = [
      () => undefined,
      () => 's1.k1.forged',
      manifest => sealManifest({ ...manifest, begun: '2026-01-02T00:00:00.000Z' }, ours),
      manifest => sealManifest(manifest, theirs), // of another server, with a key of the same id
      () => ours.seal('any text', 'another place'),
    ];
    for (const seal of seals) {
      await writeArchive(ofMallory(), manifest => ({ ...manifest, seal: seal(manifest) }));
      await expect(importFrom(flags)).rejects.toThrow(/no seal of this server.*--unverified/);
    }
    // Without accounts, its items would be taken as those of a server, into an empty store.
    await writeArchive(ofMallory(), ({ accounts: _, ...manifest }) => manifest);
    const fresh = { ...flags, path: join(folder, 'fresh'), unverified: true };
    await expect(importFrom(fresh)).rejects.toThrow(/names no account.*--server/);
    await writeArchive(ofMallory(), manifest => ({ ...manifest, seal: sealManifest(manifest, ours) }));
    await importFrom(flags);
  } finally {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  }
});
