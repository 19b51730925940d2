import { AppError, backoffMs, type Clock, type Random } from '@stak/kit';
import { tableErrors } from '../errors.ts';
import * as limits from '../limits.ts';

// All retries are made here, none by the SDK: only this layer knows which requests can be repeated.

export type Patience = { clock: Pick<Clock, 'now' | 'sleep' | 'elapsed'>; random: Random };

const passing = new Set([
  'ThrottlingException',
  'ThrottlingError',
  'Throttling',
  'ProvisionedThroughputExceededException',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'LimitExceededException', // of a shard, which others read as well
  'TransactionConflictException',
  'TransactionConflict',
  'TransactionInProgressException',
]);

// The role of the machine has not answered yet, or its credentials have just expired: the SDK fetches new ones.
const unproven = new Set(['CredentialsProviderError', 'ExpiredToken', 'ExpiredTokenException']);

type Reason = { Code?: string };
type Metadata = { httpStatusCode?: number; clockSkewCorrected?: boolean };
const tooManyRequests = 429; // from S3-compatible stores, each with another name; DynamoDB answers 400
const metadataOf = (error: Error): Metadata => (error as { $metadata?: Metadata }).$metadata ?? {};

// Nothing was written, and the same request is likely to succeed in a moment.
function willPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (metadataOf(error).clockSkewCorrected) return true; // our clock was wrong, and the SDK has learned by how much
  if (error.name !== 'TransactionCanceledException')
    return (
      passing.has(error.name) ||
      unproven.has(error.name) ||
      metadataOf(error).httpStatusCode === tooManyRequests
    );
  const reasons = (error as { CancellationReasons?: Reason[] }).CancellationReasons ?? [];
  const codes = reasons.map(reason => reason.Code ?? 'None').filter(code => code !== 'None');
  return codes.length > 0 && codes.every(code => passing.has(code));
}

const broken = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
const failing = new Set(['InternalServerError', 'RequestTimeout', 'ServiceUnavailable', 'TimeoutError']);

// The connection broke or the server failed: it is unknown whether the write was made.
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (isFull(error)) return false;
  if (typeof code === 'string' && broken.has(code)) return true;
  return failing.has(error.name) || (metadataOf(error).httpStatusCode ?? 0) >= 500;
}

// The embedded engine says this when its disk has no space: nothing was written.
const isFull = (error: unknown): boolean => error instanceof Error && error.name === 'StoreFullException';

/**
 * Whether an error says that the store is temporarily busy or unavailable, as opposed to a wrong request. By
 * convention, so does a code that ends in `.busy`. A full disk is: an operator makes room.
 */
export const isUnavailable = (error: unknown): boolean =>
  (error instanceof AppError && (error.code.endsWith('.busy') || error.code === 'store.full')) ||
  isFull(error) ||
  willPass(error) ||
  isUnanswered(error);

type Leased = {
  clock: Pick<Clock, 'now' | 'sleep'>;
  untilMs(): number; // when the lease ends, which may be renewed meanwhile
  signal?: AbortSignal;
};

/**
 * Repeats a write of what no other process can know while the store is unavailable and the lease holds.
 *
 *     await retryWhileLeased(() => store.update(job, key, change), { clock, untilMs: () => leasedUntilMs });
 */
export async function retryWhileLeased<T>(
  write: () => Promise<T>,
  { clock, untilMs, signal }: Leased,
): Promise<T> {
  for (;;)
    try {
      return await write();
    } catch (error) {
      const isOver = clock.now() + limits.leasedPauseMs >= untilMs();
      if (!isUnavailable(error) || isOver || signal?.aborted) throw error;
      await clock.sleep(limits.leasedPauseMs, signal).catch(() => {});
    }
}

// The embedded engine reports this: no attempt will succeed before the process has opened the other store.
const hasMoved = (error: unknown): boolean => error instanceof Error && error.name === 'StoreMovedException';

// Full jitter: callers that collided do not collide again.
export const backoff = ({ clock, random }: Patience, failures: number): Promise<void> =>
  clock.sleep(backoffMs(failures + 1, delays, random));

const delays = { firstMs: limits.backoffFirstMs, mostMs: limits.backoffMostMs };

// Requests that can be repeated without harm are also retried when it is unknown whether they succeeded.
export async function withRetry<T>(
  patience: Patience,
  attempt: () => Promise<T>,
  { mayRepeat }: { mayRepeat: boolean },
): Promise<T> {
  // A clock that is set forward meanwhile must not end it.
  const { clock } = patience;
  const elapsed = () => clock.elapsed?.() ?? clock.now();
  const lastMs = elapsed() + limits.patienceMs;
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (hasMoved(error)) throw busy(error);
      if (isFull(error)) throw full(error);
      if (!willPass(error)) {
        if (!isUnanswered(error)) throw error;
        if (!mayRepeat) throw busy(error);
      }
      if (failures + 1 >= limits.attempts || elapsed() >= lastMs) throw busy(error);
      await backoff(patience, failures);
    }
  }
}

const full = (cause: unknown) =>
  tableErrors.create('store.full', 'the disk of the server is full; nothing was changed', undefined, cause);

export const busy = (cause?: unknown, details?: { left: number }) => {
  const text =
    cause !== undefined && isUnanswered(cause)
      ? 'the store does not answer; whether the change was made is not known; try again later'
      : cause instanceof Error && unproven.has(cause.name)
        ? 'the server has no valid credentials for the store; try again later'
        : 'the table is too busy; try again later';
  return tableErrors.create('table.busy', text, { ...details, retryAfterS: limits.busyRetryS }, cause);
};
