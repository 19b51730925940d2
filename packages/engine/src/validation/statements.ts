import * as limits from '../limits.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { validateValue } from './attribute-values.ts';
import { checkConstraints } from './constraints.ts';
import * as members from './members.ts';
import { boolean, integer, list, required, string, structure, type TypeOf, value } from './shape.ts';
import { clientRequestToken } from './transact-write-items.ts';

// PartiQL: ExecuteStatement, BatchExecuteStatement and ExecuteTransaction.
const maxBatchStatements = 25;
const statement = required(string({ min: 1, max: 8192 }));
const parameters = list(value, 1);

export const executeStatementShape = structure('ExecuteStatementInput', {
  Statement: statement,
  Parameters: parameters,
  ConsistentRead: boolean,
  NextToken: string({ min: 1, max: 32_768 }),
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  Limit: integer(1),
  ReturnValuesOnConditionCheckFailure: members.returnValuesOnConditionCheckFailure,
});
export type ExecuteStatementInput = TypeOf<typeof executeStatementShape>;

export const batchExecuteStatementShape = structure('BatchExecuteStatementInput', {
  Statements: required(
    list(
      structure('BatchStatementRequest', {
        Statement: statement,
        Parameters: parameters,
        ConsistentRead: boolean,
        ReturnValuesOnConditionCheckFailure: members.returnValuesOnConditionCheckFailure,
      }),
      1,
      maxBatchStatements,
    ),
  ),
  ReturnConsumedCapacity: members.returnConsumedCapacity,
});
export type BatchExecuteStatementInput = TypeOf<typeof batchExecuteStatementShape>;

export const executeTransactionShape = structure('ExecuteTransactionInput', {
  TransactStatements: required(
    list(
      structure('ParameterizedStatement', {
        Statement: statement,
        Parameters: parameters,
        ReturnValuesOnConditionCheckFailure: members.returnValuesOnConditionCheckFailure,
      }),
      1,
      limits.transactionActions,
    ),
  ),
  ClientRequestToken: clientRequestToken,
  ReturnConsumedCapacity: members.returnConsumedCapacity,
});
export type ExecuteTransactionInput = TypeOf<typeof executeTransactionShape>;

export function validateExecuteStatement(input: ExecuteStatementInput): void {
  checkConstraints(executeStatementShape, input);
  validateParameters(input);
}

export function validateBatchExecuteStatement(input: BatchExecuteStatementInput): void {
  checkConstraints(batchExecuteStatementShape, input);
  input.Statements.forEach(validateParameters);
}

export function validateExecuteTransaction(input: ExecuteTransactionInput): void {
  checkConstraints(executeTransactionShape, input);
  input.TransactStatements.forEach(validateParameters);
}

function validateParameters({ Parameters }: { Parameters?: AttributeValue[] | undefined }): void {
  for (const parameter of Parameters ?? []) validateValue(parameter);
}
