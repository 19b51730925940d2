import { describe, expect, test } from 'vitest';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { attributesIn, nestedAttributesIn } from './attributes.ts';
import { bindProjection, project, projectionOf } from './projection.ts';
import { createScope } from './scope.ts';

const N = (n: number): AttributeValue => ({ N: String(n) });
const bind = (source: string) => bindProjection(source, createScope({ '#a': 'a', '#b': '[3]' }));

const messageOf = (source: string) => {
  try {
    bind(source);
  } catch (error) {
    return (error as Error).message.replace('Invalid ProjectionExpression: ', '');
  }
  return undefined;
};

describe('refused', () => {
  const clash = (how: string, one: string, two: string) =>
    `Two document paths ${how} with each other; must remove or rewrite one of these paths; path one: ${one}, path two: ${two}`;

  test.each([
    ['', 'The expression can not be empty;'],
    ['!!! INVALID !!!', 'Syntax error; token: "!", near: "!!"'],
    ['a b', 'Syntax error; token: "b", near: "a b"'],
    ['abort,', 'Syntax error; token: "<EOF>", near: ","'],
    ['a.abORt', 'Attribute name is a reserved keyword; reserved keyword: abORt'],
    ['a,b,a,#x', 'An expression attribute name used in the document path is not defined; attribute name: #x'],
    ['b[1], b.a, #a.b, a', clash('overlap', '[a, b]', '[a]')],
    ['a, #a[1]', clash('overlap', '[a]', '[a, [1]]')],
    ['a.b, #a[1], #b', clash('conflict', '[a, b]', '[a, [1]]')],
    ['a[3].b, #a.#b.b', clash('conflict', '[a, [3], b]', '[a, [3], b]')],
    [`a${'.b'.repeat(32)}`, 'The document path has too many nesting levels; nesting levels: 33'],
    ['a[99999999999999]', 'List index is not within the allowable range; index: [99999999999999]'],
  ])('%s', (source, message) => {
    expect(messageOf(source)).toBe(message);
  });

  test.each(['whatever(stuff)', ':a', 'a,,b', 'a..b', 'a[b]', 'a[]', '(a.b).c', '(a)', '(a,b)', 'a-b'])(
    '%s',
    source => {
      expect(messageOf(source)).toMatch(/^Syntax error; /);
    },
  );
});

describe('projected', () => {
  const item: Item = {
    a: { M: { x: N(1), y: { L: [N(0), { M: { z: N(2), w: N(3) } }, N(4)] } } },
    b: N(5),
    l: { L: [N(7), N(42), N(9)] },
  };

  test.each<[string, Item]>([
    ['b', { b: N(5) }],
    ['a.x, b', { a: { M: { x: N(1) } }, b: N(5) }],
    ['#a.y[1].z', { a: { M: { y: { L: [{ M: { z: N(2) } }] } } } }],
    ['a.y[1].w, a.x, a.y[0]', { a: { M: { y: { L: [N(0), { M: { w: N(3) } }] }, x: N(1) } } }],
    ['l[2], l[0], l[9]', { l: { L: [N(7), N(9)] } }],
    ['l[3]', {}],
    ['a.q, l.x, b.c, c', {}],
    ['a[0]', {}],
  ])('%s', (source, expected) => {
    expect(JSON.parse(JSON.stringify(project(bind(source), item)))).toEqual(expected);
  });

  test('plain names need no expression', () => {
    expect({ ...project(projectionOf(['b', 'name', 'a.x']), item) }).toEqual({ b: N(5) });
  });

  test('an attribute may be called __proto__', () => {
    const odd = newItem();
    const name = '__proto__';
    odd[name] = N(1);
    expect(Object.keys(project(projectionOf([name]), odd))).toEqual([name]);
    expect(Object.keys(project(projectionOf([name, 'constructor']), newItem()))).toEqual([]);
  });

  test('attributes returned and entered', () => {
    const projection = bind('b, a.x, a.y[0], l[1]');
    expect([...attributesIn(projection)]).toEqual(['b', 'a', 'l']);
    expect([...nestedAttributesIn(projection)]).toEqual(['a', 'l']);
  });
});
