import { describe, expect, test } from 'vitest';
import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { bindCondition } from './condition.ts';
import { evaluateCondition } from './evaluation.ts';
import { createScope } from './scope.ts';

type Values = Record<string, AttributeValue>;

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

const messageOf = (source: string, values?: Values, names: Record<string, string> = { '#a': 'a' }) => {
  try {
    bindCondition('FilterExpression', source, createScope(names, values));
  } catch (error) {
    return (error as Error).message.replace('Invalid FilterExpression: ', '');
  }
  return undefined;
};

describe('syntax errors', () => {
  test.each([
    ['', 'The expression can not be empty;'],
    ['a x b', 'Syntax error; token: "x", near: "a x b"'],
    ['things are not gonna be ok', 'Syntax error; token: "are", near: "things are not"'],
    ['a > 4', 'Syntax error; token: "4", near: "> 4"'],
    ['a = ', 'Syntax error; token: "<EOF>", near: "="'],
    ['attribute_exists([1', 'Syntax error; token: "[", near: "([1"'],
    ['a = :v AND __t = :v', 'Syntax error; token: "_", near: "AND __"'],
    ['attribute_exists(Pictures-RearView)', 'Syntax error; token: "-", near: "Pictures-RearView"'],
    ['ü > a', 'Syntax error; token: "ü", near: "ü >"'],
    ['𝄞', 'Syntax error; token: "𝄞", near: "𝄞"'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });

  test.each([
    'attribute_exists("Pictures.RearView")',
    'attribute_exists(Pictures..RearView)',
    'attribute_exists(Pi#ctures.RearView)',
    'attribute_exists(asdf[a])',
    'attribute_exists(a[-1])',
    'attribute_exists(a[])',
    'a > between',
    'a in b, c',
    'a in b',
    'a in ()',
    'a in (b,c,)',
    '(a)between(b.(c.d))and(c)',
    '(a)between(b.c.d)and((c)',
    '#$.b > a',
    'a > :things.stuff',
    'b[:a] > a',
    'b[#_] > a',
    'size(a).b > a',
    '(size(a)).b > a',
    '(size(a))[0] > a',
    'a',
    ':v',
    '(a)',
    'a AND b = c',
    'a = b = c',
    '(a = b) = c',
    'NOT',
    'a = b AND',
    'a != b',
    ')',
    '(',
  ])('%s', source => {
    expect(messageOf(source)).toMatch(/^Syntax error; token: /);
  });
});

describe('what parses and is still refused, by rank', () => {
  const redundant = 'The expression has redundant parentheses;';
  const misuse = (name: string) =>
    `The function is not allowed to be used this way in an expression; function: ${name}`;
  const reserved = (word: string) => `Attribute name is a reserved keyword; reserved keyword: ${word}`;

  test.each([
    ['a=a and a > ((views))', redundant],
    ['(a)between(((b.c)).d)and(c)', redundant],
    ['a > whatever((:things), ((a)))', redundant],
    ['a=a AND ((a=a AND a=a)) AND a=a', redundant],
    ['a=a OR ((a=a OR (a=a OR a=a)))', redundant],
    ['((a = b))', redundant],
    ['a=a and whatever((:things)) > a', 'Invalid function name; function: whatever'],
    ['attRIbute_exIsts((views), #a)', 'Invalid function name; function: attRIbute_exIsts'],
    [
      'if_not_exists(a, b) = c',
      'The function is not allowed in a condition expression; function: if_not_exists',
    ],
    ['a=a and attribute_exists((views), (#a)) > b', misuse('attribute_exists')],
    ['begins_with(things, a) > b', misuse('begins_with')],
    ['size(contains(a, b)) > a', misuse('contains')],
    ['size(things)', misuse('size')],
    ['NOT size(things)', misuse('size')],
    ['a between b and attribute_exists(things)', misuse('attribute_exists')],
    ['a in (b, attribute_exists(things))', misuse('attribute_exists')],
    ['attribute_exists(views, #a)', reserved('views')],
    [':a < abOrT', reserved('abOrT')],
    [`a${'.b'.repeat(32)} = c`, 'The document path has too many nesting levels; nesting levels: 33'],
    ['a[99999999999999] = c', 'List index is not within the allowable range; index: [99999999999999]'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });
});

describe('one comparison at a time: placeholders, counts, distinct operands, types', () => {
  const missingName = (name: string) =>
    `An expression attribute name used in the document path is not defined; attribute name: ${name}`;
  const missingValue = (name: string) =>
    `An expression attribute value used in expression is not defined; attribute value: ${name}`;
  const count = (name: string, operands: number) =>
    `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${operands}`;
  const distinct = (operator: string, path: string) =>
    `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${path}`;
  const type = (name: string, operand: string) =>
    `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${operand}`;
  const N = { ':v': { N: '1' } };
  const S = { ':v': { S: '1' } };

  test.each<[string, string, Values?]>([
    ['attribute_exists(#Pictures.RearView, :a) and a=a', missingName('#Pictures')],
    ['begins_with(Pictures.#RearView)', missingName('#RearView')],
    ['(#P between :lo and :hi) and (#PC in (:cat1, :cat2))', missingName('#P')],
    ['#4g > a', missingName('#4g')],
    ['(a)between(b.c[45].#d)and(:a)', missingName('#d')],
    ['begins_with(:hello, #a, #b)', missingValue(':hello')],
    [':a < :b', missingValue(':a')],
    ['attribute_exists(things, a) and #missing = b', count('attribute_exists', 2)],
    ['attribute_type(things)', count('attribute_type', 1)],
    ['begins_with(things, size(a), b)', count('begins_with', 3)],
    ['size(things, a) > b', count('size', 2)],
    ['a = a AND #a = b AND :views > a', distinct('=', '[a]')],
    ['#a <> a', distinct('<>', '[a]')],
    ['((a=a) OR (a=a))', distinct('=', '[a]')],
    ['contains(ab.bc[1].a, ab.bc[1].#a)', distinct('contains', '[ab, bc, [1], a]')],
    ['attribute_type(ab.bc[1].#a, ab.bc[1].a)', distinct('attribute_type', '[ab, bc, [1], a]')],
    ['a IN (b, a)', distinct('IN', '[a]')],
    ['attribute_type(a, b)', type('attribute_type', '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}')],
    ['attribute_type(a, size(a))', type('attribute_type', 'N')],
    ['attribute_type(a, :v)', type('attribute_type', 'N'), N],
    ['begins_with(a, size(a))', type('begins_with', 'N')],
    ['begins_with(:v, a)', type('begins_with', 'N'), N],
    ['size(size(a)) > :v', type('size', 'N'), N],
    ['attribute_not_exists(size(:v))', type('size', 'N'), N],
    ['size(:v) > a', type('size', 'BOOL'), { ':v': { BOOL: true } }],
    ['a < :v', type('<', 'L'), { ':v': { L: [] } }],
    [':v >= a', type('>=', 'BOOL'), { ':v': { BOOL: false } }],
    ['a between :v and b', type('BETWEEN', 'M'), { ':v': { M: {} } }],
    [
      'attribute_type(a, :v)',
      'Invalid attribute type name found; type: 1, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}',
      S,
    ],
    [
      'attribute_exists(:v) and a=a',
      'Operator or function requires a document path; operator or function: attribute_exists',
      S,
    ],
    [
      'attribute_not_exists(size(:v))',
      'Operator or function requires a document path; operator or function: attribute_not_exists',
      S,
    ],
    [
      'a between :lo and :hi',
      'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}',
      { ':lo': { N: '1' }, ':hi': { S: 'a' } },
    ],
    [
      'a between :lo and :hi',
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}',
      { ':lo': { S: 'b' }, ':hi': { S: 'a' } },
    ],
  ])('%s', (source, message, values) => {
    expect(messageOf(source, values)).toBe(message);
  });

  test('IN accepts a hundred candidates', () => {
    const list = (length: number) => `a IN (${Array.from({ length }, (_, i) => `b${i}`).join()})`;
    expect(messageOf(list(100))).toBeUndefined();
    expect(messageOf(list(101))).toBe(
      'The IN operator is provided with too many operands; number of operands: 101',
    );
  });
});

describe('limits', () => {
  test('the size counts bytes', () => {
    const source = `a = b${' '.repeat(4091)}`;
    expect(messageOf(source)).toBeUndefined();
    expect(messageOf(`${source} `)).toBe(
      'Expression size has exceeded the maximum allowed size; expression size: 4097',
    );
    expect(messageOf('é'.repeat(2049))).toMatch(/expression size: 4098$/);
  });

  test('300 operators', () => {
    const chain = (length: number) => Array.from({ length }, () => 'a<b').join(' or ');
    expect(messageOf(chain(150))).toBeUndefined();
    expect(messageOf(chain(151))).toBe('The expression contains too many operators; operator count: 301');
    expect(messageOf(`${'not '.repeat(99)}a<b`)).toBeUndefined();
  });

  test.each([
    '('.repeat(4096),
    `${'('.repeat(2046)}a<b${')'.repeat(2046)}`,
    `${'not '.repeat(1000)}a<b`,
    `${'size('.repeat(800)}a`,
    `a<b ${'or (a<b '.repeat(454)}${')'.repeat(454)}`,
  ])('deep nesting %#', source => {
    expect(messageOf(source)).toMatch(/nesting levels|too many operators/);
  });
});

const item: Item = {
  s: { S: 'hello' },
  t: { S: 'é𝄞' },
  n: { N: '5' },
  m: { N: '10' },
  b: { B: bytes('hello') },
  yes: { BOOL: true },
  nil: { NULL: true },
  ss: { SS: ['a', 'b'] },
  ns: { NS: ['1', '2'] },
  bs: { BS: [bytes('x'), bytes('y')] },
  l: { L: [{ S: 'x' }, { N: '1' }, { L: [{ N: '3' }] }, { NS: ['1', '2'] }] },
  deep: { M: { x: { M: { y: { L: [{ N: '7' }] } } } } },
};

const values: Values = {
  ':1': { N: '1' },
  ':2': { N: '2' },
  ':3': { N: '3' },
  ':5': { N: '5' },
  ':7': { N: '7' },
  ':9': { N: '9' },
  ':hell': { S: 'hell' },
  ':hello': { S: 'hello' },
  ':ell': { S: 'ell' },
  ':a': { S: 'a' },
  ':bin': { B: bytes('hell') },
  ':ba': { SS: ['b', 'a'] },
  ':ns': { NS: ['2', '1'] },
  ':list': { L: [{ N: '3' }] },
  ':x': { B: bytes('x') },
  ':S': { S: 'S' },
  ':NULL': { S: 'NULL' },
};

describe('evaluation', () => {
  const bind = (source: string) =>
    bindCondition('ConditionExpression', source, createScope({ '#s': 's' }, values));
  const holds = (source: string) => evaluateCondition(bind(source), item);

  test.each([
    's = :hello',
    '#s = :hello',
    's <> :a',
    'n < m',
    'n <= :5',
    'm > n',
    'm >= :9',
    'n between :1 and :9',
    'n BETWEEN :5 and m AND s = :hello',
    'n in (:a, :5)',
    'ss = :ba',
    'ns = :ns',
    'l[2] = :list',
    'deep.x.y[0] = :7',
    '(deep.x).y[0] = :7',
    '(n) < (m)',
    'attribute_exists(deep.x.y)',
    'attribute_not_exists(deep.x.z)',
    'attribute_not_exists(l[9])',
    'attribute_type(s, :S)',
    'attribute_type(:a, :S)',
    'attribute_type(nil, :NULL)',
    'begins_with(s, :hell)',
    'begins_with(b, :bin)',
    'contains(s, :ell)',
    'contains(b, :bin)',
    'contains(ss, :a)',
    'contains(ns, :1)',
    'contains(bs, :x)',
    'contains(l, :1)',
    'contains(l, :list)',
    'contains(l, :ns)',
    'size(s) = :5',
    'size(t) = :3',
    'size(b) = :5',
    'size(ss) = :2',
    'size(deep) = :1',
    'size(:hello) = n',
    'NOT s = :a',
    'not not s = :hello',
    's = :hello OR n = :9 AND n = :1',
    'NOT (s = :hello AND n = :9)',
    '(s = :hello)',
    '(s = :hello AND (n = :5 OR n = :9))',
    's <> absent',
    'absent <> gone',
    's <> :5',
  ])('%s', source => {
    expect(holds(source)).toBe(true);
  });

  test.each([
    's = :a',
    's = :5',
    'absent = gone',
    'absent < n',
    'n > absent',
    's < :5',
    's > :5',
    'yes < n',
    'absent between :1 and :9',
    's in (:a, :1)',
    'absent in (:a, gone)',
    'begins_with(n, :hell)',
    'begins_with(s, :bin)',
    'begins_with(absent, :hell)',
    'contains(n, :5)',
    'contains(s, :5)',
    'contains(ss, :1)',
    'contains(absent, :a)',
    'size(n) = :1',
    'size(absent) < :9',
    'size(s) = :hello',
    'attribute_type(absent, :S)',
    'NOT s = :hello AND n = :9',
    's[0] = :a',
    'l.x = :a',
  ])('not: %s', source => {
    expect(holds(source)).toBe(false);
  });

  test('an absent item has no attributes', () => {
    expect(evaluateCondition(bind('attribute_not_exists(s)'), undefined)).toBe(true);
    expect(evaluateCondition(bind('s <> :a'), undefined)).toBe(true);
    expect(evaluateCondition(bind('s = :a'), undefined)).toBe(false);
  });
});
