import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';
import { openStore, readMeta } from '../src/storage/store.ts';
import { type Peer, startPeer } from './crash/peers.ts';
import { programOf } from './crash/program.ts';
import { createRandom } from './crash/random.ts';
import { hashTable, newIndex, streaming } from './engine-fixture.ts';

// Several processes, one folder: this one and its peers. None of them polls while a test runs.

let folder: string;
let engine: Engine;
let first: Peer;
let second: Peer;
let TableName = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-processes-'));
  engine = await createEngine({ path: folder, sweepIntervalMs: 0, pollIntervalMs: 60_000 });
  [first, second] = await Promise.all([startPeer(folder), startPeer(folder)]);
}, 60_000);

beforeEach(async ({ task }) => {
  TableName = `table-${task.id}`;
  await engine.execute('CreateTable', hashTable(TableName, streaming()));
});

afterEach(() => expect(engine.check().problems).toEqual([]));

afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await engine.close();
  await rm(folder, { recursive: true });
});

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const put = (pk: string, more: object = {}) => ({ TableName, Item: { pk: { S: pk }, ...more } });
const increments = (count: number) =>
  times(count, () => ({
    TableName,
    Key: { pk: { S: 'counter' } },
    UpdateExpression: 'ADD units :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  }));
const read = async (pk: string) =>
  (await engine.client.get({ TableName, Key: { pk }, ConsistentRead: true })).Item;
const callHere = (operation: string, inputs: object[]) =>
  Promise.allSettled(inputs.map(input => engine.execute(operation, input)));

describe('processes on one folder', () => {
  it('count together without losing an increment', async () => {
    const inputs = increments(300);
    await Promise.all([
      first.callAll('UpdateItem', inputs),
      second.callAll('UpdateItem', inputs),
      callHere('UpdateItem', inputs),
    ]);
    expect(await read('counter')).toMatchObject({ units: 900 });
  });

  it('race for a key, and one of them wins it', async () => {
    const claims = (name: string) =>
      times(100, i => ({
        ...put(`key-${i}`, { winner: { S: name } }),
        ConditionExpression: 'attribute_not_exists(pk)',
      }));
    const [byFirst, bySecond, byUs] = await Promise.all([
      first.callAll('PutItem', claims('first')),
      second.callAll('PutItem', claims('second')),
      callHere('PutItem', claims('us')),
    ]);
    const { Items } = await engine.client.scan({ TableName, ConsistentRead: true });
    const winners = new Map(Items!.map(({ pk, winner }) => [pk, winner]));
    expect(winners.size).toBe(100);
    for (let i = 0; i < 100; i++) {
      const won = [
        ...(byFirst[i]!.error ? [] : ['first']),
        ...(bySecond[i]!.error ? [] : ['second']),
        ...(byUs[i]!.status === 'rejected' ? [] : ['us']),
      ];
      expect(won).toEqual([winners.get(`key-${i}`)]);
    }
    const errors = [...byFirst, ...bySecond].flatMap(({ error }) => error ?? []);
    expect(new Set(errors)).toEqual(new Set(['ConditionalCheckFailedException']));
  });

  it('see each other’s tables at once', async () => {
    for (let i = 0; i < 8; i++) {
      await first.call('CreateTable', hashTable(`short-lived-${i}`));
      const input = { TableName: `short-lived-${i}`, Item: { pk: { S: 'a' } } };
      await second.call('PutItem', input);
      await engine.execute('PutItem', input);
      await second.call('DeleteTable', { TableName: `short-lived-${i}` });
      await expect(first.call('PutItem', input)).rejects.toThrow('ResourceNotFoundException');
      await expect(engine.execute('PutItem', input)).rejects.toThrow('Requested resource not found');
    }
  });

  it('read what another has just committed', async () => {
    for (let i = 0; i < 100; i++) {
      await (i % 2 ? first : second).call('PutItem', put('latest', { n: { N: String(i) } }));
      expect(await read('latest')).toMatchObject({ n: i });
    }
  });

  it('read it by a statement, too', async () => {
    const Statement = `SELECT n FROM "${TableName}" WHERE pk = 'latest'`;
    const several = `SELECT n FROM "${TableName}" WHERE pk IN ['latest', 'missing']`;
    const readings = [
      () => engine.execute('ExecuteStatement', { Statement, ConsistentRead: true }),
      () => engine.execute('ExecuteStatement', { Statement: several, ConsistentRead: true }),
      () => engine.execute('BatchExecuteStatement', { Statements: [{ Statement, ConsistentRead: true }] }),
      () => engine.execute('ExecuteTransaction', { TransactStatements: [{ Statement }] }),
    ];
    for (const [i, reading] of times(10, () => readings)
      .flat()
      .entries()) {
      await first.call('PutItem', put('latest', { n: { N: String(i) } }));
      expect(JSON.stringify(await reading())).toContain(`{"N":"${i}"}`);
    }
  });

  it('maintain an index that one of them adds while the others write', async () => {
    const inputs = (from: string) =>
      times(500, i => put(`${from}-${i}`, { colour: { S: `colour-${i % 5}` } }));
    await callHere('PutItem', inputs('before'));
    const writing = [first.callAll('PutItem', inputs('first')), second.callAll('PutItem', inputs('second'))];
    await engine.execute('UpdateTable', { TableName, ...newIndex('by-colour', 'colour') });
    await engine.settled();
    await Promise.all(writing);
    await first.call('PutItem', put('after', { colour: { S: 'colour-0' } }));
    const query = {
      TableName,
      IndexName: 'by-colour',
      KeyConditionExpression: 'colour = :colour',
      ExpressionAttributeValues: { ':colour': { S: 'colour-0' } },
      Select: 'COUNT',
    };
    expect(await engine.execute('Query', query)).toMatchObject({ Count: 301 });
    expect(await second.call('Query', query)).toMatchObject({ Count: 301 });
  });

  it('wake each other’s stream readers', async () => {
    const since = engine.streamPosition();
    const woken = [first, second].map(peer => peer.waitForChange(TableName, since));
    const wokenHere = engine.waitForChange(TableName, undefined, since);
    await first.call('PutItem', put('a'));
    await Promise.all([...woken, wokenHere]);
    expect(engine.streamPosition()).toBeGreaterThan(since);
  });

  it('wake the readers of each stream, whichever of them writes to it, and without polling', async () => {
    const names = times(3, i => `${TableName}-${i}`);
    for (const name of names) await engine.execute('CreateTable', hashTable(name, streaming()));
    const seed = Date.now();
    const { below: pick } = createRandom(seed);
    const put = (by: number, name: string) => {
      const input = { TableName: name, Item: { pk: { S: 'a' }, n: { N: String(pick(2 ** 32)) } } };
      return by === 0 ? engine.execute('PutItem', input) : [first, second][by - 1]!.call('PutItem', input);
    };
    for (let round = 0; round < 60; round++) {
      const changed = pick(3);
      const since = engine.streamPosition();
      // Before, during or after the write.
      const wait = () => [
        first.waitForChange(names[changed]!, since),
        second.waitForChange(names[changed]!, since),
        engine.waitForChange(names[changed]!, undefined, since),
      ];
      const early = pick(2) === 0 ? wait() : [];
      const others = times(pick(4), () => put(pick(3), names[pick(3)]!));
      const structural = pick(10) === 0 ? engine.rollShards(names[pick(3)]!) : undefined;
      const writing = put(pick(3), names[changed]!);
      const during = wait();
      await Promise.all([writing, structural, ...others]);
      const woken = Promise.all([...early, ...during, ...wait()]).then(() => true);
      expect(
        await Promise.race([woken, sleep(20_000, false, { ref: false })]),
        `seed ${seed}, round ${round}`,
      ).toBe(true);
    }
  }, 60_000);

  it('wake a reader whose table is deleted and made again', async () => {
    const { LatestStreamArn } = (
      (await engine.execute('DescribeTable', { TableName })) as { Table: { LatestStreamArn: string } }
    ).Table;
    const ofStream = engine.waitForChange(LatestStreamArn);
    const ofTable = engine.waitForChange(TableName);
    await first.call('DeleteTable', { TableName });
    await Promise.all([ofStream, ofTable]);
    await second.call('CreateTable', hashTable(TableName, streaming()));
    await engine.client.get({ TableName, Key: { pk: 'a' }, ConsistentRead: true });
    const again = engine.waitForChange(TableName);
    await first.call('PutItem', put('a'));
    await again;
  });

  it('wake a reader in another thread', async () => {
    const [program] = programOf('peer-thread');
    const thread = new Worker(program!, {
      workerData: { folder, TableName },
    });
    await once(thread, 'message');
    const woken = once(thread, 'message');
    await engine.execute('PutItem', put('a'));
    await woken;
    const over = once(thread, 'exit');
    thread.postMessage('close');
    await over;
  });

  it('are notified at once when one of them dies or closes the store, and remove its socket', async () => {
    const gone = new Set<string>();
    const stopHearing = engine.onGone(id => gone.add(id));
    const victim = await startPeer(folder);
    expect(await engine.isGone(victim.engineId)).toBe(false);
    await victim.kill();
    await expect.poll(() => [...gone]).toContain(victim.engineId);
    expect(await engine.isGone(victim.engineId)).toBe(true);

    const next = await createEngine({ path: folder, sweepIntervalMs: 0 });
    const sockets = () => readdir(join(folder, 'processes'));
    expect(await sockets()).toContain(next.id);
    expect(await sockets()).not.toContain(victim.engineId);
    expect(await next.isGone(victim.engineId)).toBe(true);
    expect(await engine.isGone(next.id!)).toBe(false);
    await next.close();
    await expect.poll(() => [...gone]).toContain(next.id);
    expect(await engine.isGone(next.id!)).toBe(true);
    expect(await sockets()).not.toContain(next.id);
    for (const id of [engine.id!, first.engineId, 'no id of ours'])
      expect(await engine.isGone(id)).toBe(false);
    stopHearing();
  });

  it('exchange messages, in order, with all or one of them, and announce themselves when they join', async () => {
    const open = () => createEngine({ path: folder, sweepIntervalMs: 0 });
    const one = await open();
    const present = new Set<string>();
    one.onJoined(id => present.add(id));
    const [two, three] = [await open(), await open()];
    await expect.poll(() => present.has(two.id!) && present.has(three.id!)).toBe(true);
    const received: Record<string, unknown[]> = { two: [], three: [] };
    two.onMessage('test', (body, from) => received.two!.push([body, from]));
    three.onMessage('test', body => received.three!.push(body));
    one.send('another topic', 'nobody listens');
    for (let n = 0; n < 100; n++) one.send('test', { n, text: 'line\nbreak'.repeat(n) });
    one.send('test', 'x'.repeat(2 * 1024 * 1024)); // too large
    one.send('test', 'last', three.id);
    await expect.poll(() => received.three!.length).toBe(101);
    await expect.poll(() => received.two!.length).toBe(100);
    expect(received.three!.at(-1)).toBe('last');
    expect(received.two).toEqual(received.three!.slice(0, 100).map(body => [body, one.id]));

    const joined = new Promise<string>(resolve => one.onJoined(resolve));
    const late = await open();
    expect(await joined).toBe(late.id);
    const heard = new Promise(resolve => late.onMessage('test', resolve));
    one.send('test', 'welcome', late.id);
    expect(await heard).toBe('welcome');
    await Promise.all([one, two, three, late].map(engine => engine.close()));
  });

  it('find each other in a folder whose name is too long for a socket', async () => {
    const deep = join(folder, 'x'.repeat(120));
    const [one, two] = await Promise.all(
      times(2, () => createEngine({ path: deep, sweepIntervalMs: 0, pollIntervalMs: 60_000 })),
    );
    await one!.execute('CreateTable', hashTable(TableName, streaming()));
    const woken = two!.waitForChange(TableName);
    await one!.execute('PutItem', put('a'));
    await woken;
    const gone = new Promise<string>(resolve => two!.onGone(resolve));
    await one!.close();
    expect(await gone).toBe(one!.id);
    await two!.close();
  });

  it('continue when one of them is killed while it writes', async () => {
    const victims = await Promise.all(times(2, () => startPeer(folder)));
    for (const victim of victims) {
      const woken = engine.waitForChange(TableName);
      void victim.callAll('UpdateItem', increments(4000));
      await woken;
      await victim.kill();
      const before = (await read('counter'))!.units;
      await Promise.all([
        first.callAll('UpdateItem', increments(50)),
        callHere('UpdateItem', increments(50)),
      ]);
      expect(await read('counter')).toMatchObject({ units: before + 100 });
    }
  });
});

it('frees the slots of dead readers', async () => {
  const store = openStore(folder);
  const victim = await startPeer(folder);
  await victim.call('Scan', { TableName });
  store.clearDeadReaders();
  await victim.kill();
  expect(store.clearDeadReaders()).toBeGreaterThan(0);
  expect(store.clearDeadReaders()).toBe(0);
  await store.close();
});

it('sweeps in one of several processes, and in the next when that one is gone', async () => {
  const path = join(folder, 'swept');
  let nowMs = 1_000_000;
  const open = () => createEngine({ path, clock: { now: () => nowMs }, sweepIntervalMs: 20 });
  const [one, two] = [await open(), await open()];
  const sweeper = async () => {
    const store = openStore(path);
    const claim = readMeta<{ id: string; until: number }>(store, 'sweeper');
    await store.close();
    return claim;
  };
  await expect.poll(sweeper).toBeDefined();
  const first = (await sweeper())!.id;
  const [holder, other] = first === one.id ? [one, two] : [two, one];
  // It goes on holding it, however often the other looks.
  nowMs += 30;
  await expect.poll(async () => (await sweeper())!.until).toBe(nowMs + 40);
  expect((await sweeper())!.id).toBe(first);
  await holder.close();
  await expect.poll(async () => (await sweeper())!.id).toBe(other.id);
  await other.close();
});

it('lets two engines of one process share a folder', async () => {
  const other = await createEngine({ path: folder, sweepIntervalMs: 0 });
  await Promise.all(increments(400).map((input, i) => (i % 2 ? engine : other).execute('UpdateItem', input)));
  expect(await read('counter')).toMatchObject({ units: 400 });
  await other.close();
  await callHere('UpdateItem', increments(1));
  expect(await read('counter')).toMatchObject({ units: 401 });
});
