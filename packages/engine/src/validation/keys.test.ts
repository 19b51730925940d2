import { describe, expect, it } from 'vitest';
import type { Index, Table } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import { checkBatchDuplicates, checkTransactionDuplicates } from './duplicates.ts';
import {
  checkBatchItemKeys,
  checkItemKeys,
  checkKey,
  checkKeyBounds,
  checkNestedPaths,
  checkUpdatedAttributes,
  checkUpdatedIndexKeys,
  isEmptyKeyError,
} from './keys.ts';
import { checkStartKey } from './start-key.ts';
import { checkTableUpdate } from './update-table.ts';

const index = (name: string, hash: string, type: 'S' | 'N' | 'B' = 'S'): Index => ({
  id: 2,
  name,
  kind: 'global',
  keys: { hash: { name: hash, type } },
  projection: { type: 'ALL' },
  status: 'ACTIVE',
});
const byEmail = index('by-email', 'email');
const table: Table = {
  id: 1,
  uuid: 'u',
  name: 'things',
  createdAt: 0,
  keys: { hash: { name: 'pk', type: 'S' }, range: { name: 'sk', type: 'N' } },
  indexes: [byEmail, index('by-blob', 'blob', 'B')],
  billing: 'PROVISIONED',
  throughput: { read: 5, write: 5 },
  deletionProtection: false,
  streams: [],
  tags: {},
};
const key: Item = { pk: { S: 'a' }, sk: { N: '1' } };
const mismatch = 'The provided key element does not match the schema';
const invalid = 'One or more parameter values were invalid: ';
const message = (run: () => void): string | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a key', () => {
  it.each<[Item, string | undefined]>([
    [key, undefined],
    [{ pk: { S: 'a' } }, mismatch],
    [{ ...key, x: { S: 'a' } }, mismatch],
    [{ pk: { S: 'a' }, x: { N: '1' } }, mismatch],
    [{ pk: { S: 'a' }, sk: { S: '1' } }, mismatch],
    [
      { ...key, pk: { S: '' } },
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
    ],
    [{ ...key, pk: { S: 'é'.repeat(1024) } }, undefined],
    [
      { ...key, pk: { S: `${'é'.repeat(1024)}e` } },
      `${invalid}Size of hashkey has exceeded the maximum size limit of2048 bytes`,
    ],
  ])('%j', (candidate, expected) => {
    expect(message(() => checkKey(table, candidate))).toBe(expected);
  });

  it('distinguishes an empty key from other mismatches', () => {
    const caught = (run: () => void) => {
      try {
        run();
      } catch (error) {
        return error;
      }
    };
    expect(isEmptyKeyError(caught(() => checkKey(table, { ...key, pk: { S: '' } })))).toBe(true);
    expect(isEmptyKeyError(caught(() => checkKey(table, {})))).toBe(false);
  });
});

describe('an item', () => {
  it.each<[Item, string | undefined]>([
    [{ ...key, email: { S: 'a@b' } }, undefined],
    [{ pk: { S: 'a' } }, `${invalid}Missing the key sk in the item`],
    [{ ...key, sk: { S: 'a' } }, `${invalid}Type mismatch for key sk expected: N actual: S`],
    [
      { ...key, email: { N: '1' } },
      `${invalid}Type mismatch for Index Key email Expected: S Actual: N IndexName: by-email`,
    ],
    [
      { ...key, email: { N: '1' }, blob: { S: 'a' } },
      `${invalid}Type mismatch for Index Key blob Expected: B Actual: S IndexName: by-blob`,
    ],
    [
      { ...key, email: { S: '' } },
      'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-email, IndexKey: email',
    ],
    [
      { ...key, blob: { B: new Uint8Array(2049) } },
      `${invalid}Size of hashkey has exceeded the maximum size limit of2048 bytes`,
    ],
  ])('%#', (item, expected) => {
    expect(message(() => checkItemKeys(table, item))).toBe(expected);
  });

  it('of the wrong key type has another message in a batch', () => {
    expect(message(() => checkBatchItemKeys(table, { ...key, sk: { S: 'a' } }))).toBe(mismatch);
    expect(message(() => checkBatchItemKeys(table, { pk: { S: 'a' } }))).toBe(
      `${invalid}Missing the key sk in the item`,
    );
  });
});

describe('an update', () => {
  it('does not change the table’s keys', () => {
    expect(message(() => checkUpdatedAttributes(table, ['a', 'sk']))).toBe(
      `${invalid}Cannot update attribute sk. This attribute is part of the key`,
    );
    expect(message(() => checkUpdatedAttributes(table, ['a', 'email']))).toBeUndefined();
  });

  it('is checked against the index keys it changed', () => {
    const before: Item = { ...key, email: { N: '1' } };
    expect(message(() => checkUpdatedIndexKeys(table, before, { ...before, x: { S: 'a' } }))).toBeUndefined();
    expect(message(() => checkUpdatedIndexKeys(table, before, { ...before, email: { N: '2' } }))).toBe(
      `${invalid}Type mismatch for Index Key email Expected: S Actual: N IndexName: by-email`,
    );
    expect(message(() => checkUpdatedIndexKeys(table, undefined, { ...key, email: { S: '' } }))).toBe(
      'One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.',
    );
  });

  it('does not reach into keys', () => {
    const scalar =
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
    expect(message(() => checkNestedPaths(table, ['a', 'pk']))).toBe(`${scalar}Key: pk`);
    expect(message(() => checkNestedPaths(table, ['email']))).toBe(`${scalar}IndexKey: email`);
  });

  it('of a table changes its throughput', () => {
    const ProvisionedThroughput = { ReadCapacityUnits: 5, WriteCapacityUnits: 5 };
    expect(message(() => checkTableUpdate(table, { TableName: 'things', ProvisionedThroughput }))).toMatch(
      /^The provisioned throughput for the table will not change\. .+ Requested WriteCapacityUnits: 5\. /,
    );
  });
});

describe('a starting key', () => {
  const start = 'The provided starting key is invalid';
  it.each<[Index | undefined, Item, string | undefined]>([
    [undefined, key, undefined],
    [undefined, { pk: { S: 'a' } }, `${start}: ${mismatch}`],
    [byEmail, { ...key, email: { S: 'a' } }, undefined],
    [byEmail, key, start],
    [byEmail, { ...key, email: { N: '1' } }, start],
    [
      byEmail,
      { pk: { S: '' }, sk: { N: '1' }, email: { S: 'a' } },
      `${start}: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk`,
    ],
  ])('%#', (at, candidate, expected) => {
    expect(message(() => checkStartKey(table, at, candidate))).toBe(expected);
  });
});

describe('duplicates', () => {
  const at = (pk: string, sk: string) => ({ table, key: { pk: { S: pk }, sk: { N: sk } } satisfies Item });
  it('are the same key of the same table', () => {
    expect(message(() => checkBatchDuplicates([at('a', '1'), at('a', '1')]))).toBe(
      'Provided list of item keys contains duplicates',
    );
    expect(message(() => checkTransactionDuplicates([at('a', '1'), at('b', '1'), at('a', '1')]))).toBe(
      'Transaction request cannot include multiple operations on one item',
    );
    expect(message(() => checkBatchDuplicates([at('a', '11'), at('a1', '1')]))).toBeUndefined();
    expect(
      message(() => checkBatchDuplicates([at('a', '1'), { ...at('a', '1'), table: { ...table, id: 9 } }])),
    ).toBeUndefined();
  });
});

it('refuses to compare a key with an impossible value', () => {
  const long = { S: 'x'.repeat(2048) };
  const hash = [long];
  expect(() => checkKeyBounds({ hash, range: [{ op: '<', value: { S: 'x'.repeat(1024) } }] })).not.toThrow();
  expect(() => checkKeyBounds({ hash: [{ S: `${long.S}x` }], range: [] })).toThrow(
    'Size of hashkey has exceeded',
  );
  for (const op of ['=', 'begins_with'] as const) {
    expect(() => checkKeyBounds({ hash, range: [{ op, value: long }] })).toThrow(
      'Aggregated size of all range keys',
    );
  }
  expect(() => checkKeyBounds({ hash, range: [{ op: 'BETWEEN', from: { S: 'a' }, to: long }] })).toThrow(
    'Aggregated size',
  );
  const half = { op: '=', value: { S: 'x'.repeat(600) } } as const;
  expect(() => checkKeyBounds({ hash: [{ S: 'a' }], range: [half, half] })).toThrow('Aggregated size');
});
