import type { Attributes, QueryInput } from '../client/client.ts';
import { prepare, preparedOf } from '../client/prepared.ts';
import { readPrepared, type Session, send } from '../client/session.ts';
import type { Bounds } from '../conditions/sort-range.ts';
import type { AnyEntity } from '../design/entity.ts';
import { fromStored, hasKeyOf, hasKindOf, isExpired } from '../design/item.ts';
import { partsOf } from '../design/key-template.ts';
import { itemRefused } from '../errors.ts';
import * as limits from '../limits.ts';
import { type AnyQuery, positionOf, prepareQuery, type QueryOptions, queryParams } from './query.ts';

/** The size of a page, the cursor of the previous one, and bounds and filters of the query. */
export type PageOptions<Q> = QueryOptions<Q> & {
  limit?: number;
  cursor?: string;
  // The caller that the cursor is valid for.
  caller?: string;
  // How many items may be read for the page, in case a filter drops them all.
  budget?: number;
};
/** A page of results. Without a cursor it is the last one. */
export type ResultPage<Result> = { items: Result[]; cursor?: string };

// Reads until the page is full: filters, expired items and items of other entities leave gaps in DynamoDB's pages.
export async function readPage(
  session: Session,
  query: AnyQuery,
  params: object,
  options: PageOptions<never>,
): Promise<ResultPage<unknown>> {
  const { limit = limits.pageItems, budget = limits.readBudget, cursor } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.pageItemsMost)
    throw itemRefused(`a page has 1 to ${limits.pageItemsMost} items`);
  const request = createRequest(session, query, params, options);
  // The cursor is bound to the request.
  const bound = () => [query.name, request.input(), options.caller ?? null];
  let start = cursor === undefined ? undefined : session.cursors.open(cursor, bound());
  if (request.bounds.isEmpty) return { items: [] };
  const take = taker(session, query, request.bounds);
  const items: unknown[] = [];
  let last: Attributes | undefined;
  for (let read = 0, round = 0; ; round++) {
    // One more item shows whether the list continues.
    const wanted = limit - items.length + 1;
    const page = await request.read(Math.min(limits.readAhead, wanted * 2 ** round), start);
    for (const stored of page.items) {
      const item = take(stored);
      if (item === undefined) continue;
      if (items.length === limit)
        return { items, cursor: session.cursors.seal(positionOf(query, last!), bound()) };
      items.push(item);
      last = stored;
    }
    start = page.end;
    read += page.read;
    if (start === undefined) return { items };
    if (read >= budget) return { items, cursor: session.cursors.seal(start, bound()) };
  }
}

// Every item, in DynamoDB's pages.
export async function* readAll(
  session: Session,
  query: AnyQuery,
  params: object,
  options: QueryOptions<never>,
): AsyncGenerator<unknown> {
  const request = createRequest(session, query, params, options);
  if (request.bounds.isEmpty) return;
  const take = taker(session, query, request.bounds);
  let start: Attributes | undefined;
  do {
    const page = await request.read(undefined, start);
    for (const stored of page.items) {
      const item = take(stored);
      if (item !== undefined) yield item;
    }
    start = page.end;
  } while (start);
}

type StoredItems = { items: Attributes[]; end: Attributes | undefined; read: number };

// The pages of a query. Its wire form is built when it is needed: for a cursor, or for a store over a network.
function createRequest(session: Session, query: AnyQuery, params: object, options: QueryOptions<never>) {
  const operation = preparedOf(session.client, 'query');
  const built = operation && prepare(() => prepareQuery(query, params, options));
  let wire = built ? undefined : queryParams(query, params, options);
  const input = (): QueryInput => {
    wire ??= queryParams(query, params, options);
    return wire.input;
  };

  async function read(limit: number | undefined, start: Attributes | undefined): Promise<StoredItems> {
    const run = built && (() => operation!.query({ ...built.prepared, limit, start }));
    const page =
      (run && (await readPrepared(session, query.name, query.table.name, run))) ??
      (await send(
        session,
        'read',
        query.name,
        { ...input(), ...(limit && { Limit: limit }), ...(start && { ExclusiveStartKey: start }) },
        session.client.query,
      ));
    return { items: page.Items ?? [], end: page.LastEvaluatedKey, read: page.ScannedCount ?? 0 };
  }

  return { bounds: (built ?? wire!).bounds, input, read };
}

function taker(session: Session, query: AnyQuery, { without, part }: Bounds) {
  const nowMs = session.clock.now();
  const projection = query.index === undefined ? 'ALL' : (query.table.indexes[query.index]!.project ?? 'ALL');
  // An index that contains only keys has no kinds. Other attributes can be read from the key.
  const isOf = (entity: AnyEntity, stored: Attributes) =>
    hasKeyOf(entity, stored) && (projection === 'KEYS_ONLY' || hasKindOf(entity, stored));
  return (stored: Attributes): unknown => {
    if (without !== undefined && stored[query.sort!] === without) return undefined;
    const entity = query.entities.find(entity => isOf(entity, stored));
    if (!entity || isExpired(entity, stored, nowMs)) return undefined;
    if (part && rawPart(query, entity, stored, part.at) !== part.text) return undefined;
    const item = fromStored(entity, stored, projection === 'ALL' ? undefined : entity.key.params);
    return query.isMixed ? { entity: entity.name, item } : item;
  };
}

// A part of the sort key, as stored.
function rawPart(query: AnyQuery, entity: AnyEntity, stored: Attributes, at: number): string | undefined {
  const keys =
    query.index === undefined ? entity.key : entity.indexes.find(index => index.name === query.index);
  const template = keys?.templates.sort;
  return template && partsOf(template, stored[query.sort!])?.[at];
}
