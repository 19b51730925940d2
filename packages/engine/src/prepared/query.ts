import { readUnits } from '../capacity.ts';
import { beginRead, type Context } from '../context.ts';
import { createTally, type Page, type PageRequest, readPage, walkAll } from '../items/page.ts';
import { resumeAfter } from '../items/read-request.ts';
import * as limits from '../limits.ts';
import { decodeSize } from '../storage/codec.ts';
import { indexRange, itemRange, type KeyBounds, type RangeCondition } from '../storage/keys.ts';
import { decodePlain } from '../storage/plain-item.ts';
import { attributesOfKey } from '../storage/table.ts';
import { type Item, newItem } from '../values/attribute-value.ts';
import { type NativeItem, unmarshalItem } from '../values/marshal.ts';
import { byteLength } from '../values/size.ts';
import { nativeView } from '../views.ts';
import { checkTest, evaluateTest, type Test } from './condition.ts';
import { type IndexLayout, projectedBytes } from './layout.ts';
import { findLayout } from './read.ts';
import { unsupported } from './values.ts';
import type { TableUnits } from './write.ts';

/** The sort keys of a query: one, those with a prefix, or a range that includes both ends. */
type SortRange = {
  readonly exactly?: string | undefined;
  readonly prefix?: string | undefined;
  readonly low?: string | undefined;
  readonly high?: string | undefined;
};

/** One page of one partition. */
export type PreparedQuery = {
  readonly table: string;
  readonly index?: string | undefined;
  readonly partition: string;
  readonly sort?: SortRange | undefined;
  readonly filter?: Test | undefined;
  readonly isReverse: boolean;
  readonly consistent: boolean;
  readonly limit?: number | undefined;
  readonly start?: NativeItem | undefined;
};

export type PreparedPage = {
  Items: NativeItem[];
  ScannedCount: number;
  LastEvaluatedKey?: NativeItem | undefined;
  ConsumedCapacity: TableUnits;
};

export function queryPage(context: Context, query: PreparedQuery): PreparedPage {
  const { filter, consistent, limit } = query;
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0)) throw unsupported;
  beginRead(context, consistent);
  const layout = findLayout(context, query.table);
  const { table } = layout;
  const at = query.index === undefined ? -1 : table.indexes.findIndex(({ name }) => name === query.index);
  if (query.index !== undefined && at < 0) throw unsupported;
  const index = table.indexes[at];
  const indexed = layout.indexes[at];
  if (index && (index.kind !== 'global' || consistent || !indexed!.isReadable)) throw unsupported;
  const bounds = boundsOf(query, (index ?? table).keys.range !== undefined);
  if (filter) {
    checkTest(filter);
    for (const { name } of attributesOfKey((index ?? table).keys)) refuseTestOf(filter, name);
  }
  const request: PageRequest = {
    table,
    index,
    range: resumeAfter(
      index ? indexRange(index, bounds) : itemRange(table, bounds),
      table,
      index,
      query.start && startOf(query.start, index ? [table.keys, index.keys] : [table.keys]),
      query.isReverse,
    ),
    limit,
    countOnly: false,
  };
  const page =
    filter || indexed?.names
      ? readPart(context, request, indexed, filter)
      : readPage(context, request, nativeView);
  const units = readUnits(page.bytes, consistent);
  context.onUsage?.({
    table: table.name,
    partition: query.partition,
    kind: 'read',
    ...(index && { index: index.name }),
    units,
  });
  return {
    Items: page.items,
    ScannedCount: page.scanned,
    LastEvaluatedKey: page.lastKey && unmarshalItem(page.lastKey),
    ConsumedCapacity: { TableName: query.table, CapacityUnits: units },
  };
}

function boundsOf({ partition, sort }: PreparedQuery, hasRange: boolean): KeyBounds {
  checkKeyText(partition, limits.hashKeyBytes);
  const range = sort && rangeOf(sort);
  if (range && !hasRange) throw unsupported;
  return { hash: [{ S: partition }], range: range ? [range] : [] };
}

function rangeOf({ exactly, prefix, low, high }: SortRange): RangeCondition | undefined {
  for (const text of [exactly, prefix, low, high])
    if (text !== undefined) checkKeyText(text, limits.rangeKeyBytes);
  if (exactly !== undefined) return { op: '=', value: { S: exactly } };
  if (prefix !== undefined) return { op: 'begins_with', value: { S: prefix } };
  if (low !== undefined && high !== undefined) return { op: 'BETWEEN', from: { S: low }, to: { S: high } };
  if (low !== undefined) return { op: '>=', value: { S: low } };
  return high === undefined ? undefined : { op: '<=', value: { S: high } };
}

function checkKeyText(text: unknown, most: number): void {
  if (typeof text !== 'string' || text === '' || !text.isWellFormed()) throw unsupported;
  if (byteLength(text) > most) throw unsupported;
}

// Returns the position to continue at, as the keys of the item before it.
function startOf(start: NativeItem, schemas: Parameters<typeof attributesOfKey>[0][]): Item {
  const item = newItem();
  for (const keys of schemas)
    for (const { name } of attributesOfKey(keys)) {
      checkKeyText(start[name], limits.hashKeyBytes);
      item[name] = { S: start[name] };
    }
  if (Object.keys(start).length !== Object.keys(item).length) throw unsupported;
  return item;
}

// Filters see no keys.
function refuseTestOf({ path, tests }: Test, name: string): void {
  if (path === name || path?.[0] === name) throw unsupported;
  for (const test of tests ?? []) refuseTestOf(test, name);
}

// A page of items that are filtered, or of which the index contains only a part.
function readPart(
  context: Context,
  request: PageRequest,
  index: IndexLayout | undefined,
  filter: Test | undefined,
): Page<NativeItem> {
  const page: Page<NativeItem> = { items: [], count: 0, scanned: 0, bytes: 0, fetchedBytes: [] };
  const tally = createTally(page, request);
  walkAll(context, request, (bytes, end) => {
    const itemSize = decodeSize(bytes);
    const whole = decodePlain(bytes, end);
    if (!whole) throw unsupported;
    const size = index ? projectedBytes(index, whole, itemSize) : itemSize;
    if (tally.isTooMuch(size, itemSize)) return false;
    const item = index?.names ? pick(whole, index.names) : whole;
    if (!filter || evaluateTest(filter, item)) {
      page.count++;
      page.items.push(item);
    }
    return tally.count(size, bytes, end, itemSize);
  });
  return page;
}

function pick(item: NativeItem, names: readonly { name: string }[]): NativeItem {
  const part: NativeItem = {};
  for (const { name } of names) if (item[name] !== undefined) part[name] = item[name];
  return part;
}
