import type { AttributeValue, Item } from '../values/attribute-value.ts';

// A request described as data: the type of each member, and the constraints that DynamoDB reports together before
// anything else. The HTTP server reads JSON with it, the validators check it, and the input types are derived from it.
// Members are in the order in which DynamoDB reports them, the table's name first.
type Presence = { required?: true };

export type StringShape<T extends string = string> = Presence & {
  kind: 'string';
  values?: readonly T[] | undefined; // so are declarations that inline it right for exactOptionalPropertyTypes
  min?: number;
  max?: number;
  pattern?: RegExp;
};
export type NumberShape = Presence & { kind: 'integer' | 'long'; min?: number; max?: number };
// Seconds since the epoch, with a fraction; callers in the same process may pass a Date.
export type TimestampShape = Presence & { kind: 'timestamp' };
export type BooleanShape = Presence & { kind: 'boolean' };
// One attribute value, and a map of them. Constraints stop here: attribute-values.ts checks what is inside.
export type ValueShape = Presence & { kind: 'value' };
export type AttributesShape = Presence & { kind: 'attributes' };
export type ListShape<S extends Shape = Shape> = Presence & {
  kind: 'list';
  of: S;
  min?: number;
  max?: number;
};
// A member that DynamoDB has and this engine has not: a request with it is refused, with the reason.
export type RefusedShape = Presence & { kind: 'refused'; reason: string };
// The lists of a map may have length limits of their own, which DynamoDB reports for the map as a whole.
type ListLimits = { min: number; max: number };
export type MapShape<S extends Shape = Shape> = Presence & { kind: 'map'; of: S; lists?: ListLimits };
export type StructureShape<M extends Members = Members> = Presence & {
  kind: 'structure';
  name: string;
  members: M;
  entries: readonly Member[];
};

export type Members = { readonly [name: string]: Shape };
type Member = { name: string; label: string; shape: Shape };
export type Shape =
  | StringShape
  | NumberShape
  | TimestampShape
  | BooleanShape
  | ValueShape
  | AttributesShape
  | RefusedShape
  | { kind: 'list'; of: Shape; min?: number; max?: number; required?: true }
  | { kind: 'map'; of: Shape; lists?: ListLimits; required?: true }
  | { kind: 'structure'; name: string; members: Members; entries: readonly Member[]; required?: true };

export const string = (limits: Omit<StringShape, 'kind' | 'values'> = {}): StringShape => ({
  kind: 'string',
  ...limits,
});
export const oneOf = <const T extends readonly string[]>(...values: T): StringShape<T[number]> => ({
  kind: 'string',
  values,
});
export const integer = (min?: number, max?: number): NumberShape => ({ kind: 'integer', min, max });
export const long = (min?: number): NumberShape => ({ kind: 'long', min });
export const timestamp: TimestampShape = { kind: 'timestamp' };
export const boolean: BooleanShape = { kind: 'boolean' };
export const refused = (reason: string): RefusedShape => ({ kind: 'refused', reason });
export const value: ValueShape = { kind: 'value' };
export const attributes: AttributesShape = { kind: 'attributes' };
export const list = <S extends Shape>(of: S, min?: number, max?: number): ListShape<S> => ({
  kind: 'list',
  of,
  min,
  max,
});
export const map = <S extends Shape>(of: S, lists?: ListLimits): MapShape<S> => ({ kind: 'map', of, lists });
export const structure = <const M extends Members>(name: string, members: M): StructureShape<M> => ({
  kind: 'structure',
  name,
  members,
  entries: Object.entries(members).map(([name, shape]) => ({ name, label: toLabel(name), shape })),
});
export const required = <S extends Shape>(shape: S): S & { required: true } => ({ ...shape, required: true });

// Messages name members in Java's case: `TableName` is `tableName`.
const toLabel = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

// The TypeScript type of a shape. Values are tagged, as on the wire, unless another type is given.
export type TypeOf<S, Value = AttributeValue, Attributes = Item> =
  S extends StringShape<infer T>
    ? T
    : S extends NumberShape
      ? number
      : S extends TimestampShape
        ? number | Date
        : S extends BooleanShape
          ? boolean
          : S extends ValueShape
            ? Value
            : S extends AttributesShape
              ? Attributes
              : S extends RefusedShape
                ? undefined
                : S extends { kind: 'list'; of: infer E }
                  ? TypeOf<E, Value, Attributes>[]
                  : S extends { kind: 'map'; of: infer E }
                    ? { [name: string]: TypeOf<E, Value, Attributes> }
                    : S extends { kind: 'structure'; members: infer M }
                      ? InputOf<M, Value, Attributes>
                      : never;

type RequiredNames<M> = { [K in keyof M]: M[K] extends { required: true } ? K : never }[keyof M];
type InputOf<M, Value, Attributes> = {
  -readonly [K in RequiredNames<M>]: TypeOf<M[K], Value, Attributes>;
} & {
  -readonly [K in Exclude<keyof M, RequiredNames<M>>]?: TypeOf<M[K], Value, Attributes> | undefined;
} extends infer I
  ? { [K in keyof I]: I[K] }
  : never;
