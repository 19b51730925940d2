import { validationError } from '../errors.ts';
import type { CallNode, Comparator, ConditionNode, OperandNode } from '../expressions/ast.ts';
import {
  type Cursor,
  current,
  expectSymbol,
  expectWord,
  isCallAt,
  isWord,
  literalNode,
  nested,
  parsePath,
  pathNode,
  take,
  takeParameter,
  takeSymbol,
  takeWord,
  unexpected,
} from './cursor.ts';
import { malformed } from './faults.ts';
import { isLiteralAt, parseLiteral } from './literals.ts';

const comparators: Record<string, Comparator> = {
  '=': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

const tests = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
]);

// As in expressions, a parenthesis may open a condition or an operand, which only the following tokens show.
type Phrase = OperandNode | ConditionNode;

export const parseCondition = (cursor: Cursor): ConditionNode => asCondition(cursor, parseOr(cursor));

const parseOr = (cursor: Cursor): Phrase => parseChain(cursor, 'OR', parseAnd);
const parseAnd = (cursor: Cursor): Phrase => parseChain(cursor, 'AND', parseNot);

function parseChain(cursor: Cursor, word: 'AND' | 'OR', parseNext: (cursor: Cursor) => Phrase): Phrase {
  const first = parseNext(cursor);
  if (!isWord(cursor, word)) return first;
  const chain = [asCondition(cursor, first)];
  while (takeWord(cursor, word)) {
    assertRightSide(cursor);
    chain.push(asCondition(cursor, parseNext(cursor)));
  }
  return { kind: word === 'AND' ? 'and' : 'or', tests: chain };
}

function assertRightSide(cursor: Cursor): void {
  if (current(cursor).type === 'end') {
    throw malformed('Missing right-hand side expression of infix operator');
  }
}

function parseNot(cursor: Cursor): Phrase {
  if (!takeWord(cursor, 'NOT')) return parsePredicate(cursor);
  return negated(asCondition(cursor, nested(cursor, parseNot)));
}

const negated = (test: ConditionNode): ConditionNode => ({ kind: 'not', test });

function parsePredicate(cursor: Cursor): Phrase {
  const left = parsePrimary(cursor);
  if (isCondition(left)) return left;
  const token = current(cursor);
  if (token.type === 'symbol' && Object.hasOwn(comparators, token.text)) {
    take(cursor);
    assertRightSide(cursor);
    const right = parseOperand(cursor);
    return { kind: 'compare', operator: comparators[token.text]!, left: asOperand(cursor, left), right };
  }
  if (takeWord(cursor, 'IS')) return parseIs(cursor, asOperand(cursor, left));
  const not = takeWord(cursor, 'NOT');
  const range = parseRange(cursor, left);
  if (!not) return range ?? left;
  if (!range) throw unexpected(cursor);
  return negated(range);
}

function parseRange(cursor: Cursor, left: OperandNode): ConditionNode | undefined {
  if (takeWord(cursor, 'BETWEEN')) {
    const operand = asOperand(cursor, left);
    const from = parseOperand(cursor);
    expectWord(cursor, 'AND');
    return { kind: 'between', operand, from, to: parseOperand(cursor) };
  }
  if (!takeWord(cursor, 'IN')) return undefined;
  const close = takeSymbol(cursor, '[') ? ']' : ')';
  if (close === ')') expectSymbol(cursor, '(');
  return { kind: 'in', operand: asOperand(cursor, left), candidates: parseOperands(cursor, close) };
}

// An attribute that holds NULL is not missing, and one that is missing is not NULL.
function parseIs(cursor: Cursor, operand: OperandNode): ConditionNode {
  const not = takeWord(cursor, 'NOT');
  if (takeWord(cursor, 'MISSING')) {
    return { kind: 'call', name: not ? 'attribute_exists' : 'attribute_not_exists', args: [operand] };
  }
  if (!takeWord(cursor, 'NULL')) throw malformed('Expected type name');
  const test: ConditionNode = {
    kind: 'call',
    name: 'attribute_type',
    args: [operand, literalNode(cursor, { S: 'NULL' })],
  };
  return not ? negated(test) : test;
}

function parsePrimary(cursor: Cursor): Phrase {
  if (takeSymbol(cursor, '(')) {
    const content = nested(cursor, parseOr);
    expectSymbol(cursor, ')');
    return content;
  }
  if (isCallAt(cursor)) return parseCall(cursor);
  return parseValue(cursor) ?? pathNode(cursor, parsePath(cursor));
}

export function parseValue(cursor: Cursor) {
  if (current(cursor).type === 'parameter') return takeParameter(cursor);
  return isLiteralAt(cursor) ? literalNode(cursor, parseLiteral(cursor)) : undefined;
}

function parseCall(cursor: Cursor): CallNode {
  const name = take(cursor).text.toLowerCase();
  take(cursor);
  if (name !== 'size' && !tests.has(name)) {
    throw validationError(`Invalid function name; function: ${name}`);
  }
  return { kind: 'call', name, args: nested(cursor, () => parseOperands(cursor, ')')) };
}

const parseOperand = (cursor: Cursor): OperandNode => asOperand(cursor, parsePrimary(cursor));

function parseOperands(cursor: Cursor, close: string): OperandNode[] {
  const operands = [parseOperand(cursor)];
  while (takeSymbol(cursor, ',')) operands.push(parseOperand(cursor));
  expectSymbol(cursor, close);
  return operands;
}

const isCondition = (phrase: Phrase): phrase is Exclude<ConditionNode, CallNode> =>
  phrase.kind !== 'path' && phrase.kind !== 'value' && phrase.kind !== 'call';

// Only a function call may be either: `size` is an operand, every other function a condition.
function asCondition(cursor: Cursor, phrase: Phrase): ConditionNode {
  if (phrase.kind === 'path' || phrase.kind === 'value') throw unexpected(cursor);
  if (phrase.kind === 'call' && phrase.name === 'size') throw misused(phrase.name);
  return phrase;
}

function asOperand(cursor: Cursor, phrase: Phrase): OperandNode {
  if (isCondition(phrase)) throw unexpected(cursor);
  if (phrase.kind === 'call' && phrase.name !== 'size') throw misused(phrase.name);
  return phrase;
}

const misused = (name: string) =>
  validationError(`The function is not allowed to be used this way in an expression; function: ${name}`);
