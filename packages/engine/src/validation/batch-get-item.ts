import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { validateAttributes } from './attribute-values.ts';
import { checkAttributesToGet } from './attributes-to-get.ts';
import { checkBatchTables } from './batch-tables.ts';
import { checkConstraints } from './constraints.ts';
import { enveloped, inCurrentWords } from './envelope.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { attributes, boolean, list, map, required, structure, type TypeOf } from './shape.ts';

const keysAndAttributes = structure('KeysAndAttributes', {
  Keys: required(list(attributes)),
  AttributesToGet: members.attributesToGet,
  ConsistentRead: boolean,
  ProjectionExpression: members.expression,
  ExpressionAttributeNames: members.attributeNames,
});

export const batchGetItemShape = structure('BatchGetItemInput', {
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  RequestItems: required(map(keysAndAttributes)),
});
export type BatchGetItemInput = TypeOf<typeof batchGetItemShape>;
export type KeysAndAttributes = TypeOf<typeof keysAndAttributes>;

export function validateBatchGetItem(input: BatchGetItemInput): void {
  checkConstraints(batchGetItemShape, input);
  const tables = input.RequestItems;
  checkBatchTables(tables, 'BatchGetItem');
  let count = 0;
  for (const name in tables) {
    const keys = (tables[name] as KeysAndAttributes).Keys.length;
    const limit = keys === 0 ? 'greater than or equal to 1' : `less than or equal to ${limits.batchGetKeys}`;
    if (keys === 0 || keys > limits.batchGetKeys) {
      throw enveloped(
        `Value at 'RequestItems.${name}.member.Keys' failed to satisfy constraint: Member must have length ${limit}`,
      );
    }
    count += keys;
  }
  // One table's expression cannot be combined with another's legacy parameter either.
  checkExpressionMix(
    Object.assign({}, ...Object.values(tables)),
    ['ProjectionExpression'],
    ['AttributesToGet'],
  );
  for (const name in tables) validateRequest(tables[name] as KeysAndAttributes);
  if (count > limits.batchGetKeys) {
    throw validationError('Too many items requested for the BatchGetItem call');
  }
}

function validateRequest(request: KeysAndAttributes): void {
  checkExpressionMix(request, ['ProjectionExpression'], ['AttributesToGet']);
  checkAttributesToGet(request.AttributesToGet);
  checkExpressionReferences(request, ['ProjectionExpression']);
  inCurrentWords(() => {
    for (const key of request.Keys) validateAttributes(key);
  });
}
