import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { item, text } from '../../test/model/values.ts';
import { byteLength, itemSize, numberSize, valueSize } from './size.ts';

describe('sizes', () => {
  // Half a byte a digit, digit pairs aligned at the decimal point, a byte for the exponent, one for a minus.
  it.each([
    ['0', 1],
    ['1', 2],
    ['9', 2],
    ['10', 2],
    ['12', 2],
    ['123', 3],
    ['1230', 3],
    ['12300', 3],
    ['-1', 3],
    ['-123', 4],
    ['0.1', 2],
    ['0.01', 2],
    ['0.001', 2],
    ['12.34', 3],
    ['1.5', 3],
    [`1${'0'.repeat(125)}`, 2],
    ['9'.repeat(38), 20],
    [`-${'9'.repeat(38)}`, 21],
  ])('counts the number %s', (number, bytes) => {
    expect(numberSize(number)).toBe(bytes);
  });

  it.each([
    [{ S: '' }, 0],
    [{ S: 'abc' }, 3],
    [{ S: 'é' }, 2],
    [{ S: '😀' }, 4],
    [{ B: new Uint8Array(5) }, 5],
    [{ BOOL: false }, 1],
    [{ NULL: true as const }, 1],
    [{ SS: ['a', 'bc'] }, 3],
    [{ NS: ['1', '123'] }, 5],
    [{ BS: [new Uint8Array(2), new Uint8Array(3)] }, 5],
    [{ L: [] }, 3],
    [{ L: [{ S: 'a' }] }, 5],
    [{ M: {} }, 3],
    [{ M: { ab: { S: 'c' } } }, 7],
    [{ L: [{ M: { a: { L: [] } } }] }, 12],
  ])('counts %j', (value, bytes) => {
    expect(valueSize(value)).toBe(bytes);
  });

  it('counts names and strings in UTF-8', () => {
    fc.assert(fc.property(text, value => byteLength(value) === Buffer.byteLength(value)));
    expect(byteLength('é'.repeat(100))).toBe(200);
  });

  it('is the sum of an item’s parts', () => {
    fc.assert(
      fc.property(item, whole => {
        const sum = Object.keys(whole).reduce(
          (size, name) => size + Buffer.byteLength(name) + valueSize(whole[name]!),
          0,
        );
        expect(itemSize(whole)).toBe(sum);
      }),
    );
  });
});
