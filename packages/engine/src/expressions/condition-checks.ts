import { type AttributeType, type AttributeValue, typeOf } from '../values/attribute-value.ts';
import { compareScalars } from '../values/compare.ts';
import type { ExpressionKind, LeafNode, OperandNode } from './ast.ts';
import type { Operand } from './condition.ts';
import { expressionError } from './cursor.ts';
import { equalPaths, formatPath } from './path.ts';

// DynamoDB refuses some comparisons and functions before it reads any item. Only values from the request are checked by
// type here; an attribute of the wrong type makes the test false instead.
const maxCandidates = 100;

const operandCounts: Record<string, number> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
  size: 1,
};

const typeNames = new Set<string>(['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS']);
const ordered = new Set<AttributeType>(['S', 'N', 'B']);
const prefixable = new Set<AttributeType>(['S', 'B']);
const sizeless = new Set<AttributeType>(['N', 'BOOL', 'NULL']);

export function checkLeaf(kind: ExpressionKind, leaf: LeafNode, operands: Operand[]): void {
  checkCounts(kind, leaf);
  const name = nameOf(leaf);
  checkDistinct(kind, name, operands);
  for (const operand of operands) checkSize(kind, operand);
  switch (leaf.kind) {
    case 'compare':
      if (leaf.operator !== '=' && leaf.operator !== '<>') checkTypes(kind, name, operands, ordered);
      break;
    case 'between':
      checkTypes(kind, name, operands, ordered);
      checkBounds(kind, operands[1]!, operands[2]!);
      break;
    case 'call':
      checkCall(kind, name, operands);
  }
}

function nameOf(leaf: LeafNode): string {
  if (leaf.kind === 'call') return leaf.name;
  return leaf.kind === 'compare' ? leaf.operator : leaf.kind.toUpperCase();
}

function checkCounts(kind: ExpressionKind, leaf: LeafNode): void {
  switch (leaf.kind) {
    case 'compare':
      checkCount(kind, leaf.left);
      checkCount(kind, leaf.right);
      break;
    case 'between':
      checkCount(kind, leaf.operand);
      checkCount(kind, leaf.from);
      checkCount(kind, leaf.to);
      break;
    case 'in':
      checkCount(kind, leaf.operand);
      for (const candidate of leaf.candidates) checkCount(kind, candidate);
      if (leaf.candidates.length <= maxCandidates) break;
      throw expressionError(
        kind,
        `The IN operator is provided with too many operands; number of operands: ${leaf.candidates.length}`,
      );
    case 'call':
      checkCount(kind, leaf);
  }
}

function checkCount(kind: ExpressionKind, node: OperandNode): void {
  if (node.kind !== 'call') return;
  for (const arg of node.args) checkCount(kind, arg);
  if (node.args.length === operandCounts[node.name]) return;
  throw expressionError(
    kind,
    'Incorrect number of operands for operator or function; ' +
      `operator or function: ${node.name}, number of operands: ${node.args.length}`,
  );
}

function checkDistinct(kind: ExpressionKind, name: string, operands: Operand[]): void {
  const first = operands[0]!;
  if (first.kind !== 'path') return;
  for (let i = 1; i < operands.length; i++) {
    const other = operands[i]!;
    if (other.kind !== 'path' || !equalPaths(first.path, other.path)) continue;
    throw expressionError(
      kind,
      'The first operand must be distinct from the remaining operands for this operator or function; ' +
        `operator: ${name}, first operand: ${formatPath(first.path)}`,
    );
  }
}

function checkSize(kind: ExpressionKind, operand: Operand): void {
  if (operand.kind !== 'size') return;
  checkSize(kind, operand.operand);
  const type = knownType(operand.operand);
  if (type && sizeless.has(type)) throw wrongType(kind, 'size', type);
}

function checkTypes(
  kind: ExpressionKind,
  name: string,
  operands: Operand[],
  allowed: Set<AttributeType>,
): void {
  for (const operand of operands) {
    const type = knownType(operand);
    if (type && !allowed.has(type)) throw wrongType(kind, name, type);
  }
}

function checkCall(kind: ExpressionKind, name: string, operands: Operand[]): void {
  const [first, second] = operands as [Operand, Operand];
  switch (name) {
    case 'attribute_exists':
    case 'attribute_not_exists':
      if (first.kind === 'path') break;
      throw expressionError(
        kind,
        `Operator or function requires a document path; operator or function: ${name}`,
      );
    case 'begins_with':
      checkTypes(kind, name, operands, prefixable);
      break;
    case 'attribute_type':
      checkTypeName(kind, second);
  }
}

function checkTypeName(kind: ExpressionKind, operand: Operand): void {
  if (operand.kind !== 'value' || !('S' in operand.value)) {
    throw wrongType(kind, 'attribute_type', knownType(operand) ?? '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}');
  }
  if (typeNames.has(operand.value.S)) return;
  throw expressionError(
    kind,
    `Invalid attribute type name found; type: ${operand.value.S}, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}`,
  );
}

function checkBounds(kind: ExpressionKind, from: Operand, to: Operand): void {
  if (from.kind !== 'value' || to.kind !== 'value') return;
  const bounds =
    `lower bound operand: AttributeValue: ${formatValue(from.value)}, ` +
    `upper bound operand: AttributeValue: ${formatValue(to.value)}`;
  if (typeOf(from.value) !== typeOf(to.value)) {
    throw expressionError(
      kind,
      `The BETWEEN operator requires same data type for lower and upper bounds; ${bounds}`,
    );
  }
  if (compareScalars(from.value, to.value) <= 0) return;
  throw expressionError(
    kind,
    `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ${bounds}`,
  );
}

function formatValue(value: AttributeValue): string {
  if ('B' in value) return `{B:${Buffer.from(value.B).toString('base64')}}`;
  const type = typeOf(value);
  return `{${type}:${(value as Record<string, unknown>)[type]}}`;
}

function knownType(operand: Operand): AttributeType | undefined {
  if (operand.kind === 'size') return 'N';
  return operand.kind === 'value' ? typeOf(operand.value) : undefined;
}

const wrongType = (kind: ExpressionKind, name: string, type: string) =>
  expressionError(
    kind,
    'Incorrect operand type for operator or function; ' +
      `operator or function: ${name}, operand type: ${type}`,
  );
