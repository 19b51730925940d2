import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Context } from '../context.ts';
import { logKey, logSequence } from '../storage/keys.ts';
import { formatChanges, mergeChanges, parseChanges, type StreamChanges } from '../storage/stream-changes.ts';
import type { Stream } from '../storage/table.ts';
import { createCommitReports } from './commit-reports.ts';
import { createStreamHub } from './hub.ts';

// Processes on one store, whose lines reach each other in order and at any later time. None of them polls.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const streamCount = 3;
const streamId = (stream: number): number => stream + 1;
const never = 2 ** 31 - 1;

// Holds the commits of all processes.
function createSharedStore() {
  let sequence = 0;
  const newest = Array.from({ length: streamCount }, () => 0);
  const starts = Array.from({ length: streamCount }, () => 0);
  let reads = 0;
  const streamIdIn = (key: Buffer): number =>
    newest.findIndex((_, stream) => logKey(streamId(stream), 1, 0).compare(key, 0, 5, 0, 5) === 0);
  const store = {
    refresh() {},
    get() {
      reads += 1;
      return sequence;
    },
    *keys({ start }: { start: Buffer }) {
      reads += 1;
      if (newest[streamIdIn(start)]! >= logSequence(start)) yield start;
    },
  };
  const catalog = {
    find(name: string) {
      const stream = Number(name);
      return { streams: [{ id: streamId(stream), shards: [{ id: 1, start: starts[stream]! }] } as Stream] };
    },
  };
  return {
    context: { store, catalog } as unknown as Context,
    reads: () => reads,
    position: () => sequence,
    isAbove: (stream: number, since: number): boolean => newest[stream]! > since || starts[stream]! > since,
    commit(streams: readonly number[]): StreamChanges {
      const changes = new Map<number, number>();
      for (const stream of streams) {
        newest[stream] = ++sequence;
        changes.set(streamId(stream), sequence);
      }
      return changes;
    },
    roll(stream: number): StreamChanges {
      starts[stream] = ++sequence;
      return undefined;
    },
  };
}

type Shared = ReturnType<typeof createSharedStore>;

function createProcess(shared: Shared) {
  const hub = createStreamHub(shared.context, {
    pollMs: () => never,
    watch: (id, since) => reports.watch(id, since),
    unwatch: id => reports.unwatch(id),
  });
  const reports = createCommitReports(hub.look);
  const unannounced: StreamChanges[] = [];
  const waits: { stream: number; since: number; isOver: boolean }[] = [];
  return {
    hub,
    reports,
    unannounced,
    waits,
    announce(): void {
      if (unannounced.length === 0) return;
      const changes = unannounced.shift();
      hub.notify(changes);
      reports.notify(changes);
    },
    wait(stream: number, since: number): void {
      const wait = { stream, since, isOver: false };
      waits.push(wait);
      void hub.waitForChange(String(stream), undefined, since).then(() => {
        wait.isOver = true;
      });
    },
  };
}

type Process = ReturnType<typeof createProcess>;

// A connection, as `peers.ts` opens it.
function link(one: Process, other: Process, isOld: boolean) {
  const toOne: [string, (() => void)?][] = [];
  const toOther: [string, (() => void)?][] = [];
  const ends = {
    one: one.reports.connect((line, onSent) => toOther.push([line, onSent])),
    // An earlier version reports nothing but empty lines, and takes every line for one.
    other: isOld
      ? { receive: () => other.hub.look(undefined) }
      : other.reports.connect((line, onSent) => toOne.push([line, onSent])),
  };
  toOne.push(['']);
  other.hub.look(undefined);
  return {
    deliver(): boolean {
      const lines = [toOne.shift(), toOther.shift()];
      if (lines[0]) ends.one.receive(lines[0][0]);
      if (lines[1]) ends.other.receive(lines[1][0]);
      for (const line of lines) line?.[1]?.();
      return lines.some(line => line !== undefined);
    },
  };
}

const process = fc.nat(2);
const stream = fc.nat(streamCount - 1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ by: process, commits: fc.array(stream, { minLength: 1 }) }) },
  { weight: 6, arbitrary: fc.record({ by: process, announces: fc.constant(true) }) },
  { weight: 5, arbitrary: fc.record({ by: process, waitsFor: stream, back: fc.nat(2) }) },
  { weight: 12, arbitrary: fc.record({ delivers: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ afterMs: fc.integer({ min: 1, max: 3 }) }) },
);
// Wakes all processes, so runs without it find more.
const rollingStep = fc.oneof(
  { weight: 30, arbitrary: step },
  { weight: 1, arbitrary: fc.record({ by: process, rolls: stream }) },
);
const run = (one: typeof step | typeof rollingStep) => fc.array(one, { minLength: 30, maxLength: 120 });

it('wakes every reader of a stream that has changed, whenever it began to wait, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(run(step), run(rollingStep)),
      fc.constantFrom(0, 0, 15),
      async (steps, joinsAfter) => {
        const shared = createSharedStore();
        const processes = [0, 1, 2].map(() => createProcess(shared)) as [Process, Process, Process];
        const links = [link(processes[0], processes[1], false)];
        const settle = () => vi.advanceTimersByTimeAsync(0);
        for (const [i, one] of steps.entries()) {
          if (i === joinsAfter)
            links.push(link(processes[2], processes[0], false), link(processes[2], processes[1], false));
          if ('commits' in one) processes[one.by]!.unannounced.push(shared.commit(one.commits));
          else if ('rolls' in one) processes[one.by]!.unannounced.push(shared.roll(one.rolls));
          else if ('announces' in one) processes[one.by]!.announce();
          else if ('waitsFor' in one)
            processes[one.by]!.wait(one.waitsFor, Math.max(0, shared.position() - one.back));
          else if ('delivers' in one) links[one.delivers]?.deliver();
          else await vi.advanceTimersByTimeAsync(one.afterMs);
          await settle();
        }
        for (let isMoving = true; isMoving; ) {
          isMoving = processes.some(({ unannounced }) => unannounced.length > 0);
          for (const one of processes) one.announce();
          await vi.advanceTimersByTimeAsync(5);
          for (const one of links) if (one.deliver()) isMoving = true;
        }
        await settle();
        for (const { waits, hub } of processes) {
          for (const wait of waits) expect(wait.isOver).toBe(shared.isAbove(wait.stream, wait.since));
          expect(hub.waiting()).toBe(waits.filter(({ isOver }) => !isOver).length);
        }
      },
    ),
    { numRuns: 100 },
  );
});

// Lines in both directions until there are none left.
async function exchange(one: ReturnType<typeof link>): Promise<void> {
  do await vi.advanceTimersByTimeAsync(5);
  while (one.deliver());
}

it('reads nothing from the store for commits to streams that nobody reads, and soon hears of them no more', async () => {
  const shared = createSharedStore();
  const [writer, reader] = [createProcess(shared), createProcess(shared)];
  const connection = link(writer, reader, false);
  await exchange(connection);
  reader.wait(0, 0);
  await exchange(connection);
  const before = shared.reads();
  const commit = async (changed: number): Promise<void> => {
    writer.unannounced.push(shared.commit([changed]));
    writer.announce();
    await exchange(connection);
  };
  for (let i = 0; i < 20; i++) await commit(1);
  expect(shared.reads()).toBe(before);
  expect(reader.waits[0]!.isOver).toBe(false);
  await commit(0);
  expect(reader.waits[0]!.isOver).toBe(true);
  // It reads on for a while without waiting.
  for (let i = 0; i < 20; i++) await commit(0);
  expect(shared.reads()).toBe(before);
  expect(connection.deliver()).toBe(false);
  reader.wait(0, shared.position());
  await commit(0);
  expect(reader.waits[1]!.isOver).toBe(true);
});

it('reports everything to a process that has not read for a while', async () => {
  const shared = createSharedStore();
  const [writer, reader] = [createProcess(shared), createProcess(shared)];
  const connection = link(writer, reader, false);
  for (const stream of [0, 1, 2]) reader.wait(stream, shared.position());
  await exchange(connection);
  for (const stream of [0, 1, 2]) {
    writer.unannounced.push(shared.commit([stream]));
    writer.announce();
    await vi.advanceTimersByTimeAsync(5);
  }
  await exchange(connection);
  expect(reader.waits.map(({ isOver }) => isOver)).toEqual([true, true, true]);
});

it('works with a process of an earlier version', async () => {
  const shared = createSharedStore();
  const [current, earlier] = [createProcess(shared), createProcess(shared)];
  const connection = link(current, earlier, true);
  await exchange(connection);
  earlier.wait(2, shared.position());
  current.unannounced.push(shared.commit([2]));
  current.announce();
  await exchange(connection);
  expect(earlier.waits[0]!.isOver).toBe(true);
});

it('merges changes, and names no more streams than are worth it', () => {
  const ids = (count: number, from = 0): StreamChanges =>
    new Map(Array.from({ length: count }, (_, i) => [from + i, i]));
  expect(
    mergeChanges(
      new Map([[1, 5]]),
      new Map([
        [1, 3],
        [2, 4],
      ]),
    ),
  ).toEqual(
    new Map([
      [1, 5],
      [2, 4],
    ]),
  );
  expect(mergeChanges(undefined, ids(1))).toBeUndefined();
  expect(mergeChanges(ids(1), undefined)).toBeUndefined();
  expect(mergeChanges(ids(64), ids(1, 100))).toBeUndefined();
  expect(parseChanges(formatChanges(ids(64)))).toEqual(ids(64));
  expect(formatChanges(ids(65))).toBe('');
  for (const line of ['', '+x', '+1:2,', '+1', '+1:2:3']) expect(parseChanges(line)).toBeUndefined();
});
