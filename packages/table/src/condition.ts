import { type Comparison, isComparison } from './comparison.ts';
import { itemRefused } from './errors.ts';
import type { Expression } from './expression.ts';

type Compared<Value> = Value | Comparison<NonNullable<Value>> | Comparison<unknown>;
type Comparisons<Item> = { readonly [A in keyof Item]?: Compared<Item[A]> } & {
  // Into a map: `'taxonomy.category': 'billing'`.
  readonly [path: `${string}.${string}`]: unknown;
};

const combination = Symbol('combination');
type Combination<Item> = {
  readonly [combination]: 'AND' | 'OR' | 'NOT';
  readonly conditions: readonly Condition<Item>[];
};

// All comparisons of an object have to hold.
export type Condition<Item = Record<string, unknown>> = Comparisons<Item> | Combination<Item>;

export const and = <Item>(...conditions: Condition<Item>[]): Combination<Item> => ({
  [combination]: 'AND',
  conditions,
});
export const or = <Item>(...conditions: Condition<Item>[]): Combination<Item> => ({
  [combination]: 'OR',
  conditions,
});
export const not = <Item>(condition: Condition<Item>): Combination<Item> => ({
  [combination]: 'NOT',
  conditions: [condition],
});

const isCombination = (condition: object): condition is Combination<unknown> => combination in condition;

export function conditionText(expression: Expression, condition: Condition<never> | object): string {
  if (!isCombination(condition)) return comparisonsText(expression, condition);
  const texts = condition.conditions.map(one => conditionText(expression, one));
  if (texts.length === 0) throw itemRefused('a combination needs a condition');
  if (condition[combination] === 'NOT') return `NOT (${texts[0]})`;
  return texts.map(text => `(${text})`).join(` ${condition[combination]} `);
}

function comparisonsText(expression: Expression, condition: object): string {
  const texts: string[] = [];
  for (const [path, value] of Object.entries(condition)) {
    if (value === undefined) continue;
    texts.push(comparisonText(expression, path, value));
  }
  // An empty condition would hold for everything: more likely a mistake than a wish.
  if (texts.length === 0) throw itemRefused('a condition compares nothing');
  return texts.join(' AND ');
}

function comparisonText(expression: Expression, path: string, value: unknown): string {
  const name = expression.path(path);
  if (!isComparison(value)) return `${name} = ${expression.value(value)}`;
  const { operator, operands } = value;
  const placeholders = operands.map(operand => expression.value(operand));
  switch (operator) {
    case 'attribute_exists':
    case 'attribute_not_exists':
      return `${operator}(${name})`;
    case 'begins_with':
    case 'contains':
      return `${operator}(${name}, ${placeholders[0]})`;
    case 'between':
      return `${name} BETWEEN ${placeholders[0]} AND ${placeholders[1]}`;
    case 'in':
      if (placeholders.length === 0) throw itemRefused(`${path}: is.oneOf() needs a value`);
      return `${name} IN (${placeholders.join(', ')})`;
    default:
      return `${name} ${operator} ${placeholders[0]}`;
  }
}
