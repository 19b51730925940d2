import { validationError } from '../errors.ts';
import { checkConditionCount } from '../expressions/key-condition.ts';
import { keyAttributes } from '../limits.ts';
import { checkAttributesToGet } from './attributes-to-get.ts';
import { validateConditions } from './conditions.ts';
import { checkConstraints } from './constraints.ts';
import { enveloped, inCurrentWords } from './envelope.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { checkSelect, validateStartKey } from './read-parameters.ts';
import { attributes, boolean, integer, map, structure, type TypeOf } from './shape.ts';
import { indexName, resolveTableArn, tableName } from './table-name.ts';

export const queryShape = structure('QueryInput', {
  TableName: tableName,
  Select: members.select,
  IndexName: indexName,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  QueryFilter: map(members.condition),
  ConditionalOperator: members.conditionalOperator,
  AttributesToGet: members.attributesToGet,
  Limit: integer(),
  KeyConditions: map(members.condition),
  ExclusiveStartKey: attributes,
  ConsistentRead: boolean,
  ScanIndexForward: boolean,
  KeyConditionExpression: members.expression,
  FilterExpression: members.expression,
  ProjectionExpression: members.expression,
  ExpressionAttributeValues: members.attributeValues,
  ExpressionAttributeNames: members.attributeNames,
});
export type QueryInput = TypeOf<typeof queryShape>;

export const validateQuery = (input: QueryInput): void => inCurrentWords(() => checkQuery(input));

function checkQuery(input: QueryInput): void {
  resolveTableArn(input);
  checkConstraints(queryShape, input);
  if (input.Limit != null && input.Limit < 1) {
    // Unlike Scan's, this message leaves out the value and keeps the member's capital.
    throw enveloped(
      "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
    );
  }
  checkExpressionMix(
    input,
    ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
    ['AttributesToGet', 'QueryFilter', 'ConditionalOperator', 'KeyConditions'],
  );
  validateConditions(input.QueryFilter);
  checkAttributesToGet(input.AttributesToGet);
  validateStartKey(input.ExclusiveStartKey);
  if (input.KeyConditions == null && input.KeyConditionExpression == null) {
    throw validationError(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    );
  }
  checkExpressionReferences(input, ['KeyConditionExpression', 'FilterExpression', 'ProjectionExpression']);
  checkSelect(input, enveloped);
  if (input.KeyConditions) {
    validateConditions(input.KeyConditions);
    checkConditionCount(Object.keys(input.KeyConditions).length, keyAttributes);
  }
}
