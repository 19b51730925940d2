import { type StepFailure, tableErrors } from '@stak/table';
import type { Service } from './deps.ts';
import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';

// What an attempt found out: that it is done, that it has to look again, or that it got a step further.
export type Attempt<T> = { kind: 'done'; result: T } | { kind: 'again' } | { kind: 'further' };

export const done = <T>(result: T): Attempt<T> => ({ kind: 'done', result });
export const again: Attempt<never> = { kind: 'again' };
export const further: Attempt<never> = { kind: 'further' };

// Every change is decided on what was read, and made on the condition that it is still so. Whoever loses the race
// reads again; of any number of writers one always wins.
export async function untilDone<T>(
  { clock, random }: Pick<Service, 'clock' | 'random'>,
  attempt: () => Promise<Attempt<T>>,
): Promise<T> {
  for (let lost = 0; lost < limits.changeAttempts; ) {
    if (lost > 3) await clock.sleep(random() * limits.raceMs * Math.min(lost, 16));
    try {
      const outcome = await attempt();
      if (outcome.kind === 'done') return outcome.result;
      if (outcome.kind === 'again') lost += 1;
    } catch (error) {
      if (!isLostRace(error)) throw error;
      lost += 1;
    }
  }
  throw inboxErrors.create('inbox.busy', 'Too many changes at once; try again.', { retryAfterS: 1 });
}

const failuresOf = (error: unknown): readonly StepFailure[] =>
  tableErrors.includes(error) && error.code === 'table.transaction_failed'
    ? (error.details as { failures: StepFailure[] }).failures
    : [];

export const isLostRace = (error: unknown): boolean =>
  failuresOf(error).some(({ reason }) => reason === 'condition_failed' || reason === 'conflict') ||
  (tableErrors.includes(error) && error.code === 'table.condition_failed');

// Somebody else was first, which is as good.
export function unlessLost(error: unknown): void {
  if (!isLostRace(error)) throw error;
}

// Whether a step with this name has failed, and what stood in its way.
export const failureOf = (error: unknown, step: string): StepFailure | undefined =>
  failuresOf(error).find(one => one.step === step && one.reason === 'condition_failed');
