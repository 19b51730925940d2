import type { CallNode, Comparator, ConditionNode, ExpressionKind, OperandNode } from './ast.ts';
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
  parsePathTail,
  syntaxError,
  takeKeyword,
  takeSymbol,
} from './cursor.ts';
import { cacheParse } from './parse-cache.ts';

const keywords = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN']);
const ranks = ['parentheses', 'function', 'misuse', 'reserved', 'path'] as const;
const comparators = new Set(['=', '<>', '<', '<=', '>', '>=']);
const tests = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
]);
const updateFunctions = new Set(['if_not_exists', 'list_append']);

// An opening parenthesis starts a condition or an operand, which only the following tokens show. So a group is parsed
// once as either, and the caller converts it to what it needs: no backtracking.
type Phrase = OperandNode | ConditionNode;

export const parseCondition = cacheParse((source: string, kind: ExpressionKind): ConditionNode => {
  const cursor = createCursor(kind, source, keywords, ranks);
  const condition = asCondition(cursor, parseOr(cursor));
  finish(cursor);
  return condition;
});

const parseOr = (cursor: Cursor) => parseChain(cursor, 'OR', parseAnd);
const parseAnd = (cursor: Cursor) => parseChain(cursor, 'AND', parseNot);

function parseChain(cursor: Cursor, word: 'AND' | 'OR', parseNext: (cursor: Cursor) => Phrase): Phrase {
  const first = parseNext(cursor);
  if (keywordAt(cursor) !== word) return first;
  const chain = [asCondition(cursor, first)];
  while (takeKeyword(cursor, word)) {
    countOperator(cursor);
    chain.push(asCondition(cursor, parseNext(cursor)));
  }
  return { kind: word === 'AND' ? 'and' : 'or', tests: chain };
}

function parseNot(cursor: Cursor): Phrase {
  if (!takeKeyword(cursor, 'NOT')) return parseComparison(cursor);
  countOperator(cursor);
  return { kind: 'not', test: asCondition(cursor, nested(cursor, parseNot)) };
}

function parseComparison(cursor: Cursor): Phrase {
  const left = parsePrimary(cursor);
  if (isCondition(left)) return left;
  const token = current(cursor);
  if (token.type === 'symbol' && comparators.has(token.text)) {
    cursor.position++;
    countOperator(cursor);
    const right = parseOperand(cursor);
    return { kind: 'compare', operator: token.text as Comparator, left: asOperand(cursor, left), right };
  }
  if (takeKeyword(cursor, 'BETWEEN')) {
    countOperator(cursor);
    const operand = asOperand(cursor, left);
    const from = parseOperand(cursor);
    if (!takeKeyword(cursor, 'AND')) throw syntaxError(cursor);
    return { kind: 'between', operand, from, to: parseOperand(cursor) };
  }
  if (takeKeyword(cursor, 'IN')) {
    countOperator(cursor);
    expectSymbol(cursor, '(');
    return { kind: 'in', operand: asOperand(cursor, left), candidates: parseOperands(cursor) };
  }
  return left;
}

function parsePrimary(cursor: Cursor): Phrase {
  if (isSymbol(cursor, '(')) return parseGroup(cursor);
  if (current(cursor).type === 'value') {
    const { text } = current(cursor);
    cursor.position++;
    return { kind: 'value', name: text };
  }
  return isCallAt(cursor) ? parseCall(cursor) : parsePath(cursor);
}

function parseCall(cursor: Cursor): CallNode {
  const name = current(cursor).text;
  cursor.position += 2;
  countOperator(cursor);
  checkFunctionName(cursor, name);
  return { kind: 'call', name, args: nested(cursor, parseOperands) };
}

function parseGroup(cursor: Cursor): Phrase {
  const content = parseParentheses(cursor, parseOr);
  return content.kind === 'path' ? parsePathTail(cursor, content) : content;
}

const parseOperand = (cursor: Cursor): OperandNode => asOperand(cursor, parsePrimary(cursor));

// The rest of a parenthesised list, after its opening parenthesis.
function parseOperands(cursor: Cursor): OperandNode[] {
  const operands = [parseOperand(cursor)];
  while (takeSymbol(cursor, ',')) operands.push(parseOperand(cursor));
  expectSymbol(cursor, ')');
  return operands;
}

const isCondition = (phrase: Phrase): phrase is Exclude<ConditionNode, CallNode> =>
  phrase.kind !== 'path' && phrase.kind !== 'value' && phrase.kind !== 'call';

// Only a function call is both: `size` may only be an operand, every other function only a condition.
function asCondition(cursor: Cursor, phrase: Phrase): ConditionNode {
  if (phrase.kind === 'path' || phrase.kind === 'value') throw syntaxError(cursor);
  if (phrase.kind === 'call' && phrase.name === 'size') noteMisuse(cursor, phrase.name);
  return phrase;
}

function asOperand(cursor: Cursor, phrase: Phrase): OperandNode {
  if (isCondition(phrase)) throw syntaxError(cursor);
  if (phrase.kind === 'call' && tests.has(phrase.name)) noteMisuse(cursor, phrase.name);
  return phrase;
}

function checkFunctionName(cursor: Cursor, name: string): void {
  if (name === 'size' || tests.has(name)) return;
  const message = updateFunctions.has(name)
    ? 'The function is not allowed in a condition expression'
    : 'Invalid function name';
  noteProblem(cursor, 'function', `${message}; function: ${name}`);
}
