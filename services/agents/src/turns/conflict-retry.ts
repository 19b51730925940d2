import { type StepFailure, tableErrors, type WriteStep } from '@stak/table';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';

export type NamedStep = readonly [name: string, step: WriteStep];

// The first step of a transaction whose condition did not hold. Steps that conflicted besides say nothing.
export function failedStep(error: unknown, name?: string): StepFailure | undefined {
  if (!tableErrors.includes(error) || error.code !== 'table.transaction_failed') return undefined;
  const { failures } = error.details as { failures: readonly StepFailure[] };
  return failures.find(
    ({ reason, step }) => reason === 'condition_failed' && (name === undefined || step === name),
  );
}

// A condition that did not hold, rather than an outage.
export const isRefused = (error: unknown): boolean =>
  (tableErrors.includes(error) && error.code === 'table.condition_failed') || failedStep(error) !== undefined;

// Every change is decided on what was read, and written on the condition that it is still so. A writer that loses
// reads again; of any number of writers one always wins. Undefined from an attempt means that it was lost.
export async function retryOnConflict<T>(
  { clock, random }: Pick<Service, 'clock' | 'random'>,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let lost = 0; lost < limits.raceAttempts; lost++) {
    if (lost > 0) await clock.sleep(random() * limits.raceMs * lost);
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }
  throw tableErrors.create('table.busy', 'Too many changes at once; try again.', { retryAfterS: 1 });
}
