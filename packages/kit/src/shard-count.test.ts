import { expect, test } from 'vitest';
import * as limits from './limits.ts';
import { createLogger } from './log.ts';
import { manualClock } from './manual-clock.ts';
import { createShardCount } from './shard-count.ts';

// A stored number, and processes that share it.
function openStored() {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLogger({ clock, destination: { write: line => void lines.push(line) } });
  const stored = { number: undefined as number | undefined, reads: 0, fails: false };
  const open = (wanted?: number) =>
    createShardCount({
      clock,
      log,
      least: 4,
      wanted,
      async read() {
        stored.reads += 1;
        if (stored.fails) throw new Error('out of reach');
        return stored.number;
      },
      async raise(to) {
        if (stored.number === undefined || stored.number < to) stored.number = to;
      },
    });
  return { clock, lines, stored, open };
}

test('the default number is not stored', async () => {
  const { stored, open } = openStored();
  const count = open();
  expect(count.current()).toBe(4);
  await count.refresh();
  expect([count.current(), stored.number]).toEqual([4, undefined]);
});

test('a higher number is stored before it is used, and a lower one is not', async () => {
  const { stored, open } = openStored();
  const count = open(12);
  expect(count.current()).toBe(4);
  await count.refresh();
  expect([count.current(), stored.number]).toEqual([12, 12]);
  for (const wanted of [undefined, 4, 8]) {
    const later = open(wanted);
    await later.refresh();
    expect([later.current(), stored.number]).toEqual([12, 12]);
  }
});

test('an increase by another process is known after a minute, or at once if it is urgent', async () => {
  const { clock, stored, open } = openStored();
  const [patient, hasty] = [open(), open()];
  await patient.refresh();
  await hasty.refresh();
  await open(12).refresh();
  await hasty.refresh('urgent');
  await clock.advance(limits.shardCountMs - 1);
  await patient.refresh();
  expect([patient.current(), hasty.current()]).toEqual([4, 12]);
  await clock.advance(1);
  const { reads } = stored;
  await patient.refresh();
  await patient.refresh();
  expect([patient.current(), stored.reads]).toEqual([12, reads + 1]);
});

test('an unreachable store changes nothing, and the next call tries again', async () => {
  const { lines, stored, open } = openStored();
  const count = open(12);
  stored.fails = true;
  await count.refresh();
  expect([count.current(), stored.number, lines.length]).toEqual([4, undefined, 1]);
  stored.fails = false;
  await count.refresh();
  expect(count.current()).toBe(12);
});
