import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { call, hashTable, openEngine } from './engine-fixture.ts';

// Global indexes whose key has several attributes in a part.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

type Attributes = Record<string, { S?: string; N?: string }>;
type Names = [name: string, type: string][];

const definitions = (...attributes: Names) =>
  attributes.map(([name, type]) => ({ AttributeName: name, AttributeType: type }));
const schema = (hash: string[], range: string[]) => [
  ...hash.map(name => ({ AttributeName: name, KeyType: 'HASH' })),
  ...range.map(name => ({ AttributeName: name, KeyType: 'RANGE' })),
];
const index = (hash: string[], range: string[], projection: object = { ProjectionType: 'ALL' }) => ({
  IndexName: 'several',
  KeySchema: schema(hash, range),
  Projection: projection,
});
const matchKeys = definitions(['cup', 'S'], ['land', 'S'], ['round', 'S'], ['score', 'N']);
const byMatch = index(['cup', 'land'], ['round', 'score']);
const withIndex = (global: object, attributes = matchKeys) =>
  hashTable('matches', {
    AttributeDefinitions: [...definitions(['pk', 'S']), ...attributes],
    GlobalSecondaryIndexes: [global],
  });

const match = (pk: string, cup: string, land: string, round: string, score: number): Attributes => ({
  pk: { S: pk },
  cup: { S: cup },
  land: { S: land },
  round: { S: round },
  score: { N: String(score) },
});
const matches = [
  match('1', 'winter', 'eu', 'final', 3),
  match('2', 'winter', 'eu', 'final', 20),
  match('3', 'winter', 'eu', 'final', -4),
  match('4', 'winter', 'eu', 'fin', 9),
  match('5', 'winter', 'na', 'final', 1),
  match('6', 'wintere', 'u', 'final', 1),
];
const put = (item: object, table = 'matches') => call(engine, 'PutItem', { TableName: table, Item: item });

async function fill(): Promise<void> {
  await call(engine, 'CreateTable', withIndex(byMatch));
  for (const item of matches) await put(item);
}

const values = { ':c': 'winter', ':r': 'eu', ':f': 'final', ':p': 'fi', ':three': 3, ':lo': -4, ':hi': 3 };
const query = (condition: string, more: object = {}) =>
  call(engine, 'Query', {
    TableName: 'matches',
    IndexName: 'several',
    KeyConditionExpression: condition,
    ExpressionAttributeValues: Object.fromEntries(
      Object.entries(values)
        .filter(([name]) => condition.includes(name))
        .map(([name, value]) => [name, typeof value === 'string' ? { S: value } : { N: String(value) }]),
    ),
    ...more,
  });
const found = async (condition: string, more: object = {}) =>
  (await query(condition, more)).Items!.map(item => (item as Attributes).pk!.S).join('');

describe('CreateTable and UpdateTable', () => {
  const many = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
  const strings = (...names: string[]) => definitions(...names.map(name => [name, 'S'] as [string, string]));

  it('describe the key as it was given, up to four attributes in each part', async () => {
    const [hash, range] = [many('h', 4), many('r', 4)];
    await call(engine, 'CreateTable', withIndex(index(hash, range), strings(...hash, ...range)));
    const { Table } = await call(engine, 'DescribeTable', { TableName: 'matches' });
    expect(Table.GlobalSecondaryIndexes).toMatchObject([{ KeySchema: schema(hash, range) }]);
    expect(Table.AttributeDefinitions.map(({ AttributeName }) => AttributeName)).toEqual([
      'pk',
      ...hash,
      ...range,
    ]);
  });

  const invalid = 'One or more parameter values were invalid: ';
  it.each([
    [
      schema(many('h', 5), []),
      `${invalid}The KeySchema exceeds the maximum allowed number of HASH key attributes`,
    ],
    [
      schema(['h0'], many('r', 5)),
      `${invalid}The KeySchema exceeds the maximum allowed number of RANGE key attributes`,
    ],
    [
      [...schema(['h0'], ['r0']), ...schema(['h1'], [])],
      `${invalid}All HASH key attributes must precede RANGE key attributes in the KeySchema`,
    ],
    [schema([], ['r0', 'r1']), 'Invalid KeySchema: The first KeySchemaElement is not a HASH key type'],
    [schema(['h0', 'h0'], []), 'The KeySchema contains multiple key attributes with the same name'],
    [schema(['h0', 'h1'], ['h0']), 'The KeySchema contains multiple key attributes with the same name'],
  ])('refuse %j', async (KeySchema, message) => {
    const names = [...new Set(KeySchema.map(({ AttributeName }) => AttributeName))];
    const wrong = { ...index([], []), KeySchema };
    await expect(call(engine, 'CreateTable', withIndex(wrong, strings(...names)))).rejects.toThrow(message);
    await call(engine, 'CreateTable', hashTable('plain'));
    await expect(
      call(engine, 'UpdateTable', {
        TableName: 'plain',
        AttributeDefinitions: strings(...names),
        GlobalSecondaryIndexUpdates: [{ Create: wrong }],
      }),
    ).rejects.toThrow(message);
  });

  it('refuse an attribute without a definition, and several attributes for a table or a local index', async () => {
    await expect(call(engine, 'CreateTable', withIndex(byMatch, matchKeys.slice(1)))).rejects.toThrow(
      'Some index key attributes are not defined in AttributeDefinitions',
    );
    const table = { ...withIndex(byMatch), KeySchema: schema(['pk', 'cup'], ['round']) };
    const tooLong = 'Member must have length less than or equal to 2';
    await expect(call(engine, 'CreateTable', table)).rejects.toThrow(tooLong);
    const local = { LocalSecondaryIndexes: [index(['pk'], ['round', 'score'])] };
    await expect(call(engine, 'CreateTable', hashTable('locals', local))).rejects.toThrow(tooLong);
  });

  it('fill an index that is added later, and forget its types when it is dropped', async () => {
    await call(engine, 'CreateTable', hashTable('matches'));
    for (const item of matches) await put(item);
    await put({ ...matches[0], pk: { S: '7' }, score: { S: 'not a number' } });
    const { land: _, ...partial } = matches[0]!;
    await put({ ...partial, pk: { S: '8' } });
    await call(engine, 'UpdateTable', {
      TableName: 'matches',
      AttributeDefinitions: matchKeys,
      GlobalSecondaryIndexUpdates: [{ Create: byMatch }],
    });
    await engine.settled();
    expect(await found('cup = :c AND land = :r')).toBe('4312');
    await expect(put({ ...matches[0], land: { N: '1' } })).rejects.toThrow(
      'Type mismatch for Index Key land',
    );
    expect(engine.check().problems).toEqual([]);
    await call(engine, 'UpdateTable', {
      TableName: 'matches',
      GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'several' } }],
    });
    await engine.settled();
    await put({ ...matches[0], land: { N: '1' } });
    expect(engine.check().problems).toEqual([]);
  });
});

describe('writes', () => {
  beforeEach(fill);
  const change = (pk: string, expression: string, given?: object) =>
    call(engine, 'UpdateItem', {
      TableName: 'matches',
      Key: { pk: { S: pk } },
      UpdateExpression: expression,
      ...(given && { ExpressionAttributeValues: given }),
    });

  it.each(['cup', 'land', 'round', 'score'])('remove an item without %s from the index', async name => {
    await change('1', `REMOVE #a`.replace('#a', name));
    expect(await found('cup = :c AND land = :r AND round = :f')).toBe('32');
    await change('1', `SET ${name} = :v`, { ':v': matches[0]![name] });
    expect(await found('cup = :c AND land = :r AND round = :f')).toBe('312');
    expect(engine.check().problems).toEqual([]);
  });

  it('move an entry when any attribute of the key changes', async () => {
    await change('5', 'SET land = :r, score = :s', { ':r': { S: 'eu' }, ':s': { N: '4' } });
    expect(await found('cup = :c AND land = :r')).toBe('43152');
    await call(engine, 'DeleteItem', { TableName: 'matches', Key: { pk: { S: '1' } } });
    expect(await found('cup = :c AND land = :r')).toBe('4352');
  });

  it('refuse a key attribute that is empty, of another type, or too long with the others', async () => {
    const base = matches[0]!;
    await expect(put({ ...base, round: { N: '1' } })).rejects.toThrow(
      'Type mismatch for Index Key round Expected: S Actual: N IndexName: several',
    );
    await expect(put({ ...base, land: { S: '' } })).rejects.toThrow('empty string value. IndexName: several');
    await expect(
      put({ ...base, cup: { S: 'x'.repeat(1024) }, land: { S: 'y'.repeat(1025) } }),
    ).rejects.toThrow('Size of hashkey has exceeded the maximum size limit of2048 bytes');
    await put({ ...base, cup: { S: 'x'.repeat(1024) }, land: { S: 'y'.repeat(1024) } });
    await expect(change('2', 'SET round = :v', { ':v': { S: 'x'.repeat(1024) } })).rejects.toThrow(
      'Aggregated size of all range keys has exceeded',
    );
    await change('2', 'SET round = :v', { ':v': { S: 'x'.repeat(1023) } });
    expect(engine.check().problems).toEqual([]);
  });

  it('bill a moved key twice and an unchanged one not at all', async () => {
    const units = async (item: object) =>
      (await call(engine, 'PutItem', { TableName: 'matches', Item: item, ReturnConsumedCapacity: 'INDEXES' }))
        .ConsumedCapacity?.GlobalSecondaryIndexes?.several?.CapacityUnits;
    expect(await units({ ...matches[0], score: { N: '99' } })).toBe(2);
    expect(await units({ ...matches[0], score: { N: '99' } })).toBeUndefined();
    expect(await units({ ...matches[0], score: { N: '99' }, other: { S: 'x' } })).toBe(1);
  });
});

describe('Query', () => {
  beforeEach(fill);

  it.each([
    ['cup = :c AND land = :r', '4312'],
    ['land = :r AND cup = :c AND round = :f', '312'],
    ['cup = :c AND land = :r AND begins_with(round, :p)', '4312'],
    ['cup = :c AND land = :r AND round < :f', '4'],
    ['cup = :c AND land = :r AND round = :f AND score > :three', '2'],
    ['cup = :c AND land = :r AND score = :three AND round = :f', '1'],
    ['cup = :c AND land = :r AND round = :f AND score BETWEEN :lo AND :hi', '31'],
  ])('%s', async (condition, expected) => {
    expect(await found(condition)).toBe(expected);
    expect(await found(condition, { ScanIndexForward: false })).toBe([...expected].toReversed().join(''));
  });

  it('reads page after page, with every key attribute in the cursor', async () => {
    const pages: string[] = [];
    let start: object | undefined;
    do {
      const page = await query('cup = :c AND land = :r', {
        Limit: 1,
        ...(start && { ExclusiveStartKey: start }),
      });
      pages.push(...page.Items!.map(item => (item as Attributes).pk!.S!));
      start = page.LastEvaluatedKey as object | undefined;
      if (start) expect(Object.keys(start).sort()).toEqual(['cup', 'land', 'pk', 'round', 'score']);
    } while (start);
    expect(pages.join('')).toBe('4312');
    const { round: _, ...incomplete } = matches[0]!;
    await expect(query('cup = :c AND land = :r', { ExclusiveStartKey: incomplete })).rejects.toThrow(
      'The provided starting key is invalid',
    );
    await expect(query('cup = :c AND land = :r', { ExclusiveStartKey: matches[4] })).rejects.toThrow(
      'The provided starting key is outside query boundaries',
    );
  });

  it('accepts the older KeyConditions too', async () => {
    const equal = (value: object) => ({ ComparisonOperator: 'EQ', AttributeValueList: [value] });
    const conditions = { cup: equal({ S: 'winter' }), land: equal({ S: 'eu' }) };
    const ask = (more: object) =>
      call(engine, 'Query', {
        TableName: 'matches',
        IndexName: 'several',
        KeyConditions: { ...conditions, ...more },
      });
    const greater = { ComparisonOperator: 'GT', AttributeValueList: [{ N: '-4' }] };
    const answer = await ask({ round: equal({ S: 'final' }), score: greater });
    expect(answer.Items!.map(item => (item as Attributes).pk!.S)).toEqual(['1', '2']);
    await expect(ask({ score: greater })).rejects.toThrow('RANGE key attributes round must have equality');
  });

  it('filters on anything but the key of the index', async () => {
    for (const name of ['land', 'score']) {
      await expect(
        query('cup = :c AND land = :r', { FilterExpression: `attribute_exists(${name})` }),
      ).rejects.toThrow(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${name}`,
      );
    }
    expect(await found('cup = :c AND land = :r', { FilterExpression: 'attribute_exists(pk)' })).toBe('4312');
  });
});

it('Scan returns what the index projects, its whole key included', async () => {
  await call(
    engine,
    'CreateTable',
    withIndex(index(['cup', 'land'], ['round', 'score'], { ProjectionType: 'KEYS_ONLY' })),
  );
  for (const item of matches) await put({ ...item, other: { S: 'hidden' } });
  await put({ pk: { S: '9' }, cup: { S: 'winter' } });
  const pks: string[] = [];
  let start: object | undefined;
  do {
    const page = await call(engine, 'Scan', {
      TableName: 'matches',
      IndexName: 'several',
      Limit: 2,
      ...(start && { ExclusiveStartKey: start }),
    });
    for (const item of page.Items as unknown as Attributes[]) {
      expect(Object.keys(item).sort()).toEqual(['cup', 'land', 'pk', 'round', 'score']);
      pks.push(item.pk!.S!);
    }
    start = page.LastEvaluatedKey as object | undefined;
  } while (start);
  expect(pks.sort().join('')).toBe('123456');
});

describe('PartiQL', () => {
  beforeEach(fill);
  const select = async (where: string) =>
    (
      await call(engine, 'ExecuteStatement', {
        Statement: `SELECT pk FROM "matches"."several" WHERE ${where}`,
      })
    )
      .Items!.map(item => (item as Attributes).pk!.S)
      .join('');

  it.each([
    [`cup = 'winter' AND land = 'eu'`, '4312'],
    [`cup = 'winter' AND land = 'eu' AND round = 'final' AND score > -4`, '12'],
    [`cup = 'winter' AND land IN ['na', 'eu'] AND round = 'final' ORDER BY land ASC, round DESC`, '2135'],
    [`cup = 'winter' AND land = 'eu' AND score = 9`, '4'],
    [`cup = 'winter' AND land = 'eu' ORDER BY round DESC`, '2134'],
  ])('%s', async (where, expected) => {
    expect(await select(where)).toBe(expected);
  });

  it('scans the index if a hash attribute is not given', async () => {
    expect([...(await select(`cup = 'winter'`))].sort().join('')).toBe('12345');
  });
});
