import { addUsage, noUsage, readUnits, readUsage, type Usage } from '../capacity.ts';
import type { Context, View } from '../context.ts';
import { validationError } from '../errors.ts';
import type { Condition } from '../expressions/condition.ts';
import { type Path, valueAt } from '../expressions/path.ts';
import { createProjection } from '../expressions/projection.ts';
import { projectedNames } from '../item-writer.ts';
import { type Page, type PageRequest, readPage } from '../items/page.ts';
import { readItem } from '../items/read-item.ts';
import { findIndex, pageUsage, resumeAfter, type Visibility, visibleThrough } from '../items/read-request.ts';
import * as limits from '../limits.ts';
import { decodeItem, gatherEach } from '../storage/codec.ts';
import type { Decode } from '../storage/store.ts';
import { type Index, type Table, vectorsOf } from '../storage/table.ts';
import { invalid } from '../validation/attribute-values.ts';
import { checkStartKey } from '../validation/start-key.ts';
import { type Item, newItem } from '../values/attribute-value.ts';
import { type AccessPath, findAccessPath } from './access-path.ts';
import type { Column } from './ast.ts';
import type { BoundSelect } from './binding.ts';
import { foreignToken, type Position } from './next-token.ts';

type ReadOptions = { ConsistentRead?: boolean; Limit?: number };
export type Selection<T> = { items: T[]; usage: Usage; next?: Position };

export function selectItems<T>(
  context: Context,
  table: Table,
  select: BoundSelect,
  options: ReadOptions,
  start: Position,
  view: View<T>,
): Selection<T> {
  const index = indexOf(table, select, options);
  const path = findAccessPath(table, index, select.where, select.order);
  const projection = select.columns && createProjection(select.columns.map(column => column.path));
  const visibility = visibleThrough(table, index, options, projection);
  if (index && path.keyed) checkFilter(table, index, select.where!);
  const filter = path.filter && { test: path.filter, paths: select.where!.paths };
  const request = { table, index, visible: visibility.visible, filter, countOnly: false };
  if (path.single) return readSingle(context, path, filter, options, columnView(view, select.columns));
  if (start.read >= path.ranges.length) throw foreignToken();
  if (start.after) checkStartKey(table, index, start.after);
  return readRanges(context, { request, visibility, options }, path, start, columnView(view, select.columns));
}

// The whole key is known, so the range starts with the only item it can hold: a GetItem.
function readSingle<T>(
  context: Context,
  { ranges }: AccessPath,
  filter: Condition | undefined,
  { ConsistentRead }: ReadOptions,
  view: View<T>,
): Selection<T> {
  const { item, size } = readItem(context, ranges[0]!.start, view, { filter });
  return { items: item === undefined ? [] : [item], usage: readUsage(readUnits(size, ConsistentRead)) };
}

type RangeRead = { request: Omit<PageRequest, 'range'>; visibility: Visibility; options: ReadOptions };

// Reads the ranges in turn until the page is full.
function readRanges<T>(
  context: Context,
  { request, visibility, options }: RangeRead,
  { ranges, reverse }: AccessPath,
  start: Position,
  view: View<T>,
): Selection<T> {
  const { table, index } = request;
  const selection: Selection<T> = { items: [], usage: noUsage('read') };
  let left = options.Limit ?? Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (let read = start.read; read < ranges.length; read++) {
    if (read > start.read && (left <= 0 || bytes >= limits.pageBytes)) {
      selection.next = { read };
      break;
    }
    const after = read === start.read ? start.after : undefined;
    const range = resumeAfter(ranges[read]!, table, index, after, reverse);
    const page: Page<T> = readPage(context, { ...request, range, limit: left }, view);
    for (const item of page.items) selection.items.push(item);
    addUsage(selection.usage, pageUsage(index, options, visibility, page));
    left -= page.scanned;
    bytes += page.bytes;
    if (!page.lastKey) continue;
    selection.next = { read, after: page.lastKey };
    break;
  }
  return selection;
}

function indexOf(table: Table, { source }: BoundSelect, { ConsistentRead }: ReadOptions): Index | undefined {
  if (source.index === undefined) return undefined;
  if (vectorsOf(table).some(candidate => candidate.name === source.index))
    throw validationError('Scan operation not supported on this index type');
  const index = table.indexes.find(candidate => candidate.name === source.index);
  if (!index) throw validationError('The table does not have the specified index');
  if (ConsistentRead && index.kind === 'global') {
    throw validationError('Strongly consistent read is not supported on Global Secondary Indexes');
  }
  return findIndex(table, { IndexName: source.index }, 'Scan');
}

function isHidden(table: Table, index: Index | undefined): (path: Path) => boolean {
  const names = index && projectedNames(table, index);
  return names ? ([name]) => !names.has(name as string) : () => false;
}

// An index that is queried by its key refuses to filter on attributes that it lacks; a scan of it just finds nothing.
// For a clause that is an OR, DynamoDB does not check every branch.
function checkFilter(table: Table, index: Index, { test, paths }: Condition): void {
  if (test.kind === 'or') return;
  const missing = new Set(paths.filter(isHidden(table, index)).map(([name]) => name));
  if (missing.size === 0) return;
  throw invalid(
    `Secondary index ${index.name} does not project one or more filter attributes: [${[...missing].join(', ')}]`,
  );
}

// Columns replace the item they come from.
export function columnView<T>(view: View<T>, columns: Column[] | undefined): View<T> {
  if (!columns) return view;
  const present = (item: Item) => view.present(pickColumns(columns, item));
  const decode: Decode<T> = (bytes, end) => present(decodeItem(bytes, end));
  return { present, decode, gather: () => gatherEach(decode) };
}

function pickColumns(columns: Column[], item: Item): Item {
  const picked = newItem();
  for (const { name, path } of columns) {
    const value = valueAt(item, path);
    if (value) picked[name] = value;
  }
  return picked;
}
