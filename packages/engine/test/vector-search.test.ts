import { beforeEach, describe, expect, test } from 'vitest';
import type { Engine, Item } from '../src/index.ts';
import { call, hashTable, openEngine } from './engine-fixture.ts';
import {
  note,
  search,
  searchVector,
  tenantAndCategory,
  vectorIndex,
  vectorTable,
  vectorValue,
} from './vectors-fixture.ts';

// Texts and behaviour are those that were seen of Amazon's service in August 2026.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchWorkingWith.html

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
  return () => engine.close();
});

const put = (Item: Item, more: object = {}) => call(engine, 'PutItem', { TableName: 'notes', Item, ...more });

async function expectRefusal(asked: Promise<unknown>, message: string, name = 'ValidationException') {
  await expect(asked).rejects.toMatchObject({ name, message });
}

describe('a search', () => {
  const angles = { a: [1, 0, 0], b: [0, 1, 0], c: [-1, 0, 0], d: [0.6, 0.8, 0] };

  async function fill(distance: string): Promise<void> {
    const VectorIndexes = [vectorIndex({ DistanceFunction: distance })];
    await call(engine, 'CreateTable', hashTable('notes', { VectorIndexes }));
    for (const [pk, numbers] of Object.entries(angles)) await put(note(pk, numbers, { label: { S: pk } }));
  }

  test.each([
    ['COSINE', { a: 0, d: 0.4, b: 1, c: 2 }],
    ['EUCLIDEAN', { a: 0, d: Math.sqrt(0.8), b: Math.SQRT2, c: 2 }],
    ['DOT_PRODUCT', { a: 1, d: 0.6, b: 0, c: -1 }],
  ])('by %s puts the nearest first', async (distance, scores) => {
    await fill(distance);
    const found = await search(engine, [1, 0, 0]);
    expect(found.map(({ pk }) => pk)).toEqual(Object.keys(scores));
    for (const [i, score] of Object.values(scores).entries()) expect(found[i]!.score).toBeCloseTo(score, 6);
    expect(found[0]!.score).toBe(Object.values(scores)[0]);
    expect(await search(engine, [1, 0, 0], { TopK: 2 })).toEqual(found.slice(0, 2));
  });

  test('puts equal ones in the order of their keys', async () => {
    await call(engine, 'CreateTable', vectorTable());
    for (const pk of ['c', 'a', 'd', 'b']) await put(note(pk, [2, 0, 0]));
    expect((await search(engine, [1, 0, 0], { TopK: 3 })).map(({ pk }) => pk)).toEqual(['a', 'b', 'c']);
  });

  test('counts a vector of zeros as orthogonal', async () => {
    await fill('COSINE');
    await put(note('zero', [0, 0, 0]));
    expect(await search(engine, [1, 0, 0])).toContainEqual({ pk: 'zero', score: 1 });
    expect(new Set((await search(engine, [0, 0, 0])).map(({ score }) => score))).toEqual(new Set([1]));
  });

  test('leaves the vector out unless it is asked for, and then has it as floats', async () => {
    await fill('COSINE');
    const precise = ['0.1', '16777217', '1.000000059604644775390625'];
    const Item = { pk: { S: 'precise' }, embedding: { L: precise.map(N => ({ N })) } };
    await put(Item);
    const ask = (more: object) =>
      call(engine, 'SearchVectors', {
        TableName: 'notes',
        IndexName: 'byMeaning',
        SearchVector: Item.embedding.L,
        TopK: 1,
        ...more,
      });
    expect(await ask({})).toEqual({ SearchResults: [{ Item: { pk: { S: 'precise' } }, Score: 0 }] });
    expect(await ask({ ProjectionExpression: 'pk, embedding, elsewhere' })).toEqual({
      SearchResults: [
        {
          Item: { pk: { S: 'precise' }, embedding: { L: [{ N: '0.1' }, { N: '16777216' }, { N: '1' }] } },
          Score: 0,
        },
      ],
    });
    const { Item: stored } = await call(engine, 'GetItem', {
      TableName: 'notes',
      Key: { pk: { S: 'precise' } },
    });
    expect(stored).toEqual(Item);
  });

  test.each([
    ['KEYS_ONLY', undefined, { pk: { S: 'a' }, tenant: { S: 't' } }],
    ['INCLUDE', ['title'], { pk: { S: 'a' }, tenant: { S: 't' }, title: { S: 'A' } }],
  ])('shows what is projected: %s', async (ProjectionType, NonKeyAttributes, expected) => {
    const index = vectorIndex({ IndexName: 'ofTenant', SearchSchema: tenantAndCategory });
    const VectorIndexes = [{ ...index, Projection: { ProjectionType, NonKeyAttributes } }];
    await call(engine, 'CreateTable', vectorTable('notes', { VectorIndexes }));
    await put(note('a', [1, 0, 0], { tenant: { S: 't' }, title: { S: 'A' }, elsewhere: { S: 'B' } }));
    const ask = {
      TableName: 'notes',
      IndexName: 'ofTenant',
      SearchVector: searchVector(1, 0, 0),
      TopK: 1,
      SearchConditionExpression: 'tenant = :t',
      ExpressionAttributeValues: { ':t': { S: 't' } },
    };
    const { SearchResults } = await call(engine, 'SearchVectors', ask);
    expect(SearchResults).toEqual([{ Item: expected, Score: 0 }]);
    const { SearchResults: chosen } = await call(engine, 'SearchVectors', {
      ...ask,
      ProjectionExpression: 'elsewhere, tenant',
    });
    expect(chosen).toEqual([{ Item: { tenant: { S: 't' } }, Score: 0 }]);
  });

  describe('with a search schema', () => {
    const byTenant = {
      IndexName: 'ofTenant',
      SearchConditionExpression: 'tenant = :t',
      ExpressionAttributeValues: { ':t': { S: 't1' } },
    };
    const both = {
      ...byTenant,
      SearchConditionExpression: 'category = :c AND :t = tenant',
      ExpressionAttributeValues: { ':t': { S: 't1' }, ':c': { S: 'news' } },
    };

    beforeEach(async () => {
      await call(engine, 'CreateTable', vectorTable());
      await put(note('a', [1, 0, 0], { tenant: { S: 't1' }, category: { S: 'news' } }));
      await put(note('b', [1, 1, 0], { tenant: { S: 't1' } }));
      await put(note('c', [1, 0, 0], { tenant: { S: 't2' }, category: { S: 'news' } }));
      await put(note('d', [1, 0, 0]));
    });

    const keysOf = async (more: object) => (await search(engine, [1, 0, 0], more)).map(({ pk }) => pk);

    test('sees one partition, and of it what the filters allow', async () => {
      expect(await keysOf({})).toEqual(['a', 'c', 'd', 'b']);
      expect(await keysOf(byTenant)).toEqual(['a', 'b']);
      expect(await keysOf(both)).toEqual(['a']);
      expect(
        await keysOf({ ...both, ExpressionAttributeValues: { ':t': { S: '' }, ':c': { S: '' } } }),
      ).toEqual([]);
    });

    test('follows an item to another partition, out of the index and back', async () => {
      await put(note('a', [1, 0, 0], { tenant: { S: 't2' } }));
      expect(await keysOf(byTenant)).toEqual(['b']);
      const change = (UpdateExpression: string, ExpressionAttributeValues?: object) =>
        call(engine, 'UpdateItem', {
          TableName: 'notes',
          Key: { pk: { S: 'b' } },
          UpdateExpression,
          ExpressionAttributeValues,
        });
      await change('REMOVE tenant');
      expect(await keysOf(byTenant)).toEqual([]);
      expect(await keysOf({})).toContain('b');
      await change('SET tenant = :t', { ':t': { S: 't1' } });
      expect(await keysOf(byTenant)).toEqual(['b']);
      await change('REMOVE embedding');
      expect(await keysOf(byTenant)).toEqual([]);
      await change('SET embedding = :v', { ':v': vectorValue(0, 1, 0) });
      await change('SET embedding[0] = :n', { ':n': { N: '5' } });
      expect((await search(engine, [5, 1, 0], byTenant))[0]).toEqual({ pk: 'b', score: 0 });
      await call(engine, 'DeleteItem', { TableName: 'notes', Key: { pk: { S: 'b' } } });
      expect(await keysOf(byTenant)).toEqual([]);
      expect(engine.check().problems).toEqual([]);
    });

    const condition = 'SearchConditionExpression';
    const comparator = `Invalid ${condition}: Invalid comparator used in ${condition}`;
    const operator = `Invalid ${condition}: Invalid operator used in ${condition}`;
    const withExpression = (expression: string) => ({ ...both, [condition]: expression });
    test.each([
      [
        { TopK: 101 },
        "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive",
      ],
      [
        { TopK: 0 },
        "1 validation error detected: Value '0' at 'topK' failed to satisfy constraint: Member must have value greater " +
          'than or equal to 1',
      ],
      [{ IndexName: 'other' }, 'The table does not have the specified index: other'],
      [{ IndexName: 'ofTenant' }, `${condition} must be provided when SearchSchema has a HASH key`],
      [withExpression('tenant = :t AND category < :c'), comparator],
      [withExpression('tenant < :t AND category = :c'), comparator],
      [withExpression('tenant = :t AND begins_with(category, :c)'), comparator],
      [withExpression('tenant = :t OR category = :c'), operator],
      [withExpression('tenant = :t AND NOT category = :c'), operator],
      [
        withExpression('tenant = :t AND tenant = :c'),
        `${condition} must only contain one condition per attribute`,
      ],
      [
        withExpression('tenant = :t AND category.part1 = :c'),
        `${condition} cannot have conditions on nested attributes`,
      ],
      [
        {
          IndexName: 'ofTenant',
          [condition]: 'category = :c',
          ExpressionAttributeValues: { ':c': { S: 'news' } },
        },
        `${condition} must have all HASH attributes`,
      ],
      [
        { ...byTenant, IndexName: 'byMeaning' },
        `${condition} must not contain any attributes that is not in SearchSchema. Invalid attribute: tenant`,
      ],
      [
        { ...byTenant, ExpressionAttributeValues: { ':t': { N: '1' } } },
        "Search condition value for attribute 'tenant' does not match type in search schema",
      ],
      [
        { ...byTenant, ExpressionAttributeValues: { ':t': { S: 't' }, ':u': { S: 'u' } } },
        'Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}',
      ],
      [
        { SearchVector: searchVector(1, 0) },
        'Input search vector dimension 2 does not match vector index dimension 3',
      ],
      [
        { SearchVector: [vectorValue(1, 0, 0)] },
        'Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point number ' +
          'attribute',
      ],
    ])('is refused: %j', async (more, message) => {
      await expectRefusal(search(engine, [1, 0, 0], more), message);
    });
  });

  test('meters a floor, and more for long vectors and large answers', async () => {
    const VectorIndexes = [vectorIndex({ Dimensions: 1024 })];
    await call(engine, 'CreateTable', hashTable('notes', { VectorIndexes }));
    const numbers = Array.from({ length: 1024 }, () => 1);
    await put(note('a', numbers, { text: { S: 'x'.repeat(2000) } }));
    const bytes = async (more: object) =>
      (
        await call(engine, 'SearchVectors', {
          TableName: 'notes',
          IndexName: 'byMeaning',
          SearchVector: searchVector(...numbers),
          TopK: 1,
          ReturnConsumedCapacity: 'TOTAL',
          ...more,
        })
      ).ConsumedCapacity;
    expect(await bytes({})).toEqual({ VectorSearchRequestBytes: 17.6 * 1024 + 3 + 2004 });
    expect(await bytes({ ProjectionExpression: 'embedding', ReturnConsumedCapacity: 'INDEXES' })).toEqual(
      await bytes({}),
    );
    expect(await bytes({ ReturnConsumedCapacity: 'NONE' })).toBeUndefined();
  });

  test('is refused if its answer would be too large', async () => {
    await call(engine, 'CreateTable', vectorTable());
    for (let i = 0; i < 45; i++) await put(note(`n${i}`, [1, 0, 0], { text: { S: 'x'.repeat(380_000) } }));
    await expectRefusal(
      search(engine, [1, 0, 0], { TopK: 45 }),
      'The response exceeds the limit of 16 MB: ask for fewer items (TopK) or for fewer attributes',
    );
    expect(await search(engine, [1, 0, 0], { TopK: 45, ProjectionExpression: 'pk' })).toHaveLength(45);
  });
});
