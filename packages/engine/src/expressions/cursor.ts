import { type DynamoError, validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import type { ExpressionKind, PathNode } from './ast.ts';
import { type Token, tokenize } from './lexer.ts';
import { isReserved } from './reserved-words.ts';

// The state of a parser. A `problem` is a fault in text that parses: DynamoDB reports syntax errors first and ranks the
// rest, so parsing continues and the problem of the lowest rank is thrown at the end.
export type Cursor = {
  readonly kind: ExpressionKind;
  readonly source: string;
  readonly tokens: Token[];
  readonly keywords: ReadonlySet<string>;
  readonly ranks: Ranks;
  position: number;
  depth: number;
  operators: number;
  // The tokens of the group that closed last.
  group: { start: number; end: number };
  problem: { rank: number; message: string } | undefined;
};

export type Problem = 'parentheses' | 'function' | 'misuse' | 'reserved' | 'section' | 'path';
export type Ranks = readonly Problem[];

export const expressionError = (kind: ExpressionKind, message: string): DynamoError =>
  validationError(`Invalid ${kind}: ${message}`);

export function createCursor(
  kind: ExpressionKind,
  source: string,
  keywords: ReadonlySet<string>,
  ranks: Ranks,
): Cursor {
  if (source === '') throw expressionError(kind, 'The expression can not be empty;');
  const size = Buffer.byteLength(source);
  if (size > limits.expressionBytes) {
    throw expressionError(
      kind,
      `Expression size has exceeded the maximum allowed size; expression size: ${size}`,
    );
  }
  return {
    kind,
    source,
    tokens: tokenize(source),
    keywords,
    ranks,
    position: 0,
    depth: 0,
    operators: 0,
    group: { start: -1, end: -1 },
    problem: undefined,
  };
}

export const current = (cursor: Cursor): Token => cursor.tokens[cursor.position]!;

export function isSymbol(cursor: Cursor, text: string): boolean {
  const token = current(cursor);
  return token.type === 'symbol' && token.text === text;
}

// Consumes the symbol if it is next.
export function takeSymbol(cursor: Cursor, text: string): boolean {
  if (!isSymbol(cursor, text)) return false;
  cursor.position++;
  return true;
}

export function expectSymbol(cursor: Cursor, text: string): void {
  if (!takeSymbol(cursor, text)) throw syntaxError(cursor);
}

export function keywordAt(cursor: Cursor): string | undefined {
  const token = current(cursor);
  if (token.type !== 'word') return undefined;
  const word = token.text.toUpperCase();
  return cursor.keywords.has(word) ? word : undefined;
}

export function takeKeyword(cursor: Cursor, word: string): boolean {
  if (keywordAt(cursor) !== word) return false;
  cursor.position++;
  return true;
}

// DynamoDB shows the unexpected token with its neighbours, spaced as in the request.
export function syntaxError(cursor: Cursor): DynamoError {
  const { tokens, position, source, kind } = cursor;
  const token = tokens[position]!;
  const first = tokens[position - 1] ?? token;
  const last = tokens[position + 1];
  const end = token.type === 'end' ? first.end : last && last.type !== 'end' ? last.end : token.end;
  return expressionError(
    kind,
    `Syntax error; token: "${token.text}", near: "${source.slice(first.start, end)}"`,
  );
}

export function noteProblem(cursor: Cursor, problem: Problem, message: string): void {
  const rank = cursor.ranks.indexOf(problem);
  if (!cursor.problem || rank < cursor.problem.rank) cursor.problem = { rank, message };
}

export const noteMisuse = (cursor: Cursor, name: string): void =>
  noteProblem(
    cursor,
    'misuse',
    `The function is not allowed to be used this way in an expression; function: ${name}`,
  );

export function finish(cursor: Cursor): void {
  if (current(cursor).type !== 'end') throw syntaxError(cursor);
  if (cursor.problem) throw expressionError(cursor.kind, cursor.problem.message);
}

export function countOperator(cursor: Cursor): void {
  if (++cursor.operators <= limits.expressionOperators) return;
  throw expressionError(
    cursor.kind,
    `The expression contains too many operators; operator count: ${cursor.operators}`,
  );
}

// Keeps a hostile text from exhausting the stack; every recursion of a parser goes through here.
export function nested<Node>(cursor: Cursor, parse: (cursor: Cursor) => Node): Node {
  if (++cursor.depth > limits.expressionNesting) {
    throw expressionError(
      cursor.kind,
      `The expression has too many nesting levels; nesting levels: ${cursor.depth}`,
    );
  }
  const node = parse(cursor);
  cursor.depth--;
  return node;
}

// A group whose whole content is a group itself is refused.
export function parseParentheses<Node>(cursor: Cursor, parse: (cursor: Cursor) => Node): Node {
  const start = cursor.position;
  expectSymbol(cursor, '(');
  const content = nested(cursor, parse);
  expectSymbol(cursor, ')');
  const end = cursor.position;
  if (cursor.group.start === start + 1 && cursor.group.end === end - 1) {
    noteProblem(cursor, 'parentheses', 'The expression has redundant parentheses;');
  }
  cursor.group = { start, end };
  return content;
}

const isNameAt = (cursor: Cursor): boolean => {
  const { type } = current(cursor);
  return type === 'name' || (type === 'word' && keywordAt(cursor) === undefined);
};

export function isCallAt(cursor: Cursor): boolean {
  const next = cursor.tokens[cursor.position + 1];
  return isNameAt(cursor) && current(cursor).type === 'word' && next?.type === 'symbol' && next.text === '(';
}

export function parsePath(cursor: Cursor): PathNode {
  const path: PathNode = { kind: 'path', elements: [parseName(cursor)] };
  return parsePathTail(cursor, path);
}

export function parsePathTail(cursor: Cursor, path: PathNode): PathNode {
  for (;;) {
    if (takeSymbol(cursor, '.')) path.elements.push(parseName(cursor));
    else if (takeSymbol(cursor, '[')) path.elements.push(parseIndex(cursor));
    else break;
  }
  const levels = path.elements.length;
  if (levels > limits.nestingDepth) {
    noteProblem(cursor, 'path', `The document path has too many nesting levels; nesting levels: ${levels}`);
  }
  return path;
}

function parseName(cursor: Cursor): string {
  if (!isNameAt(cursor)) throw syntaxError(cursor);
  const { type, text } = current(cursor);
  cursor.position++;
  if (type === 'word' && isReserved(text)) {
    noteProblem(cursor, 'reserved', `Attribute name is a reserved keyword; reserved keyword: ${text}`);
  }
  return text;
}

function parseIndex(cursor: Cursor): number {
  const { type, text } = current(cursor);
  if (type !== 'number') throw syntaxError(cursor);
  cursor.position++;
  expectSymbol(cursor, ']');
  const index = Number(text);
  if (index > 0x7fffffff) {
    noteProblem(cursor, 'path', `List index is not within the allowable range; index: [${text}]`);
  }
  return index;
}
