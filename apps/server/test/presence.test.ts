import { createEngine } from '@stak/engine';
import { createIds, createLogger, manualClock } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { expect, onTestFinished, test } from 'vitest';
import { createPresence } from '../src/presence.ts';

async function openPresence() {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  const clock = manualClock();
  await createTables(engine, [streamsTable], { clock });
  const store = createStore({ client: engine.client, clock });
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } });
  let serving = 0;

  const create = (publicUrl = 'https://a.example') =>
    createPresence({ store, clock, ids: createIds({ clock }), log, publicUrl });
  async function start(publicUrl?: string) {
    const presence = create(publicUrl);
    await presence.begin();
    const stopping = new AbortController();
    const running = presence.worker.run(stopping.signal);
    serving += 1;
    const stop = async () => {
      serving -= 1;
      stopping.abort();
      await running;
    };
    onTestFinished(async () => {
      stopping.abort();
      await running;
    });
    return { ...presence, stop };
  }
  // Each has said that it is alive, and rests.
  const settle = () => expect.poll(clock.sleepers).toBe(serving);
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      await settle();
      await clock.advance(500);
    }
    await settle();
  };
  return { clock, lines, create, start, pass };
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
  const [killed, next] = [create(), create()];
  await killed.begin();
  const owner = killed.owners.next();
  await clock.advance(8_000);
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
