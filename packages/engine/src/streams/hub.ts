import type { Context } from '../context.ts';
import { readSequence } from '../storage/committer.ts';
import type { StreamChanges } from '../storage/stream-changes.ts';
import type { Stream } from '../storage/table.ts';
import { shardRange } from './records.ts';
import { findStream } from './stream-lookup.ts';

// Wakes the readers of streams: at once after a commit of this process, and when another process reports a commit. A
// report names the streams that have changed, so that nothing is read for the readers of others. In case a report is
// lost, a slow poll runs while readers wait.

export type HubOptions = {
  pollMs(): number;
  signal?: AbortSignal; // ends every wait: the store is about to close
  // Other processes are to report changes of a stream, or need not any more.
  watch?(streamId: number, since: number): void;
  unwatch?(streamId: number): void;
};

const idleReports = 4; // in a row for which no reader waited: reports cost more than asking for them again

type Reader = Pick<Context, 'store' | 'catalog'>;
type Waiter = {
  target: string;
  since: number;
  streamIds: readonly number[];
  wake(): void;
  stop(reason: unknown): void;
};

export function createStreamHub(context: Reader, { pollMs, signal: closing, ...others }: HubOptions) {
  const waiters = new Set<Waiter>();
  const byStream = new Map<number, Set<Waiter>>();
  const watched = new Map<number, number>(); // by stream: reports in a row for which no reader waited
  let timer: NodeJS.Timeout | undefined;
  let checked = -1;

  function add(waiter: Waiter): void {
    waiters.add(waiter);
    for (const id of waiter.streamIds) {
      byStream.set(id, (byStream.get(id) ?? new Set()).add(waiter));
      if (!watched.has(id)) others.watch?.(id, waiter.since);
      watched.set(id, 0);
    }
  }

  function remove(waiter: Waiter): void {
    waiters.delete(waiter);
    for (const id of waiter.streamIds) {
      const left = byStream.get(id);
      left?.delete(waiter);
      if (left?.size === 0) byStream.delete(id);
    }
  }

  // Called after every commit of this process.
  function notify(changes: StreamChanges): void {
    if (waiters.size === 0) return;
    if (changes) for (const waiter of waitingFor(changes)) waiter.wake();
    else check();
  }

  function waitingFor(changes: NonNullable<StreamChanges>): Waiter[] {
    const waiters: Waiter[] = [];
    for (const [streamId, newest] of changes)
      for (const waiter of byStream.get(streamId) ?? []) if (newest > waiter.since) waiters.push(waiter);
    return waiters;
  }

  // Looks at every stream that a reader waits for. Only this sets `checked`: a report of some streams says nothing about
  // the others, and the report of those may be lost.
  function check(): void {
    const newest = readSequence(context.store);
    if (newest === checked) return;
    checked = newest;
    for (const waiter of [...waiters]) {
      const streams = streamsOf(context, waiter.target);
      if (hasChanged(context, streams, waiter.since)) waiter.wake();
      else watch(waiter, streams);
    }
  }

  // A table may have another stream than when the wait began.
  function watch(waiter: Waiter, streams: readonly Stream[] | undefined): void {
    remove(waiter);
    waiter.streamIds = idsOf(streams);
    add(waiter);
  }

  // If the store cannot be read, for example on a broken disk, no change is reported. Writers get the error.
  function poll(): void {
    try {
      context.store.refresh();
      check();
    } catch {}
  }

  // For commits of other processes.
  function look(changes: StreamChanges): void {
    if (!changes) {
      lookAtAll();
      return;
    }
    for (const streamId of changes.keys()) noteIdle(streamId);
    const woken = waitingFor(changes);
    if (woken.length === 0) return;
    context.store.refresh();
    for (const waiter of woken) waiter.wake();
  }

  function noteIdle(streamId: number): void {
    const reports = watched.get(streamId);
    if (reports === undefined || byStream.has(streamId)) return;
    watched.set(streamId, reports + 1);
    if (reports + 1 < idleReports) return;
    watched.delete(streamId);
    others.unwatch?.(streamId);
  }

  // Reports in the same turn of the event loop need one look.
  let isLooking = false;
  function lookAtAll(): void {
    if (isLooking || waiters.size === 0) return;
    isLooking = true;
    setImmediate(() => {
      isLooking = false;
      if (waiters.size > 0 && !closing?.aborted) poll();
    });
  }

  // The newest sequence of the log. Taken before a read and passed to `waitForChange` afterwards, it closes the gap
  // between the two.
  const position = (): number => readSequence(context.store);

  // Resolves when the stream has a record, a new shard or an end above `from`, or is gone. `target` is a
  // stream's ARN or a table's name. Rejects with the signal's reason.
  function waitForChange(target: string, signal?: AbortSignal, from?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      for (const over of [signal, closing]) if (over?.aborted) return reject(over.reason);
      // Another process may have reported a commit before this one waited.
      context.store.refresh();
      const since = from ?? position();
      const streams = streamsOf(context, target);
      if (hasChanged(context, streams, since)) return resolve();
      const settle = (answer: () => void) => {
        remove(waiter);
        signal?.removeEventListener('abort', abort);
        if (waiters.size === 0) stopPolling();
        answer();
      };
      const abort = () => waiter.stop(signal?.reason);
      const waiter: Waiter = {
        target,
        since,
        streamIds: idsOf(streams),
        wake: () => settle(resolve),
        stop: reason => settle(() => reject(reason)),
      };
      signal?.addEventListener('abort', abort, { once: true });
      add(waiter);
      timer ??= setInterval(poll, pollMs()).unref();
    });
  }

  function stopPolling(): void {
    clearInterval(timer);
    timer = undefined;
  }

  closing?.addEventListener('abort', () => {
    for (const waiter of waiters) waiter.stop(closing.reason);
  });

  return { notify, look, position, waitForChange, waiting: () => waiters.size };
}

const idsOf = (streams: readonly Stream[] | undefined): number[] => (streams ?? []).map(({ id }) => id);

// True for a stream that is gone.
const hasChanged = (context: Reader, streams: readonly Stream[] | undefined, since: number): boolean =>
  !streams || streams.some(stream => changedSince(context, stream, since));

function streamsOf(context: Reader, target: string): Stream[] | undefined {
  if (!target.startsWith('arn:')) return context.catalog.find(target)?.streams;
  const entry = findStream(context, target);
  return entry && [entry.stream];
}

function changedSince({ store }: Reader, stream: Stream, since: number): boolean {
  return stream.shards.some(({ id, start, end }) => {
    if (start > since || (end !== undefined && end > since)) return true;
    for (const _ of store.keys(shardRange(stream.id, id, since + 1))) return true;
    return false;
  });
}
