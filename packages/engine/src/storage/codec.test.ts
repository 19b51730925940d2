import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bagOf, item } from '../../test/model/values.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { equalItems } from '../values/compare.ts';
import { unmarshalItem } from '../values/marshal.ts';
import { itemSize } from '../values/size.ts';
import { decodeItem, decodeNative, decodeSize, encodeItem } from './codec.ts';

describe('an item at rest', () => {
  it('comes back as it was, in both forms', () => {
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
      { numRuns: 2000 },
    );
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

  it('tells a tag from an attribute that looks like one', () => {
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
