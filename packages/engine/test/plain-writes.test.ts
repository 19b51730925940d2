import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { marshalInput } from '../src/client/marshal-input.ts';
import { createPlainWrites } from '../src/client/plain-writes.ts';
import { createEngine, type Engine } from '../src/index.ts';
import { openTwins } from './engine-fixture.ts';

// The usual writes of a client take a shorter way. They have the results, errors and effects of the wire operations.

const TableName = 'things';
const groups = {
  id: 2,
  name: 'groups',
  status: 'ACTIVE',
  keys: { hash: { name: 'group', type: 'S' } },
  projection: { type: 'INCLUDE', attributes: ['a'] },
};
const keys = { hash: { name: 'pk', type: 'S' }, range: { name: 'sk', type: 'S' } };
const table = {
  TableName,
  AttributeDefinitions: ['pk', 'sk', 'group'].map(AttributeName => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'groups',
      KeySchema: [{ AttributeName: 'group', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a'] },
    },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  BillingMode: 'PAY_PER_REQUEST',
};

let engine: Engine;
let twin: Engine;
beforeAll(async () => {
  [engine, twin] = await openTwins(table);
});
afterAll(async () => {
  await engine.close();
  await twin.close();
});

type Write = { operation: 'PutItem' | 'UpdateItem' | 'TransactWriteItems'; input: object };

const wire = async (one: Engine, { operation, input }: Write) =>
  one.execute(operation, marshalInput(operation, input));

const value = fc.oneof(
  fc.constantFrom<unknown>('', 'x', 'é', 0, -0, 1, 2.5, 1e30, Number.NaN, true, null, 5n, '\ud800'),
  fc.constantFrom<unknown>(new Set(['a']), new Uint8Array([1, 2]), new Date(0), undefined, new Map(), [
    1,
    'a',
  ]),
  fc.constantFrom<unknown>({ b: 1 }, { b: new Uint8Array(1) }, { b: undefined }, [[]], {
    __proto__: null,
    b: 'x',
  }),
);
const plain = fc.constantFrom<unknown>('x', 'y', 1, 2, true, null, ['a'], { b: 1 });
const member = fc.oneof({ arbitrary: plain, weight: 12 }, value);
const name = fc.constantFrom('a', 'b', 'count');
const key = fc.record({ pk: fc.constantFrom('p', 'q'), sk: fc.constantFrom('1', '2', '3') });
const anyKey = fc.oneof(
  { arbitrary: key, weight: 12 },
  fc.constantFrom<object>({ pk: 'p' }, { pk: '', sk: '1' }, { pk: 1, sk: '1' }, { pk: 'p', sk: '1', a: 'x' }),
);
const put = fc
  .tuple(
    anyKey,
    fc.dictionary(name, member, { maxKeys: 3 }),
    fc.constantFrom<unknown>(...Array(8).fill(undefined), 'g', 'g', 'g', 'h', 'h', 'h', '', 1),
    fc.constantFrom(
      ...Array<undefined>(4).fill(undefined),
      ...Array<string>(3).fill('attribute_not_exists(pk)'),
      'attribute_not_exists(count)',
      'attribute_not_exists(sk)',
      'attribute_exists(pk)',
      'attribute_not_exists(pk',
      '',
    ),
    fc.constantFrom(TableName, TableName, TableName, TableName, 'none', 7),
  )
  .map(([of, attributes, group, ConditionExpression, table]) => ({
    TableName: table,
    Item: { ...attributes, ...(group !== undefined && { group }), ...of },
    ...(ConditionExpression !== undefined && { ConditionExpression }),
  }));
const update = fc
  .tuple(
    anyKey,
    fc.constantFrom(
      ...Array<string>(6).fill('SET a = :a'),
      ...Array<string>(6).fill('SET a = :a, b = :b'),
      ...Array<string>(4).fill('REMOVE a, b'),
      'SET #n = :a REMOVE b',
      'ADD a :a',
      'ADD #n :a SET b = :b',
      'SET a.b = :a',
      'SET a = a + :a',
      'SET a = if_not_exists(a, :a)',
      'SET a = :a, a = :b',
      'DELETE a :a',
      'SET pk = :a',
      'SET group = :a',
      'SET #g = :a',
      'SET count = :a',
      'SET a = :missing',
      'SET',
    ),
    fc.record({ ':a': member, ':b': member, ':unused': plain }, { requiredKeys: [':a', ':b'] }),
    fc.record(
      { '#n': fc.constantFrom('a', 'b', 'count', ''), '#g': fc.constant('group') },
      { requiredKeys: [] },
    ),
    fc.constantFrom(true, true, true, true, false),
  )
  .map(([Key, UpdateExpression, values, names, isExact]) => {
    // Mostly what the expression uses, and nothing else.
    const used = (all: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(all).filter(([one]) => !isExact || UpdateExpression.includes(one)));
    const [given, called] = [used(values), used(names)];
    return {
      TableName,
      Key,
      UpdateExpression,
      ...(Object.keys(given).length > 0 && { ExpressionAttributeValues: given }),
      ...(Object.keys(called).length > 0 && { ExpressionAttributeNames: called }),
    };
  });
const more = fc.constantFrom<object>({}, {}, {}, {}, { ReturnValues: 'ALL_OLD' });
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.tuple(put, more).map(([input, rest]): Write => ({ operation: 'PutItem', input: { ...input, ...rest } })),
  fc
    .tuple(update, more)
    .map(([input, rest]): Write => ({ operation: 'UpdateItem', input: { ...input, ...rest } })),
  fc
    .array(
      fc.oneof(
        put.map(Put => ({ Put })),
        update.map(Update => ({ Update })),
        key.map(Key => ({ Delete: { TableName, Key } })),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((TransactItems): Write => ({ operation: 'TransactWriteItems', input: { TransactItems } })),
);

const failure = (error: Error & { Item?: object; CancellationReasons?: object[]; current?: object }) => ({
  failure: error.name,
  message: error.message,
  ...(error.CancellationReasons && { reasons: error.CancellationReasons }),
  ...(error.Item && { item: error.Item }),
  ...(error.current && { current: error.current }),
});

// Without the order of attributes.
function sorted(one: unknown): unknown {
  if (one instanceof Set) return [...one].map(sorted);
  if (one instanceof Uint8Array) return [...one];
  if (Array.isArray(one)) return one.map(sorted);
  if (typeof one !== 'object' || one === null) return one;
  const entries = Object.entries(one).map(([is, inner]): [string, unknown] => [is, sorted(inner)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function contentsOf({ client, check, execute }: Engine): Promise<unknown> {
  const [all, groups] = await Promise.all([
    client.scan({ TableName }),
    client.scan({ TableName, IndexName: 'groups' }),
  ]);
  const { items, indexEntries, logRecords, problems } = check();
  const { Table } = (await execute('DescribeTable', { TableName })) as { Table: Record<string, unknown> };
  const { ItemCount, TableSizeBytes } = Table;
  return sorted({ all, groups, items, indexEntries, logRecords, problems, ItemCount, TableSizeBytes });
}

describe('plain writes of a client', () => {
  it('have the answers, errors and effects of the wire operations', { timeout: 120_000 }, async () => {
    let writes = 0;
    let wireCalls = 0;
    const described = { id: 1, name: TableName, keys, indexes: [groups], streams: [] };
    const execute = createPlainWrites(
      { catalog: { find: (of: string) => (of === TableName ? described : undefined) } } as never,
      engine.client.put.prepared!,
      (operation, input) => {
        wireCalls += 1;
        return wire(engine, { operation, input: input as object } as Write);
      },
      new AbortController().signal,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async history => {
        for (const one of history) {
          writes += 1;
          const here = await execute(one.operation, one.input).catch(failure);
          const there = await wire(twin, one).catch(failure);
          expect(
            here,
            JSON.stringify(one, (_, v) => (typeof v === 'bigint' ? `${v}n` : v)),
          ).toEqual(there);
        }
        expect(await contentsOf(engine)).toEqual(await contentsOf(twin));
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 500 : 60, endOnFailure: true },
    );
    // Many are wrong or unusual on purpose. Without any on the shorter way, nothing was compared.
    expect(writes - wireCalls).toBeGreaterThan(writes / 40);
  });

  it('write what was passed, whatever the caller does with it afterwards', async () => {
    const passed = { pk: 'own', sk: '1', group: 'g', a: { b: [1] } };
    const values = { ':a': [1] };
    const writing = [
      engine.client.put({ TableName, Item: passed }),
      engine.client.update({
        TableName,
        Key: { pk: 'own', sk: '2' },
        UpdateExpression: 'SET a = :a',
        ExpressionAttributeValues: values,
      }),
    ];
    Object.assign(passed, { sk: '3', group: 'h' });
    passed.a.b.push(2);
    values[':a'].push(2);
    await Promise.all(writing);
    const { Items } = await engine.client.query({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'own' },
    });
    expect(Items).toEqual([
      { pk: 'own', sk: '1', group: 'g', a: { b: [1] } },
      { pk: 'own', sk: '2', a: [1] },
    ]);
    expect(engine.check().problems).toEqual([]);
  });

  it('are refused when the engine is closed', async () => {
    const closed = await createEngine({ path: ':memory:' });
    await closed.execute('CreateTable', table);
    await closed.close();
    await expect(closed.client.put({ TableName, Item: { pk: 'p', sk: '1' } })).rejects.toThrow(
      'the engine is closed',
    );
  });
});
