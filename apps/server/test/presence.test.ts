import { setImmediate } from 'node:timers/promises';
import { createEngine } from '@stak/engine';
import { createIds, createLogger, type ManualClock, manualClock, superviseWorkers } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createStore, createTables, type DynamoClient } from '@stak/table';
import { expect, onTestFinished, test } from 'vitest';
import { createPresence } from '../src/store/presence.ts';

// A store that others keep busy. Writes arrive late and reads are answered late, which is the worst for those who judge
// by them.
function slowDown(client: DynamoClient, clock: ManualClock) {
  const store = { latencyMs: 0, isThrottled: false, calls: 0 };
  async function call<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    store.calls += 1;
    try {
      if (store.isThrottled) throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
      return await make();
    } finally {
      store.calls -= 1;
    }
  }
  const wait = async () => {
    if (store.latencyMs > 0) await clock.sleep(store.latencyMs);
  };
  async function write<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    await wait();
    return call(make);
  }
  async function read<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    const answer = await call(make);
    await wait();
    return answer;
  }
  const slow: DynamoClient = {
    ...client,
    put: input => write(() => client.put(input)),
    delete: input => write(() => client.delete(input)),
    get: input => read(() => client.get(input)),
    query: input => read(() => client.query(input)),
  };
  return { client: slow, store };
}

async function openPresence() {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  const clock = manualClock();
  await createTables(engine, [streamsTable], { clock });
  const { client, store: slow } = slowDown(engine.client, clock);
  const store = createStore({ client, clock });
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } });

  const create = (publicUrl = 'https://a.example') =>
    createPresence({ store, clock, ids: createIds({ clock }), log, publicUrl });
  async function start(publicUrl?: string) {
    const presence = create(publicUrl);
    await presence.begin();
    const beating = superviseWorkers([presence.worker], { clock, log });
    onTestFinished(async () => {
      Object.assign(slow, { latencyMs: 0, isThrottled: false });
      const stopped = beating.stop();
      await clock.advance(20_000); // ends what waits for the store
      await stopped;
    });
    const stop = async () => {
      await beating.stop();
      await presence.leave();
    };
    return { ...presence, stop };
  }
  // Everyone waits for the clock.
  const settle = async () => {
    do await setImmediate();
    while (slow.calls > 0);
  };
  const pass = async (ms: number, each?: () => void) => {
    for (let left = ms; left > 0; left -= 100) {
      await settle();
      await clock.advance(100);
      each?.();
    }
    await settle();
  };
  return { clock, slow, lines, create, start, pass };
}

test('servers with different public addresses log it once, while they run', async () => {
  const { start, pass, lines } = await openPresence();
  const [one, same] = [await start(), await start()];
  await pass(6_000);
  expect([await one.check(), await same.check(), lines]).toEqual([undefined, undefined, []]);
  const other = await start('https://b.example');
  await pass(6_000);
  expect(await Promise.all([one.check(), same.check(), other.check()])).toEqual(Array(3).fill('degraded'));
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain('set the same STAK_PUBLIC_URL on all of them');
  await other.stop();
  await pass(6_000);
  expect(await Promise.all([one.check(), same.check()])).toEqual([undefined, undefined]);
  expect(lines).toHaveLength(3);
});

test('a killed server counts as gone when its lease ends, and not before', async () => {
  const { clock, create, start, pass } = await openPresence();
  const one = await start();
  const killed = create();
  await killed.begin(); // it never says so again
  const owner = killed.owners.next();
  const heard: number[] = [];
  one.owners.onGone(() => heard.push(clock.now()));
  const diedAt = clock.now();
  await pass(8_000);
  expect([heard, await one.owners.isGone(owner)]).toEqual([[], false]);
  await pass(1_000);
  expect(heard).toHaveLength(1);
  expect(heard[0]! - diedAt).toBeLessThan(9_000);
  expect(await one.owners.isGone(owner)).toBe(true);
  await killed.begin(); // it only slept
  expect(await one.owners.isGone(owner)).toBe(false);
});

test('a new server does not count as gone, and one that stopped in order is gone at once', async () => {
  const { start, pass } = await openPresence();
  const one = await start();
  await pass(3_500);
  const other = await start();
  const owner = other.owners.next();
  expect(await one.owners.isGone(owner)).toBe(false);
  expect(await one.owners.isGone(one.owners.next())).toBe(false);
  expect(await one.owners.isGone('own_of_an_earlier_version')).toBe(false);
  await other.stop();
  expect(await one.owners.isGone(owner)).toBe(true);
});

test('a server whose time ends while another one starts is known to be gone there too', async () => {
  const { clock, create } = await openPresence();
  const killed = create();
  await killed.begin();
  const owner = killed.owners.next();
  await clock.advance(8_000);
  const next = create();
  await next.begin();
  const heard: number[] = [];
  next.owners.onGone(() => heard.push(clock.now()));
  expect(await next.owners.isGone(owner)).toBe(false); // it looks for leases now, and leaves this one alone
  await clock.advance(1_000);
  const stopping = new AbortController();
  const running = next.worker.run(stopping.signal);
  await expect.poll(() => heard).toHaveLength(1);
  expect(await next.owners.isGone(owner)).toBe(true);
  stopping.abort();
  await running;
});

// Each is asked about the other all the time, as by requests and workers.
async function openTwo() {
  const opened = await openPresence();
  const both = [await opened.start(), await opened.start()] as const;
  const names = both.map(({ owners }) => owners.next());
  const mistakes: number[] = [];
  const watch = () => {
    for (const [i, { owners }] of both.entries())
      owners.isGone(names[1 - i]!).then(
        isGone => isGone && mistakes.push(opened.clock.now()),
        () => {}, // the store is busy
      );
  };
  return { ...opened, both, names, mistakes, watch };
}

test('servers on a store that takes three seconds for everything do not take each other for dead', async () => {
  const { slow, pass, watch, mistakes } = await openTwo();
  slow.latencyMs = 3_000;
  await pass(60_000, watch);
  expect(mistakes).toEqual([]);
});

test('a server that starts on such a store is not taken for dead', async () => {
  const { clock, slow, create, start, pass } = await openPresence();
  const one = await start();
  slow.latencyMs = 3_000;
  const next = create();
  const begun = next.begin();
  await pass(6_000);
  await begun;
  const stopping = new AbortController();
  const running = next.worker.run(stopping.signal);
  const owner = next.owners.next();
  const asked: Promise<boolean>[] = [];
  await pass(12_000, () => asked.push(one.owners.isGone(owner)));
  slow.latencyMs = 0;
  stopping.abort();
  await clock.advance(10_000);
  await running;
  expect(new Set(await Promise.all(asked))).toEqual(new Set([false]));
});

test('after a time in which the store took no writes, servers do not take each other for dead', async () => {
  const { slow, pass, watch, mistakes, lines } = await openTwo();
  for (const throttledMs of [12_000, 40_000, 8_000]) {
    slow.isThrottled = true;
    await pass(throttledMs, watch);
    slow.isThrottled = false;
    await pass(45_000, watch);
  }
  expect(mistakes).toEqual([]);
  expect(lines.join('')).toContain('table.busy');
});

test('a server that was killed while the store was throttled is noticed after that, by those who asked before too', async () => {
  const { clock, slow, create, start, pass } = await openPresence();
  const one = await start();
  const killed = create();
  await killed.begin();
  const owner = killed.owners.next();
  slow.isThrottled = true;
  await pass(12_000);
  slow.isThrottled = false;
  const freeAt = clock.now();
  const heard: number[] = [];
  one.owners.onGone(() => heard.push(clock.now()));
  await pass(4_000);
  expect([await one.owners.isGone(owner), heard]).toEqual([false, []]);
  await pass(7_000);
  expect(await one.owners.isGone(owner)).toBe(true);
  expect(heard[0]! - freeAt).toBeLessThan(11_000);
});
