import { writeUsage } from '../capacity.ts';
import { beginRead, type Context, submitOnTable, type View } from '../context.ts';
import { validationError } from '../errors.ts';
import { applyDecision, decide } from '../items/write-plan.ts';
import { type BoundSelect, type BoundWrite, bindStatement } from '../partiql/binding.ts';
import { decodeToken, encodeToken, foreignToken } from '../partiql/next-token.ts';
import { selectItems } from '../partiql/select.ts';
import { planWrite, returnedItem } from '../partiql/write.ts';
import { type ExecuteStatementInput, validateExecuteStatement } from '../validation/statements.ts';
import { capacityOf } from './response.ts';

export function executeStatement<T>(context: Context, input: ExecuteStatementInput, view: View<T>) {
  validateExecuteStatement(input);
  const bound = bindStatement(input);
  if (bound.kind === 'select') return executeSelect(context, input, bound, view);
  if (bound.kind === 'exists') {
    throw validationError('EXISTS can only be used in ExecuteTransaction write requests.');
  }
  if (input.NextToken !== undefined) throw foreignToken();
  return executeWrite(context, input, bound, view);
}

function executeSelect<T>(
  context: Context,
  input: ExecuteStatementInput,
  select: BoundSelect,
  view: View<T>,
) {
  beginRead(context, input.ConsistentRead);
  const table = context.catalog.get(select.source.table);
  const start = input.NextToken === undefined ? { read: 0 } : decodeToken(table, input, input.NextToken);
  const { items, usage, next } = selectItems(context, table, select, input, start, view);
  return {
    Items: items,
    ...(next && { NextToken: encodeToken(table, input, next) }),
    ...(next?.after && { LastEvaluatedKey: view.present(next.after) }),
    ...capacityOf({ ...input, TableName: table.name }, () => usage),
  };
}

// Also one statement of a batch.
export function executeWrite<T>(
  context: Context,
  input: Omit<ExecuteStatementInput, 'Statement'>,
  write: BoundWrite,
  view: View<T>,
) {
  const TableName = write.source.table;
  return submitOnTable(context, TableName, table => {
    const { plan } = planWrite(table, write, input.ReturnValuesOnConditionCheckFailure);
    return tx => {
      const outcome = decide(context, plan);
      applyDecision(context, tx, plan, outcome);
      const item = returnedItem('returning' in write ? write.returning : undefined, outcome);
      return {
        Items: item ? [view.present(item)] : [],
        ...capacityOf({ ...input, TableName }, () => writeUsage(table, outcome.before, outcome.after)),
      };
    };
  });
}
