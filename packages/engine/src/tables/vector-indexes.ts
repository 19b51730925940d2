import type { Context } from '../context.ts';
import { DynamoError, resourceInUse, resourceNotFound, validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { readSize } from '../storage/committer.ts';
import { searchAttributes, type Table, type VectorIndex, vectorsOf } from '../storage/table.ts';
import type { UpdateTableInput } from '../validation/update-table.ts';
import { indexArn } from './arns.ts';
import { defineVectorIndex } from './definition.ts';

// Vector indexes of a table: changed by UpdateTable, and described.

// A new index begins as CREATING and is filled in the background; a dropped one is DELETING until its vectors are gone.
export function updateVectorIndexes(
  table: Table,
  input: UpdateTableInput,
  newId: () => number,
): { vectors?: VectorIndex[] } {
  if (!input.VectorIndexUpdates?.length) return {};
  let vectors = [...vectorsOf(table)];
  for (const { Create, Delete } of input.VectorIndexUpdates) {
    if (Create) {
      refuseKnownName(table, vectors, Create.IndexName);
      const index = defineVectorIndex(Create, input.AttributeDefinitions ?? [], newId);
      vectors.push({ ...index, status: 'CREATING' });
    } else if (Delete) {
      const { IndexName: name } = Delete;
      if (!vectors.some(index => index.name === name))
        throw resourceNotFound(`Requested resource not found: Index ${name} for table ${table.name}`);
      vectors = vectors.map(index => (index.name === name ? { ...index, status: 'DELETING' } : index));
    }
  }
  if (vectors.length > limits.vectorIndexes) {
    throw new DynamoError(
      'LimitExceededException',
      'Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of ' +
        limits.vectorIndexes,
    );
  }
  return { vectors };
}

function refuseKnownName(table: Table, vectors: readonly VectorIndex[], name: string): void {
  const known = vectors.find(index => index.name === name);
  if (!known) return;
  if (known.status !== 'CREATING')
    throw validationError('Attempting to create an index which already exists');
  throw resourceInUse(
    'Attempt to change a resource which is still in use: Index is being created.  ' +
      `Table: ${table.name} Index: ${name}`,
  );
}

/** As in the request that made it. */
export function defineAgain(index: VectorIndex) {
  const { projection, hash } = index;
  const schema = searchAttributes(index).map(attribute => ({
    AttributeName: attribute.name,
    SearchSchemaElementType: attribute === hash ? 'HASH' : 'INLINE_FILTER',
  }));
  return {
    IndexName: index.name,
    ...(schema.length > 0 && { SearchSchema: schema }),
    Projection: {
      ProjectionType: projection.type,
      ...(projection.type === 'INCLUDE' && { NonKeyAttributes: projection.attributes }),
    },
    VectorAttribute: { AttributeName: index.attribute },
    Dimensions: index.dimensions,
    DistanceFunction: index.distance,
  };
}

export function describeVectorIndex(context: Context, table: Table, index: VectorIndex, isNew: boolean) {
  const { items, bytes } = readSize(context.store, index.id);
  return {
    ...defineAgain(index),
    IndexStatus: isNew ? 'CREATING' : index.status,
    ...(index.status === 'CREATING' && { Backfilling: true }),
    IndexSizeBytes: bytes,
    ItemCount: items,
    IndexArn: indexArn(context, table.name, index.name),
  };
}
