import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { itemSize } from '../values/size.ts';
import { checkItemSize, validateAttributes } from './attribute-values.ts';
import { checkConstraints } from './constraints.ts';
import { checkExpressionMix, checkExpressionReferences } from './expression-parameters.ts';
import * as members from './members.ts';
import { attributes, list, required, string, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';
import { checkTransactionSize } from './transaction-size.ts';

const conditionMembers = {
  TableName: tableName,
  ExpressionAttributeNames: members.attributeNames,
  ExpressionAttributeValues: members.attributeValues,
  ReturnValuesOnConditionCheckFailure: members.returnValuesOnConditionCheckFailure,
};

const transactWriteItem = structure('TransactWriteItem', {
  ConditionCheck: structure('ConditionCheck', {
    Key: required(attributes),
    ConditionExpression: required(members.expression),
    ...conditionMembers,
  }),
  Put: structure('Put', {
    Item: required(attributes),
    ConditionExpression: members.expression,
    ...conditionMembers,
  }),
  Delete: structure('Delete', {
    Key: required(attributes),
    ConditionExpression: members.expression,
    ...conditionMembers,
  }),
  Update: structure('Update', {
    Key: required(attributes),
    UpdateExpression: required(members.expression),
    ConditionExpression: members.expression,
    ...conditionMembers,
  }),
});

export const clientRequestToken = string({ min: 1, max: 36 });

export const transactWriteItemsShape = structure('TransactWriteItemsInput', {
  TransactItems: required(list(transactWriteItem, 1, limits.transactionActions)),
  ClientRequestToken: clientRequestToken,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  ReturnItemCollectionMetrics: members.returnItemCollectionMetrics,
});
export type TransactWriteItemsInput = TypeOf<typeof transactWriteItemsShape>;
export type TransactWriteItem = TypeOf<typeof transactWriteItem>;

// `bind` parses an action's expressions: DynamoDB finishes one action before it checks the next.
export function validateTransactWriteItems(
  input: TransactWriteItemsInput,
  bind?: (item: TransactWriteItem) => void,
): void {
  if (Array.isArray(input?.TransactItems)) {
    for (const item of input.TransactItems) {
      resolveTableArn(item?.Put ?? item?.Update ?? item?.Delete ?? item?.ConditionCheck);
    }
  }
  checkConstraints(transactWriteItemsShape, input);
  let bytes = 0;
  for (const item of input.TransactItems) {
    bytes += validateAction(item);
    bind?.(item);
  }
  checkTransactionSize(bytes);
}

function validateAction({ ConditionCheck, Put, Delete, Update }: TransactWriteItem): number {
  const actions = [ConditionCheck, Put, Delete, Update].filter(action => action != null);
  const [action] = actions;
  if (!action) {
    throw validationError(
      'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request',
    );
  }
  if (actions.length > 1) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete');
  }
  const expressions = Update
    ? (['UpdateExpression', 'ConditionExpression'] as const)
    : (['ConditionExpression'] as const);
  checkExpressionMix(action, expressions, []);
  const target = 'Item' in action ? action.Item : action.Key;
  validateAttributes(target);
  if (Put) checkItemSize(Put.Item);
  checkExpressionReferences(action, expressions);
  return itemSize(target);
}
