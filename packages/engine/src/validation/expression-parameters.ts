import { DynamoError, ValueError, validationError } from '../errors.ts';
import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { checkAttributeName, falseNull, tooDeep, validateValue } from './attribute-values.ts';

type Expression =
  | 'UpdateExpression'
  | 'ConditionExpression'
  | 'KeyConditionExpression'
  | 'FilterExpression'
  | 'SearchConditionExpression'
  | 'ProjectionExpression';

type Parameters = { [name: string]: unknown };
type References = { ExpressionAttributeNames?: { [name: string]: string }; ExpressionAttributeValues?: Item };

// Checks which parameters a request may combine. Expressions and the older parameters are two languages, and the
// attribute names and values belong to expressions only.
export function checkExpressionMix(
  input: object,
  expressions: readonly Expression[],
  older: readonly string[],
): void {
  const parameters = input as Parameters;
  let used = 0;
  for (const name of expressions) if (parameters[name] != null) used++;
  if (used > 0) refuseBoth(parameters, expressions, older);
  else if (parameters.ExpressionAttributeNames != null) {
    throw validationError('ExpressionAttributeNames can only be specified when using expressions');
  }
  if (parameters.ExpressionAttributeValues != null) {
    const takers = expressions.filter(name => name !== 'ProjectionExpression');
    if (takers.length > 0 && takers.every(name => parameters[name] == null)) {
      throw validationError(
        'ExpressionAttributeValues can only be specified when using expressions: ' +
          `${takers.join(' and ')} ${takers.length > 1 ? 'are' : 'is'} null`,
      );
    }
  }
}

function refuseBoth(
  parameters: Parameters,
  expressions: readonly Expression[],
  older: readonly string[],
): void {
  const mixed = older.filter(
    name =>
      parameters[name] != null &&
      // A filter expression may be combined with the legacy form of the key condition.
      (name !== 'KeyConditions' || parameters.KeyConditionExpression != null),
  );
  if (mixed.length === 0) return;
  const used = expressions.filter(name => parameters[name] != null);
  throw validationError(
    'Can not use both expression and non-expression parameters in the same request: ' +
      `Non-expression parameters: {${mixed.join(', ')}} Expression parameters: {${used.join(', ')}}`,
  );
}

// Names and values are checked before the expressions, which are parsed elsewhere; here they must only not be empty.
export function checkExpressionReferences(input: object, expressions: readonly Expression[]): void {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input as References;
  if (names != null) {
    checkReferences(names, 35, 'ExpressionAttributeNames');
    for (const name in names) checkAttributeName(names[name]!);
  }
  if (values != null) {
    checkReferences(values, 58, 'ExpressionAttributeValues');
    for (const name in values) checkReferenceValue(values[name] as AttributeValue, name);
  }
  for (const name of expressions) {
    if ((input as Parameters)[name] === '') {
      throw validationError(`Invalid ${name}: The expression can not be empty;`);
    }
  }
}

function checkReferences(references: object, sigil: number, parameter: string): void {
  let empty = true;
  for (const name in references) {
    empty = false;
    if (!isReference(name, sigil)) {
      throw validationError(`${parameter} contains invalid key: Syntax error; key: "${name}"`);
    }
  }
  if (empty) throw validationError(`${parameter} must not be empty`);
}

// `#` or `:`, then letters, digits and underscores.
function isReference(name: string, sigil: number): boolean {
  if (name.length < 2 || name.charCodeAt(0) !== sigil) return false;
  for (let i = 1; i < name.length; i++) {
    const code = name.charCodeAt(i);
    const isWord =
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
    if (!isWord) return false;
  }
  return true;
}

function checkReferenceValue(value: AttributeValue, name: string): void {
  try {
    validateValue(value);
  } catch (error) {
    if (!(error instanceof DynamoError) || error.name !== 'ValidationException') throw error;
    // These two messages do not name a value.
    if (error.message.endsWith(falseNull) || error.message === tooDeep) throw error;
    const message = `ExpressionAttributeValues contains invalid value: ${error.message} for key ${name}`;
    throw error instanceof ValueError ? new ValueError(message, error.current) : validationError(message);
  }
}
