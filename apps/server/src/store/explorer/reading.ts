import type { Clock } from '@stak/kit';
import {
  type AnyTable,
  type Attributes,
  type DynamoClient,
  entityOf,
  keysAt,
  type Ledger,
  readStored,
} from '@stak/table';
import { viewItem } from './item-view.ts';
import * as limits from './limits.ts';
import type { ItemsQuery, ItemView } from './schema.ts';

export type ReadingDeps = { client: DynamoClient; clock: Clock; ledger: Ledger };
type Query = Omit<ItemsQuery, 'cursor'> & { start: Attributes | undefined };
export type ItemPage = { items: ItemView[]; end: Attributes | undefined; read: number; units: number };

// A page of items in stored order. Items of one entity are selected from what is read, within the budget: the page may
// be short, or empty, and still have a next one.
export async function readItems(deps: ReadingDeps, table: AnyTable, query: Query): Promise<ItemPage> {
  const { index, partition, sort, order, entity, limit } = query;
  const items: Attributes[] = [];
  const isWanted = (stored: Attributes) =>
    entity === undefined || entityOf(table, stored, index)?.name === entity;
  let { start: end } = query;
  let read = 0;
  let units = 0;
  do {
    const range = { index, partition, sortPrefix: sort, newestFirst: order === 'desc', start: end };
    const ask = { ...range, limit: entity === undefined ? limit : limits.readAhead };
    const page = await readStored(deps, table, ask, 'explorer');
    units += page.units;
    const taken = takeUntil(page.items, limit - items.length, isWanted);
    items.push(...taken.items);
    read += page.read;
    end = taken.last ? positionOf(table, index, taken.last) : page.end;
  } while (end && items.length < limit && read < limits.readBudget && entity !== undefined);
  const nowMs = deps.clock.now();
  return { items: items.map(stored => viewItem(table, stored, { nowMs, index })), end, read, units };
}

// `last` is where it stopped, if that is before the end.
function takeUntil(
  stored: readonly Attributes[],
  most: number,
  isWanted: (stored: Attributes) => boolean,
): { items: Attributes[]; last?: Attributes } {
  const items: Attributes[] = [];
  for (const [i, one] of stored.entries()) {
    if (!isWanted(one)) continue;
    items.push(one);
    if (items.length === most && i < stored.length - 1) return { items, last: one };
  }
  return { items };
}

// The start key to continue after an item: its keys, and those of the index it was read from.
function positionOf(table: AnyTable, index: string | undefined, stored: Attributes): Attributes {
  const names = [table.keys, keysAt(table, index)].flatMap(({ partition, sort }) =>
    sort === undefined ? [partition] : [partition, sort],
  );
  return Object.fromEntries(names.map(name => [name, stored[name]]));
}
