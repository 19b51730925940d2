import type { Clock, Logger, Notifier, Worker } from '@stak/kit';
import { followSignal } from './signal.ts';
import type { StreamRecord, StreamSource } from './source.ts';
import { handleOne, type Subscription } from './subscription.ts';
import { tailTable } from './tail.ts';

/**
 * For what every process has to hear by itself, such as the event streams that it serves. The handler only wakes:
 * nothing is remembered, and what was missed is made good by looking at everything again.
 */
export type Following = {
  subscription: Subscription;
  // Whether anybody here waits for changes. While nobody does, nothing is read.
  isWanted(): boolean;
  wanted: Notifier; // rung when somebody comes
  // Changes may have passed unseen: wake everybody.
  lookAgain(): void;
  // Of use only where the source wakes its readers: what is heard later is known by then.
  isForWoken?: true;
};

export type FollowerDeps = { source: StreamSource; clock: Clock; log: Logger };

const idleMs = 60_000; // between two looks whether it is wanted, besides the bell
const lingerMs = 5_000; // after the last listener has left: the next one often comes soon

/**
 * A source that wakes its readers tells within milliseconds; another one is read about twice a second, for as long as
 * somebody listens.
 */
export function createFollower(following: Following, { source, clock, log }: FollowerDeps): Worker {
  const { subscription, isWanted, wanted, lookAgain } = following;
  const { name, table } = subscription;
  return {
    name: `follow ${name}`,
    async run(signal) {
      while (!signal.aborted) {
        if (!isWanted()) {
          await wanted.wait(idleMs, signal);
          continue;
        }
        const over = followSignal(signal);
        const context = { consumer: name, attempt: 1, signal: over.signal };
        const onRecord = (record: StreamRecord) => {
          handleOne(subscription, record, context).catch(error =>
            log.warn({ err: error, consumer: name }, 'a change could not be told'),
          );
        };
        const options = {
          source,
          table: table.name,
          clock,
          onReady: lookAgain,
          onRecord,
          onMissed: lookAgain,
        };
        const leaving = leaveWhenUnwanted(isWanted, clock, over);
        try {
          await tailTable(options, over.signal);
        } finally {
          over.abort();
          over.unfollow();
          await leaving;
        }
      }
    },
  };
}

async function leaveWhenUnwanted(
  isWanted: () => boolean,
  clock: Clock,
  over: { signal: AbortSignal; abort(): void },
): Promise<void> {
  while (!over.signal.aborted) {
    await clock.sleep(lingerMs, over.signal).catch(() => {});
    if (!isWanted()) over.abort();
  }
}
