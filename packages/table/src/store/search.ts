import { type Attributes, vectorClientOf } from '../client/client.ts';
import { withRetry } from '../client/retry.ts';
import type { Session } from '../client/session.ts';
import { buildKey } from '../design/key-template.ts';
import type { DistanceName, VectorDefinition } from '../design/table.ts';
import { DesignError, itemRefused } from '../errors.ts';
import * as limits from '../limits.ts';
import { readAll, taker } from './page.ts';
import type { AnyQuery } from './query.ts';

// The items of a partition whose vectors are nearest to another one. A store with vector indexes searches its index;
// otherwise all items of the partition are read and compared. Both have the same results, without the vectors, but an
// index may be a moment behind, and may miss one of the nearest in a large partition.

/** The vector that is searched for, and how many of the nearest are returned. */
export type SearchOptions = { vector: readonly number[]; limit?: number };

/** An item, and how far it is. By DOT_PRODUCT the nearest have the largest score, otherwise the smallest. */
export type Found<Result> = { result: Result; score: number };

export async function searchNearest(
  session: Session,
  query: AnyQuery,
  params: object,
  { vector, limit = limits.pageItems }: SearchOptions,
): Promise<Found<unknown>[]> {
  const { name, definition } = vectorOf(query);
  const { attribute, dimensions, distance = 'COSINE' } = definition;
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.nearestMost)
    throw itemRefused(`a search returns 1 to ${limits.nearestMost} items`);
  if (vector.length !== dimensions || !vector.every(Number.isFinite))
    throw itemRefused(`${name} compares vectors of ${dimensions} numbers`);
  const found =
    (await searchIndex(session, query, params, { name, vector, limit })) ??
    (await compareAll(session, query, params, { attribute, distance, vector, limit }));
  for (const { result } of found) {
    const item = (query.isMixed ? (result as { item: Attributes }).item : result) as Attributes;
    delete item[attribute];
  }
  return found;
}

function vectorOf(query: AnyQuery): { name: string; definition: VectorDefinition } {
  const [name, ...others] = new Set(query.entities.map(({ vector }) => vector));
  if (name === undefined || others.length > 0 || query.index !== undefined)
    throw new DesignError(`query "${query.name}" does not read a partition of one vector index`);
  return { name, definition: query.table.vectors![name]! };
}

type Wanted = { vector: readonly number[]; limit: number };

// A store answers with one of these if it has no such index, or does not know the operation.
const lacksIndex = /^(UnknownOperation|NotImplemented|Serialization)/;
const lacksThisIndex = /does not have the specified index/;

// Undefined if the store has no such index, or if items of other entities leave too few of those that are wanted.
async function searchIndex(
  session: Session,
  query: AnyQuery,
  params: object,
  { name, vector, limit }: Wanted & { name: string },
): Promise<Found<unknown>[] | undefined> {
  const { client, ledger } = session;
  const vectors = vectorClientOf(client);
  if (!vectors) return undefined;
  const take = taker(session, query, {});
  for (const TopK of new Set([limit, limits.nearestMost])) {
    const input = {
      TableName: query.table.name,
      IndexName: name,
      SearchVector: [...vector],
      TopK,
      SearchConditionExpression: '#p = :p',
      ExpressionAttributeNames: { '#p': query.partition },
      ExpressionAttributeValues: { ':p': buildKey(query.partitionTemplate, params) },
    };
    const answer = await withRetry(session, () => vectors.searchVectors(input), { mayRepeat: true }).catch(
      ifWithoutIndex,
    );
    if (!answer) return undefined;
    ledger?.record('read', query.name, { TableName: query.table.name });
    const { SearchResults = [] } = answer;
    const found = SearchResults.flatMap(({ Item = {}, Score = 0 }) => {
      const result = take(Item);
      return result === undefined ? [] : [{ result, score: Score }];
    });
    if (found.length >= limit || SearchResults.length < TopK) return found.slice(0, limit);
  }
  return undefined;
}

function ifWithoutIndex(error: unknown): undefined {
  const { name = '', message = '' } = error as Partial<Error>;
  if (!lacksIndex.test(name) && !lacksThisIndex.test(message)) throw error;
}

async function compareAll(
  session: Session,
  query: AnyQuery,
  params: object,
  { attribute, distance, vector, limit }: Wanted & { attribute: string; distance: DistanceName },
): Promise<Found<unknown>[]> {
  const scoreOf = scores[distance];
  const sign = distance === 'DOT_PRODUCT' ? -1 : 1;
  const nearest: Found<unknown>[] = [];
  for await (const result of readAll(session, query, params, {})) {
    const item = (query.isMixed ? (result as { item: Attributes }).item : result) as Attributes;
    const own: unknown = item[attribute];
    if (!Array.isArray(own) || own.length !== vector.length) continue;
    nearest.push({ result, score: scoreOf(vector, own) });
    // Most of what was read need not be kept.
    if (nearest.length > 2 * limit) keepNearest();
  }
  keepNearest();
  return nearest;

  function keepNearest(): void {
    nearest.sort((a, b) => sign * (a.score - b.score));
    nearest.length = Math.min(nearest.length, limit);
  }
}

const scores: Record<DistanceName, (a: readonly number[], b: readonly number[]) => number> = {
  COSINE(a, b) {
    const lengths = Math.sqrt(dot(a, a) * dot(b, b));
    return lengths === 0 ? 1 : Math.min(2, Math.max(0, 1 - dot(a, b) / lengths));
  },
  EUCLIDEAN: (a, b) => Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]!) ** 2, 0)),
  DOT_PRODUCT: dot,
};

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
