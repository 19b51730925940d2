import { backoffMs, type Clock, type Random } from '@stak/kit';
import { tableErrors } from '../errors.ts';
import type { StepFailure } from './failure.ts';

/**
 * The result of an attempt: finished; lost to another write, so it must read again; or partly done, with more to do.
 */
export type Attempt<T> = { kind: 'done'; result: T } | { kind: 'conflict' } | { kind: 'progress' };

/** The result of an attempt that succeeded. */
export const done = <T>(result: T): Attempt<T> => ({ kind: 'done', result });
/** The result of an attempt that lost to another write: it is made again. */
export const conflict: Attempt<never> = { kind: 'conflict' };
/** The result of an attempt that did a part of the work: the next one starts at once. */
export const progress: Attempt<never> = { kind: 'progress' };

/** How to retry work that conflicts with other writes. */
export type ConflictRetry = {
  clock: Pick<Clock, 'sleep'>;
  random: Random;
  attempts: number; // conflicts before it gives up
  atOnce?: number; // the number of those that are retried without a delay
  firstMs: number;
  mostMs: number;
  busy(): Error; // the error to throw when it gives up
};

/**
 * Optimistic concurrency: an attempt reads, decides, and writes on the condition that what it read is unchanged. After
 * a conflict it starts again. Of several concurrent writers, one always succeeds.
 *
 *     await retryConflicts({ clock, random, attempts: 20, firstMs: 5, mostMs: 250, busy }, async () => {
 *       const found = await store.get(user, key, { consistent: true });
 *       await store.put(user, change(found), { ifVersion: found.version });
 *       return done(undefined);
 *     });
 */
export async function retryConflicts<T>(
  { clock, random, attempts, atOnce = 0, firstMs, mostMs, busy }: ConflictRetry,
  attempt: () => Promise<Attempt<T>>,
): Promise<T> {
  for (let lost = 0; lost < attempts; ) {
    try {
      const outcome = await attempt();
      if (outcome.kind === 'done') return outcome.result;
      if (outcome.kind === 'progress') continue;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    lost += 1;
    if (lost > atOnce) await clock.sleep(backoffMs(lost - atOnce, { firstMs, mostMs }, random));
  }
  throw busy();
}

const failuresOf = (error: unknown): readonly StepFailure[] =>
  tableErrors.includes(error) && error.code === 'table.transaction_failed'
    ? (error.details as { failures: StepFailure[] }).failures
    : [];

/** Another write came first: a condition does not hold, or two transactions conflicted. */
export const isConflict = (error: unknown): boolean =>
  (tableErrors.includes(error) && error.code === 'table.condition_failed') ||
  failuresOf(error).some(({ reason }) => reason === 'condition_failed' || reason === 'conflict');

/** For `catch`, if it does not matter which write came first. */
export function ignoreConflict(error: unknown): void {
  if (!isConflict(error)) throw error;
}

/**
 * The first step whose condition did not hold, or the one with this name, with the item that it found. Steps that only
 * conflicted with another transaction are ignored.
 */
export const failedCondition = (error: unknown, step?: string): StepFailure | undefined =>
  failuresOf(error).find(
    failure => failure.reason === 'condition_failed' && (step === undefined || failure.step === step),
  );

/** A condition did not hold, as opposed to an outage or a conflict of transactions. */
export const isRefused = (error: unknown): boolean =>
  (tableErrors.includes(error) && error.code === 'table.condition_failed') ||
  failedCondition(error) !== undefined;
