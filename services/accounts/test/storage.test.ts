import { seededRandom } from '@stak/kit';
import { type DynamoClient, defineTable } from '@stak/table';
import { describe, expect, it } from 'vitest';
import { linesWhenFull } from '../src/billing/storage/limits.ts';
import { requestRecount, type Storage, storageTable } from '../src/index.ts';
import {
  counted,
  type Fixture,
  lock,
  note,
  notes,
  open,
  own,
  owners,
  scanned,
  shared,
  teams,
  writeSomething,
} from './storage-fixture.ts';

describe('storage', () => {
  it('counts the data of an account and its tenants, and subtracts what is deleted', async () => {
    const fixture = await open();
    const storage = fixture.start();
    await fixture.recount(storage);
    expect(await counted(storage, 'ann')).toEqual({ bytes: 0, items: 0 });

    await fixture.store.put(note, { user: 'ann', id: '1', text: 'hello' });
    await fixture.store.put(shared, { team: 'red', id: '1', text: 'to all' });
    await fixture.store.put(lock, { name: 'a', user: 'ann' });
    await fixture.store.put(own, { name: 'a', text: 'nobody pays for this' });
    await fixture.deliverAll(storage);
    expect(await counted(storage, 'ann')).toEqual(await scanned(fixture, 'ann'));
    expect((await storage.read('ann')).items).toBe(3);
    expect(await storage.readAll()).toMatchObject({ items: 3 });

    await fixture.store.delete(shared, { team: 'red', id: '1' });
    await fixture.store.put(lock, { name: 'a', user: 'bob' });
    await fixture.deliverAll(storage);
    expect((await storage.read('ann')).items).toBe(1);
    expect((await storage.read('bob')).items).toBe(1);
  });

  it('subtracts what expires', async () => {
    const fixture = await open();
    const storage = fixture.start();
    await fixture.recount(storage);
    const ends_at = Math.floor(fixture.clock.now() / 1000) + 10;
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'hello', ends_at });
    await fixture.deliverAll(storage);
    expect((await storage.read('ann')).items).toBe(1);
    await fixture.clock.advance(20_000);
    await fixture.engine.sweep();
    await fixture.deliverAll(storage);
    expect(await counted(storage, 'ann')).toEqual({ bytes: 0, items: 0 });
  });

  it('counts a page once, however often and by whichever process it is delivered', async () => {
    const fixture = await open();
    const [first, second] = [fixture.start(), fixture.start()];
    await fixture.recount(first);
    for (const id of ['1', '2', '3']) await fixture.store.put(note, { user: 'ann', id, text: 'hello' });
    await fixture.readStream();
    await fixture.deliver(first, fixture.changes.slice(0, 2));
    await fixture.deliver(second, fixture.changes);
    await fixture.deliver(first, fixture.changes.slice(0, 2));
    await fixture.deliver(first, fixture.changes);
    expect(await counted(second, 'ann')).toEqual(await scanned(fixture, 'ann'));
  });

  it('counts a page once if the response to its write was lost', async () => {
    let isLosing = false;
    const fixture = await open();
    const lossy: DynamoClient = {
      ...fixture.engine.client,
      async transactWrite(input) {
        const answer = await fixture.engine.client.transactWrite(input);
        if (!isLosing) return answer;
        isLosing = false;
        throw new Error('the connection broke');
      },
    };
    const storage = fixture.start(lossy);
    await fixture.recount(storage);
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'hello' });
    isLosing = true;
    await expect(fixture.deliverAll(storage)).rejects.toThrow('broke');
    await fixture.deliverAll(storage);
    expect(await counted(storage, 'ann')).toEqual(await scanned(fixture, 'ann'));
  });

  it('counts a page of more accounts than fit in a transaction in parts', async () => {
    const fixture = await open();
    const storage = fixture.start();
    await fixture.recount(storage);
    for (let user = 0; user < 230; user++)
      await fixture.store.put(note, { user: `user${user}`, id: '1', text: 'hello' });
    await fixture.deliverAll(storage);
    await fixture.deliverAll(fixture.start());
    expect((await storage.read('user0')).items).toBe(1);
    expect((await storage.read('user229')).items).toBe(1);
    expect((await storage.readAll()).items).toBe(230);
  });

  it('counts a store that is older than its counts by a scan, and no change twice', async () => {
    const fixture = await open();
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'before' });
    const storage = fixture.start();
    expect((await storage.read('ann')).isCounted).toBe(false);
    await fixture.recount(storage);
    expect(await counted(storage, 'ann')).toEqual(await scanned(fixture, 'ann'));
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'and after' });
    await fixture.deliverAll(storage);
    expect(await counted(storage, 'ann')).toEqual(await scanned(fixture, 'ann'));
  });

  it('subtracts a tenant’s data even if the tenant is gone', async () => {
    const fixture = await open();
    const storage = fixture.start();
    await fixture.recount(storage);
    await fixture.store.put(shared, { team: 'red', id: '1', text: 'hello' });
    await fixture.deliverAll(storage);
    const later = fixture.start(fixture.engine.client, new Map());
    await fixture.store.delete(shared, { team: 'red', id: '1' });
    await fixture.deliverAll(later);
    expect(await counted(later, 'ann')).toEqual({ bytes: 0, items: 0 });
  });

  it('a recount repairs drift, and can be restarted by another process', async () => {
    const fixture = await open();
    const storage = fixture.start();
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'hello' });
    await fixture.recount(storage);
    await fixture.engine.client.update({
      TableName: storageTable.name,
      Key: { pk: 'account#ann', sk: 'notes#notes#00000001#scan' },
      UpdateExpression: 'ADD #bytes :drift',
      ExpressionAttributeNames: { '#bytes': 'bytes' },
      ExpressionAttributeValues: { ':drift': 12_345 },
    });
    expect((await storage.read('ann')).bytes).toBeGreaterThan(12_345);

    await requestRecount(fixture.store, fixture.clock.now() + 1, notes.name);
    const broken = fixture.start({
      ...fixture.engine.client,
      scan: () => Promise.reject(new Error('the machine is gone')),
    });
    await expect(fixture.recount(broken)).rejects.toThrow('gone');
    // Nobody else may count while the lease lasts.
    await fixture.recount(storage);
    expect((await storage.read('ann')).bytes).toBeGreaterThan(12_345);
    await fixture.clock.advance(31_000);
    await fixture.recount(storage);
    expect(await counted(storage, 'ann')).toEqual(await scanned(fixture, 'ann'));
  });

  it('a table whose changes were lost is counted again', async () => {
    const fixture = await open();
    const storage = fixture.start();
    await fixture.recount(storage);
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'never seen by the meter' });
    await fixture.clock.advance(1);
    await fixture.readStream();
    await storage.subscriptions[0]!.recover!({ shardId: 'one' });
    await fixture.recount(storage);
    expect(await counted(storage, 'ann')).toEqual(await scanned(fixture, 'ann'));
  });

  it('of several tables is counted at the same time, where their streams are waited for', async () => {
    const others = defineTable({
      name: 'others',
      keys: { partition: 'pk', sort: 'sk' },
      stream: 'NEW_AND_OLD_IMAGES',
    });
    let waiting = 0;
    let settle = () => {};
    const isSettled = new Promise<void>(resolve => {
      settle = resolve;
    });
    const settles = async () => {
      waiting += 1;
      await isSettled;
    };
    const fixture = await open({ tables: [notes, others as typeof notes], settles });
    const storage = fixture.start();
    const counting = fixture.recount(storage);
    await expect.poll(() => waiting).toBe(2);
    settle();
    await counting;
    expect(await counted(storage, 'ann')).toEqual({ bytes: 0, items: 0 });
  });

  it('a recount is restarted at once if its process is gone', async () => {
    const fixture = await open();
    const scan = () => Promise.reject(new Error('the machine is gone'));
    const broken = fixture.start({ ...fixture.engine.client, scan }, undefined, undefined, 'victim');
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'hello' });
    await expect(fixture.recount(broken)).rejects.toThrow('gone');
    const storage = fixture.start();
    await fixture.recount(storage);
    expect((await storage.read('ann')).items).toBe(0);
    fixture.processes.end('victim');
    await fixture.recount(storage);
    expect(await counted(storage, 'ann')).toEqual(await scanned(fixture, 'ann'));
  });

  const seeds = [1, 2, 3, 4, 5];
  it.each(seeds)('equals a scan after any history, seed %i', async seed => {
    const random = seededRandom(seed);
    const fixture = await open();
    let isScanning = false;
    // Small pages, with writes between them: what a scan of a busy table meets.
    const busy: DynamoClient = {
      ...fixture.engine.client,
      async scan(input) {
        if (input.TableName !== notes.name) return fixture.engine.client.scan(input);
        const page = await fixture.engine.client.scan({ ...input, Limit: 3 });
        if (isScanning) for (let i = random() * 4; i > 1; i--) await writeSomething(fixture, random);
        return page;
      },
    };
    const processes = [fixture.start(busy), fixture.start(busy)];
    for (let i = 0; i < 20; i++) await writeSomething(fixture, random);
    isScanning = true;
    await fixture.recount(processes[0]!);

    for (let step = 0; step < 60; step++) {
      await writeSomething(fixture, random);
      const storage = processes[Math.floor(random() * 2)]!;
      await fixture.readStream();
      // Pages begin where a process thinks it is, at times before it.
      const from = Math.floor(random() * fixture.changes.length);
      if (random() < 0.3) await fixture.deliver(storage, fixture.changes);
      if (random() < 0.3 && from === 0) await fixture.deliver(storage, fixture.changes.slice(0, from + 3));
      if (random() < 0.1) {
        await fixture.clock.advance(70_000);
        await fixture.engine.sweep();
      }
      if (random() < 0.08) {
        await requestRecount(fixture.store, fixture.clock.now() + 1, notes.name);
        await fixture.clock.advance(10);
        await fixture.recount(storage);
      }
    }
    await fixture.deliverAll(processes[0]!);
    for (const account of ['ann', 'bob'])
      expect(await counted(processes[1]!, account)).toEqual(await scanned(fixture, account));
  });
});

describe('the limit', () => {
  const fill = async (fixture: Fixture, storage: Storage, bytes: number) => {
    await fixture.store.put(note, { user: 'ann', id: '1', text: 'x'.repeat(bytes) });
    await fixture.deliverAll(storage);
    await fixture.clock.advance(3_000);
  };

  it('refuses what would not fit, and says how much is used', async () => {
    const fixture = await open({ limit: 10_000 });
    const storage = fixture.start();
    await fixture.recount(storage);
    await fill(fixture, storage, 6_000);
    await storage.admit('ann', 3_000);
    await expect(storage.admit('ann', 3_000)).rejects.toMatchObject({
      code: 'accounts.storage_limit_reached',
      message: expect.stringMatching(/^You use 9 KB of the 10 KB that the plan "free" keeps/),
      details: { plan: 'free', limitBytes: 10_000, requestBytes: 3_000, retryAfterS: 60 },
    });
    // Somebody else's users learn nothing of it.
    await expect(storage.admit('ann', 3_000, false)).rejects.toMatchObject({
      code: 'accounts.storage_limit_reached',
      details: { retryAfterS: 60 },
    });
    await expect(storage.admit('ann', 20_000)).rejects.toMatchObject({
      code: 'accounts.request_exceeds_storage',
    });
    await storage.admit('bob', 9_000);
  });

  it('adds admitted bytes to the count until they are counted', async () => {
    const fixture = await open({ limit: 10_000 });
    const storage = fixture.start();
    await fixture.recount(storage);
    for (let i = 0; i < 3; i++) expect(await storage.hasRoom('ann', 3_000)).toBe(true);
    expect(await storage.hasRoom('ann', 3_000)).toBe(false);
    // None of it was written after all.
    await fixture.clock.advance(11_000);
    expect(await storage.hasRoom('ann', 3_000)).toBe(true);
  });

  it('admits lines of the audit trail when there is no room, but not without end', async () => {
    const fixture = await open({ limit: 10_000 });
    const storage = fixture.start();
    await fixture.recount(storage);
    for (let i = 0; i < 18; i++) await storage.admitLine('ann');
    expect(await storage.hasRoom('ann', 1_001)).toBe(false); // lines take room while there is some
    await fill(fixture, storage, 10_000);
    for (let i = 0; i < linesWhenFull; i++) await storage.admitLine('ann');
    await expect(storage.admitLine('ann')).rejects.toMatchObject({ code: 'accounts.storage_limit_reached' });
    await expect(storage.admitLine('ann', false)).rejects.toMatchObject({
      details: { retryAfterS: 60 },
    });
    await storage.admitLine('bob');
    await fixture.clock.advance(3_000); // the count is read again, and the lines are still counted
    await expect(storage.admitLine('ann')).rejects.toMatchObject({ code: 'accounts.storage_limit_reached' });
    await fixture.clock.advance(24 * 60 * 60_000);
    await storage.admitLine('ann');
  });

  it('admits writes again when something was deleted', async () => {
    const fixture = await open({ limit: 10_000 });
    const storage = fixture.start();
    await fixture.recount(storage);
    await fill(fixture, storage, 9_000);
    expect(await storage.hasRoom('ann', 3_000)).toBe(false);
    await fixture.store.delete(note, { user: 'ann', id: '1' });
    await fixture.deliverAll(storage);
    await fixture.clock.advance(3_000);
    expect(await storage.hasRoom('ann', 3_000)).toBe(true);
  });

  it('can be lifted, and does not hold before everything was counted', async () => {
    const lifted = await open({ limit: null });
    expect(await lifted.start().hasRoom('ann', 1e15)).toBe(true);
    const uncounted = await open({ limit: 10_000 });
    await uncounted.store.put(note, { user: 'ann', id: '1', text: 'x'.repeat(20_000) });
    expect(await uncounted.start().hasRoom('ann', 100)).toBe(true);
  });

  it('reads what all accounts share once for many of them, and nothing without a limit', async () => {
    for (const [limit, expected] of [
      [10_000, { tables: 1, accounts: 20 }],
      [null, { tables: 0, accounts: 0 }],
    ] as const) {
      const fixture = await open({ limit });
      const read = { tables: 0, accounts: 0 };
      const client: DynamoClient = {
        ...fixture.engine.client,
        query(input) {
          const isOfAll = Object.values(input.ExpressionAttributeValues ?? {}).includes('tables');
          read[isOfAll ? 'tables' : 'accounts'] += 1;
          return fixture.engine.client.query(input);
        },
      };
      await fixture.recount(fixture.start());
      const storage = fixture.start(client);
      for (let i = 0; i < 20; i++) await storage.admit(`account ${i}`, 100);
      expect(read).toEqual(expected);
    }
  });

  it('notifies the account at 80 % and when it is full, once each', async () => {
    const fixture = await open({ limit: 10_000 });
    const storage = fixture.start();
    await fixture.recount(storage);
    for (const bytes of [5_000, 8_500, 8_600, 11_000, 11_100]) {
      await fill(fixture, storage, bytes);
      await storage.hasRoom('ann', 1);
    }
    expect(fixture.notices).toEqual([
      { accountId: 'ann', percent: 80 },
      { accountId: 'ann', percent: 100 },
    ]);
  });
});

it('refuses an entity without an owner', async () => {
  const fixture = await open();
  expect(() => fixture.start(fixture.engine.client, teams, owners.slice(1))).toThrow(
    'note is missing from the list of owners',
  );
});
