import type { Attributes, TransactWrite } from '../client/client.ts';
import type { PreparedWrite } from '../client/prepared.ts';
import { type Change, prepareUpdate, type UpdateOptions, updateParams } from '../conditions/update.ts';
import type { AnyEntity, InputOf, ItemOf, KeyOf } from '../design/entity.ts';
import {
  type CheckOptions,
  checkParams,
  type DeleteOptions,
  deleteParams,
  type PutOptions,
  prepareCheck,
  prepareDelete,
  preparePut,
  putParams,
  storedItem,
} from './params.ts';
import { isAddition, isResultOf, isResultOfPut } from './repeated-write.ts';

/** A step with the name under which its failure is reported. */
export type NamedStep = readonly [name: string, step: WriteStep];
/** A write for a transaction or a batch. Created with `write`. */
export type WriteStep = {
  readonly entity: AnyEntity;
  readonly isAddition?: boolean; // making it twice would count twice
  build(nowMs: number): TransactWrite;
  // The same as data, for a store that takes prepared operations.
  prepare(nowMs: number): PreparedWrite;
  // Whether this step has written what is stored.
  isOwn(stored: Attributes | undefined, built: TransactWrite): boolean;
};

/**
 * Steps for `store.transact` and `store.batchWrite`.
 *
 *     await store.transact({
 *       note: write.put(note, item, { ifAbsent: true }),
 *       count: write.update(counter, { userId }, { add: { notes: 1 } }, { upsert: true }),
 *     });
 */
export const write = {
  put: <E extends AnyEntity>(
    entity: E,
    item: InputOf<E>,
    options: PutOptions<ItemOf<E>> = {},
  ): WriteStep => ({
    entity,
    build: nowMs => ({ Put: putParams(entity, item, options as never, nowMs) }),
    prepare: nowMs => preparePut(entity, storedItem(entity, item, options as never), options as never, nowMs),
    isOwn: (stored, built) => 'Put' in built && isResultOfPut(stored, built.Put.Item, options),
  }),
  update: <E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    change: Change<ItemOf<E>, KeyOf<E>>,
    options: UpdateOptions<ItemOf<E>> = {},
  ): WriteStep => ({
    entity,
    isAddition: isAddition(change as never),
    build: nowMs => ({ Update: updateParams(entity, key, change as never, options as never, nowMs) }),
    prepare: nowMs => prepareUpdate(entity, key, change as never, options as never, nowMs),
    isOwn: stored => isResultOf(entity, stored, change as never, options.ifVersion),
  }),
  delete: <E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    options: DeleteOptions<ItemOf<E>> = {},
  ): WriteStep => ({
    entity,
    build: nowMs => ({ Delete: deleteParams(entity, key, options as never, nowMs) }),
    prepare: nowMs => prepareDelete(entity, key, options as never, nowMs),
    isOwn: stored => stored === undefined,
  }),
  check: <E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    options: CheckOptions<ItemOf<E>> = { present: true },
  ): WriteStep => ({
    entity,
    build: nowMs => ({ ConditionCheck: checkParams(entity, key, options as never, nowMs) }),
    prepare: nowMs => prepareCheck(entity, key, options as never, nowMs),
    isOwn: () => false,
  }),
};

/** An item to be read together with others. Created with `ref`. */
export type Ref<E extends AnyEntity> = { readonly entity: E; readonly key: KeyOf<E> };

/** Names an item by its entity and key, for functions that take several. */
export const ref = <E extends AnyEntity>(entity: E, key: KeyOf<E>): Ref<E> => ({ entity, key });
