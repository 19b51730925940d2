import type { Context, View } from '../context.ts';
import type { Condition } from '../expressions/condition.ts';
import { evaluateCondition } from '../expressions/evaluation.ts';
import { type Projection, project } from '../expressions/projection.ts';
import { keyAttributes, projectedSize } from '../item-writer.ts';
import * as limits from '../limits.ts';
import { decodeItem, decodeSize, type Gathering } from '../storage/codec.ts';
import { after, partitionOf, successor } from '../storage/keys.ts';
import { copyBytes, type Decode, type RangeOptions } from '../storage/store.ts';
import { attributesOfKey, type Index, type Table } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';

// One page of a Query or Scan: up to 1 MB or `limit` items, counted before the filter. For an index, only projected
// attributes count; the items behind it have a separate limit.

export type PageRequest = {
  table: Table;
  index?: Index;
  range: RangeOptions;
  limit?: number;
  // The attributes that the reader may see (an index's projection); the filter sees no others.
  visible?: Projection;
  filter?: Condition;
  projection?: Projection;
  countOnly: boolean;
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

export function readPage<T>(context: Context, request: PageRequest, view: View<T>): Page<T> {
  const { collect, finish } = createCollector(request, view);
  walkAll(context, request, collect);
  return finish();
}

export function walkAll(
  { store }: Context,
  { range, index }: Pick<PageRequest, 'range' | 'index'>,
  collect: Collect,
): void {
  if (index) store.each(range, copyBytes, key => store.get(key, collect) ?? true);
  else store.each(range, collect, hasRoom => hasRoom);
}

// A segment may own few of the items it passes, or none: after this many, the event loop runs other work.
const passedPerTick = 1000;
const strangersPerTick = 16; // of one partition, the rest of which is then skipped

export type SegmentRequest = PageRequest & {
  // Decides by its key whether an item belongs to this reader.
  owns(key: Buffer): boolean;
};

export async function readSegment<T>(
  context: Context,
  request: SegmentRequest,
  view: View<T>,
): Promise<Page<T>> {
  const { collect, finish } = createCollector(request, view);
  let range: RangeOptions | undefined = request.range;
  while (range) {
    range = walkSome(context, { ...request, range }, collect);
    await new Promise(setImmediate);
  }
  return finish();
}

// Returns where to continue; undefined when the page is full or the table ends.
function walkSome(
  { store }: Context,
  { range, index, owns }: SegmentRequest,
  collect: Collect,
): RangeOptions | undefined {
  let passed = 0;
  let strangers = 0;
  let partition: Buffer | undefined;
  for (const { key, value } of store.range(range, index ? copyBytes : nothing)) {
    const item = index ? value! : key;
    passed += 1;
    if (owns(item)) {
      if (!(store.get(item, collect) ?? true)) return undefined;
    } else if (!index) {
      if (partition && key.subarray(0, partition.length).equals(partition)) strangers += 1;
      else [partition, strangers] = [partitionOf(key), 1];
      if (strangers === strangersPerTick) return { ...range, start: successor(partition) };
    }
    if (passed === passedPerTick) return { ...range, start: after(key) };
  }
  return undefined;
}

const nothing = (): undefined => undefined;

// Reads an item into the page and returns whether there is room for more.
export type Collect = Decode<boolean>;

function createCollector<T>(request: PageRequest, view: View<T>): { collect: Collect; finish(): Page<T> } {
  const page: Page<T> = { items: [], count: 0, scanned: 0, bytes: 0, fetchedBytes: [] };
  if (!isWhole(request)) return { collect: partCollector(page, request, view), finish: () => page };
  const whole = view.gather();
  return {
    collect: wholeCollector(page, request, whole),
    finish: () => Object.assign(page, { items: whole.finish() }),
  };
}

// The item need not be inspected: it is decoded directly into the caller's form.
const isWhole = ({ index, visible, filter, projection }: PageRequest): boolean =>
  !visible && !filter && !projection && (!index || index.projection.type === 'ALL');

function wholeCollector<T>(page: Page<T>, request: PageRequest, { add }: Gathering<T>): Collect {
  const tally = createTally(page, request);
  return (bytes, end) => {
    const size = decodeSize(bytes);
    if (tally.isTooMuch(size)) return false;
    page.count++;
    if (!request.countOnly) add(bytes, end);
    return tally.count(size, bytes, end);
  };
}

function partCollector<T>(page: Page<T>, request: PageRequest, view: View<T>): Collect {
  const { table, index, visible, filter, projection, countOnly } = request;
  const tally = createTally(page, request);
  return (bytes, end) => {
    const itemSize = decodeSize(bytes);
    const whole = decodeItem(bytes, end);
    const size = index ? projectedSize(table, index, { item: whole, size: itemSize }) : itemSize;
    if (tally.isTooMuch(size, itemSize)) return false;
    page.fetchedBytes.push(itemSize);
    const item = visible ? project(visible, whole) : whole;
    if (!filter || evaluateCondition(filter, item)) {
      page.count++;
      if (!countOnly) page.items.push(view.present(projection ? project(projection, item) : item));
    }
    return tally.count(size, bytes, end, itemSize);
  };
}

// Counts the items of a page, and decides where it ends.
export function createTally(page: Page<unknown>, request: PageRequest) {
  const { limit = Number.POSITIVE_INFINITY } = request;
  let last: Buffer | undefined;
  let read = 0;
  return {
    // The page ends with the item before the one that does not fit.
    isTooMuch(size: number, itemSize = size): boolean {
      const fits = page.bytes + size <= limits.pageBytes && read + itemSize <= limits.pageReadBytes;
      if (page.scanned === 0 || fits) return false;
      page.lastKey = startKey(request, decodeItem(last!));
      return true;
    },
    count(size: number, bytes: Buffer, end: number, itemSize = size): boolean {
      page.scanned++;
      page.bytes += size;
      read += itemSize;
      // DynamoDB stops at the limit without checking whether anything follows.
      if (page.scanned === limit) {
        page.lastKey = startKey(request, decodeItem(bytes, end));
        return false;
      }
      if (mayBeLast()) last = copyBytes(bytes, end);
      return true;
    },
  };

  // Whether the largest possible item would not fit.
  function mayBeLast(): boolean {
    return page.bytes + limits.itemBytes > limits.pageBytes || read + limits.itemBytes > limits.pageReadBytes;
  }
}

function startKey({ table, index }: PageRequest, item: Item): Item {
  const start = keyAttributes(table, item);
  if (index) for (const { name } of attributesOfKey(index.keys)) start[name] = item[name]!;
  return start;
}
