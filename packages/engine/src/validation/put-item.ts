import { checkItemSize, validateAttributes } from './attribute-values.ts';
import { validateExpected } from './conditions.ts';
import { checkConstraints } from './constraints.ts';
import { enveloped, inEnvelope } from './envelope.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { attributes, required, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

export const putItemShape = structure('PutItemInput', {
  TableName: tableName,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  Item: required(attributes),
  ConditionalOperator: members.conditionalOperator,
  Expected: members.expected,
  ReturnValues: members.returnValues,
  ReturnItemCollectionMetrics: members.returnItemCollectionMetrics,
  ReturnValuesOnConditionCheckFailure: members.returnValuesOnConditionCheckFailure,
  ConditionExpression: members.expression,
  ExpressionAttributeValues: members.attributeValues,
  ExpressionAttributeNames: members.attributeNames,
});
export type PutItemInput = TypeOf<typeof putItemShape>;

export function validatePutItem(input: PutItemInput): void {
  resolveTableArn(input);
  checkConstraints(putItemShape, input);
  inEnvelope(
    () => {
      checkExpressionMix(input, ['ConditionExpression'], ['Expected', 'ConditionalOperator']);
      validateAttributes(input.Item);
      if (input.ReturnValues && input.ReturnValues !== 'ALL_OLD' && input.ReturnValues !== 'NONE') {
        throw enveloped('ReturnValues can only be ALL_OLD or NONE');
      }
      checkItemSize(input.Item);
      if (input.Expected) validateExpected(input.Expected);
      checkExpressionReferences(input, ['ConditionExpression']);
    },
    { announcesUnused: true },
  );
}
