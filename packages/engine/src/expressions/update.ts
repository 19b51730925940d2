import { type AttributeType, type AttributeValue, typeOf } from '../values/attribute-value.ts';
import type { ActionNode, CallNode, OperandNode, PathNode, SumNode, UpdateNode } from './ast.ts';
import { expressionError } from './cursor.ts';
import { assertSeparate, type Path } from './path.ts';
import { resolveName, resolvePath, resolveValue, type Scope } from './scope.ts';
import { parseUpdate } from './update-parser.ts';

export type SetOperand =
  | { kind: 'path'; path: Path }
  | { kind: 'value'; value: AttributeValue }
  | { kind: 'if_not_exists'; path: Path; otherwise: SetOperand }
  | { kind: 'list_append'; first: SetOperand; second: SetOperand }
  | { kind: 'sum'; operator: '+' | '-'; left: SetOperand; right: SetOperand };

export type Action =
  | { kind: 'set'; path: Path; source: SetOperand }
  | { kind: 'remove'; path: Path }
  | { kind: 'add' | 'delete'; path: Path; value: AttributeValue };

// `targets` are the written paths, `paths` the written and read ones. `mismatch` is DynamoDB's message for an attribute
// of the wrong type; the legacy parameters have another one.
export type Update = { actions: Action[]; targets: Path[]; paths: Path[]; mismatch: string };

const kind = 'UpdateExpression';
const mismatch = 'An operand in the update expression has an incorrect data type';

// UpdateItem without any update writes the bare key.
export const emptyUpdate: Update = { actions: [], targets: [], paths: [], mismatch };

// DynamoDB checks the whole expression for one kind of fault before the next: names, values, overlapping paths,
// operands of ADD and DELETE, functions.
export function bindUpdate(source: string, scope: Scope): Update {
  return bindUpdateNode(parseUpdate(source, kind), scope);
}

// For trees that were parsed from PartiQL.
export function bindUpdateNode({ actions: nodes, names, values }: UpdateNode, scope: Scope): Update {
  for (const name of names) resolveName(scope, name, kind);
  for (const value of values) resolveValue(scope, value, kind);
  const targets = nodes.map(node => resolvePath(scope, node.path, kind));
  assertSeparate(kind, targets);
  for (const node of nodes) checkSetOperand(node, scope);
  const paths = [...targets];
  const actions = nodes.map((node, i) => bindAction({ scope, paths }, node, targets[i]!));
  return { actions, targets, paths, mismatch };
}

const longTypeNames: Partial<Record<AttributeType, string>> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  NULL: 'NULL',
  M: 'MAP',
  L: 'LIST',
};

function checkSetOperand(node: ActionNode, scope: Scope): void {
  if (node.kind !== 'add' && node.kind !== 'delete') return;
  const type = typeOf(resolveValue(scope, node.value.name, kind));
  const name = longTypeNames[type];
  if (name === undefined || (type === 'N' && node.kind === 'add')) return;
  throw expressionError(
    kind,
    'Incorrect operand type for operator or function; ' +
      `operator: ${node.kind.toUpperCase()}, operand type: ${name}`,
  );
}

type Binder = { scope: Scope; paths: Path[] };

function bindAction(binder: Binder, node: ActionNode, path: Path): Action {
  switch (node.kind) {
    case 'set':
      return { kind: 'set', path, source: bindSource(binder, node.value) };
    case 'remove':
      return { kind: 'remove', path };
    default:
      return { kind: node.kind, path, value: resolveValue(binder.scope, node.value.name, kind) };
  }
}

function bindSource(binder: Binder, node: OperandNode | SumNode): SetOperand {
  switch (node.kind) {
    case 'path':
      return { kind: 'path', path: bindPath(binder, node) };
    case 'value':
      return { kind: 'value', value: resolveValue(binder.scope, node.name, kind) };
    case 'sum': {
      const left = bindSource(binder, node.left);
      const right = bindSource(binder, node.right);
      checkType(node.operator, 'N', left);
      checkType(node.operator, 'N', right);
      return { kind: 'sum', operator: node.operator, left, right };
    }
    case 'call':
      return bindCall(binder, node);
  }
}

function bindPath({ scope, paths }: Binder, node: PathNode): Path {
  const path = resolvePath(scope, node, kind);
  paths.push(path);
  return path;
}

function bindCall(binder: Binder, { name, args }: CallNode): SetOperand {
  const [first, second] = args.map(arg => bindSource(binder, arg)) as [SetOperand, SetOperand];
  if (args.length !== 2) {
    throw expressionError(
      kind,
      'Incorrect number of operands for operator or function; ' +
        `operator or function: ${name}, number of operands: ${args.length}`,
    );
  }
  if (name === 'list_append') {
    checkType(name, 'L', first);
    checkType(name, 'L', second);
    return { kind: 'list_append', first, second };
  }
  if (first.kind !== 'path') {
    throw expressionError(
      kind,
      `Operator or function requires a document path; operator or function: ${name}`,
    );
  }
  return { kind: 'if_not_exists', path: first.path, otherwise: second };
}

function checkType(name: string, wanted: AttributeType, source: SetOperand): void {
  if (source.kind !== 'value' || wanted in source.value) return;
  throw expressionError(
    kind,
    'Incorrect operand type for operator or function; ' +
      `operator or function: ${name}, operand type: ${typeOf(source.value)}`,
  );
}
