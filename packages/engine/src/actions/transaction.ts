import { type CancellationReason, DynamoError } from '../errors.ts';
import { isEmptyKeyError } from '../validation/keys.ts';

// A transaction reports on every action: the code of its error, or None.

const codes: Record<string, string> = {
  ConditionalCheckFailedException: 'ConditionalCheckFailed',
  ValidationException: 'ValidationError',
  DuplicateItemException: 'DuplicateItem',
  ResourceNotFoundException: 'ResourceNotFound',
};

export type Attempt<T> = { value: T } | { error: DynamoError };

// An error of one action is its cancellation reason; any other error fails the whole request.
export function attempt<T>(action: () => T): Attempt<T> {
  try {
    return { value: action() };
  } catch (error) {
    if (error instanceof DynamoError && codes[error.name] && !isEmptyKeyError(error)) return { error };
    throw error;
  }
}

export function assertAllSucceeded<T>(attempts: Attempt<T>[]): T[] {
  if (attempts.every(result => 'value' in result))
    return attempts.map(result => (result as { value: T }).value);
  throw cancelled(attempts.map(result => ('error' in result ? reasonOf(result.error) : { Code: 'None' })));
}

function reasonOf(error: DynamoError): CancellationReason {
  return { Code: codes[error.name]!, Message: error.message, ...(error.Item && { Item: error.Item }) };
}

function cancelled(reasons: CancellationReason[]): DynamoError {
  const list = reasons.map(reason => reason.Code).join(', ');
  return new DynamoError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${list}]`,
    { CancellationReasons: reasons },
  );
}
