import type { Clock, Random } from '@stak/kit';
import { tableErrors } from './errors.ts';
import * as limits from './limits.ts';

export type Patience = { clock: Clock; random: Random };

const passing = new Set([
  'ThrottlingException',
  'ThrottlingError',
  'Throttling',
  'ProvisionedThroughputExceededException',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'TransactionConflict',
  'TransactionInProgressException',
]);

type Reason = { Code?: string };

// Nothing was written, and the same request may well succeed in a moment. A server error is not among them: the
// write may have been made, and an ADD must not be made twice.
export function willPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name !== 'TransactionCanceledException') return passing.has(error.name);
  const reasons = (error as { CancellationReasons?: Reason[] }).CancellationReasons ?? [];
  const codes = reasons.map(reason => reason.Code ?? 'None').filter(code => code !== 'None');
  return codes.length > 0 && codes.every(code => passing.has(code));
}

// Full jitter: callers that collided do not collide again.
export const backoff = ({ clock, random }: Patience, failures: number): Promise<void> =>
  clock.sleep(random() * Math.min(limits.backoffMostMs, limits.backoffFirstMs * 2 ** failures));

export async function withRetry<T>(patience: Patience, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!willPass(error)) throw error;
      if (failures + 1 >= limits.attempts) throw busy(error);
      await backoff(patience, failures);
    }
  }
}

export const busy = (cause?: unknown, details?: { left: number }) =>
  tableErrors.create('table.busy', 'the table is too busy; try again later', details, cause);
