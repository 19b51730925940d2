import { createEngine } from '@stak/engine';
import { systemClock } from '@stak/kit';
import { createStore, createTables } from '@stak/table';
import { expect, test } from 'vitest';
import { createConsumer, engineSource, type StreamSource, streamsTable } from '../src/index.ts';
import { type NoteChange, note, notesTable, silent } from './stream-fixture.ts';

test('in process, a change reaches its handler within 5 ms', async () => {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await createTables(engine, [notesTable, streamsTable]);
  const store = createStore({ client: engine.client });
  const handled = new Map<number, number>();
  let wake = () => {};
  let fallAsleep = () => {};
  const subscription = {
    name: 'fast',
    table: notesTable,
    entities: [note],
    handle(change: NoteChange) {
      handled.set(change.new!.version, performance.now());
      wake();
    },
  };
  const awake = engineSource(engine);
  const source: StreamSource = {
    ...awake,
    waitForChange(...args) {
      fallAsleep();
      return awake.waitForChange!(...args);
    },
  };
  const nextSleep = () =>
    new Promise<void>(resolve => {
      fallAsleep = resolve;
    });
  let asleep = nextSleep();
  const consumer = createConsumer({
    subscription,
    source,
    client: engine.client,
    log: silent,
    clock: systemClock,
  });
  const stopping = new AbortController();
  const ended = consumer.run(stopping.signal);

  const delays: number[] = [];
  for (let version = 1; version <= 200; version++) {
    await asleep; // or it would be measured how fast it reads on
    asleep = nextSleep();
    const arrived = new Promise<void>(resolve => {
      wake = resolve;
    });
    await store.put(note, { id: 'a', version });
    const writtenAt = performance.now();
    await arrived;
    delays.push(handled.get(version)! - writtenAt);
  }
  stopping.abort();
  await ended;
  await engine.close();
  // A busy machine may hold up most of them. The quickest tenth of a consumer that polls would take up to 25 ms.
  delays.sort((a, b) => a - b);
  expect(delays[delays.length / 10]).toBeLessThan(5);
  console.log(`handler after ${delays[100]!.toFixed(2)} ms (median), ${delays[190]!.toFixed(2)} ms (p95)`);
});
