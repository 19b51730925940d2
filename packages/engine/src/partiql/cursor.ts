import { validationError } from '../errors.ts';
import type { PathNode, ValueNode } from '../expressions/ast.ts';
import * as limits from '../limits.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import type { ParsedStatement } from './ast.ts';
import { malformed, rangeOf } from './faults.ts';
import { type Token, tokenize } from './lexer.ts';

// The state of the parser, and the placeholders it has assigned.
export type Cursor = Omit<ParsedStatement, 'statement'> & {
  readonly source: string;
  readonly tokens: Token[];
  readonly placeholders: Map<string, string>;
  literalCount: number;
  position: number;
  depth: number;
};

// Words that are names only in double quotes.
const keywords = new Set(
  (
    'ALL AND AS ASC BETWEEN BY CROSS DELETE DESC DISTINCT EXISTS FALSE FROM GROUP HAVING IN INSERT INTO IS JOIN ' +
    'LIKE LIMIT MISSING NOT NULL OR ORDER REMOVE RETURNING SELECT SET TRUE UNION UPDATE VALUE VALUES WHERE'
  ).split(' '),
);

export function createCursor(source: string): Cursor {
  return {
    source,
    tokens: tokenize(source),
    placeholders: new Map(),
    literalCount: 0,
    names: {},
    literals: {},
    parameters: 0,
    sets: [],
    position: 0,
    depth: 0,
  };
}

export const current = (cursor: Cursor): Token => cursor.tokens[cursor.position]!;

export function take(cursor: Cursor): Token {
  const token = current(cursor);
  if (token.type !== 'end') cursor.position++;
  return token;
}

export function isSymbol(cursor: Cursor, text: string): boolean {
  const token = current(cursor);
  return token.type === 'symbol' && token.text === text;
}

export function takeSymbol(cursor: Cursor, text: string): boolean {
  if (!isSymbol(cursor, text)) return false;
  cursor.position++;
  return true;
}

export function expectSymbol(cursor: Cursor, text: string): void {
  if (!takeSymbol(cursor, text)) throw unexpected(cursor);
}

// Contextual words (OLD, MODIFIED) are recognised where the grammar expects them, and are names elsewhere.
export function isWord(cursor: Cursor, word: string): boolean {
  const token = current(cursor);
  return token.type === 'word' && token.text.toUpperCase() === word;
}

export function takeWord(cursor: Cursor, word: string): boolean {
  if (!isWord(cursor, word)) return false;
  cursor.position++;
  return true;
}

export function expectWord(cursor: Cursor, word: string): void {
  if (!takeWord(cursor, word)) throw unexpected(cursor);
}

const isKeyword = ({ type, text }: Token): boolean => type === 'word' && keywords.has(text.toUpperCase());

const operators = new Set(['IS', 'IN', 'LIKE', 'BETWEEN', 'AND', 'OR']);

export function unexpected(cursor: Cursor) {
  const token = current(cursor);
  if (!isKeyword(token)) return malformed('Unexpected term');
  return malformed(operators.has(token.text.toUpperCase()) ? 'Unexpected operator' : 'Unexpected keyword');
}

export const leftover = () => malformed('Unexpected token after expression');

// Keeps a hostile text from exhausting the stack; every recursion of the parser goes through here.
export function nested<Node>(cursor: Cursor, parse: (cursor: Cursor) => Node): Node {
  if (++cursor.depth > limits.expressionNesting) {
    throw malformed(`The expression has too many nesting levels; nesting levels: ${cursor.depth}`);
  }
  const node = parse(cursor);
  cursor.depth--;
  return node;
}

export const isNameAt = (cursor: Cursor): boolean => {
  const token = current(cursor);
  return token.type === 'quoted' || (token.type === 'word' && !isKeyword(token));
};

export function isCallAt(cursor: Cursor): boolean {
  const next = cursor.tokens[cursor.position + 1];
  return isNameAt(cursor) && current(cursor).type === 'word' && next?.type === 'symbol' && next.text === '(';
}

export function parseName(cursor: Cursor): string {
  if (!isNameAt(cursor)) throw unexpected(cursor);
  return take(cursor).text;
}

export function parsePath(cursor: Cursor): (string | number)[] {
  const path: (string | number)[] = [parseName(cursor)];
  for (;;) {
    if (takeSymbol(cursor, '.')) path.push(parseName(cursor));
    else if (takeSymbol(cursor, '[')) path.push(parseIndex(cursor));
    else break;
  }
  if (path.length > limits.nestingDepth) {
    throw validationError(
      `The document path has too many nesting levels; nesting levels: ${path.length} ${rangeOf(cursor.source, current(cursor))}`,
    );
  }
  return path;
}

function parseIndex(cursor: Cursor): number {
  const negative = takeSymbol(cursor, '-');
  const token = take(cursor);
  if (token.type !== 'number' || !/^\d+$/.test(token.text)) throw malformed('Unexpected term');
  expectSymbol(cursor, ']');
  const index = Number(token.text);
  if (index > 0x7fffffff || (negative && index > 0)) {
    throw validationError(
      `List index is not within the allowable range; index: [${negative ? '-' : ''}${token.text}] ` +
        rangeOf(cursor.source, token),
    );
  }
  return index;
}

export function pathNode(cursor: Cursor, path: (string | number)[]): PathNode {
  return {
    kind: 'path',
    elements: path.map(step => (typeof step === 'string' ? nameIn(cursor, step) : step)),
  };
}

function nameIn(cursor: Cursor, name: string): string {
  let placeholder = cursor.placeholders.get(name);
  if (placeholder === undefined) {
    placeholder = `#${cursor.placeholders.size}`;
    cursor.placeholders.set(name, placeholder);
    cursor.names[placeholder] = name;
  }
  return placeholder;
}

export function takeParameter(cursor: Cursor): ValueNode {
  take(cursor);
  return { kind: 'value', name: `:p${cursor.parameters++}` };
}

export function literalNode(cursor: Cursor, value: AttributeValue): ValueNode {
  const name = `:l${cursor.literalCount++}`;
  cursor.literals[name] = value;
  return { kind: 'value', name };
}
