import type { Context, View } from '../context.ts';
import type { Condition } from '../expressions/condition.ts';
import { evaluateCondition } from '../expressions/evaluation.ts';
import { type Projection, project } from '../expressions/projection.ts';
import * as limits from '../limits.ts';
import { decodeItem, decodeSize } from '../storage/codec.ts';
import { copyBytes, type Decode, nothing, type RangeOptions } from '../storage/store.ts';
import type { Index, Table } from '../storage/table.ts';
import { keyAttributes, projectedSize } from '../storage/writer.ts';
import type { Item } from '../values/attribute-value.ts';

// One page of a Query or Scan: up to 1 MB or `limit` items, counted before the filter.

export type PageRequest = {
  table: Table;
  index?: Index;
  range: RangeOptions;
  limit?: number;
  // What the reader may see of an item (an index's projection); the filter sees no more.
  visible?: Projection;
  filter?: Condition;
  projection?: Projection;
  countOnly: boolean;
  // Which items belong to this reader, by their key: the segment of a parallel scan.
  owns?(key: Buffer): boolean;
};

export type Page<T> = {
  items: T[];
  count: number;
  scanned: number;
  bytes: number;
  // Sizes of the whole items, for a local index that fetches from the table.
  fetchedBytes: number[];
  lastKey?: Item;
};

// What became of an item offered to the page.
type Verdict = 'taken' | 'taken, page full' | 'no room';

export function readPage<T>(context: Context, request: PageRequest, view: View<T>): Page<T> {
  const page: Page<T> = { items: [], count: 0, scanned: 0, bytes: 0, fetchedBytes: [] };
  let last: Buffer | undefined;
  let isFull = false;
  const goOn = (key: Buffer, verdict: Verdict): boolean => {
    if (verdict !== 'no room') last = key;
    isFull = verdict !== 'taken';
    return !isFull;
  };
  walk(context, request, collector(page, request, view), goOn);
  if (isFull) page.lastKey = startKey(context, request, last!);
  return page;
}

type GoOn = (key: Buffer, verdict: Verdict) => boolean;

function walk({ store }: Context, request: PageRequest, collect: Decode<Verdict>, goOn: GoOn): void {
  const { range, index, owns } = request;
  const read = (key: Buffer) => goOn(key, store.get(key, collect) ?? 'taken');
  if (index) store.each(range, copyBytes, (_, key) => (owns && !owns(key)) || read(key));
  else if (owns) store.each(range, nothing, key => !owns(key) || read(key));
  else store.each(range, collect, goOn);
}

// Adds items to the page as they are read. Whole ones are decoded straight into the caller's form; only a filter
// or a projection needs the tagged one.
function collector<T>(page: Page<T>, request: PageRequest, view: View<T>): Decode<Verdict> {
  const { table, index, visible, filter, projection, countOnly } = request;
  const { limit = Number.POSITIVE_INFINITY } = request;
  const isWhole = !visible && !filter && !projection && (!index || index.projection.type === 'ALL');

  // DynamoDB stops at the limit without looking whether anything follows.
  function take(size: number): Verdict {
    page.scanned++;
    page.bytes += size;
    return page.scanned === limit ? 'taken, page full' : 'taken';
  }
  const hasRoom = (size: number) => page.scanned === 0 || page.bytes + size <= limits.pageBytes;

  function collectWhole(bytes: Buffer, end: number): Verdict {
    const size = decodeSize(bytes);
    if (!hasRoom(size)) return 'no room';
    page.count++;
    if (!countOnly) page.items.push(view.decode(bytes, end));
    return take(size);
  }

  function collectPart(bytes: Buffer, end: number): Verdict {
    const itemSize = decodeSize(bytes);
    const whole = decodeItem(bytes, end);
    const size = index ? projectedSize(table, index, { item: whole, size: itemSize }) : itemSize;
    if (!hasRoom(size)) return 'no room';
    page.fetchedBytes.push(itemSize);
    const item = visible ? project(visible, whole) : whole;
    if (!filter || evaluateCondition(filter, item)) {
      page.count++;
      if (!countOnly) page.items.push(view.present(projection ? project(projection, item) : item));
    }
    return take(size);
  }

  return isWhole ? collectWhole : collectPart;
}

function startKey(context: Context, { table, index }: PageRequest, key: Buffer): Item {
  const item = context.store.get(key, decodeItem)!;
  const start = keyAttributes(table, item);
  if (index) {
    start[index.keys.hash.name] = item[index.keys.hash.name]!;
    if (index.keys.range) start[index.keys.range.name] = item[index.keys.range.name]!;
  }
  return start;
}
