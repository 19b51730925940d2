import { systemRandom } from '@stak/kit';
import type { Attributes, QueryInput, ScanInput } from '../client/client.ts';
import { type Session, send } from '../client/session.ts';
import {
  bindPlaceholders,
  createExpression,
  type Expression,
  nameIn,
  valueIn,
} from '../conditions/expression.ts';
import type { AnyTable, KeyNames } from '../design/table.ts';
import { itemRefused, keyRefused } from '../errors.ts';
import * as limits from '../limits.ts';

// Items of any entity as they are stored, for tools that inspect a table.

/** Selects items of any entity, which are read as they are stored. */
export type StoredQuery = {
  index?: string;
  partition?: string; // without it, all partitions, in the order of their hashes
  sortPrefix?: string;
  newestFirst?: boolean;
  limit: number;
  start?: Attributes;
};
/** `end` is where to continue; undefined at the end. */
export type StoredPage = { items: Attributes[]; end?: Attributes; read: number; units: number };

/** A query if a partition is given, else a scan. */
export function storedParams(table: AnyTable, query: StoredQuery): QueryInput | ScanInput {
  const { index, partition, sortPrefix, newestFirst, limit, start } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.pageItemsMost)
    throw itemRefused(`a page has 1 to ${limits.pageItemsMost} items`);
  const keys = keysAt(table, index);
  const page: ScanInput = { TableName: table.name, Limit: limit };
  if (index !== undefined) page.IndexName = index;
  if (start) page.ExclusiveStartKey = start;
  if (partition === undefined) {
    if (sortPrefix !== undefined) throw keyRefused('a sort key is looked for in one partition only');
    return page;
  }
  const expression = createExpression();
  const condition = conditionOn(expression, keys, partition, sortPrefix);
  const input: QueryInput = { ...page, KeyConditionExpression: condition };
  if (newestFirst) input.ScanIndexForward = false;
  return bindPlaceholders(input, expression);
}

/** The names of the key attributes of a table, or of one of its indexes. */
export function keysAt(table: AnyTable, index: string | undefined): KeyNames {
  if (index === undefined) return table.keys;
  if (!Object.hasOwn(table.indexes, index)) throw keyRefused(`${table.name} has no index ${index}`);
  return table.indexes[index]!;
}

function conditionOn(
  expression: Expression,
  { partition: name, sort }: KeyNames,
  partition: string,
  sortPrefix: string | undefined,
): string {
  checkBytes(partition, limits.partitionKeyBytes);
  const equal = `${nameIn(expression, name)} = ${valueIn(expression, partition)}`;
  if (sortPrefix === undefined) return equal;
  if (sort === undefined) throw keyRefused('there is no sort key');
  checkBytes(sortPrefix, limits.sortKeyBytes);
  return `${equal} AND begins_with(${nameIn(expression, sort)}, ${valueIn(expression, sortPrefix)})`;
}

function checkBytes(key: string, most: number): void {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0 || bytes > most) throw keyRefused(`a key has 1 to ${most} bytes here`);
}

/** Reads one of DynamoDB's pages, including expired items. Its cost is counted under the pattern's name. */
export async function readStored(
  session: Pick<Session, 'client' | 'clock' | 'ledger'>,
  table: AnyTable,
  query: StoredQuery,
  pattern: string,
): Promise<StoredPage> {
  const { client } = session;
  const input = { ...storedParams(table, query), ReturnConsumedCapacity: 'TOTAL' as const };
  const read = (given: typeof input) =>
    'KeyConditionExpression' in given ? client.query(given) : client.scan(given);
  const page = await send({ ...session, random: systemRandom }, 'read', pattern, input, read);
  return {
    items: page.Items ?? [],
    ...(page.LastEvaluatedKey && { end: page.LastEvaluatedKey }),
    read: page.ScannedCount ?? 0,
    units: page.ConsumedCapacity?.CapacityUnits ?? 0,
  };
}
