// Comparisons of attributes, for conditions and filters: `{ status: is.not('done'), readat: is.absent }`. A plain value
// means equality.

const comparison = Symbol('comparison');

export type Comparison<Value> = {
  readonly [comparison]: true;
  readonly operator: Operator;
  readonly operands: readonly unknown[];
  // For the compiler only: the type that can be compared.
  readonly value?: Value;
};
type Operator =
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | 'between'
  | 'in'
  | 'begins_with'
  | 'contains'
  | 'attribute_exists'
  | 'attribute_not_exists';

const compare = <Value>(operator: Operator, ...operands: unknown[]): Comparison<Value> => ({
  [comparison]: true,
  operator,
  operands,
});

/**
 * Comparisons for conditions and filters.
 *
 *     await store.update(note, key, { set: { text } }, { if: { version: is.atMost(3) } });
 */
export const is = {
  equalTo: <V>(value: V) => compare<V>('=', value),
  not: <V>(value: V) => compare<V>('<>', value),
  below: <V extends string | number>(value: V) => compare<V>('<', value),
  atMost: <V extends string | number>(value: V) => compare<V>('<=', value),
  above: <V extends string | number>(value: V) => compare<V>('>', value),
  atLeast: <V extends string | number>(value: V) => compare<V>('>=', value),
  between: <V extends string | number>(low: V, high: V) => compare<V>('between', low, high),
  oneOf: <V>(values: readonly V[]) => compare<V>('in', ...values),
  startingWith: (prefix: string) => compare<string>('begins_with', prefix),
  containing: (member: string | number) => compare<never>('contains', member),
  present: compare<never>('attribute_exists'),
  absent: compare<never>('attribute_not_exists'),
};

export const isComparison = (value: unknown): value is Comparison<unknown> =>
  typeof value === 'object' && value !== null && comparison in value;
