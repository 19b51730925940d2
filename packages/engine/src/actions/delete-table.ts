import type { Context } from '../context.ts';
import { resourceInUse, validationError } from '../errors.ts';
import { vectorsOf } from '../storage/table.ts';
import { keepStreamsOf } from '../streams/lifecycle.ts';
import { describe, type TableDescription } from '../tables/description.ts';
import { knownTable } from '../tables/known-table.ts';
import { discardTable, startGarbageRemoval } from '../tables/removal.ts';
import { type TableInput, validateTableInput } from '../validation/tables.ts';

// The name is free as soon as this returns; the records are removed in the background.
export async function deleteTable(
  context: Context,
  input: TableInput,
): Promise<{ TableDescription: TableDescription }> {
  validateTableInput(input);
  const description = await context.submit(tx => {
    const table = knownTable(context, input.TableName);
    if (table.deletionProtection) {
      throw validationError(
        'Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.',
      );
    }
    if (vectorsOf(table).some(({ status }) => status === 'CREATING')) {
      throw resourceInUse(
        'Attempt to change a resource which is still in use: Cannot delete table while indexes are being created, ' +
          'updated, or deleted.',
      );
    }
    const last = describe(context, table, 'DELETING');
    keepStreamsOf(tx, table, context.now());
    discardTable(tx, table);
    context.catalog.drop(tx, table);
    return last;
  });
  startGarbageRemoval(context);
  return { TableDescription: description };
}
