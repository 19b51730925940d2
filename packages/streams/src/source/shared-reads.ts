import { randomUUID } from 'node:crypto';
import type { Clock } from '@stak/kit';
import * as limits from '../limits.ts';
import { createPause } from './pause.ts';
import { createWindow, type Window, WindowLostError } from './read-window.ts';
import { createShardReader, createTimeFilter, type Mishap, type Page, type Start } from './shard-reader.ts';
import type { Shard } from './shards.ts';
import type { StreamSource } from './source.ts';

// DynamoDB allows two readers per shard, and a table may have more consumers than that. The consumers of one process
// share one read: the last records are kept in a window, from which each consumer takes pages at its own pace.

type ShardName = Pick<Shard, 'streamArn' | 'shardId'>;

// A shard as one consumer reads it.
export type OpenShard = {
  read(limit: number): Promise<Page>;
  // Waits until there may be more; `mostMs` as in `createPause`. Rejects when the signal is aborted.
  pause(page: Page, since: number | undefined, signal: AbortSignal, mostMs?: number): Promise<void>;
  close(): void;
};

export type OpenSettings = {
  shard: ShardName;
  start: Start;
  onMishap(mishap: Mishap, after: string | undefined): void;
  clock: Clock;
  pollMostMs?: number;
};

/** Reads each shard once for several readers of this process. Used by consumers and followers. */
export type SharedReads = {
  readonly id: string; // distinguishes the readers of different processes
  open(source: StreamSource, settings: OpenSettings): OpenShard;
  // The shards of a table, as listed for any consumer of this process in the last `forMs`.
  list(table: string, list: () => Promise<Shard[]>, nowMs: number, forMs: number): Promise<Shard[]>;
};

/**
 * A source that reads each shard once for all consumers of this process. `awsSource` does so already.
 *
 *     const source = shareReads(polledSource);
 */
export const shareReads = <S extends StreamSource>(source: S): S & { shared: SharedReads } => ({
  ...source,
  shared: createSharedReads(),
});

// Reads through the window of this process, if the source has one. Embedded stores share pages themselves.
export function openShard(source: StreamSource, settings: OpenSettings): OpenShard {
  if (source.shared) return source.shared.open(source, settings);
  const { shard, start, onMishap, clock, pollMostMs } = settings;
  const { read } = createShardReader(source, shard, start, onMishap);
  return { read, pause: createPause(source, shard.streamArn, clock, pollMostMs), close() {} };
}

type Entry = { window?: Window; readers: number };

function createSharedReads(): SharedReads {
  const shards = new Map<string, Entry>();

  function open(source: StreamSource, settings: OpenSettings): OpenShard {
    const { streamArn, shardId } = settings.shard;
    const key = `${streamArn}/${shardId}`;
    const entry = shards.get(key) ?? { readers: 0 };
    shards.set(key, entry);
    entry.readers += 1;
    let isOpen = true;
    return {
      ...openThroughWindow(source, entry, settings),
      close() {
        if (isOpen) entry.readers -= 1;
        isOpen = false;
        if (entry.readers === 0) shards.delete(key);
      },
    };
  }

  const lists = new Map<string, { atMs: number; shards: Promise<Shard[]> }>();
  async function list(
    table: string,
    read: () => Promise<Shard[]>,
    nowMs: number,
    forMs: number,
  ): Promise<Shard[]> {
    const latest = lists.get(table);
    if (latest && Math.abs(nowMs - latest.atMs) < forMs) return latest.shards;
    const shards = read();
    lists.set(table, { atMs: nowMs, shards });
    shards.catch(() => {
      if (lists.get(table)?.shards === shards) lists.delete(table);
    });
    return shards;
  }
  return { id: randomUUID(), open, list };
}

// Reads from the window while it contains the reader's position. Behind the window, it reads on its own until it has
// caught up; ahead of the window, or without one, it starts the next window.
function openThroughWindow(source: StreamSource, entry: Entry, settings: OpenSettings) {
  const { shard, start, onMishap, clock, pollMostMs = limits.pollMostMs } = settings;
  const pauseAlone = createPause(source, shard.streamArn, clock, pollMostMs);
  const times = createTimeFilter(start);
  const { newest } = start;
  let { after, iterator } = start;
  let isPositionKnown = iterator === undefined; // false: at the newest record, wherever that is
  let joined: { window: Window; position: number } | undefined;
  let alone: ReturnType<typeof createShardReader> | undefined;
  let hasGap = false; // the next record of its own read does not follow the last one

  const beginWindow = (from: Start, origin: { after: string | undefined } | undefined): Window => {
    entry.window = createWindow(source, shard, from, origin, clock);
    return entry.window;
  };

  // An iterator has one reader at a time: this one, or the window.
  function takeStart(): Start {
    if (after !== undefined) return { after };
    const from = iterator === undefined ? {} : { iterator };
    iterator = undefined;
    return from;
  }

  // A position at the newest record is lost with its iterator: older records are read again, and skipped. Live views
  // continue at the newest record instead.
  function settlePosition(): void {
    if (isPositionKnown || iterator !== undefined || newest) return;
    isPositionKnown = true;
    times.restart();
  }

  function join(): typeof joined {
    const { window } = entry;
    if (joined && joined.window === window && joined.position >= window.first()) return joined;
    joined = undefined;
    settlePosition();
    if (!isPositionKnown && iterator === undefined) return undefined;
    if (!window || (after !== undefined && window.isBehind(after))) {
      const begun = beginWindow(takeStart(), isPositionKnown ? { after } : undefined);
      joined = { window: begun, position: begun.first() };
    } else if (isPositionKnown) {
      const position = window.find(after);
      if (position !== undefined) joined = { window, position };
    } else if (newest && window.isFresh()) {
      // Some records older than the newest may be included. The window may also have read newer ones, written before
      // the view was ready; a consumer needs those as well.
      joined = { window, position: window.end() };
      after = window.lastSequence();
      isPositionKnown = after !== undefined;
    }
    return joined;
  }

  async function readTogether(limit: number, at: NonNullable<typeof joined>): Promise<Page> {
    const { window } = at;
    if (at.position === window.end() && window.isDue(pollMostMs)) await window.readOn();
    const records = window.take(at.position, limit);
    at.position += records.length;
    const last = records.at(-1)?.dynamodb?.SequenceNumber;
    if (last !== undefined) [after, isPositionKnown] = [last, true];
    const isFull = at.position < window.end();
    return { records: times.pick(records), last, isFull, ended: !isFull && window.hasEnded() };
  }

  async function readAlone(limit: number): Promise<Page> {
    if (!alone) settlePosition(); // a reader that started at the newest record keeps its position
    alone ??= createShardReader(
      source,
      shard,
      { ...takeStart(), ...(newest && { newest }) },
      (mishap, reached) => {
        if (mishap === 'trimmed' || reached === undefined) times.restart();
        hasGap ||= mishap !== 'expired';
        onMishap(mishap, reached);
      },
    );
    const page = await alone.read(limit);
    if (page.last === undefined) return page;
    const before = isPositionKnown && !hasGap ? { after } : undefined;
    [after, isPositionKnown, hasGap] = [page.last, true, false];
    const { window } = entry;
    // Recorded with the page, so that a reader that has read a part of it can continue there.
    if (!page.ended && (!window || window.isBehind(page.last)))
      beginWindow({ after: page.last }, before).add(page);
    if (!page.ended && join()) alone = undefined;
    return { ...page, records: times.pick(page.records) };
  }

  return {
    async read(limit: number): Promise<Page> {
      const at = alone ? undefined : join();
      if (!at) return readAlone(limit);
      try {
        return await readTogether(limit, at);
      } catch (error) {
        if (!(error instanceof WindowLostError)) throw error;
        // Each reader finds out on its own what happened to the records after its position.
        if (entry.window === at.window) entry.window = undefined;
        return readAlone(limit);
      }
    },
    async pause(page: Page, since: number | undefined, signal: AbortSignal, mostMs?: number): Promise<void> {
      if (!joined || alone) return pauseAlone(page, since, signal, mostMs);
      const { window, position } = joined;
      if (position < window.end()) return;
      await window.wait(Math.min(mostMs ?? limits.idleMs, window.dueInMs(pollMostMs)), signal);
    },
  };
}
