import { describe, expect, test } from 'vitest';
import type { AttributeValue, Item } from '../values/attribute-value.ts';
import { attributesIn, nestedAttributesIn } from './attributes.ts';
import { assertAllUsed, createScope } from './scope.ts';
import { bindUpdate } from './update.ts';
import { applyUpdate, projectTouched } from './update-application.ts';

type Values = Record<string, AttributeValue>;

const N = (n: number): AttributeValue => ({ N: String(n) });
const S = (text: string): AttributeValue => ({ S: text });
const L = (...values: AttributeValue[]): AttributeValue => ({ L: values });
const names = { '#b': 'b', '#c': 'c', '#d': '[3]' };

const messageOf = (source: string, values?: Values, aliases: Record<string, string> = names) => {
  try {
    bindUpdate(source, createScope(aliases, values));
  } catch (error) {
    return (error as Error).message.replace('Invalid UpdateExpression: ', '');
  }
  return undefined;
};

describe('syntax errors', () => {
  test.each([
    ['', 'The expression can not be empty;'],
    ['INVALID SYNTAX HERE', 'Syntax error; token: "INVALID", near: "INVALID SYNTAX"'],
    ['SET _123 = :v', 'Syntax error; token: "_", near: "SET _123"'],
    ['ADD hits : incr', 'Syntax error; token: ":", near: "hits : incr"'],
    ['SET a = if_not_exists(a, 0)', 'Syntax error; token: "0", near: ", 0)"'],
    ['SET', 'Syntax error; token: "<EOF>", near: "SET"'],
    ['SET a = :v,', 'Syntax error; token: "<EOF>", near: ","'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });

  test.each([
    'set a',
    'add a',
    'set a=set',
    'remove a = b',
    'add a = b',
    'delete a b',
    'delete a if_not_exist(b)',
    'remove a b',
    'set a b',
    'set :a = b',
    'remove :a',
    'set a = b / c',
    'set a[1] = "eight"',
    'set a[1] = 1',
    'set a[:i] = b',
    'set a[#i] = b',
    'SET if_not_exists(a, b) = a',
    'set (a = (b + c))',
    'set a = (b.c).d + e',
    'set a = (b.c)[0] + e',
    'set a = b + c + d',
    'set a = (b + c) + d',
    'set a = if_not_exists(b, c + d)',
    'set a = if_not_exists(b, (c + d))',
    'set hi-there = :v',
    'set # = :v',
  ])('%s', source => {
    expect(messageOf(source)).toMatch(/^Syntax error; token: /);
  });
});

describe('one kind of error after the other', () => {
  const reserved = (word: string) => `Attribute name is a reserved keyword; reserved keyword: ${word}`;
  const once = (section: string) => `The "${section}" section can only be used once in an update expression;`;
  const clash = (how: string, one: string, two: string) =>
    `Two document paths ${how} with each other; must remove or rewrite one of these paths; path one: ${one}, path two: ${two}`;
  const type = (name: string, operand: string) =>
    `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${operand}`;
  const operand = (name: string, long: string) =>
    `Incorrect operand type for operator or function; operator: ${name}, operand type: ${long}`;
  const text = { ':v': S('a') };

  test.each<[string, string, Values?]>([
    [' set #x = :c set abOrt = true ', reserved('abOrt')],
    [' remove Absolute ', reserved('Absolute')],
    ['set #x = if_not_exist(:c) set c = d', 'Invalid function name; function: if_not_exist'],
    ['set a = LIST_APPEND(b, c)', 'Invalid function name; function: LIST_APPEND'],
    ['set a = size(b)', 'The function is not allowed in an update expression; function: size'],
    [
      'set a = list_append(list_append(b, c), d)',
      'The function is not allowed to be used this way in an expression; function: list_append',
    ],
    ['set a = #x set c = :d', once('SET')],
    ['remove #d set a = b remove e', once('REMOVE')],
    ['add #x :e set a = b add e :f', once('ADD')],
    ['delete #d :e set a = b delete #e :f', once('DELETE')],
    [
      'SET #x = if_not_exists(:c)',
      'An expression attribute name used in the document path is not defined; attribute name: #x',
    ],
    [
      'SET a = :v, #x = :v',
      'An expression attribute name used in the document path is not defined; attribute name: #x',
    ],
    [
      'SET #b = if_not_exists(:c), b = d',
      'An expression attribute value used in expression is not defined; attribute value: :c',
    ],
    ['set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)', clash('overlap', '[c, [1], a]', '[c]')],
    ['set #c[3].#d = a, #c[3] = a', clash('overlap', '[c, [3], [3]]', '[c, [3]]')],
    ['set a = :v remove a', clash('overlap', '[a]', '[a]'), text],
    ['set #c[3].#d = a, #c.#d[3] = if_not_exists(a)', clash('conflict', '[c, [3], [3]]', '[c, [3], [3]]')],
    ['remove a.#c set a[1] = #d', clash('conflict', '[a, c]', '[a, [1]]')],
    ['set b = list_append(:v, a), c = if_not_exists(a) add a.b :v', operand('ADD', 'STRING'), text],
    ['delete a :v', operand('DELETE', 'NUMBER'), { ':v': N(1) }],
    ['add a :v', operand('ADD', 'BOOLEAN'), { ':v': { BOOL: true } }],
    ['add a :v', operand('ADD', 'LIST'), { ':v': L() }],
    [
      'set a = if_not_exists(c)',
      'Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1',
    ],
    [
      'set a = if_not_exists(:v, c)',
      'Operator or function requires a document path; operator or function: if_not_exists',
      text,
    ],
    ['set a = list_append(a, :v)', type('list_append', 'S'), text],
    ['set a = a + :v', type('+', 'S'), text],
    ['set a = :v - a', type('-', 'SS'), { ':v': { SS: ['a'] } }],
  ])('%s', (source, message, values) => {
    expect(messageOf(source, values)).toBe(message);
  });

  test.each([
    'set a = (b + c)',
    'set a = ((b.c.d)+(e))',
    'SET a = if_not_exists(a, b) + b',
    'SET a = if_not_exists(a, if_not_exists(a, b))',
    'SET a.b = a.c, a.d = b REMOVE a.e[1], a.e[2]',
    '  set   a=b  ',
  ])('accepted: %s', source => {
    expect(messageOf(source)).toBeUndefined();
  });

  test('unused placeholders, names first', () => {
    const scope = createScope({ '#a': 'a', '#b': 'b' }, { ':v': S('x'), ':w': S('y') });
    bindUpdate('SET #a = :v', scope);
    expect(() => assertAllUsed(scope)).toThrow(
      'Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}',
    );
    bindUpdate('REMOVE #b', scope);
    expect(() => assertAllUsed(scope)).toThrow(
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}',
    );
    bindUpdate('SET #a = :w', scope);
    expect(() => assertAllUsed(scope)).not.toThrow();
  });
});

const values: Values = {
  ':1': N(1),
  ':5': N(5),
  ':x': S('x'),
  ':y': S('y'),
  ':list': L(S('x')),
  ':ab': { SS: ['a', 'b'] },
  ':bc': { SS: ['b', 'c'] },
  ':bin': { BS: [new Uint8Array([1]), new Uint8Array([2])] },
  ':n': { NS: ['1'] },
};

const run = (source: string, item: Item, isNew?: boolean) =>
  applyUpdate(bindUpdate(source, createScope({ '#x': 'x' }, values)), item, isNew);

describe('application', () => {
  test.each<[string, Item, Item]>([
    ['SET a = :x', {}, { a: S('x') }],
    ['SET a = a', { a: S('q') }, { a: S('q') }],
    ['SET a = b, b = a', { a: N(1), b: N(2) }, { a: N(2), b: N(1) }],
    ['SET a = a + :5', { a: N(1) }, { a: N(6) }],
    ['SET a = :5 - a', { a: N(1) }, { a: N(4) }],
    ['SET a = if_not_exists(a, :1) + :5', {}, { a: N(6) }],
    ['SET a = if_not_exists(a, :x)', { a: S('old') }, { a: S('old') }],
    ['SET a = if_not_exists(b, if_not_exists(c, :x))', { c: N(3) }, { a: N(3), c: N(3) }],
    ['SET a = list_append(a, :list)', { a: L(N(1)) }, { a: L(N(1), S('x')) }],
    ['SET a = list_append(if_not_exists(a, :list), :list)', {}, { a: L(S('x'), S('x')) }],
    ['REMOVE a SET b = a', { a: S('v') }, { b: S('v') }],
    ['REMOVE a', { b: N(1) }, { b: N(1) }],
    ['SET m.a.b = :x', { m: { M: { a: { M: {} } } } }, { m: { M: { a: { M: { b: S('x') } } } } }],
    [
      'SET m.a = :x, m.b.c = :y REMOVE m.d',
      { m: { M: { b: { M: {} }, d: N(1) } } },
      { m: { M: { b: { M: { c: S('y') } }, a: S('x') } } },
    ],
    ['REMOVE m.a', { m: { M: { a: N(1) } } }, { m: { M: {} } }],
    ['REMOVE m.z, l[7]', { m: { M: {} }, l: L(N(1)) }, { m: { M: {} }, l: L(N(1)) }],
    ['SET l[1] = :x', { l: L(N(1), N(2)) }, { l: L(N(1), S('x')) }],
    ['SET l[7] = :x', { l: L(N(1)) }, { l: L(N(1), S('x')) }],
    ['SET l[0] = :x', { l: L() }, { l: L(S('x')) }],
    ['SET l[84] = :x, l[37] = :y', { l: L(N(1)) }, { l: L(N(1), S('y'), S('x')) }],
    ['REMOVE l[0], l[2]', { l: L(N(0), N(1), N(2), N(3)) }, { l: L(N(1), N(3)) }],
    ['REMOVE l[1] SET l[3] = :x', { l: L(N(0), N(1), N(2), N(3), N(4)) }, { l: L(N(0), N(2), S('x'), N(4)) }],
    ['SET l[3] = :x REMOVE l[1]', { l: L(N(0), N(1), N(2), N(3), N(4)) }, { l: L(N(0), N(2), S('x'), N(4)) }],
    ['REMOVE l[0] SET l[9] = :x', { l: L(N(0), N(1)) }, { l: L(N(1), S('x')) }],
    ['REMOVE l[0] SET l[1].a = :x', { l: L(N(0), { M: {} }) }, { l: L({ M: { a: S('x') } }) }],
    ['REMOVE l[0]', { l: L(N(0)) }, { l: L() }],
    ['ADD a :5', {}, { a: N(5) }],
    ['ADD a :5', { a: N(-7) }, { a: N(-2) }],
    ['ADD a :bc', { a: { SS: ['a', 'b'] } }, { a: { SS: ['a', 'b', 'c'] } }],
    ['ADD a :ab', {}, { a: { SS: ['a', 'b'] } }],
    [
      'ADD a :bin',
      { a: { BS: [new Uint8Array([2])] } },
      { a: { BS: [new Uint8Array([1]), new Uint8Array([2])] } },
    ],
    ['ADD m.a :5', { m: { M: {} } }, { m: { M: { a: N(5) } } }],
    ['DELETE a :bc', { a: { SS: ['a', 'b'] } }, { a: { SS: ['a'] } }],
    ['DELETE a :ab', { a: { SS: ['b', 'a'] } }, {}],
    ['DELETE a :ab', { b: N(1) }, { b: N(1) }],
    ['DELETE l[0] :ab', { l: L({ SS: ['a'] }, N(1)) }, { l: L(N(1)) }],
  ])('%s', (source, before, after) => {
    const copy = structuredClone(before);
    expect({ ...run(source, before).item }).toEqual(after);
    expect(before).toEqual(copy);
  });

  const incorrect = 'An operand in the update expression has an incorrect data type';
  const badPath = 'The document path provided in the update expression is invalid for update';
  const missing = 'The provided expression refers to an attribute that does not exist in the item';

  test.each<[string, Item, string]>([
    ['SET a = b', {}, missing],
    ['SET x = :x, y = #x', {}, missing],
    ['SET a = a + :1', {}, missing],
    ['SET a = list_append(a, :list)', {}, missing],
    ['SET a = a + :1', { a: S('1') }, incorrect],
    ['SET a = list_append(a, :list)', { a: S('1') }, incorrect],
    ['SET a = if_not_exists(a, :x) + :1', {}, incorrect],
    ['ADD a :1', { a: S('1') }, incorrect],
    ['ADD a :1', { a: { NS: ['1'] } }, incorrect],
    ['ADD a :ab', { a: { NS: ['1'] } }, incorrect],
    ['DELETE a :ab', { a: { NS: ['1'] } }, incorrect],
    ['SET a.b = :x', {}, badPath],
    ['SET a.b = :x', { a: S('x') }, badPath],
    ['SET a.b = :x', { a: L() }, badPath],
    ['SET a[0] = :x', { a: { M: {} } }, badPath],
    ['SET a[0].b = :x', { a: L() }, badPath],
    ['REMOVE a.b', {}, badPath],
    ['REMOVE a[0]', {}, badPath],
    ['ADD a.b :1', {}, badPath],
  ])('%s fails', (source, item, message) => {
    expect(() => run(source, item)).toThrow(message);
  });

  test('unchanged parts are shared, changed ones are not', () => {
    const item: Item = { m: { M: { a: N(1), b: L(N(1)) } }, other: L(N(2)) };
    const { item: after } = run('SET m.a = :5', item);
    expect(after.other).toBe(item.other);
    expect(after.m).not.toBe(item.m);
    expect((after.m as { M: Item }).M.b).toBe((item.m as { M: Item }).M.b);
  });

  test('an attribute may be called __proto__', () => {
    const update = bindUpdate('SET #p = :x, m.#p = :y', createScope({ '#p': '__proto__' }, values));
    const { item } = applyUpdate(update, { m: { M: {} } });
    expect(Object.entries(item)).toContainEqual(['__proto__', S('x')]);
    expect(Object.entries((item.m as { M: Item }).M)).toEqual([['__proto__', S('y')]]);
  });

  test('removing attributes does not create an item', () => {
    expect(run('REMOVE a', {}, true).creates).toBe(false);
    expect(run('REMOVE a.b, c[0]', {}, true).creates).toBe(false);
    expect(run('DELETE a :ab', {}, true).creates).toBe(false);
    expect(run('REMOVE a SET b = :x', {}, true).creates).toBe(true);
  });
});

describe('touched paths', () => {
  const item: Item = { a: { M: { b: S('dog'), c: L(N(1), N(2), N(3)) } }, d: S('cat') };

  const images = (source: string) => {
    const { item: after, touched } = run(source, item);
    return [projectTouched(touched, item), projectTouched(touched, after)];
  };
  const plain = (image: Item | undefined) => image && structuredClone({ ...image });

  test.each<[string, Item | undefined, Item | undefined]>([
    ['SET a.b = :x', { a: { M: { b: S('dog') } } }, { a: { M: { b: S('x') } } }],
    ['SET a.c[1] = :x', { a: { M: { c: L(N(2)) } } }, { a: { M: { c: L(S('x')) } } }],
    ['SET e = :x', undefined, { e: S('x') }],
    ['REMOVE d', { d: S('cat') }, undefined],
    // The neighbours that moved into the removed places are what DynamoDB returns too.
    ['REMOVE a.c[1], a.c[7]', { a: { M: { c: L(N(2)) } } }, { a: { M: { c: L(N(3)) } } }],
    ['SET a.c[100] = :x', undefined, undefined],
  ])('%s', (source, before, after) => {
    const [old, updated] = images(source);
    expect(old && JSON.parse(JSON.stringify(plain(old)))).toEqual(before);
    expect(updated && JSON.parse(JSON.stringify(plain(updated)))).toEqual(after);
  });

  test('attributes written and entered', () => {
    const update = bindUpdate(
      'SET a = pk + :1, b.c = :x, d = list_append(e[0], :list) REMOVE f ADD g :n',
      createScope({}, values),
    );
    expect([...attributesIn(update)]).toEqual(['a', 'b', 'd', 'f', 'g']);
    expect([...nestedAttributesIn(update)]).toEqual(['b', 'e']);
  });
});
