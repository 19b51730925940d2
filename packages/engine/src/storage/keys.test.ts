import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bagOf, binary, keyValue } from '../../test/model/values.ts';
import type { AttributeValue, KeyType } from '../values/attribute-value.ts';
import { compareScalars, equalValues } from '../values/compare.ts';
import {
  indexKey,
  indexRange,
  itemKey,
  itemRange,
  type KeyRange,
  orderedBytes,
  partitionHash,
  type RangeCondition,
  successor,
  ttlItemKey,
  ttlKey,
  ttlSeconds,
} from './keys.ts';
import { openStore } from './store.ts';
import type { Index, KeySchema, Table } from './table.ts';

const types: KeyType[] = ['S', 'N', 'B'];
const keySchema = (hash: KeyType, range?: KeyType): KeySchema => ({
  hash: { name: 'h', type: hash },
  ...(range && { range: { name: 'r', type: range } }),
});
const tableOf = (keys: KeySchema, id = 7) => ({ id, keys }) as Table;
const indexOf = (hash: KeyType, range?: KeyType, id = 9) =>
  ({
    id,
    keys: { hash: { name: 'ih', type: hash }, ...(range && { range: { name: 'ir', type: range } }) },
  }) as Index;

const maxKeyBytes = 4026;
// Index id and length-prefixed hash key.
const indexHead = (hash: string): number => 5 + 2 + hash.length;
const boundsOf = (hash: AttributeValue, test: RangeCondition | undefined) => ({
  hash: [hash],
  range: test ? [test] : [],
});
const within = (key: Buffer, { start, end }: KeyRange) => key.compare(start) >= 0 && key.compare(end) < 0;

const utf8 = (value: AttributeValue) => Buffer.from((value as { S: string }).S);
const bytesOf = (value: AttributeValue) => ('B' in value ? Buffer.from(value.B) : utf8(value));

const condition = (type: KeyType): fc.Arbitrary<RangeCondition | undefined> => {
  const value = keyValue(type);
  const comparisons = fc.record({ op: fc.constantFrom('=', '<', '<=', '>', '>='), value });
  const between = fc
    .tuple(value, value)
    .map(([a, b]) =>
      compareScalars(a, b) <= 0 ? { op: 'BETWEEN', from: a, to: b } : { op: 'BETWEEN', from: b, to: a },
    );
  const prefix = type === 'N' ? fc.constant(undefined) : fc.record({ op: fc.constant('begins_with'), value });
  return fc.oneof(comparisons, between, prefix) as fc.Arbitrary<RangeCondition | undefined>;
};

// Evaluates the condition without bytes wherever there is an order without them.
function satisfies(value: AttributeValue, test: RangeCondition | undefined): boolean {
  if (!test) return true;
  if (test.op === 'BETWEEN') {
    return compareScalars(value, test.from) >= 0 && compareScalars(value, test.to) <= 0;
  }
  if (test.op === 'begins_with') {
    const prefix = bytesOf(test.value);
    return bytesOf(value).subarray(0, prefix.length).equals(prefix);
  }
  const order = compareScalars(value, test.value);
  return { '=': order === 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[test.op];
}

describe.each(types)('keys of type %s', type => {
  it('sort in their bytes as DynamoDB sorts the values, and no two share bytes', () => {
    fc.assert(
      fc.property(keyValue(type), keyValue(type), (a, b) => {
        const order = orderedBytes(a).compare(orderedBytes(b));
        expect(Math.sign(order)).toBe(Math.sign(compareScalars(a, b)));
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 2000 : 500 },
    );
  });

  it('are unique to each item, and separate between tables', () => {
    const keys = fc.record({
      key: fc.record({ h: keyValue(type), r: keyValue(type) }),
      id: fc.constantFrom(1, 2, 256),
    });
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const same = a.id === b.id && equalValues(a.key.h, b.key.h) && equalValues(a.key.r, b.key.r);
        const schema = keySchema(type, type);
        const key = itemKey(tableOf(schema, a.id), a.key);
        expect(key.equals(itemKey(tableOf(schema, b.id), b.key))).toBe(same);
        expect(partitionHash(key)).toBe(partitionHash(itemKey(tableOf(keySchema(type), a.id), a.key)));
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 1000 : 300 },
    );
  });

  it('are selected by a range condition exactly when they satisfy it', () => {
    const table = tableOf(keySchema('S', type));
    const index = indexOf('S', type);
    fc.assert(
      fc.property(
        keyValue('S'),
        keyValue('S'),
        keyValue(type),
        condition(type),
        (hash, other, value, test) => {
          const wanted = equalValues(hash, other) && satisfies(value, test);
          const key = itemKey(table, { h: other, r: value });
          expect(within(key, itemRange(table, boundsOf(hash, test)))).toBe(wanted);
          const entry = indexKey(
            index,
            bagOf([
              ['ih', other],
              ['ir', value],
            ]),
            key,
          )!;
          expect(within(entry, indexRange(index, boundsOf(hash, test)))).toBe(wanted);
        },
      ),
      { numRuns: process.env.STAK_LONG_TESTS ? 2000 : 500 },
    );
    fc.assert(
      fc.property(keyValue('S'), keyValue(type), condition(type), (hash, value, test) => {
        const key = itemKey(table, { h: hash, r: value });
        expect(within(key, itemRange(table, boundsOf(hash, test)))).toBe(satisfies(value, test));
        const entry = indexKey(
          index,
          bagOf([
            ['ih', hash],
            ['ir', value],
          ]),
          key,
        )!;
        expect(within(entry, indexRange(index, boundsOf(hash, test)))).toBe(satisfies(value, test));
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 2000 : 500 },
    );
  });

  it('come out of the store in order, forward and back', async () => {
    const store = openStore(':memory:');
    try {
      let id = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(keyValue(type), { maxLength: 20, comparator: equalValues }),
          condition(type),
          async (values, test) => {
            id++;
            const table = tableOf(keySchema('S', type), id);
            const index = indexOf('S', type, id);
            const hash = { S: 'p' };
            await store.commit(() => {
              for (const value of values) {
                const key = itemKey(table, { h: hash, r: value });
                store.put(key, orderedBytes(value));
                store.put(indexKey(index, { ih: hash, ir: value }, key)!, orderedBytes(value));
              }
            });
            const expected = values.filter(value => satisfies(value, test)).sort(compareScalars);
            const hex = expected.map(value => orderedBytes(value).toString('hex'));
            const read = (range: KeyRange, reverse: boolean) =>
              Array.from(
                store.range({ ...range, reverse }, (bytes, end) => bytes.toString('hex', 0, end)),
              ).map(entry => entry.value);
            for (const range of [
              itemRange(table, boundsOf(hash, test)),
              indexRange(index, boundsOf(hash, test)),
            ]) {
              expect(read(range, false)).toEqual(hex);
              expect(read(range, true)).toEqual(hex.toReversed());
            }
          },
        ),
        { numRuns: 100 },
      );
    } finally {
      await store.close();
    }
  });
});

describe('index entries', () => {
  it('differ whenever the index key or the item differs', () => {
    const short = fc
      .tuple(binary, binary, binary)
      .map(parts => parts.map(part => Buffer.concat([part, Buffer.from([1])])));
    const index = indexOf('B', 'B');
    const table = tableOf(keySchema('B'));
    const entry = ([h, r, base]: Buffer[]) =>
      indexKey(index, { ih: { B: h! }, ir: { B: r! } }, itemKey(table, { h: { B: base! } }))!;
    fc.assert(
      fc.property(short, short, (a, b) => {
        const same = a.every((part, i) => part.equals(b[i]!));
        expect(entry(a).equals(entry(b))).toBe(same);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 2000 : 500 },
    );
  });

  it('of a long base key cannot be forged by a short one', () => {
    const index = indexOf('S');
    const table = tableOf(keySchema('B'));
    const entry = (h: Uint8Array) => indexKey(index, { ih: { S: 'x' } }, itemKey(table, { h: { B: h } }))!;
    // The hash of a long key must not begin with the length of a key, or there is a short key that has its bytes, and
    // finding one takes some 65,000 tries.
    for (let salt = 0; salt < 100; salt++) {
      const standIn = entry(Buffer.alloc(1500, salt)).subarray(indexHead('x'));
      expect(standIn.length).toBeLessThan(600);
      expect(standIn.readUInt16BE(0)).toBeGreaterThan(2048);
    }
  });

  it('are not created for items without the key, or with an invalid one', () => {
    const index = indexOf('S', 'N');
    const base = itemKey(tableOf(keySchema('S')), { h: { S: 'a' } });
    for (const item of [
      {},
      { ih: { S: 'a' } },
      { ir: { N: '1' } },
      { ih: { N: '1' }, ir: { N: '1' } },
      { ih: { S: 'a' }, ir: { S: '1' } },
      { ih: { S: '' }, ir: { N: '1' } },
      { ih: { S: 'a'.repeat(2049) }, ir: { N: '1' } },
    ]) {
      expect(indexKey(index, item as never, base)).toBeUndefined();
    }
    expect(indexKey(index, { ih: { S: 'a' }, ir: { N: '1' } }, base)).toBeDefined();
  });

  it('of the longest keys stay apart, in order, and short enough for the store', async () => {
    const table = tableOf(keySchema('B', 'B'));
    const index = indexOf('B', 'B');
    const longest = (fill: number, last: number, length: number) =>
      Buffer.concat([Buffer.alloc(length - 1, fill), Buffer.from([last])]);
    const store = openStore(':memory:');
    try {
      const entries = [0, 255].flatMap(fill =>
        [1, 2, 3].map(last => {
          const h = { B: longest(fill, 0, 2048) };
          const key = itemKey(table, { h, r: { B: longest(fill, last, 1024) } });
          return indexKey(index, { ih: h, ir: { B: longest(fill, last, 1024) } }, key)!;
        }),
      );
      const itemKeys = [0, 255].map(fill =>
        itemKey(table, { h: { B: longest(fill, 1, 2048) }, r: { B: longest(fill, 1, 1024) } }),
      );
      const all = [...entries, ...itemKeys, ...itemKeys.map(key => ttlKey(7, 2 ** 48 - 1, key))];
      for (const key of all) expect(key.length).toBeLessThanOrEqual(maxKeyBytes);
      await store.commit(() => {
        for (const key of all) store.put(key, Buffer.from([1]));
      });
      for (const key of all) expect(store.has(key)).toBe(true);
      expect(new Set(all.map(key => key.toString('hex'))).size).toBe(all.length);
      const range = indexRange(index, {
        hash: [{ B: longest(0, 0, 2048) }],
        range: [{ op: '>=', value: { B: longest(0, 2, 1024) } }],
      });
      expect(entries.map(key => within(key, range))).toEqual([false, true, true, false, false, false]);
    } finally {
      await store.close();
    }
  });
});

describe('index entries of several attributes', () => {
  const types = fc.array(fc.constantFrom<KeyType>('S', 'N', 'B'), { minLength: 1, maxLength: 4 });
  const attributesOf = (prefix: string, of: KeyType[]) =>
    of.map((type, i) => ({ name: `${prefix}${i}`, type }));
  const composedIndex = (hash: KeyType[], range: KeyType[]): Index => {
    const [firstHash, ...moreHash] = attributesOf('h', hash);
    const [firstRange, ...moreRange] = attributesOf('r', range);
    return {
      ...indexOf('S'),
      keys: {
        hash: firstHash!,
        ...(firstRange && { range: firstRange }),
        more: { hash: moreHash, range: moreRange },
      },
    };
  };
  const valuesOf = (of: KeyType[]) => fc.tuple(...of.map(type => keyValue(type)));
  const bag = (hash: AttributeValue[], range: AttributeValue[]) =>
    bagOf([
      ...hash.map((value, i) => [`h${i}`, value] as [string, AttributeValue]),
      ...range.map((value, i) => [`r${i}`, value] as [string, AttributeValue]),
    ]);
  const base = (id: string) => itemKey(tableOf(keySchema('S')), { h: { S: id } });
  const compareAll = (a: AttributeValue[], b: AttributeValue[]) =>
    a.map((value, i) => compareScalars(value, b[i]!)).find(order => order !== 0) ?? 0;

  // Some values of the second are those of the first, so that the later attributes decide too.
  const schemaAndPair = fc.tuple(types, types).chain(([hash, range]) =>
    fc.record({
      hash: fc.constant(hash),
      range: fc.constant(range),
      one: fc.tuple(valuesOf(hash), valuesOf(range)),
      other: fc.tuple(valuesOf(hash), valuesOf(range)),
      shared: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      tested: fc.nat({ max: range.length }),
      last: fc.tuple(...range.map(type => condition(type))),
    }),
  );

  it('sort by the range attributes from left to right, within their partition', () => {
    fc.assert(
      fc.property(schemaAndPair, ({ hash, range, one, other, shared }) => {
        const index = composedIndex(hash, range);
        const second = other[1].map((value, i) => (shared[i] ? one[1][i]! : value));
        const first = indexKey(index, bag(one[0], one[1]), base('a'))!;
        const next = indexKey(index, bag(one[0], second), base('b'))!;
        expect(Math.sign(first.compare(next))).toBe(Math.sign(compareAll(one[1], second)) || -1);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 300 : 100 },
    );
  });

  it('are selected exactly by their hash values, equalities and the last condition', () => {
    fc.assert(
      fc.property(schemaAndPair, ({ hash, range, one, other, shared, tested, last }) => {
        const index = composedIndex(hash, range);
        const hashes = other[0].map((value, i) => (shared[i + 4] ? one[0][i]! : value));
        const values = other[1].map((value, i) => (shared[i] ? one[1][i]! : value));
        const entry = indexKey(index, bag(hashes, values), base('a'))!;
        const conditions = one[1]
          .slice(0, tested)
          .map((value, i) => (i + 1 < tested ? { op: '=' as const, value } : last[i]))
          .filter(test => test !== undefined);
        const wanted =
          hashes.every((value, i) => equalValues(value, one[0][i]!)) &&
          conditions.every((test, i) => satisfies(values[i]!, test));
        expect(within(entry, indexRange(index, { hash: one[0], range: conditions }))).toBe(wanted);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 700 : 200 },
    );
  });

  it('exist only for items with every attribute, of its type, not empty, and not too long together', () => {
    const index = composedIndex(['S', 'N'], ['S', 'B']);
    const whole = { h0: { S: 'a' }, h1: { N: '1' }, r0: { S: 'b' }, r1: { B: Buffer.from('c') } };
    expect(indexKey(index, whole, base('a'))).toBeDefined();
    for (const name of Object.keys(whole)) {
      const { [name as 'h0']: _, ...rest } = whole;
      expect(indexKey(index, rest, base('a'))).toBeUndefined();
      expect(indexKey(index, { ...whole, [name]: { BOOL: true } }, base('a'))).toBeUndefined();
    }
    expect(indexKey(index, { ...whole, r0: { S: '' } }, base('a'))).toBeUndefined();
    const half = { r0: { S: 'x'.repeat(512) }, r1: { B: Buffer.alloc(512) } };
    expect(indexKey(index, { ...whole, ...half }, base('a'))).toBeDefined();
    expect(indexKey(index, { ...whole, ...half, r0: { S: 'x'.repeat(513) } }, base('a'))).toBeUndefined();
  });

  it('of the longest keys are short enough for the store', () => {
    const index = composedIndex(['B', 'B', 'B', 'B'], ['B', 'N', 'N', 'N']);
    const number = { N: '-1.2345678901234567890123456789012345678E-130' };
    const longest = bag(
      [256, 256, 256, 248].map(length => ({ B: Buffer.alloc(length) })),
      [{ B: Buffer.alloc(1021) }, number, number, number],
    );
    const entry = indexKey(index, longest, base('x'.repeat(593)))!;
    expect(entry.length).toBeLessThanOrEqual(maxKeyBytes);
  });
});

describe('the rest', () => {
  it('finds the first key past a prefix', () => {
    fc.assert(
      fc.property(binary, binary, (prefix, tail) => {
        fc.pre(prefix.some(byte => byte !== 255));
        const next = successor(prefix);
        expect(Buffer.concat([prefix, tail, Buffer.alloc(9, 255)]).compare(next)).toBe(-1);
        expect(next.compare(prefix)).toBe(1);
      }),
    );
    expect(() => successor(Buffer.from([255, 255]))).toThrow(RangeError);
  });

  it('finds an item by its TTL entry, and sorts those by time', () => {
    const table = tableOf(keySchema('S', 'B'));
    const seconds = fc.maxSafeNat().map(number => number % 2 ** 48);
    fc.assert(
      fc.property(keyValue('S'), keyValue('B'), seconds, seconds, (h, r, early, late) => {
        const key = itemKey(table, { h, r });
        const entry = ttlKey(table.id, early, key);
        expect(ttlItemKey(entry).equals(key)).toBe(true);
        expect(ttlSeconds(entry)).toBe(early);
        expect(Math.sign(entry.compare(ttlKey(table.id, late, key)))).toBe(Math.sign(early - late));
      }),
    );
  });
});
