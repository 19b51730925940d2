import type { Clock } from '@stak/kit';
import { isUnavailable, type Store } from '@stak/table';
import { LeaseLostError } from '../errors.ts';
import type { TaskDeps } from './shard-task.ts';
import { work } from './state-table.ts';
import { handleOne } from './subscription.ts';
import type { Lease } from './work-store.ts';

export const redriveKey = 'redrive';

/**
 * Asks the processes that run the consumer to handle its dead letters again; they check at every renewal. A redrive in
 * progress loses its lease and starts over, so that it includes new letters.
 */
export async function requestRedrive(store: Store, clock: Clock, consumer: string): Promise<void> {
  await store.update(
    work,
    { consumer, work: redriveKey },
    {
      set: { requested_at: clock.now() },
      add: { fence: 1 },
      remove: ['owner', 'lease_until', 'finished_at', 'expires_at'],
    },
    { upsert: true },
  );
}

// Tries each dead letter once, oldest first. Letters that fail again stay, with the new reason.
export async function redriveLetters(deps: TaskDeps, lease: Lease, signal: AbortSignal): Promise<boolean> {
  const { subscription, letters, works, clock, log, counters } = deps;
  const requestedAt = clock.now();
  for await (const letter of letters.list()) {
    if (signal.aborted) return false;
    if (clock.now() >= lease.untilMs) throw new LeaseLostError('the lease of the redrive ran out');
    if (letter.failed_at > requestedAt) continue;
    const context = {
      consumer: subscription.name,
      shardId: letter.shard_id,
      attempt: letter.attempts + 1,
      signal,
    };
    try {
      await handleOne(subscription, await letters.open(letter), context);
    } catch (error) {
      if (signal.aborted) return false;
      if (isUnavailable(error)) throw error; // retried in a moment
      await letters.failAgain(letter, error);
      log.warn({ err: error, eventId: letter.event_id }, 'dead letter failed again');
      continue;
    }
    await letters.remove(letter);
    counters.redriven += 1;
  }
  await works.finish(lease);
  return true;
}
