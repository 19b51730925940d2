import type { Context } from '../context.ts';
import { readSequence } from '../storage/committer.ts';
import type { Stream } from '../storage/table.ts';
import { shardRange } from './records.ts';
import { findStream } from './stream-lookup.ts';

// Wakes the readers of streams: at once after a commit of this process, and when another process reports a commit. In
// case a report is lost, a slow poll runs while readers wait.

// `signal` ends every wait: the store is about to close.
export type HubOptions = { pollMs(): number; signal?: AbortSignal };

type Reader = Pick<Context, 'store' | 'catalog'>;
type Waiter = { target: string; since: number; wake(): void; stop(reason: unknown): void };

export function createStreamHub(context: Reader, { pollMs, signal: closing }: HubOptions) {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let checked = -1;

  // Called after every commit: without waiters it is a comparison.
  function notify(): void {
    if (waiters.size > 0) check();
  }

  function check(): void {
    const newest = readSequence(context.store);
    if (newest === checked) return;
    checked = newest;
    for (const waiter of waiters) if (hasChanged(context, waiter.target, waiter.since)) waiter.wake();
  }

  // If the store cannot be read, for example on a broken disk, no change is reported. Writers get the error.
  function poll(): void {
    try {
      context.store.refresh();
      check();
    } catch {}
  }

  // For commits of other processes. Reports in the same turn of the event loop need one look.
  let isLooking = false;
  function look(): void {
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
      if (hasChanged(context, target, since)) return resolve();
      const settle = (answer: () => void) => {
        waiters.delete(waiter);
        signal?.removeEventListener('abort', abort);
        if (waiters.size === 0) stopPolling();
        answer();
      };
      const abort = () => waiter.stop(signal?.reason);
      const waiter: Waiter = {
        target,
        since,
        wake: () => settle(resolve),
        stop: reason => settle(() => reject(reason)),
      };
      signal?.addEventListener('abort', abort, { once: true });
      waiters.add(waiter);
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

function hasChanged(context: Reader, target: string, since: number): boolean {
  const streams = streamsOf(context, target);
  return !streams || streams.some(stream => changedSince(context, stream, since));
}

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
