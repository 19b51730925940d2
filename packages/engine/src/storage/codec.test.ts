import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bagOf, item } from '../../test/model/values.ts';
import { validateAttributes } from '../validation/attribute-values.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { equalItems } from '../values/compare.ts';
import { marshalItem, type NativeItem, unmarshalItem } from '../values/marshal.ts';
import { itemSize } from '../values/size.ts';
import {
  decodeBeside,
  decodeItem,
  decodeItemWithout,
  decodeNative,
  decodeSize,
  encodeItem,
} from './codec.ts';
import { encodePlain } from './plain-item.ts';

describe('an item at rest', () => {
  it('survives a round trip, in both forms', () => {
    fc.assert(
      fc.property(item, fc.nat(5), (whole, padding) => {
        const size = itemSize(whole);
        const bytes = encodeItem(whole, size);
        // Values are read from a buffer that goes on behind them.
        const shared = Buffer.concat([bytes, Buffer.alloc(padding, '"')]);
        expect(equalItems(decodeItem(shared, bytes.length), whole)).toBe(true);
        expect(isDeepStrictEqual(decodeNative(shared, bytes.length), unmarshalItem(whole))).toBe(true);
        expect(decodeSize(shared)).toBe(size);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 2000 : 500 },
    );
  });

  const vector: AttributeValue = { L: [{ N: '0.25' }, { N: '-1' }] };
  it.each<[string, AttributeValue, AttributeValue]>([
    ['a list of numbers', vector, { S: 'x' }],
    ['a list with a number that is kept as text', { L: [{ N: '0.0000001' }, { N: '1' }] }, { S: 'x' }],
    ['lists within lists', { L: [{ L: [{ N: '1' }] }, { N: '2' }] }, { S: 'x' }],
    ['a bracket in a string', { L: [{ S: ']' }, { N: '2' }] }, { S: 'x' }],
    ['a map that has the name too', vector, { M: bagOf([['v', vector]]) }],
    ['a map that has the name, beside another value', { S: 'y' }, { M: bagOf([['v', vector]]) }],
    ['a string that looks like it', vector, { S: '"v":[1,2]' }],
    ['a name that begins with a tag', vector, { M: bagOf([['\u0001v', vector]]) }],
  ])('is read without one attribute: %s', (_, value, other) => {
    for (const entries of [
      [
        ['v', value],
        ['o', other],
      ],
      [
        ['o', other],
        ['v', value],
      ],
    ] as [string, AttributeValue][][]) {
      const whole = bagOf(entries);
      const bytes = encodeItem(whole, itemSize(whole));
      expect(decodeItemWithout(bytes, bytes.length, 'v')).toEqual({ o: other });
      expect(decodeItemWithout(bytes, bytes.length, 'other')).toEqual({ v: value, o: other });
      const likes = [vector, { L: [{ N: '2' }] }, { S: 'z' }].map(like => bagOf([['v', like]]));
      for (const like of [...likes, bagOf([['o', { M: bagOf([['v', vector]]) }]])]) {
        const item = unmarshalItem(like);
        const beside = decodeBeside(bytes, { bytes: encodeItem(like, itemSize(like)), item }, 'v');
        if (beside) expect(beside).toEqual(unmarshalItem(whole));
      }
    }
  });

  it('is decoded beside one with the same list', () => {
    const [before, after] = ['old', 'new'].map(title => ({ v: [0.25, -1], title }));
    const bytesOf = (item: NativeItem) => encodePlain(item)!.bytes;
    const beside = decodeBeside(bytesOf(before!), { bytes: bytesOf(after!), item: after! }, 'v');
    expect(beside).toEqual(before);
    expect(beside!.v).not.toBe(after!.v);
    const other = { v: [0.25, -2], title: 'new' };
    expect(decodeBeside(bytesOf(before!), { bytes: bytesOf(other), item: other }, 'v')).toBeUndefined();
  });

  it('keeps numbers that only look like doubles', () => {
    for (const number of [
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '100000000000000000000',
      `1${'0'.repeat(125)}`,
      '0.1',
      '0.10000000000000000001',
      `0.${'0'.repeat(129)}1`,
      '-0.000001',
      '0.0000001',
      '9'.repeat(38),
    ]) {
      const whole = bagOf([['n', { N: number }]]);
      const bytes = encodeItem(whole, itemSize(whole));
      expect(decodeItem(bytes)).toEqual(whole);
      expect(isDeepStrictEqual(decodeNative(bytes), unmarshalItem(whole))).toBe(true);
    }
  });

  it('distinguishes a tag from an attribute that looks like one', () => {
    const look = (name: string): AttributeValue => ({ M: bagOf([[name, { L: [{ S: 'x' }] }]]) });
    for (const type of ['', 'S', 'N', 'B', 'SS', 'NS', 'BS', 'M', '\u0001M']) {
      const name = `\u0001${type}`;
      const whole = bagOf([
        ['a', look(name)],
        [name, look(name)],
        ['b', { SS: ['x'] }],
      ]);
      const bytes = encodeItem(whole, itemSize(whole));
      expect(equalItems(decodeItem(bytes), whole)).toBe(true);
      expect(isDeepStrictEqual(decodeNative(bytes), unmarshalItem(whole))).toBe(true);
    }
  });

  it('keeps the deepest nesting DynamoDB allows', () => {
    let value: AttributeValue = { BS: [Uint8Array.from([0, 255])] };
    for (let level = 0; level < 32; level++) {
      value = level % 2 ? { L: [value] } : { M: bagOf([['__proto__', value]]) };
    }
    const whole = bagOf([['deep', value]]);
    expect(equalItems(decodeItem(encodeItem(whole, 1)), whole)).toBe(true);
    expect(isDeepStrictEqual(decodeNative(encodeItem(whole, 1)), unmarshalItem(whole))).toBe(true);
  });
});

describe('a plain item', () => {
  const longWay = (native: NativeItem) => {
    const whole = marshalItem(native);
    validateAttributes(whole);
    const size = itemSize(whole);
    return { size, bytes: encodeItem(whole, size) };
  };

  it('is encoded as by the general path', () => {
    const scalar = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
      fc.constant(-0),
    );
    const { value } = fc.letrec(tie => ({
      value: fc.oneof(
        { maxDepth: 4 },
        scalar,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(tie('value'), fc.constant(undefined)), {
          maxKeys: 4,
        }),
      ),
    }));
    let plain = 0;
    const attribute = fc.oneof(value, fc.uint8Array({ maxLength: 9 }), fc.constant(undefined));
    const name = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('__proto__', 'toJSON', '\u0001N', '1', '0'),
    );
    fc.assert(
      fc.property(fc.dictionary(name, attribute, { maxKeys: 8 }), native => {
        const found = encodePlain(native);
        if (found) expect(found).toEqual(longWay(native));
        if (found) plain += 1;
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 2000 : 500 },
    );
    expect(plain).toBeGreaterThan(200);
  });

  // Compares large items in no time.
  const expectUsual = (native: NativeItem) => {
    const found = encodePlain(native);
    const usual = longWay(native);
    expect(found?.size).toBe(usual.size);
    expect(found?.bytes.equals(usual.bytes)).toBe(true);
  };

  it('has integers of every length, with zeros at their end', () => {
    const native: NativeItem = {};
    for (let power = 1; power < Number.MAX_SAFE_INTEGER; power *= 10)
      for (const n of [power - 1, power, power + 1, 3 * power, 12 * power])
        if (n <= Number.MAX_SAFE_INTEGER) native[`n${n}`] = n;
    expectUsual(native);
  });

  it('has texts of any length, also more than an item usually has', () => {
    const ends = ['', 'a"', '\\', '\x7f', 'ä', 'x\u0000'];
    const texts = [0, 255, 256, 257, 60_000].flatMap(length => ends.map(end => 'x'.repeat(length) + end));
    expectUsual({ texts });
    expectUsual({ a: '\u0000'.repeat(300_000), b: [[], {}] });
    expectUsual({});
  });

  it.each<[string, NativeItem]>([
    ['half a surrogate pair', { a: '\ud800' }],
    ['a name without characters', { '': 1 }],
    ['a number that is none', { a: Number.NaN }],
    ['a number past the safe integers', { a: 2 ** 53 }],
    ['a very small number', { a: 1e-7 }],
    ['a set', { a: new Set(['x']) }],
    ['a date', { a: { b: new Date(0) } }],
    ['an object with its own JSON', { a: Object.create({ toJSON: () => 'x' }) }],
    ['a function', { a: { toJSON: () => 'x' } }],
    ['an instance', Object.create({ toJSON: () => 'x' }, { a: { value: 1, enumerable: true } })],
    ['more than an item holds', { a: 'x'.repeat(500_000) }],
  ])('is not one with %s', (_, native) => {
    expect(encodePlain(native)).toBeUndefined();
  });

  it('is refused when any of its bits has changed', () => {
    const whole = bagOf([
      ['pk', { S: 'ä' }],
      ['n', { N: '12' }],
      ['tags', { SS: ['x'] }],
    ]);
    const bytes = encodeItem(whole, itemSize(whole));
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit % 8);
      expect(() => decodeItem(changed)).toThrow('A stored item is damaged');
      expect(() => decodeNative(changed)).toThrow('A stored item is damaged');
    }
    for (let end = 0; end < bytes.length; end++)
      expect(() => decodeItem(bytes.subarray(0, end))).toThrow('A stored item is damaged');
  });

  it('is read as an earlier version stored it, without a checksum', () => {
    const text = Buffer.from('{"pk":"a","n":12.5}');
    const bytes = Buffer.concat([Buffer.from([2, 9, 0, 0, 0]), text]);
    expect(decodeItem(bytes)).toEqual(
      bagOf([
        ['pk', { S: 'a' }],
        ['n', { N: '12.5' }],
      ]),
    );
    expect(decodeSize(bytes)).toBe(9);
  });
});
