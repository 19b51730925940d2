import type { ActionNode, CallNode, OperandNode, SumNode, UpdateNode, ValueNode } from './ast.ts';
import {
  type Cursor,
  countOperator,
  createCursor,
  current,
  expectSymbol,
  finish,
  isCallAt,
  isSymbol,
  keywordAt,
  nested,
  noteMisuse,
  noteProblem,
  parseParentheses,
  parsePath,
  syntaxError,
  takeSymbol,
} from './cursor.ts';
import type { TokenType } from './lexer.ts';
import { cacheParse } from './parse-cache.ts';

const keywords = new Set(['SET', 'REMOVE', 'ADD', 'DELETE']);
const ranks = ['parentheses', 'reserved', 'function', 'misuse', 'section', 'path'] as const;
const functions = new Set(['if_not_exists', 'list_append']);
const conditionFunctions = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
  'size',
]);

export const parseUpdate = cacheParse((source, kind): UpdateNode => {
  const cursor = createCursor(kind, source, keywords, ranks);
  const actions: ActionNode[] = [];
  const sections = new Set<string>();
  do {
    const section = keywordAt(cursor);
    if (section === undefined) throw syntaxError(cursor);
    cursor.position++;
    if (sections.has(section)) {
      noteProblem(
        cursor,
        'section',
        `The "${section}" section can only be used once in an update expression;`,
      );
    }
    sections.add(section);
    do actions.push(parseAction(cursor, section));
    while (takeSymbol(cursor, ','));
  } while (current(cursor).type !== 'end');
  finish(cursor);
  return { actions, names: placeholders(cursor, 'name'), values: placeholders(cursor, 'value') };
});

const placeholders = ({ tokens }: Cursor, type: TokenType): string[] =>
  tokens.filter(token => token.type === type).map(token => token.text);

function parseAction(cursor: Cursor, section: string): ActionNode {
  const path = parsePath(cursor);
  switch (section) {
    case 'SET':
      expectSymbol(cursor, '=');
      return { kind: 'set', path, value: parseValue(cursor) };
    case 'REMOVE':
      return { kind: 'remove', path };
    default:
      return { kind: section === 'ADD' ? 'add' : 'delete', path, value: parsePlaceholder(cursor) };
  }
}

function parsePlaceholder(cursor: Cursor): ValueNode {
  const { type, text } = current(cursor);
  if (type !== 'value') throw syntaxError(cursor);
  cursor.position++;
  return { kind: 'value', name: text };
}

// One `+` or `-` at most, and never inside a function.
function parseValue(cursor: Cursor): OperandNode | SumNode {
  const left = parseTerm(cursor);
  const operator = isSymbol(cursor, '+') ? '+' : isSymbol(cursor, '-') ? '-' : undefined;
  if (operator === undefined || left.kind === 'sum') return left;
  cursor.position++;
  countOperator(cursor);
  const right = asOperand(cursor, parseTerm(cursor));
  noteInnerAppend(cursor, left);
  noteInnerAppend(cursor, right);
  return { kind: 'sum', operator, left, right };
}

function parseTerm(cursor: Cursor): OperandNode | SumNode {
  if (isSymbol(cursor, '(')) return parseParentheses(cursor, parseValue);
  if (current(cursor).type === 'value') return parsePlaceholder(cursor);
  return isCallAt(cursor) ? parseCall(cursor) : parsePath(cursor);
}

function parseCall(cursor: Cursor): CallNode {
  const name = current(cursor).text;
  cursor.position += 2;
  countOperator(cursor);
  if (!functions.has(name)) {
    const message = conditionFunctions.has(name)
      ? 'The function is not allowed in an update expression'
      : 'Invalid function name';
    noteProblem(cursor, 'function', `${message}; function: ${name}`);
  }
  const args = nested(cursor, parseOperands);
  for (const arg of args) noteInnerAppend(cursor, arg);
  return { kind: 'call', name, args };
}

function parseOperands(cursor: Cursor): OperandNode[] {
  const operands: OperandNode[] = [];
  do operands.push(asOperand(cursor, parseTerm(cursor)));
  while (takeSymbol(cursor, ','));
  expectSymbol(cursor, ')');
  return operands;
}

function asOperand(cursor: Cursor, value: OperandNode | SumNode): OperandNode {
  if (value.kind === 'sum') throw syntaxError(cursor);
  return value;
}

// DynamoDB takes list_append only as the whole value of a SET.
function noteInnerAppend(cursor: Cursor, operand: OperandNode): void {
  if (operand.kind === 'call' && operand.name === 'list_append') noteMisuse(cursor, operand.name);
}
