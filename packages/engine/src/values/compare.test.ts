import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attributeName, attributeValue, bagOf, item, text } from '../../test/model/values.ts';
import type { AttributeValue, Item } from './attribute-value.ts';
import { compareScalars, compareStrings, equalItems, equalValues } from './compare.ts';

// The same value told differently: members of sets and names of maps in another order, new objects throughout.
function retold(value: AttributeValue): AttributeValue {
  if ('SS' in value) return { SS: value.SS.toReversed() };
  if ('NS' in value) return { NS: value.NS.toReversed() };
  if ('BS' in value) return { BS: value.BS.toReversed().map(bytes => Uint8Array.from(bytes)) };
  if ('B' in value) return { B: Buffer.from(value.B) };
  if ('L' in value) return { L: value.L.map(retold) };
  if ('M' in value) return { M: retoldItem(value.M) };
  return { ...value };
}

const retoldItem = (whole: Item): Item =>
  bagOf(
    Object.keys(whole)
      .toReversed()
      .map(name => [name, retold(whole[name]!)] as const),
  );

// A text that equal values share and others do not.
function fingerprint(value: AttributeValue): string {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  if ('SS' in value) return JSON.stringify(['SS', ...value.SS.toSorted()]);
  if ('NS' in value) return JSON.stringify(['NS', ...value.NS.toSorted()]);
  if ('BS' in value) return JSON.stringify(['BS', ...value.BS.map(hex).sort()]);
  if ('B' in value) return JSON.stringify(['B', hex(value.B)]);
  if ('L' in value) return JSON.stringify(['L', ...value.L.map(fingerprint)]);
  if ('M' in value) {
    const names = Object.keys(value.M).sort();
    return JSON.stringify(['M', ...names.map(name => [name, fingerprint(value.M[name]!)])]);
  }
  return JSON.stringify(value);
}

describe('compareStrings', () => {
  it('orders strings by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const expected = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(Math.sign(compareStrings(a, b))).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('equalValues', () => {
  it('ignores the order of sets and maps', () => {
    fc.assert(
      fc.property(item, whole => {
        expect(equalItems(whole, retoldItem(whole))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('distinguishes different values, in both directions', () => {
    fc.assert(
      fc.property(attributeValue, attributeValue, (a, b) => {
        const same = fingerprint(a) === fingerprint(b);
        expect(equalValues(a, b)).toBe(same);
        expect(equalValues(b, a)).toBe(same);
      }),
      { numRuns: 1000 },
    );
  });

  it('notices an additional attribute, whatever its name', () => {
    fc.assert(
      fc.property(item, attributeName, attributeValue, (whole, name, value) => {
        fc.pre(!(name in whole));
        const more = bagOf([...Object.keys(whole).map(key => [key, whole[key]!] as const), [name, value]]);
        expect(equalItems(whole, more)).toBe(false);
        expect(equalItems(more, whole)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('gives no order to values of different types', () => {
    expect(() => compareScalars({ S: '1' }, { N: '1' })).toThrow(TypeError);
    expect(() => compareScalars({ BOOL: true }, { BOOL: false })).toThrow(TypeError);
  });
});
