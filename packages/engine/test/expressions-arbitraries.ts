import fc from 'fast-check';
import type { ActionNode, ConditionNode, OperandNode, PathNode, SumNode } from '../src/expressions/ast.ts';
import type { AttributeValue, Item } from '../src/values/attribute-value.ts';

// Random trees as the parsers make them, how they are written, and what they are evaluated against.
const text = fc.constantFrom('', 'a', 'ab', 'b', 'é', '𝄞', '\uffff');
const number = fc.integer({ min: -3, max: 3 }).map(String);
const binary = fc.uint8Array({ maxLength: 3 });

const value: fc.Arbitrary<AttributeValue> = fc.letrec<{ value: AttributeValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.record({ S: text }),
    fc.record({ N: number }),
    fc.record({ B: binary }),
    fc.record({ BOOL: fc.boolean() }),
    fc.constant({ NULL: true } as const),
    fc.record({ SS: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }) }),
    fc.record({ NS: fc.uniqueArray(number, { minLength: 1, maxLength: 3 }) }),
    fc.record({ BS: fc.uniqueArray(binary, { minLength: 1, maxLength: 3, selector: String }) }),
    fc.record({ L: fc.array(tie('value'), { maxLength: 3 }) }),
    fc.record({ M: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }) }),
  ),
})).value;

export const item: fc.Arbitrary<Item> = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);
export const names = { '#a': 'a', '#b': 'b' };
export const values = fc.record({ ':v': value, ':w': value, ':x': value });

// Updates need something to hold on to, or nearly all of them are refused.
const list = fc.record({ L: fc.array(value, { maxLength: 4 }) });
const count = fc.record({ N: number });
const tags = fc.record({ SS: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }) });
export const document: fc.Arbitrary<Item> = fc.record({
  a: fc.oneof(list, fc.record({ L: fc.array(fc.record({ M: fc.record({ a: count }) }), { maxLength: 4 }) })),
  b: fc.record({ M: fc.record({ a: list, b: count }) }),
  c: fc.oneof(count, tags),
});
export const operands = fc.record({ ':v': count, ':w': tags, ':x': fc.oneof(list, value) });

const path: fc.Arbitrary<PathNode> = fc
  .tuple(
    fc.constantFrom('a', 'b', 'c', '#a', '#b'),
    fc.array(fc.oneof(fc.constantFrom('a', 'b', '#a'), fc.nat(3)), { maxLength: 2 }),
  )
  .map(([head, tail]) => ({ kind: 'path', elements: [head, ...tail] }));
const placeholder = fc.constantFrom(':v', ':w', ':x').map(name => ({ kind: 'value' as const, name }));
const size = fc.oneof(path, placeholder).map(arg => ({ kind: 'call' as const, name: 'size', args: [arg] }));
const operand: fc.Arbitrary<OperandNode> = fc.oneof(
  { arbitrary: path, weight: 4 },
  { arbitrary: placeholder, weight: 4 },
  size,
);

export const condition: fc.Arbitrary<ConditionNode> = fc.letrec<{ condition: ConditionNode }>(tie => ({
  condition: fc.oneof(
    { maxDepth: 4 },
    fc.record({
      kind: fc.constant('compare' as const),
      operator: fc.constantFrom('=', '<>', '<', '<=', '>', '>='),
      left: operand,
      right: operand,
    }),
    fc.record({ kind: fc.constant('between' as const), operand, from: operand, to: operand }),
    fc.record({
      kind: fc.constant('in' as const),
      operand,
      candidates: fc.array(operand, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('call' as const),
      name: fc.constantFrom('attribute_exists', 'attribute_not_exists'),
      args: fc.tuple(path),
    }),
    fc.record({
      kind: fc.constant('call' as const),
      name: fc.constantFrom('begins_with', 'contains'),
      args: fc.tuple(operand, operand),
    }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      tests: fc.array(tie('condition'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), test: tie('condition') }),
  ),
})).condition;

const plainOperand: fc.Arbitrary<OperandNode> = fc.oneof(path, placeholder);
const setValue: fc.Arbitrary<OperandNode | SumNode> = fc.oneof(
  plainOperand,
  fc.tuple(path, plainOperand).map(args => ({ kind: 'call' as const, name: 'if_not_exists', args })),
  fc.tuple(plainOperand, plainOperand).map(args => ({ kind: 'call' as const, name: 'list_append', args })),
  fc.record({
    kind: fc.constant('sum' as const),
    operator: fc.constantFrom('+' as const, '-' as const),
    left: plainOperand,
    right: plainOperand,
  }),
);

export const action: fc.Arbitrary<ActionNode> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), path, value: setValue }),
  fc.record({ kind: fc.constant('remove' as const), path }),
  fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const), path, value: placeholder }),
);

// Mostly what the document above can bear: an update with one bad action is refused as a whole.
const pathOf = (...elements: (string | number)[]): PathNode => ({ kind: 'path', elements });
const element = fc
  .tuple(fc.constantFrom(['a'], ['b', 'a']), fc.nat(6))
  .map(([head, index]) => pathOf(...head, index));
export const fittingAction: fc.Arbitrary<ActionNode> = fc.oneof(
  {
    arbitrary: fc.record({ kind: fc.constant('set' as const), path: element, value: placeholder }),
    weight: 4,
  },
  { arbitrary: fc.record({ kind: fc.constant('remove' as const), path: element }), weight: 4 },
  fc.record({
    kind: fc.constant('set' as const),
    path: fc.constantFrom(pathOf('d'), pathOf('b', 'c')),
    value: setValue,
  }),
  fc.record({
    kind: fc.constantFrom('add' as const, 'delete' as const),
    path: fc.constantFrom(pathOf('c'), pathOf('b', 'b'), pathOf('e')),
    value: placeholder,
  }),
  action,
);

const printPath = ({ elements }: PathNode): string =>
  elements
    .map((element, i) => (typeof element === 'number' ? `[${element}]` : i ? `.${element}` : element))
    .join('');

function printOperand(node: OperandNode | SumNode): string {
  switch (node.kind) {
    case 'path':
      return printPath(node);
    case 'value':
      return node.name;
    case 'call':
      return `${node.name}(${node.args.map(printOperand).join(', ')})`;
    case 'sum':
      return `${printOperand(node.left)} ${node.operator} ${printOperand(node.right)}`;
  }
}

export function printCondition(node: ConditionNode): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.tests.map(part => `(${printCondition(part)})`).join(` ${node.kind} `);
    case 'not':
      return `NOT (${printCondition(node.test)})`;
    case 'compare':
      return `${printOperand(node.left)} ${node.operator} ${printOperand(node.right)}`;
    case 'between':
      return `${printOperand(node.operand)} BETWEEN ${printOperand(node.from)} AND ${printOperand(node.to)}`;
    case 'in':
      return `${printOperand(node.operand)} IN (${node.candidates.map(printOperand).join(',')})`;
    case 'call':
      return printOperand(node);
  }
}

export function printUpdate(actions: ActionNode[]): string {
  const sections = new Map<string, string[]>();
  for (const node of actions) {
    const operands =
      node.kind === 'remove' ? '' : `${node.kind === 'set' ? ' =' : ''} ${printOperand(node.value)}`;
    sections.set(node.kind, [...(sections.get(node.kind) ?? []), printPath(node.path) + operands]);
  }
  return [...sections].map(([section, parts]) => `${section} ${parts.join(', ')}`).join(' ');
}
