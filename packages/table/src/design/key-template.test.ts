import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildKey,
  type KeyTemplate,
  parseKey,
  parseTemplate,
  partsOf,
  piecesOf,
  templatesOverlap,
} from './key-template.ts';

const template = (text: string) => parseTemplate(text, 2048);

// Strings made of what could confuse the parts of a key with each other.
const hostile = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .array(fc.constantFrom('#', 'U', 'G', 't', 'm', '$public', '%', '%23', '*', 'c', 'a', '0'), {
        maxLength: 6,
      })
      .map(parts => parts.join('')),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.constantFrom('\ud800', '\udc00', '\ufffd', '\0', '\x7f', 'é', 'e\u0301'), { maxLength: 4 })
      .map(parts => parts.join('')),
  },
);

const partitions = [
  't#{a}',
  't#{a}U#{b}#{c}',
  't#{a}G#$public#{c}',
  '{a}',
  'CHANNEL#{a}#{b}',
  'e#{a}#{b:text}',
].map(template);
const sorts = [
  'st#tenant_settings',
  'si#{a}',
  'm#{b}',
  'c#*',
  'c#{c:text}',
  '{b}',
  'STATUS#{a}#{b}',
  'c#{a}#*',
].map(template);
const values = fc.record({ a: hostile, b: hostile, c: hostile });

// Stored keys are UTF-8: two texts that become the same bytes are the same key.
const build = (from: KeyTemplate, parts: object): string | undefined => {
  try {
    return Buffer.from(buildKey(from, parts)).toString('hex');
  } catch {
    return undefined;
  }
};
const pick = ({ params }: KeyTemplate, parts: Record<string, string>) => params.map(name => parts[name]);

describe('building keys', () => {
  it.each([{ templates: partitions }, { templates: sorts }])(
    'is injective within a template and between templates',
    ({ templates }) => {
      fc.assert(
        fc.property(
          fc.constantFrom(...templates),
          fc.constantFrom(...templates),
          values,
          values,
          (one, two, x, y) => {
            const key = build(one, x);
            if (key === undefined || key !== build(two, y)) return;
            expect(templatesOverlap(one, two)).toBe(true);
            if (one === two) expect(pick(one, x)).toEqual(pick(two, y));
          },
        ),
        { numRuns: process.env.STAK_LONG_TESTS ? 20_000 : 1_500 },
      );
    },
  );

  it('never builds one key from two different sets of parts', () => {
    const parts = ['U', '#', 'a', '%', '*'].flatMap(x => ['', 'U', '#', 'a'].map(y => x + y));
    const collisions: string[][] = [];
    for (const one of [...partitions, ...sorts]) {
      const seen = new Map<string, string>();
      for (const a of parts)
        for (const b of parts)
          for (const c of parts) {
            const key = build(one, { a, b, c });
            if (key === undefined) continue;
            const from = JSON.stringify(pick(one, { a, b, c }));
            const before = seen.get(key) ?? from;
            if (before !== from) collisions.push([key, before, from]); // an expectation of each takes seconds
            seen.set(key, from);
          }
    }
    expect(collisions).toEqual([]);
  });

  it('can be reversed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...partitions, ...sorts), values, (one, parts) => {
        if (build(one, parts) === undefined) return;
        expect(Object.values(parseKey(one, buildKey(one, parts))!)).toEqual(pick(one, parts));
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 5_000 : 700 },
    );
  });

  it('accepts any well-formed text where it is percent-encoded', () => {
    const free = template('c#{c:text}');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), c => {
        fc.pre(c.isWellFormed());
        const key = buildKey(free, { c });
        expect(key.slice(2)).toMatch(/^[A-Za-z0-9._~%-]+$/);
        expect(parseKey(free, key)).toEqual({ c });
      }),
    );
  });

  it.each([
    ['a#b', 'must not contain #'],
    ['', 'must not be empty'],
    ['a\nb', 'must not contain control characters'],
    ['a\x9fb', 'must not contain control characters'],
    ['a\ud800', 'is not well-formed Unicode'],
    [undefined, 'must be text or a number, not missing'],
    [['a'], 'must be text or a number, not a list'],
    [-1, 'must be a whole number from 0 up'],
    [1.5, 'must be a whole number from 0 up'],
    [Number.NaN, 'must be a whole number from 0 up'],
  ])('refuses %j', (part, why) => {
    expect(() => buildKey(template('t#{tenant}'), { tenant: part })).toThrow(
      `tenant cannot be part of a key: it ${why}`,
    );
  });

  it('refuses a key that is too long for DynamoDB, in bytes', () => {
    const short = parseTemplate('m#{id}', 10);
    expect(buildKey(short, { id: 'é'.repeat(4) })).toBe('m#éééé');
    expect(() => buildKey(short, { id: 'é'.repeat(5) })).toThrow('longer than 10 bytes');
  });

  it('pads numbers so that they sort', () => {
    const attempts = template('ATT#{n:4}');
    expect(buildKey(attempts, { n: 7 })).toBe('ATT#0007');
    expect(buildKey(attempts, { n: 7 }) < buildKey(attempts, { n: 10 })).toBe(true);
    expect(() => buildKey(attempts, { n: 12345 })).toThrow('at most 4 digits');
    expect(() => buildKey(attempts, { n: '7' })).toThrow('whole number');
  });
});

describe('the parts of a key', () => {
  it('make up the key, with the name of each', () => {
    expect(piecesOf(template('e#{a}#{b:text}'), 'e#acme#ann%40example.com')).toEqual([
      { text: 'e#' },
      { text: 'acme', param: 'a' },
      { text: '#' },
      { text: 'ann%40example.com', param: 'b' },
    ]);
    expect(piecesOf(template('c#*'), 'c#*')).toEqual([{ text: 'c#*' }]);
    expect(piecesOf(template('c#*'), 'd#*')).toBeUndefined();
    expect(piecesOf(template('c#*'), undefined)).toBeUndefined();
    fc.assert(
      fc.property(fc.constantFrom(...partitions, ...sorts), values, (from, parts) => {
        if (build(from, parts) === undefined) return;
        const key = buildKey(from, parts);
        const pieces = piecesOf(from, key)!;
        expect(pieces.map(({ text }) => text).join('')).toBe(key);
        expect(pieces.flatMap(({ param }) => param ?? [])).toEqual(from.params);
      }),
    );
  });
});

describe('templates', () => {
  it.each(['{a}{b}', '{a}U{b}', 't#{a', 't#}a', '', '{a}#{a}', '{a:hex}'])('refuses %j', text => {
    expect(() => template(text)).toThrow();
  });

  it.each([
    ['t#{a}U#{b}#{c}', 't#{a}G#$public#{c}', false],
    ['t#{a}U#{b}', 't#{a}UU#{b}', true],
    ['c#*', 'c#{c:text}', false],
    ['c#*', 'c#{c}', true],
    ['{a}', 'META', true],
    ['{a:4}', 'META', false],
    ['USER#{a}', 'SRC#{a}', false],
    ['m#{a}', 'm#{a}#{b}', false],
  ])('detects whether %s and %s can collide', (one, two, meet) => {
    expect(templatesOverlap(template(one), template(two))).toBe(meet);
    expect(templatesOverlap(template(two), template(one))).toBe(meet);
  });

  it('are parsed as a pattern of the whole key would parse them', () => {
    const formats = { plain: '([^#]+)', text: '((?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+)' };
    const all = [...partitions, ...sorts, ...['A{a:6}#{b}', '{a}#{b:3}x', 'x{a}y#y{b}y'].map(template)];
    const near = fc
      .tuple(fc.constantFrom(...all), hostile, hostile, hostile)
      .map(([{ literals }, ...parts]) => literals.map((literal, i) => literal + (parts[i] ?? '')).join(''));
    const digits = near.map(key => key.replace(/[a-z]/g, '7'));
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.oneof(near, digits, hostile), (from, key) => {
        const source = from.literals.map((literal, i) => {
          const format = from.formats[i - 1];
          const escaped = literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
          return (
            (format === undefined
              ? ''
              : typeof format === 'number'
                ? `([0-9]{${format}})`
                : formats[format]) + escaped
          );
        });
        const match = new RegExp(`^${source.join('')}$`, 's').exec(key);
        expect(partsOf(from, key)).toEqual(match ? match.slice(1) : undefined);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 5000 : 1500 },
    );
  });
});
