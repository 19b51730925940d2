import { DynamoError, validationError } from '../errors.ts';

const prefix = '1 validation error detected: ';

export const enveloped = (message: string): DynamoError => validationError(prefix + message);

// PutItem and UpdateItem put a prefix before errors of the request itself, where every other operation has none: mixed
// parameters, sets, NULL, values nested too deep, expressions that do not parse. Errors that depend on the table or the
// stored item, sizes, and unused names or values have no prefix.
const announced =
  /^(One or more parameter values were invalid: |Input collection |ExpressionAttributeValues (can only|contains invalid value: (One|Input))|Can not use both |Nesting Levels have exceeded |Invalid (Update|Condition)Expression: (?!The expression can not be empty))/;

function toEnvelope(error: unknown): unknown {
  if (!(error instanceof DynamoError) || error.name !== 'ValidationException') return error;
  return announced.test(error.message) ? enveloped(error.message) : error;
}

export function inEnvelope<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toEnvelope(error);
  }
}
