import type { Context } from '../context.ts';
import type { Tx } from '../storage/committer.ts';
import type { Stream, Table } from '../storage/table.ts';
import { closeStream, openStream } from '../streams/lifecycle.ts';
import { describe, type TableDescription } from '../tables/description.ts';
import { withIds } from '../tables/ids.ts';
import { updateIndexes } from '../tables/index-changes.ts';
import { knownTable } from '../tables/known-table.ts';
import { maintainTable } from '../tables/maintenance.ts';
import { checkStreamChange, updateSettings } from '../tables/settings.ts';
import { updateVectorIndexes } from '../tables/vector-indexes.ts';
import { checkTableUpdate, type UpdateTableInput, validateUpdateTable } from '../validation/update-table.ts';

export async function updateTable(
  context: Context,
  input: UpdateTableInput,
): Promise<{ TableDescription: TableDescription }> {
  validateUpdateTable(input);
  const table = await context.submit(tx => {
    const current = knownTable(context, input.TableName);
    checkTableUpdate(current, input);
    checkStreamChange(current, input.StreamSpecification);
    const next = withIds(context.store, tx, newId => ({
      ...updateSettings(current, input, context.now()),
      indexes: updateIndexes(current, input, context.now(), newId),
      ...updateVectorIndexes(current, input, newId),
      streams: updateStreams(context, tx, current, input.StreamSpecification, newId),
    }));
    context.catalog.save(tx, next);
    return next;
  });
  if (input.GlobalSecondaryIndexUpdates ?? input.VectorIndexUpdates) maintainTable(context, table);
  return { TableDescription: describe(context, table, 'UPDATING') };
}

// A stream that is enabled again is another stream; the old one stays to be read to its end.
function updateStreams(
  context: Context,
  tx: Tx,
  table: Table,
  wanted: UpdateTableInput['StreamSpecification'],
  newId: () => number,
): Stream[] {
  if (!wanted) return table.streams;
  const sequence = tx.nextSequenceForAll();
  if (wanted.StreamEnabled) {
    return [
      ...table.streams,
      openStream(context, table, { viewType: wanted.StreamViewType!, sequence, newId }),
    ];
  }
  return table.streams.map(stream =>
    stream.enabled ? closeStream(stream, sequence, context.now()) : stream,
  );
}
