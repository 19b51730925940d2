import type { Attributes, QueryInput } from '../client/client.ts';
import type { PreparedQuery } from '../client/prepared.ts';
import { type Condition, conditionTest, conditionText } from '../conditions/condition.ts';
import {
  bindPlaceholders,
  createExpression,
  type Expression,
  nameIn,
  valueIn,
} from '../conditions/expression.ts';
import { allOf } from '../conditions/guard.ts';
import { type Bounds, boundsOf, type Range } from '../conditions/sort-range.ts';
import type { AnyEntity, IndexKeys, ItemOf, KeyOf, TemplatesOf } from '../design/entity.ts';
import type { Recognised } from '../design/item.ts';
import { buildKey, type KeyTemplate, type ParamsOf } from '../design/key-template.ts';
import type { AnyTable, AnyTableKeys } from '../design/table.ts';
import { DesignError } from '../errors.ts';

// A query is an access pattern with a name: it is part of the design, and its cost is counted under its name.

type Of = AnyEntity | readonly AnyEntity[];
type Member<O> = O extends readonly (infer E)[] ? E : O;
type IndexesOf<O> = Exclude<keyof TemplatesOf<Member<O>>, 'primary'>;
type TemplatesAt<O, Index> = Index extends string
  ? TemplatesOf<Member<O>>[Index & keyof TemplatesOf<Member<O>>]
  : TemplatesOf<Member<O>>['primary' & keyof TemplatesOf<Member<O>>];
type PartitionParams<O, Index> = ParamsOf<TemplatesAt<O, Index>['partition' & keyof TemplatesAt<O, Index>]>;
type SortParams<O, Index> = ParamsOf<TemplatesAt<O, Index>['sort' & keyof TemplatesAt<O, Index>]>;
type Values<Item, Names> = { [N in Names & keyof Item]: NonNullable<Item[N]> };

type TypesFor<O, Index> = {
  item: ItemOf<Member<O>>;
  // The whole partition key, and the equal part of the sort key.
  params: Values<ItemOf<Member<O>>, PartitionParams<O, Index>> &
    Partial<Values<ItemOf<Member<O>>, SortParams<O, Index>>>;
  bound: Partial<Values<ItemOf<Member<O>>, SortParams<O, Index>>>;
  // The items of one entity, or `{ entity, item }` for several.
  result: O extends readonly AnyEntity[] ? Recognised<O[number]> : Projected<O, TemplatesAt<O, Index>>;
};
// An index that does not contain all attributes returns those it has.
type Projected<E, At> = At extends { project: 'KEYS_ONLY' | readonly string[] }
  ? Partial<ItemOf<E>> & KeyOf<E>
  : ItemOf<E>;
type QueryTypes = { item: object; params: object; bound: object; result: unknown };

/** An access pattern. Created with `defineQuery`. */
export type Query<Types extends QueryTypes = QueryTypes> = {
  readonly name: string;
  readonly table: AnyTableKeys;
  readonly entities: readonly AnyEntity[];
  readonly isMixed: boolean;
  readonly index?: string;
  // The keys that are queried: of the table, or of the index.
  readonly partition: string;
  readonly sort?: string;
  readonly partitionTemplate: KeyTemplate;
  // The common start of the sort keys of all the entities.
  readonly sortTemplate?: KeyTemplate;
  readonly newestFirst: boolean;
  readonly consistent: boolean;
  readonly filter?: object;
  readonly types?: Types;
};
/** A query of any type. */
export type AnyQuery = Query<QueryTypes>;
export type ParamsFor<Q> = Q extends Query<infer Types> ? Types['params'] : never;
type BoundFor<Q> = Q extends Query<infer Types> ? Types['bound'] : never;
/** An item that the query finds. */
export type ResultOf<Q> = Q extends Query<infer Types> ? Types['result'] : never;
type QueriedItem<Q> = Q extends Query<infer Types> ? Types['item'] : never;

/**
 * Defines an access pattern: a query of one or several entities that share a partition, or of an index.
 *
 *     const notesOfUser = defineQuery('notes of a user', { of: note, newestFirst: true });
 *     const { items, cursor } = await store.query(notesOfUser, { userId }, { limit: 20 });
 */
export function defineQuery<
  const O extends Of,
  const Index extends (IndexesOf<NoInfer<O>> & string) | undefined = undefined,
>(
  name: string,
  definition: {
    of: O;
    index?: Index;
    newestFirst?: boolean;
    consistent?: boolean;
    filter?: Condition<ItemOf<Member<NoInfer<O>>>>;
  },
): Query<TypesFor<O, Index>> {
  const { of, index, newestFirst = false, consistent = false, filter } = definition;
  const entities: readonly AnyEntity[] = Array.isArray(of) ? of : [of as AnyEntity];
  const [first] = entities;
  if (!first) throw new DesignError(`query "${name}" reads no entity`);
  const keys = entities.map(entity => keysOn(name, entity, index));
  const partitionTemplate = keys[0]!.templates.partition;
  if (keys.some(entityKey => entityKey.templates.partition.text !== partitionTemplate.text))
    throw new DesignError(`query "${name}": its entities are in different partitions`);
  if (entities.some(entity => entity.table !== first.table))
    throw new DesignError(`query "${name}": its entities are in different tables`);
  if (index !== undefined && consistent)
    throw new DesignError(`query "${name}": a global index cannot be read consistently`);
  const made: AnyQuery = {
    name,
    table: first.table,
    entities,
    isMixed: Array.isArray(of),
    index,
    partition: keys[0]!.partition,
    sort: keys[0]!.sort,
    partitionTemplate,
    sortTemplate: commonTemplate(keys),
    newestFirst,
    consistent,
    filter,
  };
  const { isOpen, queries } = first.table as Partial<AnyTable>;
  if (isOpen) register(queries as AnyQuery[], made);
  return made as never;
}

// Every query defined on an open table is added to it.
function register(queries: AnyQuery[], added: AnyQuery): void {
  if (queries.some(other => other.name === added.name))
    throw new DesignError(`${added.table.name} has two queries "${added.name}"`);
  queries.push(added);
}

function keysOn(query: string, entity: AnyEntity, index: string | undefined): IndexKeys {
  const keys = index === undefined ? entity.key : entity.indexes.find(one => one.name === index);
  if (!keys) throw new DesignError(`query "${query}": ${entity.name} is not in the index ${index}`);
  return keys;
}

function commonTemplate(keys: readonly IndexKeys[]): KeyTemplate | undefined {
  const sorts = keys.map(entityKey => entityKey.templates.sort).filter(sort => sort !== undefined);
  const [first, ...others] = sorts;
  if (!first || others.every(other => other.text === first.text)) return first;
  let count = 0;
  const same = (i: number) =>
    others.every(
      other =>
        other.params[i] === first.params[i] &&
        other.formats[i] === first.formats[i] &&
        other.literals[i] === first.literals[i],
    );
  while (count < first.params.length && same(count)) count++;
  const tails = sorts.map(sort => sort.literals[count] ?? '');
  return {
    ...first,
    isWhole: false,
    params: first.params.slice(0, count),
    formats: first.formats.slice(0, count),
    literals: [...first.literals.slice(0, count), commonPrefix(tails)],
  };
}

function commonPrefix(texts: readonly string[]): string {
  let prefix = texts[0]!;
  for (const text of texts) while (!text.startsWith(prefix)) prefix = prefix.slice(0, -1);
  return prefix;
}

export type QueryOptions<Q> = Range<BoundFor<Q>> & {
  newestFirst?: boolean;
  consistent?: boolean;
  filter?: Condition<QueriedItem<Q>>;
};

/**
 * The request for one page, without Limit and start key, and what it cannot express about the sort key. Do not send it
 * if its bounds are empty.
 */
export function queryParams(
  query: AnyQuery,
  params: object,
  options: QueryOptions<never> = {},
): { input: QueryInput; bounds: Bounds } {
  const expression = createExpression();
  const bounds: Bounds = query.sortTemplate ? boundsOf(query.sortTemplate, params, options) : {};
  const partition = buildKey(query.partitionTemplate, params);
  let condition = `${nameIn(expression, query.partition)} = ${valueIn(expression, partition)}`;
  const sort = query.sort === undefined ? undefined : boundsText(expression, query.sort, bounds);
  if (sort !== undefined) condition += ` AND ${sort}`;
  const input: QueryInput = { TableName: query.table.name, KeyConditionExpression: condition };
  if (query.index !== undefined) input.IndexName = query.index;
  const filter = filterText(expression, query.filter, options.filter);
  if (filter !== undefined) input.FilterExpression = filter;
  if (options.newestFirst ?? query.newestFirst) input.ScanIndexForward = false;
  if (options.consistent ?? query.consistent) input.ConsistentRead = true;
  return { input: bindPlaceholders(input, expression), bounds };
}

/** The same as data. */
export function prepareQuery(
  query: AnyQuery,
  params: object,
  options: QueryOptions<never>,
): { prepared: PreparedQuery; bounds: Bounds } {
  const bounds: Bounds = query.sortTemplate ? boundsOf(query.sortTemplate, params, options) : {};
  const filters = [query.filter, options.filter].filter(filter => filter !== undefined);
  const prepared = {
    table: query.table.name,
    index: query.index,
    partition: buildKey(query.partitionTemplate, params),
    sort: query.sort === undefined ? undefined : bounds,
    filter: allOf(filters.map(conditionTest)),
    isReverse: options.newestFirst ?? query.newestFirst,
    consistent: options.consistent ?? query.consistent,
    limit: undefined,
    start: undefined,
  };
  return { prepared, bounds };
}

function filterText(expression: Expression, own?: object, given?: object): string | undefined {
  if (own === undefined || given === undefined) {
    const only = own ?? given;
    return only && conditionText(expression, only);
  }
  return `(${conditionText(expression, own)}) AND (${conditionText(expression, given)})`;
}

function boundsText(expression: Expression, sort: string, bounds: Bounds): string | undefined {
  const { exactly, prefix, low, high } = bounds;
  if ((exactly ?? prefix ?? low ?? high) === undefined) return undefined;
  const name = nameIn(expression, sort);
  if (exactly !== undefined) return `${name} = ${valueIn(expression, exactly)}`;
  if (prefix !== undefined) return `begins_with(${name}, ${valueIn(expression, prefix)})`;
  if (low === undefined) return `${name} <= ${valueIn(expression, high)}`;
  if (high === undefined) return `${name} >= ${valueIn(expression, low)}`;
  return `${name} BETWEEN ${valueIn(expression, low)} AND ${valueIn(expression, high)}`;
}

// Returns the keys of a page's last item, at which the next page continues.
export function positionOf(query: AnyQuery, stored: Attributes): Attributes {
  const { table, index } = query;
  const position: Attributes = {};
  for (const { partition, sort } of index === undefined
    ? [table.keys]
    : [table.keys, table.indexes[index]!]) {
    position[partition] = stored[partition];
    if (sort !== undefined) position[sort] = stored[sort];
  }
  return position;
}
