import type { Context } from '../context.ts';
import { describe, type TableDescription } from '../tables/description.ts';
import { describedTable } from '../tables/known-table.ts';
import { type TableInput, validateTableInput } from '../validation/tables.ts';

export function describeTable(context: Context, input: TableInput): { Table: TableDescription } {
  validateTableInput(input);
  return { Table: describe(context, describedTable(context, input.TableName)) };
}
