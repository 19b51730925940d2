import type { AttributeType, AttributeValue } from '../values/attribute-value.ts';
import type { Comparator, ConditionNode, ExpressionKind, LeafNode, OperandNode } from './ast.ts';
import { checkLeaf } from './condition-checks.ts';
import { parseCondition } from './condition-parser.ts';
import type { Path } from './path.ts';
import { resolvePath, resolveValue, type Scope } from './scope.ts';

export type Operand =
  | { kind: 'path'; path: Path }
  | { kind: 'value'; value: AttributeValue }
  | { kind: 'size'; operand: Operand };

export type Test =
  | { kind: 'and' | 'or'; tests: Test[] }
  | { kind: 'not'; test: Test }
  | { kind: 'compare'; operator: Comparator; left: Operand; right: Operand }
  | { kind: 'between'; operand: Operand; from: Operand; to: Operand }
  | { kind: 'in'; operand: Operand; candidates: Operand[] }
  | { kind: 'attribute_exists' | 'attribute_not_exists'; operand: Operand }
  | { kind: 'attribute_type'; operand: Operand; type: AttributeType }
  | { kind: 'begins_with'; operand: Operand; prefix: Operand }
  | { kind: 'contains'; operand: Operand; member: Operand };

// An expression with its placeholders resolved, ready to be evaluated against any number of items.
export type Condition = { test: Test; paths: Path[] };

type Binder = { kind: ExpressionKind; scope: Scope; paths: Path[] };

export function bindCondition(
  kind: Exclude<ExpressionKind, 'UpdateExpression' | 'ProjectionExpression'>,
  source: string,
  scope: Scope,
): Condition {
  return bindConditionNode(kind, parseCondition(source, kind), scope);
}

// For trees that were parsed from PartiQL.
export function bindConditionNode(kind: ExpressionKind, node: ConditionNode, scope: Scope): Condition {
  const paths: Path[] = [];
  return { test: bindTest({ kind, scope, paths }, node), paths };
}

function bindTest(binder: Binder, node: ConditionNode): Test {
  switch (node.kind) {
    case 'and':
    case 'or':
      return { kind: node.kind, tests: node.tests.map(test => bindTest(binder, test)) };
    case 'not':
      return { kind: 'not', test: bindTest(binder, node.test) };
    default:
      return bindLeaf(binder, node);
  }
}

// DynamoDB checks one comparison or function at a time: first its placeholders, then its operands.
function bindLeaf(binder: Binder, leaf: LeafNode): Test {
  const operands = operandsOf(leaf).map(operand => bindOperand(binder, operand));
  checkLeaf(binder.kind, leaf, operands);
  return leaf.kind === 'call' ? callTest(leaf.name, operands) : comparisonTest(leaf, operands);
}

function operandsOf(leaf: LeafNode): OperandNode[] {
  switch (leaf.kind) {
    case 'compare':
      return [leaf.left, leaf.right];
    case 'between':
      return [leaf.operand, leaf.from, leaf.to];
    case 'in':
      return [leaf.operand, ...leaf.candidates];
    case 'call':
      return leaf.args;
  }
}

// The parser lets no call but `size` be an operand; that it has one argument is checked with the leaf.
function bindOperand(binder: Binder, node: OperandNode): Operand {
  switch (node.kind) {
    case 'value':
      return { kind: 'value', value: resolveValue(binder.scope, node.name, binder.kind) };
    case 'call':
      return { kind: 'size', operand: node.args.map(arg => bindOperand(binder, arg))[0]! };
    case 'path': {
      const path = resolvePath(binder.scope, node, binder.kind);
      binder.paths.push(path);
      return { kind: 'path', path };
    }
  }
}

function comparisonTest(leaf: Exclude<LeafNode, { kind: 'call' }>, operands: Operand[]): Test {
  const [first, second, third] = operands as [Operand, Operand, Operand];
  switch (leaf.kind) {
    case 'compare':
      return { kind: 'compare', operator: leaf.operator, left: first, right: second };
    case 'between':
      return { kind: 'between', operand: first, from: second, to: third };
    case 'in':
      return { kind: 'in', operand: first, candidates: operands.slice(1) };
  }
}

function callTest(name: string, operands: Operand[]): Test {
  const [operand, second] = operands as [Operand, Operand];
  switch (name) {
    case 'begins_with':
      return { kind: 'begins_with', operand, prefix: second };
    case 'contains':
      return { kind: 'contains', operand, member: second };
    case 'attribute_type':
      return { kind: 'attribute_type', operand, type: typeNamed(second) };
    default:
      return { kind: name as 'attribute_exists' | 'attribute_not_exists', operand };
  }
}

const typeNamed = (operand: Operand): AttributeType =>
  operand.kind === 'value' && 'S' in operand.value ? (operand.value.S as AttributeType) : 'S';
