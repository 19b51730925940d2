import * as limits from '../limits.ts';
import { validateAttributes } from './attribute-values.ts';
import { checkConstraints } from './constraints.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { attributes, list, required, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

const get = structure('Get', {
  Key: required(attributes),
  TableName: tableName,
  ProjectionExpression: members.expression,
  ExpressionAttributeNames: members.attributeNames,
});

export const transactGetItemsShape = structure('TransactGetItemsInput', {
  TransactItems: required(
    list(structure('TransactGetItem', { Get: required(get) }), 1, limits.transactionActions),
  ),
  ReturnConsumedCapacity: members.returnConsumedCapacity,
});
export type TransactGetItemsInput = TypeOf<typeof transactGetItemsShape>;

export function validateTransactGetItems(input: TransactGetItemsInput): void {
  if (Array.isArray(input?.TransactItems)) {
    for (const item of input.TransactItems) resolveTableArn(item?.Get);
  }
  checkConstraints(transactGetItemsShape, input);
  for (const { Get } of input.TransactItems) {
    checkExpressionMix(Get, ['ProjectionExpression'], []);
    validateAttributes(Get.Key);
    checkExpressionReferences(Get, ['ProjectionExpression']);
  }
}
