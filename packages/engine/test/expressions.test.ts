import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DynamoError } from '../src/errors.ts';
import type { ActionNode, ConditionNode, OperandNode, PathNode, SumNode } from '../src/expressions/ast.ts';
import { bindCondition } from '../src/expressions/condition.ts';
import { parseCondition } from '../src/expressions/condition-parser.ts';
import { evaluateCondition } from '../src/expressions/evaluation.ts';
import { bindKeyCondition, resolveKeyCondition } from '../src/expressions/key-condition.ts';
import { bindProjection, project } from '../src/expressions/projection.ts';
import { createScope } from '../src/expressions/scope.ts';
import { bindUpdate } from '../src/expressions/update.ts';
import { applyUpdate } from '../src/expressions/update-application.ts';
import { parseUpdate } from '../src/expressions/update-parser.ts';
import type { AttributeValue, Item } from '../src/values/attribute-value.ts';
import { holdsNaively, updateNaively } from './expressions-oracle.ts';

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

const item: fc.Arbitrary<Item> = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);
const names = { '#a': 'a', '#b': 'b' };
const values = fc.record({ ':v': value, ':w': value, ':x': value });

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

const condition: fc.Arbitrary<ConditionNode> = fc.letrec<{ condition: ConditionNode }>(tie => ({
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

const setValue: fc.Arbitrary<OperandNode | SumNode> = fc.oneof(
  placeholder,
  path,
  fc
    .tuple(path, fc.oneof(placeholder, path))
    .map(args => ({ kind: 'call' as const, name: 'if_not_exists', args })),
  fc
    .tuple(operandOfUpdate(), operandOfUpdate())
    .map(args => ({ kind: 'call' as const, name: 'list_append', args })),
  fc.record({
    kind: fc.constant('sum' as const),
    operator: fc.constantFrom('+' as const, '-' as const),
    left: operandOfUpdate(),
    right: operandOfUpdate(),
  }),
);

function operandOfUpdate(): fc.Arbitrary<OperandNode> {
  return fc.oneof(path, placeholder);
}

const action: fc.Arbitrary<ActionNode> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), path, value: setValue }),
  fc.record({ kind: fc.constant('remove' as const), path }),
  fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const), path, value: placeholder }),
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

function printCondition(node: ConditionNode): string {
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

function printUpdate(actions: ActionNode[]): string {
  const sections = new Map<string, string[]>();
  for (const node of actions) {
    const operands =
      node.kind === 'remove' ? '' : `${node.kind === 'set' ? ' =' : ''} ${printOperand(node.value)}`;
    sections.set(node.kind, [...(sections.get(node.kind) ?? []), printPath(node.path) + operands]);
  }
  return [...sections].map(([section, parts]) => `${section} ${parts.join(', ')}`).join(' ');
}

// What a request may answer for any text at all.
function attempt<Result>(run: () => Result): Result | DynamoError {
  try {
    return run();
  } catch (error) {
    if (error instanceof DynamoError && error.name === 'ValidationException') return error;
    throw error;
  }
}

const scopeOf = (of: Record<string, AttributeValue>) => createScope(names, of);

function attemptAll(source: string, of: Record<string, AttributeValue>, target: Item): void {
  const keys = { hash: { name: 'a', type: 'S' }, range: { name: 'b', type: 'N' } } as const;
  attempt(() => evaluateCondition(bindCondition('FilterExpression', source, scopeOf(of)), target));
  attempt(() => resolveKeyCondition(bindKeyCondition(source, scopeOf(of)), keys));
  attempt(() => applyUpdate(bindUpdate(source, scopeOf(of)), target));
  attempt(() => project(bindProjection(source, scopeOf(of)), target));
}

describe('any text is an expression or a validation error', () => {
  const word = fc.constantFrom(
    ...[
      'SET ',
      'REMOVE ',
      'ADD ',
      'DELETE ',
      ' AND ',
      ' OR ',
      'NOT ',
      ' BETWEEN ',
      ' IN ',
      'size',
      'contains',
    ],
    ...[
      'if_not_exists',
      'list_append',
      'attribute_type',
      'begins_with',
      'attribute_exists',
      'a',
      'b',
      'name',
    ],
    ...[
      '#a',
      '#b',
      '#',
      ':v',
      ':w',
      ':',
      '(',
      ')',
      '[',
      ']',
      '0',
      '1',
      '.',
      ',',
      '=',
      '<',
      '>',
      '+',
      '-',
      '_',
      ' ',
    ],
  );
  const soup = fc.array(word, { maxLength: 40 }).map(words => words.join(''));

  test.each([
    ['characters', fc.string({ unit: 'binary', maxLength: 200 })],
    ['words', soup],
    [
      'conditions with a word misplaced',
      fc.tuple(condition.map(printCondition), word).map(([a, b]) => a.replace(' ', b)),
    ],
  ])('%s', (_, source) => {
    fc.assert(fc.property(source, values, item, attemptAll), { numRuns: 1000 });
  });

  test.each([
    '(',
    'not ',
    'size(',
    'a<b or (',
    '((a)',
    'a=b and ',
    'a.',
    'a[0]',
    'a,',
    'SET a=',
    'REMOVE a,',
    'if_not_exists(a,',
    ':v ',
    '#',
    '"',
    '𝄞',
  ])('%s over and over, quickly', part => {
    const source = part.repeat(Math.floor(4096 / Buffer.byteLength(part)));
    const start = performance.now();
    for (const prefix of ['', 'SET a = ', 'a = ']) attemptAll((prefix + source).slice(0, 4096), {}, {});
    expect(performance.now() - start).toBeLessThan(250);
  });

  test('thousands of paths, quickly', () => {
    const list = Array.from({ length: 570 }, (_, i) => `a[${i}]`).join();
    const start = performance.now();
    bindUpdate(`REMOVE ${list}`, scopeOf({}));
    bindProjection(list, scopeOf({}));
    expect(performance.now() - start).toBeLessThan(250);
  });
});

describe('a tree printed and parsed is the same tree', () => {
  test('conditions', () => {
    fc.assert(
      fc.property(condition, node => {
        expect(parseCondition(printCondition(node), 'ConditionExpression')).toEqual(node);
      }),
    );
  });

  test('updates', () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: 4 }), actions => {
        const bySection = [...new Set(actions.map(({ kind }) => kind))].flatMap(kind =>
          actions.filter(node => node.kind === kind),
        );
        expect(parseUpdate(printUpdate(actions), 'UpdateExpression').actions).toEqual(bySection);
      }),
    );
  });
});

describe('an oracle that takes every shortcut agrees', () => {
  test('conditions', () => {
    let judged = 0;
    fc.assert(
      fc.property(condition, values, item, (node, of, target) => {
        const bound = attempt(() => bindCondition('ConditionExpression', printCondition(node), scopeOf(of)));
        if (bound instanceof DynamoError) return;
        judged++;
        expect(evaluateCondition(bound, target)).toBe(holdsNaively(node, { names, values: of }, target));
      }),
      { numRuns: 3000 },
    );
    expect(judged).toBeGreaterThan(500);
  });

  test('updates', () => {
    let judged = 0;
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: 3 }), values, item, (actions, of, target) => {
        const bound = attempt(() => bindUpdate(printUpdate(actions), scopeOf(of)));
        if (bound instanceof DynamoError) return;
        const before = structuredClone(target);
        const updated = attempt(() => applyUpdate(bound, target));
        expect(target).toEqual(before);
        const expected = updateNaively(actions, { names, values: of }, target);
        expect(updated instanceof DynamoError).toBe(expected === undefined);
        if (updated instanceof DynamoError || expected === undefined) return;
        judged++;
        expect(sorted(updated.item)).toEqual(sorted(expected));
      }),
      { numRuns: 3000 },
    );
    expect(judged).toBeGreaterThan(200);
  });

  const sorted = (of: Item) =>
    Object.entries(of)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, v]) => [name, plain(v)]);
  const plain = (v: AttributeValue): unknown =>
    JSON.parse(JSON.stringify(v, (_, inner) => (inner instanceof Uint8Array ? [...inner] : inner)));
});
