import type { TransactWrite } from './client.ts';
import type { AnyEntity, InputOf, ItemOf, KeyOf } from './entity.ts';
import {
  type CheckOptions,
  checkParams,
  type DeleteOptions,
  deleteParams,
  type PutOptions,
  putParams,
} from './params.ts';
import { type Change, type UpdateOptions, updateParams } from './update.ts';

// A write that waits to be made together with others, in a transaction or a batch.
export type NamedStep = readonly [name: string, step: WriteStep];
export type WriteStep = { readonly entity: AnyEntity; build(nowMs: number): TransactWrite };

export const write = {
  put: <E extends AnyEntity>(
    entity: E,
    item: InputOf<E>,
    options: PutOptions<ItemOf<E>> = {},
  ): WriteStep => ({
    entity,
    build: nowMs => ({ Put: putParams(entity, item, options as never, nowMs) }),
  }),
  update: <E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    change: Change<ItemOf<E>, KeyOf<E>>,
    options: UpdateOptions<ItemOf<E>> = {},
  ): WriteStep => ({
    entity,
    build: nowMs => ({ Update: updateParams(entity, key, change as never, options as never, nowMs) }),
  }),
  delete: <E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    options: DeleteOptions<ItemOf<E>> = {},
  ): WriteStep => ({
    entity,
    build: nowMs => ({ Delete: deleteParams(entity, key, options as never, nowMs) }),
  }),
  check: <E extends AnyEntity>(
    entity: E,
    key: KeyOf<E>,
    options: CheckOptions<ItemOf<E>> = { present: true },
  ): WriteStep => ({
    entity,
    build: nowMs => ({ ConditionCheck: checkParams(entity, key, options as never, nowMs) }),
  }),
};

// An item that waits to be read together with others.
export type Ref<E extends AnyEntity> = { readonly entity: E; readonly key: KeyOf<E> };

export const ref = <E extends AnyEntity>(entity: E, key: KeyOf<E>): Ref<E> => ({ entity, key });
