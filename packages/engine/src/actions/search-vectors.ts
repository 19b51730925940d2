import type { Context, View } from '../context.ts';
import { validationError } from '../errors.ts';
import { bindProjection, type Projection, project, projectionOf } from '../expressions/projection.ts';
import { assertAllUsed, createScope } from '../expressions/scope.ts';
import { bindSearchCondition } from '../expressions/search-condition.ts';
import * as limits from '../limits.ts';
import { decodeItem, decodeItemWithout, decodeSize } from '../storage/codec.ts';
import { type Table, type VectorIndex, vectorsOf } from '../storage/table.ts';
import { checkSearch, type SearchVectorsInput, validateSearchVectors } from '../validation/search-vectors.ts';
import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { itemSize } from '../values/size.ts';
import { scoreOf } from '../vectors/distance.ts';
import { filterDigest, partitionOfValue, wholeIndex } from '../vectors/records.ts';
import { type Found, findNearest, type Wanted } from '../vectors/search.ts';
import { restSize, visibleNames } from '../vectors/size.ts';
import { roundedVector } from '../vectors/values.ts';

// Answers are as of the newest commit that this process has seen, like an eventually consistent read.
export function searchVectors<T>(context: Context, input: SearchVectorsInput, view: View<T>) {
  validateSearchVectors(input);
  const { conditions, projection } = bindSearch(input);
  const table = context.catalog.get(input.TableName);
  const index = findVectorIndex(table, input.IndexName);
  checkSearch(index, input, conditions);
  const wanted = wantedOf(index, input, conditions);
  const nearest = wanted ? findNearest(context, table, index, wanted) : [];
  const present = createPresenter(context, table, index, projection);
  const items = nearest.map(({ key }) => present(key));
  const capacity = input.ReturnConsumedCapacity;
  return {
    SearchResults: nearest.map((neighbour: Found, i) => ({
      Item: view.present(items[i]!.item),
      Score: scoreOf(neighbour.distance, index.distance),
    })),
    ...((capacity === 'TOTAL' || capacity === 'INDEXES') && {
      ConsumedCapacity: { VectorSearchRequestBytes: searchBytes(index, items) },
    }),
  };
}

function bindSearch(input: SearchVectorsInput) {
  const scope = createScope(input.ExpressionAttributeNames, input.ExpressionAttributeValues);
  const { SearchConditionExpression: condition, ProjectionExpression: projected } = input;
  const conditions = condition === undefined ? undefined : bindSearchCondition(condition, scope);
  const projection = projected === undefined ? undefined : bindProjection(projected, scope);
  assertAllUsed(scope);
  return { conditions, projection };
}

function findVectorIndex(table: Table, name: string): VectorIndex {
  const index = vectorsOf(table).find(candidate => candidate.name === name);
  if (!index || index.status === 'DELETING')
    throw validationError(`The table does not have the specified index: ${name}`);
  if (index.status === 'CREATING') throw validationError(`Cannot search backfilling vector index: ${name}`);
  return index;
}

// Undefined if no item can have the partition key.
function wantedOf(
  index: VectorIndex,
  input: SearchVectorsInput,
  conditions: ReadonlyMap<string, AttributeValue> | undefined,
): Wanted | undefined {
  const { hash, filters, dimensions } = index;
  const partition = hash ? partitionOfValue(conditions!.get(hash.name)!) : wholeIndex;
  if (!partition) return undefined;
  const vector = new Float32Array(dimensions);
  input.SearchVector.forEach((member, i) => {
    vector[i] = Number((member as { N: string }).N);
  });
  return {
    vector,
    partition,
    filters: filters.map(filter => {
      const value = conditions?.get(filter.name);
      return value && filterDigest(filter, value);
    }),
    count: input.TopK,
  };
}

type Presented = { item: Item; restBytes: number };

// The vector is large and seldom wanted: it is left out unless the projection names it, and is then as the index keeps
// it. Attributes that the index does not contain are left out without an error.
function createPresenter(
  { store }: Context,
  table: Table,
  index: VectorIndex,
  projection: Projection | undefined,
): (key: Buffer) => Presented {
  const names = visibleNames(table, index);
  const visible = names && projectionOf([...names, index.attribute]);
  const withVector = projection?.paths.some(([name]) => name === index.attribute) ?? false;
  let bytesLeft = limits.searchBytes;
  return key => {
    const presented = store.get(key, (bytes, end) => {
      const whole = withVector ? decodeItem(bytes, end) : decodeItemWithout(bytes, end, index.attribute);
      const restBytes = withVector
        ? restSize(table, index, whole, decodeSize(bytes))
        : itemSize(visible ? project(visible, whole) : whole);
      if (withVector) whole[index.attribute] = roundedVector(whole[index.attribute]!);
      const seen = visible ? project(visible, whole) : whole;
      return { item: projection ? project(projection, seen) : seen, restBytes };
    })!;
    bytesLeft -= itemSize(presented.item);
    if (bytesLeft < 0) {
      throw validationError(
        'The response exceeds the limit of 16 MB: ask for fewer items (TopK) or for fewer attributes',
      );
    }
    return presented;
  };
}

// DynamoDB's bill depends on what its index happens to read, and differs between equal calls. This is the lower of the
// measured values: bytes for each dimension, and those of the items in the answer, before its projection.
const bytesPerDimension = 17.6;
const fewestSearchBytes = 1024;

const searchBytes = ({ dimensions }: VectorIndex, items: readonly Presented[]): number =>
  Math.max(
    fewestSearchBytes,
    bytesPerDimension * dimensions + items.reduce((sum, { restBytes }) => sum + restBytes, 0),
  );
