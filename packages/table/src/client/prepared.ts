import { type Attributes, type Capacity, type DynamoClient, mayLoseAnswers } from './client.ts';

// The prepared operations of a store in this process: plain values, and conditions and changes as data instead of
// expressions. A client has them as the property `prepared` of each of its functions, so a client that wraps or replaces a
// function replaces its prepared form with it. What a prepared operation does not support is sent as a wire operation.

/** An attribute, or the way into its maps. */
export type PreparedPath = string | readonly string[];

/** A condition on an item. `and`, `or` and `not` have `tests`. */
export type PreparedTest = {
  readonly op:
    | 'and'
    | 'or'
    | 'not'
    | '='
    | '<>'
    | '<'
    | '<='
    | '>'
    | '>='
    | 'in'
    | 'begins_with'
    | 'contains'
    | 'attribute_exists'
    | 'attribute_not_exists';
  readonly path?: PreparedPath;
  readonly value?: unknown;
  readonly tests?: readonly PreparedTest[];
};

export type PreparedChange = {
  readonly op: 'set' | 'set_if_absent' | 'append' | 'add' | 'remove';
  readonly path: PreparedPath;
  readonly value?: unknown;
};

type Guarded = { readonly table: string; readonly condition?: PreparedTest | undefined };
export type PreparedPut = Guarded & { readonly kind: 'put'; readonly item: Attributes };
/** One write of an item. */
export type PreparedWrite =
  | PreparedPut
  | (Guarded & {
      readonly kind: 'update';
      readonly key: Attributes;
      readonly changes: readonly PreparedChange[];
    })
  | (Guarded & { readonly kind: 'delete' | 'check'; readonly key: Attributes });

type PreparedGet = { readonly table: string; readonly key: Attributes };
export type PreparedQuery = {
  readonly table: string;
  readonly index?: string | undefined;
  readonly partition: string;
  readonly sort?:
    | {
        readonly exactly?: string | undefined;
        readonly prefix?: string | undefined;
        readonly low?: string | undefined;
        readonly high?: string | undefined;
      }
    | undefined;
  readonly filter?: PreparedTest | undefined;
  readonly isReverse: boolean;
  readonly consistent: boolean;
  readonly limit?: number | undefined;
  readonly start?: Attributes | undefined;
};

/** Undefined if the operation is not supported: nothing was read or written. */
export type Attempted<T> = T | undefined | Promise<T | undefined>;

export type PreparedResult = { item?: Attributes | undefined; ConsumedCapacity?: Capacity | undefined };
type Results = { ConsumedCapacity?: Capacity[] | undefined };
type Items = { items: (Attributes | undefined)[]; ConsumedCapacity: Capacity[] };

/** The prepared operations of a client. The embedded engine's client has them. */
export type Prepared = {
  get(
    get: PreparedGet,
    consistent: boolean,
  ): Attempted<{ Item?: Attributes | undefined; ConsumedCapacity: Capacity }>;
  getEach(gets: readonly PreparedGet[], consistent: boolean): Attempted<Items>;
  getTogether(gets: readonly PreparedGet[]): Attempted<Items>;
  query(query: PreparedQuery): Attempted<{
    Items: Attributes[];
    ScannedCount: number;
    LastEvaluatedKey?: Attributes | undefined;
    ConsumedCapacity: Capacity;
  }>;
  writeOne(
    write: PreparedWrite,
    options: { returns?: 'old' | 'new' | undefined; bills: boolean },
  ): Attempted<PreparedResult>;
  writeTogether(
    writes: readonly PreparedWrite[],
    options: { bills: boolean; mayWait?: boolean },
  ): Attempted<Results>;
  writeEach(writes: readonly PreparedWrite[], options: { bills: boolean }): Attempted<Results>;
};

/** The prepared form of one of the client's operations. A store over a network has none. */
export const preparedOf = (client: DynamoClient, operation: keyof DynamoClient): Prepared | undefined =>
  mayLoseAnswers(client) ? undefined : (client[operation] as { prepared?: Prepared }).prepared;

/** Thrown where a request has no prepared form, and its wire form is to be built. */
export const unprepared = new Error('this request has no prepared form');

/** Undefined if the request has no prepared form. If it is wrong, building its wire form says why. */
export function prepare<T>(build: () => T): T | undefined {
  try {
    return build();
  } catch {
    return undefined;
  }
}

export const preparedPath = (path: string): PreparedPath => (path.includes('.') ? path.split('.') : path);
