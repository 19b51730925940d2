import { DynamoError, ValueError, validationError } from '../errors.ts';

const prefix = '1 validation error detected: ';

export const enveloped = (message: string): DynamoError => validationError(prefix + message);

// PutItem, UpdateItem and DeleteItem put a prefix before errors of the request itself, where every other operation has
// none: mixed parameters, sets, NULL, numbers, values nested too deep, expressions that do not parse. Errors that depend
// on the table or the stored item, and sizes, have no prefix.
const announced =
  /^(One or more parameter values were invalid: |Input collection |Number (over|under)flow|Attempting to store more than|The parameter cannot be converted to a numeric value|ExpressionAttributeValues can only|Can not use both |Nesting Levels have exceeded |Invalid (Update|Condition)Expression: (?!The expression can not be empty))/;

// Names and values that are unused, empty or without an expression. The suite records UpdateItem without the prefix.
const unused =
  /^(Value provided in ExpressionAttribute|ExpressionAttribute(Names|Values) (must not be empty|can only)|Invalid ConditionExpression: The expression can not be empty)/;

// It says which expression is missing where it says nothing else.
const missing = /^(ExpressionAttributeValues can only be specified when using expressions): .*$/;

function toEnvelope(error: unknown, announcesUnused: boolean): unknown {
  if (!(error instanceof DynamoError) || error.name !== 'ValidationException') return error;
  const message = error instanceof ValueError ? error.current : error.message;
  if (announcesUnused && unused.test(message)) return enveloped(message.replace(missing, '$1'));
  return announced.test(message) ? enveloped(message) : error;
}

export function inEnvelope<T>(work: () => T, { announcesUnused = false } = {}): T {
  try {
    return work();
  } catch (error) {
    throw toEnvelope(error, announcesUnused);
  }
}

// GetItem, BatchGetItem and Query have the same words for values, without a prefix.
export function inCurrentWords<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ValueError ? validationError(error.current) : error;
  }
}
