import type { AppError } from '@stak/kit';
import type { Attributes } from '../client/client.ts';
import type { AnyEntity } from '../design/entity.ts';
import { fromStored, hasKindOf } from '../design/item.ts';
import { tableErrors } from '../errors.ts';
import { untagItem } from './tagged.ts';

// A wire operation returns the item that failed its condition with tagged values, a prepared one with plain values.
type WithItem = { Item?: Record<string, Record<string, unknown>>; current?: Attributes };

export const storedIn = ({ Item, current }: WithItem): Attributes | undefined =>
  Item ? untagItem(Item) : current;

// The stored item that failed the condition, as the entity if it is one.
function currentOf(entity: AnyEntity, failure: WithItem): object | undefined {
  const stored = storedIn(failure);
  return stored && hasKindOf(entity, stored) ? fromStored(entity, stored) : undefined;
}

/** A condition did not hold. */
export const isConditionFailure = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'ConditionalCheckFailedException' || error.name === 'TransactionCanceledException');

export function explainWrite(entity: AnyEntity, error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') return error;
  return tableErrors.create(
    'table.condition_failed',
    `the condition on ${entity.name} does not hold`,
    { current: currentOf(entity, error as WithItem) },
    error,
  );
}

// A transaction of one step throws the same error as the step alone.
export function asOneWrite(error: unknown): unknown {
  const [reason, ...more] = (error as Cancelled | undefined)?.CancellationReasons ?? [];
  if (!(error instanceof Error) || more.length > 0 || reason?.Code !== 'ConditionalCheckFailed') return error;
  const failure = new Error(reason.Message ?? 'The conditional request failed', { cause: error });
  return Object.assign(failure, { name: 'ConditionalCheckFailedException', Item: reason.Item });
}

/** The step of a transaction that failed, and why. */
export type StepFailure = {
  readonly step: string;
  readonly reason: 'condition_failed' | 'conflict' | 'throttled' | 'refused';
  readonly message: string;
  readonly current?: object;
};

const reasons: Record<string, StepFailure['reason']> = {
  ConditionalCheckFailed: 'condition_failed',
  TransactionConflict: 'conflict',
  ThrottlingError: 'throttled',
  ProvisionedThroughputExceeded: 'throttled',
};

type Cancelled = { CancellationReasons?: (WithItem & { Code?: string; Message?: string })[] };

export function explainTransaction(
  steps: readonly { name: string; entity: AnyEntity }[],
  error: unknown,
): unknown {
  if (!(error instanceof Error) || error.name !== 'TransactionCanceledException') return error;
  const failures: StepFailure[] = [];
  for (const [i, reason] of ((error as Cancelled).CancellationReasons ?? []).entries()) {
    const step = steps[i];
    if (!step || !reason.Code || reason.Code === 'None') continue;
    failures.push({
      step: step.name,
      reason: reasons[reason.Code] ?? 'refused',
      message: reason.Message ?? reason.Code,
      current: currentOf(step.entity, reason),
    });
  }
  const text = failures.map(({ step, reason }) => `"${step}": ${reason.replace('_', ' ')}`).join(', ');
  return tableErrors.create('table.transaction_failed', `nothing was written; ${text}`, { failures }, error);
}

// For writes made in order: the error is the same as in a transaction, but the steps before it were made.
export function explainStep(step: string, entity: AnyEntity, error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') return error;
  const current = currentOf(entity, error as WithItem);
  const failure: StepFailure = { step, reason: 'condition_failed', message: error.message, current };
  const text = `"${step}": condition failed; the steps before it were written`;
  return tableErrors.create('table.transaction_failed', text, { failures: [failure] }, error);
}

/**
 * The step of a transaction whose condition did not hold; undefined if the error has another reason.
 *
 *     if (failedStep(error)?.step === 'claim e-mail') …
 */
// Other steps may have conflicted with another transaction; they are ignored.
export function failedStep(error: unknown): StepFailure | undefined {
  if (!tableErrors.includes(error) || error.code !== 'table.transaction_failed') return undefined;
  const failures = (error as AppError<string, { failures: StepFailure[] }>).details?.failures ?? [];
  return failures.find(({ reason }) => reason === 'condition_failed') ?? failures[0];
}
