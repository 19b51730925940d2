import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { resourceInUse } from '../errors.ts';
import { openStream } from '../streams/lifecycle.ts';
import { defineTable } from '../tables/definition.ts';
import { describe, type TableDescription } from '../tables/description.ts';
import { withIds } from '../tables/ids.ts';
import { type CreateTableInput, validateCreateTable } from '../validation/create-table.ts';

// The response says CREATING, like DynamoDB's, although the table is ready: a waiter polls once.
export async function createTable(
  context: Context,
  input: CreateTableInput,
): Promise<{ TableDescription: TableDescription }> {
  validateCreateTable(input);
  const { TableName: name, StreamSpecification: wanted } = input;
  const table = await context.submit(tx => {
    if (context.catalog.findAny(name)) throw resourceInUse(`Table already exists: ${name}`);
    const defined = withIds(context.store, tx, newId => {
      const fresh = defineTable(input, { newId, uuid: randomUUID(), now: context.now() });
      if (!wanted?.StreamEnabled) return fresh;
      const opening = { viewType: wanted.StreamViewType!, sequence: tx.nextSequenceForAll(), newId };
      return { ...fresh, streams: [openStream(context, fresh, opening)] };
    });
    context.catalog.save(tx, defined);
    return defined;
  });
  return { TableDescription: describe(context, table, 'CREATING') };
}
