import { parseSync } from 'vite';

// Small changes that a tool can make in any source: another operator, a condition that always holds, a call that is not
// made. A source gets all of them at once, each behind a question for its number, so that it is loaded only once.
// Types, imports and what follows `?.` stay as they are.

/** One change: what the source has, and what it has instead. */
export type Change = { line: number; from: string; to: string };

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

const operators = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['===', '!=='],
  ['!==', '==='],
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['%', '*'],
  ['&', '|'],
  ['|', '&'],
  ['<<', '>>'],
  ['>>', '<<'],
  ['>>>', '<<'],
  ['&&', '||'],
  ['||', '&&'],
  ['??', '&&'],
  ['++', '--'],
  ['--', '++'],
  ['+=', '-='],
  ['-=', '+='],
]);
const methods = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['min', 'max'],
  ['max', 'min'],
  ['ceil', 'floor'],
  ['floor', 'ceil'],
]);
const removedCalls = new Set(['filter', 'toSorted', 'reverse', 'trim', 'toLowerCase']);
const withOperator = new Set(['BinaryExpression', 'LogicalExpression', 'AssignmentExpression']);
const withTest = new Set(['IfStatement', 'ConditionalExpression', 'WhileStatement', 'ForStatement']);
const kept = new Set(['ImportDeclaration', 'ChainExpression', 'TSEnumDeclaration']);
const wrappers = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

/** Returns the source with all its changes, the first of which has the number `first`. */
export function withChanges(
  source: string,
  file: string,
  first: number,
): { text: string; changes: readonly Change[] } {
  const changes: Change[] = [];

  function render(node: Node, parent?: Node): string {
    if (isKept(node)) return source.slice(node.start, node.end);
    const text = renderChildren(node);
    const others = findOthers(node, parent);
    if (others.length === 0) return text;
    return node.type === 'ExpressionStatement'
      ? `{ if (!${ask(node, 'nothing')}) { ${text} } }`
      : `(${others.map(other => `${ask(node, other)} ? (${other}) : `).join('')}(${text}))`;
  }

  function renderChildren(node: Node): string {
    const children = childrenOf(node).toSorted((a, b) => a.start - b.start);
    let text = '';
    let at = node.start;
    for (const child of children) {
      if (child.start < at) continue; // the key of { key } is its value, too
      text += source.slice(at, child.start) + render(child, node);
      at = child.end;
    }
    return text + source.slice(at, node.end);
  }

  function ask(node: Node, to: string): string {
    const line = source.slice(0, node.start).split('\n').length;
    changes.push({ line, from: source.slice(node.start, node.end), to });
    return `globalThis.stakChange(${first + changes.length - 1})`;
  }

  function findOthers(node: Node, parent: Node | undefined): string[] {
    const { type, start, end } = node;
    if (type === 'ExpressionStatement') return node.directive ? [] : ['nothing'];
    const others: string[] = [];
    const isBranch = parent !== undefined && withTest.has(parent.type) && parent.test === node;
    if (isBranch) {
      others.push('false');
      if (parent.type === 'IfStatement' || parent.type === 'ConditionalExpression') others.push('true');
    }
    const isEquality = node.operator === '===' || node.operator === '!==';
    if (withOperator.has(type) && !(isBranch && isEquality))
      others.push(...replaceOperator(node, (node.left as Node).end, (node.right as Node).start));
    else if (type === 'UpdateExpression') {
      const argument = node.argument as Node;
      const [from, to] = node.prefix ? [start, argument.start] : [argument.end, end];
      others.push(...replaceOperator(node, from, to));
    } else if (type === 'UnaryExpression' && node.operator === '!') others.push(source.slice(start + 1, end));
    else if (type === 'Literal' && !(parent?.type === 'Property' && parent.key === node)) {
      if (typeof node.value === 'boolean') others.push(String(!node.value));
      else if (typeof node.value === 'number') others.push(String(node.value + 1));
    } else if (type === 'CallExpression') others.push(...replaceCall(node));
    return others;
  }

  function replaceOperator(node: Node, from: number, to: number): string[] {
    const operator = node.operator as string;
    const at = source.indexOf(operator, from);
    const other = operators.get(operator);
    if (other === undefined || at === -1 || at >= to) return [];
    return [source.slice(node.start, at) + other + source.slice(at + operator.length, node.end)];
  }

  function replaceCall({ callee, start, end }: Node): string[] {
    const { type, computed, property, object } = callee as Node & { property: Node; object: Node };
    if (type !== 'MemberExpression' || computed) return [];
    const name = property.name as string;
    if (removedCalls.has(name)) return [source.slice(start, object.end)];
    const other = methods.get(name);
    return other === undefined
      ? []
      : [source.slice(start, property.start) + other + source.slice(property.end, end)];
  }

  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const { body } = program as unknown as { body: Node[] };
  let text = '';
  let at = 0;
  for (const statement of body) {
    text += source.slice(at, statement.start) + render(statement);
    at = statement.end;
  }
  return { text: text + source.slice(at), changes };
}

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flatMap(value => (Array.isArray(value) ? value : [value]))
    .filter(isNode);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

const isKept = ({ type, importKind, exportKind }: Node): boolean =>
  kept.has(type) ||
  importKind === 'type' ||
  exportKind === 'type' ||
  (type.startsWith('TS') && !wrappers.has(type));
