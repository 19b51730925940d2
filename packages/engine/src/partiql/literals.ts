import { DynamoError, validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { validateValue } from '../validation/attribute-values.ts';
import { type AttributeValue, newItem } from '../values/attribute-value.ts';
import { parseNumber } from '../values/number.ts';
import {
  type Cursor,
  current,
  expectSymbol,
  isSymbol,
  isWord,
  take,
  takeSymbol,
  unexpected,
} from './cursor.ts';
import { malformed, rangeOf } from './faults.ts';
import type { Token } from './lexer.ts';

const constants: Record<string, () => AttributeValue> = {
  TRUE: () => ({ BOOL: true }),
  FALSE: () => ({ BOOL: false }),
  NULL: () => ({ NULL: true }),
};

const openers = new Set(['[', '{', '<<', '-', '+']);

export function isLiteralAt(cursor: Cursor): boolean {
  const { type, text } = current(cursor);
  if (type === 'symbol') return openers.has(text);
  return (
    type === 'string' ||
    type === 'number' ||
    (type === 'word' && Object.hasOwn(constants, text.toUpperCase()))
  );
}

// `place` is how DynamoDB names the spot inside the value: root, root.name, root[0].
export function parseLiteral(cursor: Cursor, within = 'root', depth = 1): AttributeValue {
  if (depth > limits.nestingDepth) {
    throw validationError(`Nesting Levels have exceeded supported limits under ${within}`);
  }
  const token = current(cursor);
  switch (token.type) {
    case 'string':
      return checked({ S: take(cursor).text });
    case 'word':
      return parseConstant(cursor);
    case 'parameter':
      throw validationError(
        `Unsupported data type: Parameter under key ${within} ${rangeOf(cursor.source, token)}`,
      );
  }
  if (takeSymbol(cursor, '[')) return parseList(cursor, within, depth);
  if (takeSymbol(cursor, '{')) return parseMap(cursor, within, depth);
  if (takeSymbol(cursor, '<<')) return parseSet(cursor, within, depth);
  return { N: parseSigned(cursor, within) };
}

function parseConstant(cursor: Cursor): AttributeValue {
  for (const word in constants) {
    if (!isWord(cursor, word)) continue;
    take(cursor);
    return constants[word]!();
  }
  throw unexpected(cursor);
}

function checked<Value extends AttributeValue>(value: Value): Value {
  validateValue(value);
  return value;
}

// Any number of signs may precede the digits, with spaces between them: `--` starts a comment.
function parseSigned(cursor: Cursor, within: string): string {
  let negative = false;
  for (;;) {
    if (takeSymbol(cursor, '-')) negative = !negative;
    else if (!takeSymbol(cursor, '+')) break;
  }
  if (current(cursor).type !== 'number') throw unexpected(cursor);
  return numberOf(take(cursor), negative, within);
}

function numberOf({ text }: Token, negative: boolean, within: string): string {
  // DynamoDB cannot hold the scale of such a number.
  if (/[eE][+-]?\d{10,}$/.test(text)) throw malformed();
  try {
    return parseNumber(negative ? `-${text}` : text);
  } catch (error) {
    if (error instanceof DynamoError) throw validationError(`${error.message} under ${within}`);
    throw error;
  }
}

function parseList(cursor: Cursor, within: string, depth: number): AttributeValue {
  const L: AttributeValue[] = [];
  parseSeries(cursor, ']', () => L.push(parseLiteral(cursor, `${within}[${L.length}]`, depth + 1)));
  return { L };
}

function parseMap(cursor: Cursor, within: string, depth: number): AttributeValue {
  const M = newItem();
  parseSeries(cursor, '}', () => {
    const name = parseMember(cursor);
    M[name] = parseLiteral(cursor, `${within}.${name}`, depth + 1);
  });
  return { M };
}

// The name of a member is a string, and so is the name of an attribute in INSERT.
export function parseMember(cursor: Cursor): string {
  if (current(cursor).type !== 'string') throw unexpected(cursor);
  const name = take(cursor).text;
  expectSymbol(cursor, ':');
  return name;
}

export function parseSeries(cursor: Cursor, close: string, parseNext: () => void): void {
  if (takeSymbol(cursor, close)) return;
  do parseNext();
  while (takeSymbol(cursor, ','));
  expectSymbol(cursor, close);
}

function parseSet(cursor: Cursor, within: string, depth: number): AttributeValue {
  const members: AttributeValue[] = [];
  const texts: string[] = [];
  if (isSymbol(cursor, '>>')) throw validationError('Empty bags are not supported');
  parseSeries(cursor, '>>', () => {
    if (current(cursor).type === 'parameter') throw mixedBag();
    const { type, text } = current(cursor);
    const member = parseLiteral(cursor, within, depth + 1);
    members.push(member);
    texts.push(type === 'number' || !('N' in member) ? text : member.N);
  });
  if (members.every(member => 'S' in member)) return checked({ SS: members.map(member => member.S) });
  if (!members.every(member => 'N' in member)) throw mixedBag();
  const numbers = members.map(member => member.N);
  if (new Set(numbers).size < numbers.length) {
    throw validationError(
      `One or more parameter values were invalid: Input collection [${texts.join(', ')}] contains duplicates! ` +
        `under ${within}`,
    );
  }
  return checked({ NS: numbers });
}

const mixedBag = () =>
  validationError('Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags');
