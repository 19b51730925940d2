import fc from 'fast-check';
import { type JSONValue, query } from 'json-p3';
import { describe, expect, it } from 'vitest';
import { compilePath, readPlainPath } from './json-path.ts';

// Few names and small numbers, so that paths often meet what they look for.
const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'a b');
const { document } = fc.letrec<{ document: JSONValue }>(tie => ({
  document: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<JSONValue>(null, true, false, 0, 1, 2.5, -1, '', 'a', 'b', '1'),
    fc.array(tie('document'), { maxLength: 4 }),
    fc.dictionary(name, tie('document'), { maxKeys: 4 }).map(value => JSON.parse(JSON.stringify(value))),
  ),
}));
const quoted = name.map(one => `['${one}']`);
const number = fc.integer({ min: -3, max: 3 });
const bound = fc.option(number, { nil: '' as const });
const member = fc.oneof(
  fc.constant('@'),
  quoted.map(one => `@${one}`),
  number.map(one => `@[${one}]`),
);
const constant = fc.constantFrom('null', 'true', '0', '1', '2.5', '-1', "''", "'a'", '"b"');
const operator = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');
const term = fc.oneof(
  member,
  member.map(one => `!${one}`),
  fc.tuple(member, operator, constant).map(parts => parts.join(' ')),
  fc.tuple(constant, operator, member).map(parts => parts.join(' ')),
);
const predicate = fc.oneof(
  term,
  fc.tuple(term, fc.constantFrom('&&', '||'), term).map(parts => parts.join(' ')),
  term.map(one => `!(${one})`),
);
const step = fc.oneof(
  quoted,
  number.map(one => `[${one}]`),
  fc.constant('[*]'),
  fc.tuple(bound, bound, bound).map(parts => `[${parts.join(':')}]`),
  predicate.map(one => `[?${one}]`),
);
const path = fc
  .tuple(fc.array(step, { maxLength: 3 }), fc.option(step, { nil: '' }), fc.array(step, { maxLength: 2 }))
  .map(
    ([before, descending, after]) => `$${before.join('')}${descending && `..${descending}`}${after.join('')}`,
  );

describe('a path', () => {
  it('selects what json-p3 selects, in the same order', () => {
    fc.assert(
      fc.property(path, document, (text, value) => {
        expect(compilePath(text).select(value)).toEqual(query(text, value).values());
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 1500 : 400 },
    );
  });

  it.each([
    ['a.b', 'is not a JSONPath'],
    ['', 'is not a JSONPath'],
    ['$.a[', 'is not a JSONPath'],
    ['$[0,0]', 'several things'],
    ["$['a','a']['a','a']", 'several things'],
    ['$..a..b', 'more than one ".."'],
    ['$[?@..a]', 'does more than compare'],
    ['$[?@[*]]', 'does more than compare'],
    ['$[?$.a == 1]', 'does more than compare'],
    ['$[?@.a == @.b]', 'does more than compare'],
    ['$[?length(@.a) > 1]', 'does more than compare'],
    ["$[?match(@.a, '(a+)+b')]", 'does more than compare'],
    [`$[?${Array(10).fill('@.a').join('||')}]`, 'too many terms'],
    [`$${'.a'.repeat(17)}`, 'more than 16 steps'],
    [`$.${'a'.repeat(300)}`, 'longer than 256'],
  ])('may not be %s', (text, complaint) => {
    expect(() => compilePath(text)).toThrow(complaint);
  });

  it('reads no inherited member', () => {
    for (const text of ['$.constructor', '$.toString', '$.__proto__', '$.length', '$.a.length'])
      expect(compilePath(text).select({ a: [1] })).toEqual([]);
  });

  it('walks a body that is nested deeper than the call stack', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}7${']'.repeat(100_000)}`);
    expect(compilePath('$..[0]').select(deep)).toHaveLength(100_000);
  });

  it('is wide if it may select several values', () => {
    expect(['$', '$.a[0].b', '$[-1]'].map(text => compilePath(text).isWide)).toEqual([false, false, false]);
    expect(['$..a', '$[*]', '$[0:1]', '$[?@.a]'].map(text => compilePath(text).isWide)).not.toContain(false);
  });
});

describe('a plain path', () => {
  it('has only names and indexes', () => {
    expect(readPlainPath("$.a['b c'][0].d")).toEqual(['a', 'b c', 0, 'd']);
    expect(readPlainPath('$')).toEqual([]);
    for (const text of ['$..a', '$[*]', '$[-1]', '$[0:1]', '$[?@.a]', '$[0,1]'])
      expect(() => readPlainPath(text)).toThrow('only names and indexes');
  });
});
