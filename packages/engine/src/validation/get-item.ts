import { validateAttributes } from './attribute-values.ts';
import { checkAttributesToGet } from './attributes-to-get.ts';
import { checkConstraints } from './constraints.ts';
import { inCurrentWords } from './envelope.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { attributes, boolean, required, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

export const getItemShape = structure('GetItemInput', {
  TableName: tableName,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  AttributesToGet: members.attributesToGet,
  Key: required(attributes),
  ConsistentRead: boolean,
  ProjectionExpression: members.expression,
  ExpressionAttributeNames: members.attributeNames,
});
export type GetItemInput = TypeOf<typeof getItemShape>;

export function validateGetItem(input: GetItemInput): void {
  resolveTableArn(input);
  checkConstraints(getItemShape, input);
  checkExpressionMix(input, ['ProjectionExpression'], ['AttributesToGet']);
  inCurrentWords(() => validateAttributes(input.Key));
  checkAttributesToGet(input.AttributesToGet);
  checkExpressionReferences(input, ['ProjectionExpression']);
}
