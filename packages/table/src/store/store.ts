import { type Clock, type Random, systemClock, systemRandom } from '@stak/kit';
import type { Ledger } from '../client/capacity.ts';
import { type Attributes, type DynamoClient, mayLoseAnswers, type UpdateInput } from '../client/client.ts';
import { type Cursors, createCursors } from '../client/cursor.ts';
import { prepare, preparedOf } from '../client/prepared.ts';
import { readPrepared, type Session, send } from '../client/session.ts';
import { type Change, prepareUpdate, type UpdateOptions, updateParams } from '../conditions/update.ts';
import type { AnyEntity, InputOf, ItemOf, KeyOf } from '../design/entity.ts';
import { fromStored, hasKindOf, isExpired, keyOf } from '../design/item.ts';
import { explainWrite } from '../writes/failure.ts';
import {
  type DeleteOptions,
  deleteParams,
  getParams,
  type PutOptions,
  prepareDelete,
  preparePut,
  putStored,
  storedItem,
} from '../writes/params.ts';
import { isAddition, isResultOf, isResultOfPut } from '../writes/repeated-write.ts';
import { failingFirst, sendAddition, sendWrite, tryPrepared } from '../writes/single-write.ts';
import type { NamedStep, Ref, WriteStep } from '../writes/steps.ts';
import { readTogether, type Steps, writeInOrder, writeTogether } from '../writes/transaction.ts';
import { readBatch, writeBatch } from './batch.ts';
import { type PageOptions, type ResultPage, readAll, readPage } from './page.ts';
import type { AnyQuery, ParamsFor, QueryOptions, ResultOf } from './query.ts';

/** Options of `createStore`. Only `client` is required. */
export type StoreOptions = {
  client: DynamoClient;
  clock?: Pick<Clock, 'now' | 'sleep'>;
  random?: Random;
  ledger?: Ledger;
  cursors?: Cursors;
};

// The name under which the cost of a call is counted. A query has its own.
type PatternName = { pattern?: string };
// The item that a write returns: before or after it.
type Image = 'old' | 'new';
type Returned<E, I> = I extends 'old' ? ItemOf<E> | undefined : ItemOf<E>;
type Refs = readonly Ref<AnyEntity>[];
type NamedRefs = Readonly<Record<string, Ref<AnyEntity>>>;
type Read<R> = R extends Ref<infer E> ? ItemOf<E> | undefined : never;

/** Reads and writes entities. Created with `createStore`. */
export type Store = {
  get<E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    options?: PatternName & { consistent?: boolean },
  ): Promise<ItemOf<E> | undefined>;
  put<E extends AnyEntity, const I extends Image = 'new'>(
    entity: E,
    item: InputOf<E>,
    options?: PatternName & PutOptions<ItemOf<E>> & { returns?: I },
  ): Promise<Returned<E, I>>;
  update<E extends AnyEntity, const I extends Image = 'new'>(
    entity: E,
    key: KeyOf<E>,
    change: Change<ItemOf<E>, KeyOf<E>>,
    options?: PatternName & UpdateOptions<ItemOf<E>> & { returns?: I },
  ): Promise<Returned<E, I>>;
  // Returns the deleted item.
  delete<E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    options?: PatternName & DeleteOptions<ItemOf<E>>,
  ): Promise<ItemOf<E> | undefined>;
  query<Q extends AnyQuery>(
    query: Q,
    params: ParamsFor<Q>,
    options?: PageOptions<Q>,
  ): Promise<ResultPage<ResultOf<Q>>>;
  all<Q extends AnyQuery>(
    query: Q,
    params: ParamsFor<Q>,
    options?: QueryOptions<Q>,
  ): AsyncGenerator<ResultOf<Q>>;
  batchGet<const R extends Refs>(
    refs: R,
    options?: PatternName & { consistent?: boolean },
  ): Promise<{ -readonly [I in keyof R]: Read<R[I]> }>;
  batchWrite(steps: readonly WriteStep[], options?: PatternName): Promise<void>;
  transact(steps: Steps, options?: PatternName & { token?: string }): Promise<void>;
  /**
   * Makes groups of writes one after another: a group of one as a plain write, a group of several as a transaction. Use
   * it when readers may see the groups in this order and only the last one makes them count. If a condition does not
   * hold, the groups before it stay. A plain write costs half as much as one in a transaction. A store in this process
   * makes all of them in one transaction, which takes one commit. No item may be in it twice.
   *
   * With `mayWait`, an embedded store may keep them back for some milliseconds, to make them with the next ones.
   *
   *     await store.writeInOrder([[['body', write.put(body, text)]], [['note', write.put(note, head)]]]);
   */
  writeInOrder(
    groups: readonly (readonly NamedStep[])[],
    options?: PatternName & { mayWait?: boolean },
  ): Promise<void>;
  transactGet<const R extends NamedRefs>(
    refs: R,
    options?: PatternName,
  ): Promise<{ -readonly [Name in keyof R]: Read<R[Name]> }>;
};

/**
 * Creates a store: every operation on every entity, over one client.
 *
 *     const store = createStore({ client: engine.client });
 *     await store.put(note, { userId: 'ann', noteId: '1', text: 'Milk' });
 *     const found = await store.get(note, { userId: 'ann', noteId: '1' });
 */
export function createStore(options: StoreOptions): Store {
  const { client, clock = systemClock, random = systemRandom, cursors = createCursors() } = options;
  const session: Session = { client, clock, random, cursors, ledger: options.ledger };
  const operations = {
    get: (entity: AnyEntity, key: object, named: PatternName & { consistent?: boolean } = {}) =>
      getItem(session, entity, key, named),
    put: (
      entity: AnyEntity,
      item: object,
      given: PatternName & PutOptions<never> & { returns?: Image } = {},
    ) => putItem(session, entity, item, given),
    update: (
      entity: AnyEntity,
      key: object,
      change: Change<never>,
      given: PatternName & UpdateOptions<never> & { returns?: Image } = {},
    ) => updateItem(session, entity, key, change, given),
    delete: (entity: AnyEntity, key: object, given: PatternName & DeleteOptions<never> = {}) =>
      deleteItem(session, entity, key, given),
    query: (query: AnyQuery, params: object, given: PageOptions<never> = {}) =>
      readPage(session, query, params, given),
    all: (query: AnyQuery, params: object, given: QueryOptions<never> = {}) =>
      readAll(session, query, params, given),
    batchGet: (
      refs: Refs,
      { pattern = 'batch get', consistent }: PatternName & { consistent?: boolean } = {},
    ) => readBatch(session, pattern, refs, consistent),
    batchWrite: (steps: readonly WriteStep[], { pattern = 'batch write' }: PatternName = {}) =>
      writeBatch(session, pattern, steps),
    transact: (steps: Steps, { pattern = 'transaction', token }: PatternName & { token?: string } = {}) =>
      writeTogether(session, pattern, steps, { token }),
    writeInOrder: (
      groups: readonly (readonly NamedStep[])[],
      { pattern = 'writes in order', mayWait = false }: PatternName & { mayWait?: boolean } = {},
    ) => writeInOrder(session, pattern, groups, mayWait),
    transactGet: (refs: NamedRefs, { pattern = 'transaction' }: PatternName = {}) =>
      readTogether(session, pattern, refs),
  };
  // Operations take any entity; the types of its items are known to the compiler only.
  return operations as unknown as Store;
}

async function getItem(
  session: Session,
  entity: AnyEntity,
  key: object,
  { pattern = `get ${entity.name}`, consistent = false }: PatternName & { consistent?: boolean },
): Promise<Attributes | undefined> {
  const { client } = session;
  const prepared = preparedOf(client, 'get');
  const table = entity.table.name;
  const run = prepared && (() => prepared.get({ table, key: keyOf(entity, key) }, consistent));
  const { Item } =
    (run && (await readPrepared(session, pattern, table, run))) ??
    (await send(session, 'read', pattern, getParams(entity, key, consistent), client.get));
  if (!Item || !hasKindOf(entity, Item) || isExpired(entity, Item, session.clock.now())) return undefined;
  return fromStored(entity, Item);
}

async function putItem(
  session: Session,
  entity: AnyEntity,
  item: object,
  options: PatternName & PutOptions<never> & { returns?: Image },
): Promise<Attributes | undefined> {
  const { pattern = `put ${entity.name}`, returns = 'new' } = options;
  const nowMs = session.clock.now();
  const stored = storedItem(entity, item, options);
  const explain = (error: unknown) => explainWrite(entity, error);
  const image = returns === 'old' ? 'old' : undefined;
  const write = prepare(() => preparePut(entity, stored, options, nowMs));
  const { result, failure } = await tryPrepared(session, pattern, 'put', write, image, explain);
  if (result) return returns === 'new' ? fromStored(entity, stored) : imageOf(entity, result.item);

  const params = putStored(entity, stored, options, nowMs);
  const input = returns === 'old' ? { ...params, ReturnValues: 'ALL_OLD' as const } : params;
  const isOwn = (current?: Attributes) => isResultOfPut(current, stored, options);
  const put = failingFirst(failure, session.client.put);
  const { Attributes } = await sendWrite(session, pattern, input, put, { isOwn, explain });
  return returns === 'new' ? fromStored(entity, stored) : imageOf(entity, Attributes);
}

async function updateItem(
  session: Session,
  entity: AnyEntity,
  key: object,
  change: Change<never>,
  options: PatternName & UpdateOptions<never> & { returns?: Image },
): Promise<Attributes | undefined> {
  const { pattern = `update ${entity.name}`, returns = 'new' } = options;
  const nowMs = session.clock.now();
  const explain = (error: unknown) => explainWrite(entity, error);
  const write = preparedOf(session.client, 'update')
    ? prepare(() => prepareUpdate(entity, key, change, options, nowMs))
    : undefined;
  const { result, failure } = await tryPrepared(session, pattern, 'update', write, returns, explain);
  if (result) return imageOf(entity, result.item);

  const params = updateParams(entity, key, change, options, nowMs);
  if (mayLoseAnswers(session.client) && isAddition(change) && returns === 'new')
    return addOnce(session, entity, pattern, params);
  const input = { ...params, ReturnValues: returns === 'old' ? ('ALL_OLD' as const) : ('ALL_NEW' as const) };
  const isOwn = (stored?: Attributes) => isResultOf(entity, stored, change, options.ifVersion);
  const again = { isOwn, explain, mayRepeat: !isAddition(change) };
  const update = failingFirst(failure, session.client.update);
  const { Attributes } = await sendWrite(session, pattern, input, update, again);
  return imageOf(entity, Attributes);
}

// An addition must not be made twice, so it is sent as a transaction with a token. A transaction returns no item: it is
// read afterwards, and may include additions of others.
async function addOnce(
  session: Session,
  entity: AnyEntity,
  pattern: string,
  params: Omit<UpdateInput, 'ReturnValues'>,
): Promise<Attributes | undefined> {
  await sendAddition(session, pattern, { Update: params }, error => explainWrite(entity, error));
  const { TableName, Key } = params;
  const input = { TableName, Key, ConsistentRead: true };
  const { Item } = await send(session, 'read', pattern, input, session.client.get);
  return imageOf(entity, Item);
}

async function deleteItem(
  session: Session,
  entity: AnyEntity,
  key: object,
  options: PatternName & DeleteOptions<never>,
): Promise<Attributes | undefined> {
  const { pattern = `delete ${entity.name}` } = options;
  const nowMs = session.clock.now();
  const explain = (error: unknown) => explainWrite(entity, error);
  const write = prepare(() => prepareDelete(entity, key, options, nowMs));
  const { result, failure } = await tryPrepared(session, pattern, 'delete', write, 'old', explain);
  if (result) return imageOf(entity, result.item);

  const params = deleteParams(entity, key, options, nowMs);
  const input = { ...params, ReturnValues: 'ALL_OLD' as const };
  const isOwn = (stored?: Attributes) => stored === undefined;
  const remove = failingFirst(failure, session.client.delete);
  const { Attributes } = await sendWrite(session, pattern, input, remove, { isOwn, explain });
  return imageOf(entity, Attributes);
}

// An image is returned even if the item has expired.
const imageOf = (entity: AnyEntity, stored: Attributes | undefined): Attributes | undefined =>
  stored && hasKindOf(entity, stored) ? fromStored(entity, stored) : undefined;
