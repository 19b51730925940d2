import type { ConsumedCapacity } from '../capacity.ts';
import { beginRead, type Context, type View } from '../context.ts';
import { DynamoError, validationError } from '../errors.ts';
import { type BoundSelect, type BoundStatement, bindStatement } from '../partiql/binding.ts';
import { pinSingleRead } from '../partiql/key-tests.ts';
import { selectItems } from '../partiql/select.ts';
import { checkKey } from '../validation/keys.ts';
import { type BatchExecuteStatementInput, validateBatchExecuteStatement } from '../validation/statements.ts';
import { executeWrite } from './execute-statement.ts';
import { capacityOf } from './response.ts';

type Statement = BatchExecuteStatementInput['Statements'][number];
type Result<T> = { Items: T[]; ConsumedCapacity?: ConsumedCapacity };

// Each statement is independent: one that fails reports its error in its place and does not affect the others.
export async function batchExecuteStatement<T>(
  context: Context,
  input: BatchExecuteStatementInput,
  view: View<T>,
) {
  validateBatchExecuteStatement(input);
  const bound = input.Statements.map(bindOrError);
  checkOneKind(bound);
  const results = await Promise.all(
    bound.map((statement, i) =>
      statement instanceof DynamoError
        ? statement
        : execute(context, { ...input.Statements[i]!, ...capacityMode(input) }, statement, view).catch(
            asError,
          ),
    ),
  );
  const capacity = results.flatMap(result =>
    result instanceof DynamoError ? [] : (result.ConsumedCapacity ?? []),
  );
  return {
    Responses: results.map((result, i) => responseOf(bound[i]!, result, view)),
    ...(capacity.length > 0 && { ConsumedCapacity: capacity }),
  };
}

const capacityMode = ({ ReturnConsumedCapacity }: BatchExecuteStatementInput) => ({ ReturnConsumedCapacity });

function bindOrError(statement: Statement): BoundStatement | DynamoError {
  try {
    return bindStatement(statement);
  } catch (error) {
    return asError(error);
  }
}

function asError(error: unknown): DynamoError {
  if (error instanceof DynamoError) return error;
  throw error;
}

function checkOneKind(statements: (BoundStatement | DynamoError)[]): void {
  const kinds = new Set<boolean>();
  for (const statement of statements) {
    if (!(statement instanceof DynamoError)) kinds.add(statement.kind === 'select');
  }
  if (kinds.size > 1) {
    throw validationError(
      'BatchExecuteStatement API does not support both read and write operations in the same request.',
    );
  }
}

type Request = Statement & Pick<BatchExecuteStatementInput, 'ReturnConsumedCapacity'>;

async function execute<T>(
  context: Context,
  request: Request,
  statement: BoundStatement,
  view: View<T>,
): Promise<Result<T>> {
  if (statement.kind === 'exists') {
    throw validationError('EXISTS can only be used in ExecuteTransaction write requests.');
  }
  return statement.kind === 'select'
    ? readOne(context, request, statement, view)
    : executeWrite(context, request, statement, view);
}

function readOne<T>(context: Context, request: Request, select: BoundSelect, view: View<T>): Result<T> {
  beginRead(context, request.ConsistentRead);
  const table = context.catalog.get(select.source.table);
  const key = select.source.index === undefined ? pinSingleRead(table.keys, select.where?.test) : undefined;
  if (!key) {
    throw validationError(
      'Select statements within BatchExecuteStatement must specify the primary key in the where clause.',
    );
  }
  checkKey(table, key);
  const { items, usage } = selectItems(context, table, select, request, { read: 0 }, view);
  return { Items: items, ...capacityOf({ ...request, TableName: table.name }, () => usage) };
}

const codes: Record<string, string> = { ValidationException: 'ValidationError' };

// A statement that does not parse, or names an unknown table, has no table name to report.
function responseOf<T>(
  statement: BoundStatement | DynamoError,
  result: Result<T> | DynamoError,
  view: View<T>,
) {
  const hashes =
    !(statement instanceof DynamoError) &&
    !(result instanceof DynamoError && result.name === 'ResourceNotFoundException');
  const table = hashes ? { TableName: statement.source.table } : {};
  if (!(result instanceof DynamoError)) {
    const [item] = result.Items;
    return { ...table, ...(item !== undefined && { Item: item }) };
  }
  const { name, message, Item: item } = result;
  return {
    Error: {
      Code: codes[name] ?? name.replace(/Exception$/, ''),
      Message: message,
      ...(item && { Item: view.present(item) }),
    },
    ...table,
  };
}
