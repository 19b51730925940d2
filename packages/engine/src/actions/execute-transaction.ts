import { addUsage, consumedCapacity, noUsage, readUnits, readUsage, type Usage } from '../capacity.ts';
import { beginRead, type Context, type View } from '../context.ts';
import { DynamoError, validationError } from '../errors.ts';
import { readItem } from '../items/read-item.ts';
import { type BoundSelect, type BoundStatement, type BoundWrite, bindStatement } from '../partiql/binding.ts';
import { pinKey, pinSingleRead } from '../partiql/key-tests.ts';
import { columnView } from '../partiql/select.ts';
import { planWrite, transactionFaults } from '../partiql/write.ts';
import { itemKey } from '../storage/keys.ts';
import type { Table } from '../storage/table.ts';
import { checkTransactionDuplicates } from '../validation/duplicates.ts';
import { checkKey } from '../validation/keys.ts';
import { type ExecuteTransactionInput, validateExecuteTransaction } from '../validation/statements.ts';
import { checkTransactionSize } from '../validation/transaction-size.ts';
import { type Item, newItem } from '../values/attribute-value.ts';
import { answerOnce } from './client-token.ts';
import {
  replayCapacity,
  type BoundWrite as TransactWrite,
  transactionCapacity,
  writeTogether,
} from './transact-write-items.ts';
import { assertAllSucceeded, attempt } from './transaction.ts';

type Statement = ExecuteTransactionInput['TransactStatements'][number];

export function executeTransaction<T>(context: Context, input: ExecuteTransactionInput, view: View<T>) {
  validateExecuteTransaction(input);
  const statements = input.TransactStatements.map((statement, i) => named(i, () => bindStatement(statement)));
  const reads = statements.filter(statement => statement.kind === 'select');
  if (reads.length > 0 && reads.length < statements.length) {
    throw validationError(
      'ExecuteTransaction API does not support both read and write operations in the same request.',
    );
  }
  checkStatements(context, statements);
  return reads.length > 0
    ? readTogether(context, input, reads, view)
    : writeStatements(context, input, statements as BoundWrite[]);
}

// A statement that can never run rejects the request and names its number; other errors are cancellation reasons.
function named<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error;
    throw validationError(`Validation failed in TransactStatements[${index}]: ${error.message}`);
  }
}

function checkStatements(context: Context, statements: BoundStatement[]): void {
  statements.forEach((statement, i) => {
    const table = context.catalog.find(statement.source.table);
    if (table) named(i, () => checkStatement(table, statement));
  });
  assertAllSucceeded(statements.map(({ source }) => attempt(() => context.catalog.get(source.table))));
}

function checkStatement(table: Table, statement: BoundStatement): void {
  switch (statement.kind) {
    case 'select':
      if (statement.source.index !== undefined) {
        throw validationError('Reads on indices are not supported within transactions.');
      }
      keyOf(table, statement);
      break;
    case 'exists': {
      const { complete, rest } = pinKey(table.keys, statement.where?.test);
      if (complete && rest.length > 0 && statement.source.index === undefined) break;
      throw validationError('EXISTS() must contain a single item read with additional condition');
    }
    case 'update':
    case 'delete':
      if (statement.returning) {
        throw validationError('RETURNING clause is not supported in ExecuteTransaction.');
      }
  }
}

function keyOf(table: Table, { where }: BoundSelect): Item {
  const key = pinSingleRead(table.keys, where?.test);
  if (key) return key;
  throw validationError(
    'Select statements within ExecuteTransaction must specify the primary key in the where clause.',
  );
}

// All reads happen in one turn of the event loop, from one snapshot.
function readTogether<T>(
  context: Context,
  { ReturnConsumedCapacity }: ExecuteTransactionInput,
  selects: BoundSelect[],
  view: View<T>,
) {
  beginRead(context, true);
  const usages = new Map<string, Usage>();
  const targets = selects.map(select => {
    const table = context.catalog.get(select.source.table);
    return { select, table, key: keyOf(table, select) };
  });
  assertAllSucceeded(targets.map(({ table, key }) => attempt(() => checkKey(table, key))));
  checkTransactionDuplicates(targets);
  let bytes = 0;
  const responses = targets.map(({ select, table, key }) => {
    const columns = columnView(view, select.columns);
    const { item, size } = readItem(context, itemKey(table, key), columns, {});
    bytes += size;
    addTo(usages, table.name, 'read', readUsage(2 * readUnits(size, true)));
    return item === undefined ? {} : { Item: item };
  });
  checkTransactionSize(bytes);
  return { Responses: responses, ...capacityOf(ReturnConsumedCapacity, usages) };
}

async function writeStatements(context: Context, input: ExecuteTransactionInput, writes: BoundWrite[]) {
  const { ClientRequestToken: token, TransactStatements: statements } = input;
  const bound = writes.map((write, i) => transactWrite(write, statements[i]!));
  return context.submit(tx =>
    answerOnce(
      context,
      tx,
      token,
      statements,
      () => {
        const decisions = writeTogether(context, tx, bound);
        return {
          Responses: writes.map(() => ({})),
          ...transactionCapacity(input.ReturnConsumedCapacity, decisions),
        };
      },
      () => {
        for (const write of bound) write.plan(context.catalog.get(write.tableName));
        return {
          Responses: writes.map(() => ({})),
          ...replayCapacity(context, input.ReturnConsumedCapacity, bound),
        };
      },
    ),
  );
}

// The item is known when the statement is planned, together with the key schema of its table.
function transactWrite(write: BoundWrite, statement: Statement): TransactWrite {
  const entry: TransactWrite = {
    tableName: write.source.table,
    target: newItem(),
    plan(table) {
      const { plan, key } = planWrite(
        table,
        write,
        statement.ReturnValuesOnConditionCheckFailure,
        transactionFaults,
      );
      entry.target = key;
      return plan;
    },
  };
  return entry;
}

function addTo(usages: Map<string, Usage>, name: string, kind: Usage['kind'], usage: Usage): void {
  usages.set(name, addUsage(usages.get(name) ?? noUsage(kind), usage));
}

function capacityOf(mode: ExecuteTransactionInput['ReturnConsumedCapacity'], usages: Map<string, Usage>) {
  const capacity = [...usages].flatMap(([name, usage]) => consumedCapacity(mode, name, usage, true) ?? []);
  return capacity.length > 0 && { ConsumedCapacity: capacity };
}
