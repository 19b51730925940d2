import type { Clock, Logger, Notifier, Worker } from '@stak/kit';
import { linkSignal } from '../source/linked-signal.ts';
import type { StreamRecord, StreamSource } from '../source/source.ts';
import { concerns, handleOne, type Subscription } from '../work/subscription.ts';
import { tailTable } from './tail.ts';

/**
 * Follows a table's changes in every process, for example to wake the event streams that it serves. The handler only
 * wakes subscribers: there is no checkpoint, and after missed changes everything is read again.
 */
export type FollowerOptions = {
  subscription: Subscription;
  // Whether this process has listeners. Without any, the stream is not read.
  hasListeners(): boolean;
  listenerAdded: Notifier; // notified when a listener is added
  // Changes may have been missed: wake all listeners.
  onMissed(): void;
  // Useful only if the source wakes its readers; a polled one would report changes too late.
  skipIfPolled?: true;
};

export type FollowerDeps = { source: StreamSource; clock: Clock; log: Logger };

const idleMs = 60_000; // how often to look for listeners, besides `listenerAdded`
const lingerMs = 5_000; // after the last listener has left: often the next one comes soon

/**
 * A worker that follows a table's changes while there are listeners. A source that wakes its readers reports a change
 * within milliseconds; any other is polled about twice a second.
 */
export function createFollower(options: FollowerOptions, { source, clock, log }: FollowerDeps): Worker {
  const { subscription, hasListeners, listenerAdded, onMissed } = options;
  const { name, table } = subscription;
  return {
    name: `follow ${name}`,
    async run(signal) {
      while (!signal.aborted) {
        if (!hasListeners()) {
          await listenerAdded.wait(idleMs, signal);
          continue;
        }
        const over = linkSignal(signal);
        const context = { consumer: name, attempt: 1, signal: over.signal };
        const onRecord = (record: StreamRecord) => {
          if (!concerns(subscription, record)) return;
          handleOne(subscription, record, context).catch(error =>
            log.warn({ err: error, consumer: name }, 'a change could not be handled'),
          );
        };
        const tailOptions = {
          source,
          table: table.name,
          clock,
          onReady: onMissed,
          onRecord,
          onMissed,
        };
        const leaving = stopWithoutListeners(hasListeners, clock, over);
        try {
          await tailTable(tailOptions, over.signal);
        } finally {
          over.abort();
          over.unlink();
          await leaving;
        }
      }
    },
  };
}

async function stopWithoutListeners(
  hasListeners: () => boolean,
  clock: Clock,
  over: { signal: AbortSignal; abort(): void },
): Promise<void> {
  while (!over.signal.aborted) {
    await clock.sleep(lingerMs, over.signal).catch(() => {});
    if (!hasListeners()) over.abort();
  }
}
