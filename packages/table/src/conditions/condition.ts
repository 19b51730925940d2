import { type PreparedTest, preparedPath, unprepared } from '../client/prepared.ts';
import { itemRefused } from '../errors.ts';
import { type Comparison, isComparison } from './comparison.ts';
import { type Expression, pathIn, valueIn } from './expression.ts';

type Compared<Value> = Value | Comparison<NonNullable<Value>>;
type Comparisons<Item> = { readonly [A in keyof Item]?: Compared<Item[A]> } & {
  // Into a map: `'taxonomy.category': 'billing'`.
  readonly [path: `${string}.${string}`]: unknown;
};

const combination = Symbol('combination');
type Combination<Conditions> = {
  readonly [combination]: 'AND' | 'OR' | 'NOT';
  readonly conditions: Conditions;
};

/** A condition on a write. All comparisons of an object must hold. */
export type Condition<Item = Record<string, unknown>> =
  | Comparisons<Item>
  | Combination<readonly Condition<Item>[]>;

const combine =
  (operator: 'AND' | 'OR' | 'NOT') =>
  <const Conditions extends readonly object[]>(...conditions: Conditions): Combination<Conditions> => ({
    [combination]: operator,
    conditions,
  });

/** Holds if all of the conditions hold. */
export const and = combine('AND');
/** Holds if one of the conditions holds. */
export const or = combine('OR');
/** Holds if the condition does not. */
export const not = <const C extends object>(condition: C): Combination<readonly [C]> =>
  combine('NOT')(condition);

const isCombination = (condition: object): condition is Combination<readonly object[]> =>
  combination in condition;

export function conditionText(expression: Expression, condition: Condition<never> | object): string {
  if (!isCombination(condition)) return comparisonsText(expression, condition);
  const texts = condition.conditions.map(condition => conditionText(expression, condition));
  if (texts.length === 0) throw itemRefused('a combination needs a condition');
  if (condition[combination] === 'NOT') return `NOT (${texts[0]})`;
  // DynamoDB refuses redundant parentheses, which a combination of one condition would have.
  if (texts.length === 1) return texts[0]!;
  return texts.map(text => `(${text})`).join(` ${condition[combination]} `);
}

function comparisonsText(expression: Expression, condition: object): string {
  let text = '';
  for (const path of Object.keys(condition)) {
    const value = (condition as Record<string, unknown>)[path];
    if (value === undefined) continue;
    const comparison = comparisonText(expression, path, value);
    text = text === '' ? comparison : `${text} AND ${comparison}`;
  }
  // An empty condition would always hold, which is more likely a mistake than intended.
  if (text === '') throw itemRefused('a condition compares nothing');
  return text;
}

function comparisonText(expression: Expression, path: string, value: unknown): string {
  const name = pathIn(expression, path);
  if (!isComparison(value)) return `${name} = ${valueIn(expression, value)}`;
  const { operator, operands } = value;
  const placeholders = operands.map(operand => valueIn(expression, operand));
  switch (operator) {
    case 'attribute_exists':
    case 'attribute_not_exists':
      return `${operator}(${name})`;
    case 'begins_with':
    case 'contains':
      return `${operator}(${name}, ${placeholders[0]})`;
    case 'between':
      // DynamoDB's own BETWEEN refuses reversed bounds; here no value lies between them.
      return `${name} >= ${placeholders[0]} AND ${name} <= ${placeholders[1]}`;
    case 'in':
      if (placeholders.length === 0) throw itemRefused(`${path}: is.oneOf() needs a value`);
      return `${name} IN (${placeholders.join(', ')})`;
    default:
      return `${name} ${operator} ${placeholders[0]}`;
  }
}

const prepared = { AND: 'and', OR: 'or', NOT: 'not' } as const;

// The same as data.
export function conditionTest(condition: Condition<never> | object): PreparedTest {
  if (!isCombination(condition)) return comparisonsTest(condition);
  const op = prepared[condition[combination]];
  const tests = condition.conditions.map(conditionTest);
  if (tests.length === 0) throw unprepared;
  return { op, tests: op === 'not' ? [tests[0]!] : tests };
}

function comparisonsTest(condition: object): PreparedTest {
  const tests: PreparedTest[] = [];
  for (const path of Object.keys(condition)) {
    const value = (condition as Record<string, unknown>)[path];
    if (value !== undefined) tests.push(comparisonTest(path, value));
  }
  if (tests.length === 0) throw unprepared;
  return tests.length === 1 ? tests[0]! : { op: 'and', tests };
}

function comparisonTest(name: string, value: unknown): PreparedTest {
  const path = preparedPath(name);
  if (!isComparison(value)) return { op: '=', path, value };
  const { operator, operands } = value;
  switch (operator) {
    case 'in':
      return { op: 'in', path, value: operands };
    case 'between':
      return {
        op: 'and',
        tests: [
          { op: '>=', path, value: operands[0] },
          { op: '<=', path, value: operands[1] },
        ],
      };
    default:
      return { op: operator, path, value: operands[0] };
  }
}
