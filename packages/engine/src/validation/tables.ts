import { checkConstraints } from './constraints.ts';
import { integer, string, structure, type TypeOf } from './shape.ts';
import { checkTableNameLength, knownTableName, resolveTableArn } from './table-name.ts';

// Operations that take a table's name and little else, or nothing at all.
const named = structure('TableInput', { TableName: knownTableName });
export const describeTableShape = named;
export const deleteTableShape = named;
export const describeContinuousBackupsShape = named;
export type TableInput = TypeOf<typeof named>;

export function validateTableInput(input: TableInput): void {
  resolveTableArn(input);
  checkTableNameLength(input);
  checkConstraints(named, input);
}

export const listTablesShape = structure('ListTablesInput', {
  Limit: integer(1, 100),
  ExclusiveStartTableName: string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ }),
});
export type ListTablesInput = TypeOf<typeof listTablesShape>;

export const validateListTables = (input: ListTablesInput): void => checkConstraints(listTablesShape, input);

export const emptyShape = structure('EmptyInput', {});
export const validateEmpty = (input: object): void => checkConstraints(emptyShape, input);
