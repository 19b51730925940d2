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
  fetchedBytes: number[];
  lastKey?: Item;
};

export function readPage<T>(context: Context, request: PageRequest, view: View<T>): Page<T> {
  const { limit = Number.POSITIVE_INFINITY, countOnly } = request;
  const page: Page<T> = { items: [], count: 0, scanned: 0, bytes: 0, fetchedBytes: [] };
  let last: Buffer | undefined;
  let full = false;
  // Says whether there is room for more.
  const take = (key: Buffer, candidate: Candidate<T> | undefined): boolean => {
    if (!candidate) return true;
    if (page.scanned > 0 && page.bytes + candidate.size > limits.pageBytes) {
      full = true;
      return false;
    }
    page.scanned++;
    page.bytes += candidate.size;
    page.fetchedBytes.push(candidate.itemSize);
    if (candidate.matches) {
      page.count++;
      if (!countOnly) page.items.push(candidate.value as T);
    }
    last = key;
    // DynamoDB stops at the limit without looking whether anything follows.
    full = page.scanned === limit;
    return !full;
  };
  walk(context, request, view, take);
  if (full) page.lastKey = startKey(context, request, last!);
  return page;
}

type Candidate<T> = { size: number; itemSize: number; matches: boolean; value: T | undefined };
type Take<T> = (key: Buffer, candidate: Candidate<T> | undefined) => boolean;

function walk<T>({ store }: Context, request: PageRequest, view: View<T>, take: Take<T>): void {
  const { range, index, owns } = request;
  const decode = candidateDecoder(request, view);
  if (index) {
    store.each(range, copyBytes, (_, key) => (owns && !owns(key)) || take(key, store.get(key, decode)));
  } else if (owns) {
    store.each(range, nothing, key => !owns(key) || take(key, store.get(key, decode)));
  } else {
    store.each(range, decode, take);
  }
}

// Whole items are decoded straight into the caller's form; only a filter or a projection needs the tagged one.
function candidateDecoder<T>(request: PageRequest, view: View<T>): Decode<Candidate<T>> {
  const { table, index, visible, filter, projection, countOnly } = request;
  const keepsAll = !index || index.projection.type === 'ALL';
  if (keepsAll && !visible && !filter && !projection) {
    return (bytes, end) => {
      const size = decodeSize(bytes);
      return { size, itemSize: size, matches: true, value: countOnly ? undefined : view.decode(bytes, end) };
    };
  }
  return (bytes, end) => {
    const itemSize = decodeSize(bytes);
    const whole = decodeItem(bytes, end);
    const item = visible ? project(visible, whole) : whole;
    const matches = !filter || evaluateCondition(filter, item);
    const size = index ? projectedSize(table, index, { item: whole, size: itemSize }) : itemSize;
    const wanted = matches && !countOnly;
    return {
      size,
      itemSize,
      matches,
      value: wanted ? view.present(projection ? project(projection, item) : item) : undefined,
    };
  };
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
