import { validateAttributes } from './attribute-values.ts';
import { validateExpected } from './conditions.ts';
import { checkConstraints } from './constraints.ts';
import { enveloped, inEnvelope } from './envelope.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { attributes, required, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

export const deleteItemShape = structure('DeleteItemInput', {
  TableName: tableName,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  ReturnValues: members.returnValues,
  ReturnItemCollectionMetrics: members.returnItemCollectionMetrics,
  ReturnValuesOnConditionCheckFailure: members.returnValuesOnConditionCheckFailure,
  Key: required(attributes),
  ConditionalOperator: members.conditionalOperator,
  Expected: members.expected,
  ConditionExpression: members.expression,
  ExpressionAttributeValues: members.attributeValues,
  ExpressionAttributeNames: members.attributeNames,
});
export type DeleteItemInput = TypeOf<typeof deleteItemShape>;

export function validateDeleteItem(input: DeleteItemInput): void {
  resolveTableArn(input);
  checkConstraints(deleteItemShape, input);
  inEnvelope(
    () => {
      checkExpressionMix(input, ['ConditionExpression'], ['Expected', 'ConditionalOperator']);
      validateAttributes(input.Key);
      if (input.ReturnValues && input.ReturnValues !== 'ALL_OLD' && input.ReturnValues !== 'NONE') {
        throw enveloped('ReturnValues can only be ALL_OLD or NONE');
      }
      if (input.Expected) validateExpected(input.Expected);
      checkExpressionReferences(input, ['ConditionExpression']);
    },
    { announcesUnused: true },
  );
}
