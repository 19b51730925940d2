import { DynamoError, validationError } from '../errors.ts';

// DynamoDB's errors for a statement that does not parse. Some have no reason after the colon.
export const malformed = (reason = ''): DynamoError =>
  validationError(`Statement wasn't well formed, can't be processed: ${reason}`);

export const incompleteKey = 'Where clause does not contain a mandatory equality on all key attributes';
export const keyMismatch = 'The provided key element does not match the schema';
export const mistypedKey = (name: string): string =>
  `Key attribute's data type should match its data type in table's schema: Key ${name}`;

// The position of a token, as DynamoDB reports it: line, column and length.
export function rangeOf(source: string, { start, end }: { start: number; end: number }): string {
  const lines = source.slice(0, start).split('\n');
  return `at ${lines.length}:${lines[lines.length - 1]!.length + 1}:${end - start}`;
}

// Conditions and updates are bound by the code that binds expressions. A statement has none, so DynamoDB
// reports the same faults without naming one.
export function withoutExpressionName<T>(bind: () => T): T {
  try {
    return bind();
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error;
    throw validationError(error.message.replace(/^Invalid \w+Expression: /, ''));
  }
}
