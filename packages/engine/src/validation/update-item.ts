import { typeOf } from '../values/attribute-value.ts';
import { checkAttributeName, invalid, validateAttributes, validateValue } from './attribute-values.ts';
import { validateExpected } from './conditions.ts';
import { checkConstraints } from './constraints.ts';
import { inEnvelope } from './envelope.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { attributes, map, oneOf, required, structure, type TypeOf, value } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

export const updateItemShape = structure('UpdateItemInput', {
  TableName: tableName,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  ReturnItemCollectionMetrics: members.returnItemCollectionMetrics,
  ReturnValues: members.returnValues,
  ReturnValuesOnConditionCheckFailure: members.returnValuesOnConditionCheckFailure,
  Key: required(attributes),
  ConditionalOperator: members.conditionalOperator,
  Expected: members.expected,
  AttributeUpdates: map(
    structure('AttributeValueUpdate', { Action: oneOf('ADD', 'PUT', 'DELETE'), Value: value }),
  ),
  ConditionExpression: members.expression,
  UpdateExpression: members.expression,
  ExpressionAttributeValues: members.attributeValues,
  ExpressionAttributeNames: members.attributeNames,
});
export type UpdateItemInput = TypeOf<typeof updateItemShape>;
type AttributeUpdates = NonNullable<UpdateItemInput['AttributeUpdates']>;

export function validateUpdateItem(input: UpdateItemInput): void {
  resolveTableArn(input);
  checkConstraints(updateItemShape, input);
  inEnvelope(() => {
    checkExpressionMix(
      input,
      ['UpdateExpression', 'ConditionExpression'],
      ['AttributeUpdates', 'Expected', 'ConditionalOperator'],
    );
    validateAttributes(input.Key);
    if (input.AttributeUpdates) validateAttributeUpdates(input.AttributeUpdates);
    if (input.Expected) validateExpected(input.Expected);
    checkExpressionReferences(input, ['UpdateExpression', 'ConditionExpression']);
  });
}

function validateAttributeUpdates(updates: AttributeUpdates): void {
  for (const name in updates) {
    checkAttributeName(name);
    const { Action: action, Value: operand } = updates[name] as AttributeUpdates[string];
    if (!operand) {
      if (action !== 'DELETE')
        throw invalid('Only DELETE action is allowed when no attribute value is specified');
      continue;
    }
    validateValue(operand);
    const type = typeOf(operand);
    const isSet = type === 'SS' || type === 'NS' || type === 'BS';
    if (action === 'DELETE' && !isSet) {
      throw invalid(`DELETE action with value is not supported for the type ${type}`);
    }
    if (action === 'ADD' && !isSet && type !== 'N' && type !== 'L') {
      throw invalid(`ADD action is not supported for the type ${type}`);
    }
  }
}
