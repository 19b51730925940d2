import type { Context } from '../context.ts';
import { type ListTablesInput, validateListTables } from '../validation/tables.ts';

const namesPerPage = 100;

export type ListTablesOutput = { TableNames: string[]; LastEvaluatedTableName?: string };

export function listTables(context: Context, input: ListTablesInput): ListTablesOutput {
  validateListTables(input);
  const { Limit: limit = namesPerPage, ExclusiveStartTableName: start = '' } = input;
  const names = context.catalog
    .all()
    .map(table => table.name)
    .filter(name => name > start)
    .sort();
  const page = names.slice(0, limit);
  return { TableNames: page, ...(names.length > limit && { LastEvaluatedTableName: page.at(-1) }) };
}
