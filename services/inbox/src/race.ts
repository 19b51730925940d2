import { failedStep, type StepFailure, tableErrors } from '@stak/table';
import type { Service } from './deps.ts';
import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';

// What an attempt found out: that it is done, or that it has to look again.
export type Attempt<T> = { done: true; result: T } | { done: false };

export const done = <T>(result: T): Attempt<T> => ({ done: true, result });
export const again: Attempt<never> = { done: false };

// Every change is decided on what was read, and made on the condition that it is still so. Whoever loses the race
// reads again; of any number of writers one always wins.
export async function untilDone<T>(
  { clock, random }: Pick<Service, 'clock' | 'random'>,
  attempt: () => Promise<Attempt<T>>,
): Promise<T> {
  for (let lost = 0; lost < limits.changeAttempts; lost++) {
    if (lost > 3) await clock.sleep(random() * limits.raceMs * Math.min(lost, 16));
    try {
      const outcome = await attempt();
      if (outcome.done) return outcome.result;
    } catch (error) {
      if (!isLostRace(error)) throw error;
    }
  }
  throw inboxErrors.create('inbox.busy', 'Too many changes at once; try again.', { retryAfterS: 1 });
}

export const isLostRace = (error: unknown): boolean =>
  failedStep(error)?.reason === 'condition_failed' ||
  (tableErrors.includes(error) && error.code === 'table.condition_failed');

// Whether a step with this name has failed, and what stood in its way.
export const failureOf = (error: unknown, step: string): StepFailure | undefined =>
  tableErrors.includes(error) && error.code === 'table.transaction_failed'
    ? (error.details as { failures: StepFailure[] }).failures.find(
        one => one.step === step && one.reason === 'condition_failed',
      )
    : undefined;
