import { seededRandom, superviseWorkers } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createConsumer } from '../src/index.ts';
import {
  expectMirrored,
  type House,
  isMirrored,
  mirroring,
  type NoteChange,
  note,
  notesTable,
  openHouse,
  silent,
  startConsumer,
  until,
  writeNote,
  writeNotes,
} from './stream-fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
let house: House;

beforeEach(async () => {
  house = await openHouse();
});
afterEach(() => house.engine.close());

const collect = () => {
  const seen: number[] = [];
  const subscription = {
    name: 'collect',
    table: notesTable,
    entities: [note],
    handle: (change: NoteChange) => void seen.push(change.new!.version),
  };
  return { seen, subscription };
};

describe('an iterator that expired', () => {
  test('is replaced by one after the last record', async () => {
    let getRecords = 0;
    const source = {
      ...house.source,
      getRecords(input: Parameters<House['source']['getRecords']>[0]) {
        getRecords += 1;
        if (getRecords === 2) house.clock.set(house.clock.now() + 16 * minute);
        return house.source.getRecords(input);
      },
    };
    const consumer = startConsumer(house, {
      subscription: mirroring(house, { batchRecords: 2 }),
      source,
      leaseMs: hour,
    });
    await writeNotes(house, ['a'], 5);
    await until(house.clock, () => isMirrored(house));
    await consumer.stop();
    expect(consumer.counters()).toMatchObject({ expiredIterators: 1, records: 5, failures: 0, alarms: 0 });
    await expectMirrored(house);
  });

  test('does not happen to a consumer that only waits', async () => {
    const consumer = startConsumer(house, { subscription: mirroring(house) });
    await until(house.clock, () =>
      consumer
        .status()
        .then(({ members }) => members === 1)
        .catch(() => false),
    );
    await house.clock.advance(50 * minute);
    await writeNotes(house, ['a']);
    await until(house.clock, () => isMirrored(house));
    await consumer.stop();
    expect(consumer.counters().expiredIterators).toBe(0);
  });
});

describe('records removed before they were read', () => {
  test('raise an alarm, and the consumer goes on with what is left', async () => {
    const { seen, subscription } = collect();
    const before = startConsumer(house, { subscription });
    await writeNote(house, 'a');
    await until(house.clock, () => seen.length === 1);
    await before.stop();
    await writeNotes(house, ['a'], 2);
    await house.clock.advance(25 * hour);
    await writeNote(house, 'a');
    await house.engine.sweep();

    const after = startConsumer(house, { subscription });
    await until(house.clock, () => seen.length === 2);
    await after.stop();
    expect(seen).toEqual([1, 4]);
    expect(after.alarms).toMatchObject([{ kind: 'trimmed', consumer: 'collect' }]);
    expect(after.counters().alarms).toBe(1);
  });

  test('with their whole shard do not stop its children', async () => {
    const { seen, subscription } = collect();
    const before = startConsumer(house, { subscription });
    await writeNote(house, 'a');
    await until(house.clock, () => seen.length === 1);
    await before.stop();
    await writeNote(house, 'a');
    await house.engine.rollShards('notes');
    await house.clock.advance(25 * hour);
    await house.engine.sweep();
    await writeNote(house, 'a');

    const after = startConsumer(house, { subscription });
    await until(house.clock, () => seen.length === 2);
    await after.stop();
    expect(seen).toEqual([1, 3]);
    expect(after.alarms).toMatchObject([{ kind: 'gone' }]);
  });

  test('raise none if they had been handled', async () => {
    const { seen, subscription } = collect();
    const before = startConsumer(house, { subscription });
    await writeNotes(house, ['a'], 2);
    await until(house.clock, () => seen.length === 2);
    await before.stop();
    await house.clock.advance(25 * hour);
    await house.engine.sweep();
    await writeNote(house, 'a');
    const after = startConsumer(house, { subscription });
    await until(house.clock, () => seen.length === 3);
    await after.stop();
    expect(after.alarms).toEqual([]);
  });
});

test('a source or a table that fails for a while delays everything and loses nothing', async () => {
  const random = seededRandom(7);
  const flaky = <T extends object>(port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, method]) => [
        name,
        (...args: unknown[]) => {
          if (name !== 'position' && random() < 0.3) return Promise.reject(new Error('no route to host'));
          return method(...args);
        },
      ]),
    ) as T;
  await writeNotes(house, ['a', 'b'], 5);
  const { clock } = house;
  const consumer = createConsumer({
    subscription: mirroring(house, { batchRecords: 3 }),
    source: flaky(house.source),
    client: flaky(house.client),
    clock,
    log: silent,
  });
  const supervisor = superviseWorkers([consumer], { clock, log: silent });
  await until(clock, () => isMirrored(house));
  await Promise.race([supervisor.stop(), until(clock, () => false)]);
  await expectMirrored(house);
  expect(consumer.counters().failures).toBeGreaterThan(0);
});
