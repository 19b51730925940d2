import { jsonpath } from 'json-p3';
import { createBudget } from './budget.ts';
import * as limits from './limits.ts';
import { chooseIndex, chooseName, PathError } from './path-step.ts';

const {
  BooleanLiteral,
  InfixExpression,
  LogicalExpression,
  NullLiteral,
  NumberLiteral,
  PrefixExpression,
  RelativeQuery,
  StringLiteral,
} = jsonpath.expressions;
const { IndexSelector, NameSelector } = jsonpath.selectors;

export type Predicate = (element: unknown) => boolean;

// `[?…]` may test whether a member of the element exists, or compare it to a constant, joined with `&&`, `||` and `!`.
// Everything else, functions above all, could cost more than one pass over the element.
export function compilePredicate(expression: unknown): Predicate {
  let terms = 0;

  const compile = (node: unknown): Predicate => {
    terms += 1;
    if (terms > limits.predicateTerms) throw new PathError('has a [?…] with too many terms');
    if (node instanceof LogicalExpression) return compile(node.expression);
    if (node instanceof PrefixExpression) {
      const holds = compile(node.right);
      return element => !holds(element);
    }
    if (node instanceof RelativeQuery) {
      const read = readMember(node);
      return element => read(element).length > 0;
    }
    if (!(node instanceof InfixExpression)) throw unsupported();
    if (!node.logical) return compileComparison(node.left, node.operator, node.right);
    const [left, right] = [compile(node.left), compile(node.right)];
    return node.operator === '&&'
      ? element => left(element) && right(element)
      : element => left(element) || right(element);
  };
  return compile(expression);
}

const unsupported = () =>
  new PathError('has a [?…] that does more than compare a member of the element, like @.kind, to a constant');

const mirrored: Readonly<Record<string, string>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' };

function compileComparison(left: unknown, operator: string, right: unknown): Predicate {
  if (!(left instanceof RelativeQuery)) {
    if (!(right instanceof RelativeQuery)) throw unsupported();
    return compileComparison(right, mirrored[operator] ?? operator, left);
  }
  const read = readMember(left);
  const constant = readConstant(right);
  return element => compare(read(element), operator, constant);
}

// RFC 9535, 2.3.5.2.2: only numbers and strings have an order, and a missing member equals nothing.
function compare(member: readonly unknown[], operator: string, constant: unknown): boolean {
  const [value] = member;
  const isEqual = member.length > 0 && value === constant;
  if (operator === '==') return isEqual;
  if (operator === '!=') return !isEqual;
  if ((operator === '<=' || operator === '>=') && isEqual) return true;
  const isLess = operator.startsWith('<');
  if (typeof value === 'number' && typeof constant === 'number')
    return isLess ? value < constant : value > constant;
  if (typeof value === 'string' && typeof constant === 'string')
    return isLess ? value < constant : value > constant;
  return false;
}

function readConstant(node: unknown): string | number | boolean | null {
  if (node instanceof StringLiteral || node instanceof NumberLiteral || node instanceof BooleanLiteral)
    return node.value;
  if (node instanceof NullLiteral) return null;
  throw unsupported();
}

const unmetered = createBudget(); // names and indexes have a constant cost

// `@`, `@.a.b` or `@[0]`: at most one value.
function readMember(query: InstanceType<typeof RelativeQuery>): (element: unknown) => readonly unknown[] {
  if (!query.path.singularQuery()) throw unsupported();
  const steps = query.path.segments.map(({ selectors: [selector] }) => {
    if (selector instanceof NameSelector) return chooseName(selector.name);
    if (selector instanceof IndexSelector) return chooseIndex(selector.index);
    throw unsupported();
  });
  return element => {
    let values = [element];
    for (const choose of steps) {
      const found: unknown[] = [];
      for (const value of values) choose(value, found, unmetered);
      values = found;
    }
    return values;
  };
}
