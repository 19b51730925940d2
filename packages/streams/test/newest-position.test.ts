import { seededRandom } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type StreamSource, shareReads, tailTable } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { createStreamAdversary, type StreamFaults } from './stream-adversary.ts';
import {
  type Fixture,
  mirroring,
  type NoteChange,
  note,
  notesTable,
  openFixture,
  pass,
  pollable,
  type Running,
  startConsumer,
  until,
  writeNote,
  writeNotes,
} from './stream-fixture.ts';

// Readers that start at the newest record. Until they have read one, only their iterator leads to their position.

let fixture: Fixture;
let stopAll: (() => Promise<void>)[];
beforeEach(async () => {
  fixture = await openFixture();
  stopAll = [];
  await writeNotes(fixture, ['old'], 2 * limits.batchRecords);
});
afterEach(async () => {
  for (const stop of stopAll) await stop();
  await fixture.engine.close();
});

const idsOf = (heard: readonly unknown[]) =>
  heard.map(one => (one as { new?: { id: string } }).new?.id ?? one);

// A polled source whose reads go wrong while `isFailing` is set.
function failing(fault: keyof StreamFaults = 'throttled') {
  const { polled, reads } = pollable(fixture);
  const state = { isFailing: false, types: [] as string[] };
  const wrong = createStreamAdversary(polled, { random: () => (state.isFailing ? 0 : 1), [fault]: 0.5 });
  const source: StreamSource = {
    ...wrong,
    getShardIterator(input) {
      state.types.push(input.ShardIteratorType);
      return wrong.getShardIterator(input);
    },
  };
  return { source, state, reads, calls: wrong.calls };
}

async function startTail(source: StreamSource): Promise<unknown[]> {
  const heard: unknown[] = [];
  const leaving = new AbortController();
  let isReady = false;
  const ended = tailTable(
    {
      source,
      table: 'notes',
      clock: fixture.clock,
      onReady: () => {
        isReady = true;
      },
      onChange: change => void heard.push(change),
      onMissed: () => void heard.push('missed'),
    },
    leaving.signal,
  );
  stopAll.push(async () => {
    leaving.abort();
    await ended;
  });
  await until(fixture.clock, () => isReady, { stepMs: 0 });
  return heard;
}

// A consumer that has read to the end and then handles one record for ever: its window is no longer the newest.
async function leaveStaleWindow(source: StreamSource): Promise<StreamSource> {
  let begun = 0;
  const handle = (_: NoteChange, { signal }: { signal: AbortSignal }) => {
    begun += 1;
    return new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()));
  };
  start({ source, leaseMs: 60 * 60_000, subscription: mirroring(fixture, { name: 'held', handle }) });
  await until(fixture.clock, () => begun > 0);
  await pass(fixture.clock, 3 * limits.pollMostMs);
  return source;
}

function start(options: Parameters<typeof startConsumer>[1]): Running {
  const consumer = startConsumer(fixture, options);
  stopAll.push(consumer.stop);
  return consumer;
}

describe.each<[string, (source: StreamSource) => Promise<StreamSource> | StreamSource]>([
  ['on its own', source => source],
  ['through a shared window', shareReads],
  ['beside a window that is not read any more', source => leaveStaleWindow(shareReads(source))],
])('a tail that reads %s', (_, prepare) => {
  test.each(['throttled', 'failed'] as const)('keeps its position if reads are %s', async fault => {
    const { source, state, reads, calls } = failing(fault);
    const prepared = await prepare(source);
    const callsBefore = calls();
    state.types.length = 0;
    const heard = await startTail(prepared);
    state.isFailing = true;
    await until(fixture.clock, () => calls() > callsBefore + 2);
    state.isFailing = false;
    reads.length = 0;
    await writeNote(fixture, 'new');
    await until(fixture.clock, () => heard.length > 0);
    await pass(fixture.clock, 5000);
    expect(idsOf(heard)).toEqual(['new']);
    expect(state.types).not.toContain('TRIM_HORIZON');
    expect(reads.length).toBeLessThan(25);
  });

  test('continues at the newest record if its position is lost, and says so', async () => {
    const { source, state } = failing();
    const prepared = await prepare(source);
    state.types.length = 0;
    const heard = await startTail(prepared);
    await pass(fixture.clock, 2 * limits.pollOfFollowerMs);
    fixture.clock.set(fixture.clock.now() + 16 * 60_000);
    await until(fixture.clock, () => heard.length > 0);
    await writeNote(fixture, 'new');
    await until(fixture.clock, () => heard.length > 1);
    await pass(fixture.clock, 5000);
    expect(idsOf(heard)).toEqual(['missed', 'new']);
    expect(state.types).not.toContain('TRIM_HORIZON');
  });
});

describe('a consumer that starts at the newest record', () => {
  const seeing = (seen: string[]) => ({
    name: 'newest',
    table: notesTable,
    entities: [note],
    startAt: 'LATEST' as const,
    handle: (change: NoteChange) => void seen.push(change.new!.id),
  });

  test.each(['alone', 'shared'])('keeps its position if reads are throttled, %s', async how => {
    const { source, state, calls } = failing();
    const seen: string[] = [];
    const subscription = seeing(seen);
    start({ subscription, source: how === 'shared' ? shareReads(source) : source });
    await until(fixture.clock, () => calls() > 0);
    state.isFailing = true;
    await until(fixture.clock, () => calls() > 3);
    await writeNote(fixture, 'new');
    state.isFailing = false;
    await until(fixture.clock, () => seen.length > 0);
    expect(seen).toEqual(['new']);
    expect(state.types).not.toContain('TRIM_HORIZON');
  });

  test('misses nothing that others have read since', async () => {
    const { polled } = pollable(fixture);
    const other: string[] = [];
    const seen: string[] = [];
    const source = shareReads({
      ...polled,
      async getShardIterator(input: Parameters<StreamSource['getShardIterator']>[0]) {
        const answer = await polled.getShardIterator(input);
        if (input.ShardIteratorType !== 'LATEST') return answer;
        await writeNote(fixture, 'new');
        await until(fixture.clock, () => other.includes('new'));
        return answer;
      },
    });
    const subscription = { ...seeing(other), name: 'other', startAt: 'TRIM_HORIZON' as const };
    start({ subscription, source, random: seededRandom(1) });
    await until(fixture.clock, () => other.length > 0);
    start({ subscription: seeing(seen), source, random: seededRandom(2) });
    await until(fixture.clock, () => other.includes('new'));
    await writeNote(fixture, 'newer');
    await until(fixture.clock, () => seen.includes('newer'));
    expect(seen).toEqual(['new', 'newer']);
  });
});
