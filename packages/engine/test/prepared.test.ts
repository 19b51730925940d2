import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';
import type { Change } from '../src/prepared/change.ts';
import type { Test } from '../src/prepared/condition.ts';
import type { Path } from '../src/prepared/values.ts';
import { openTwins } from './engine-fixture.ts';

// Prepared operations have the results of the wire operations, or are not supported.

const TableName = 'things';
const table = {
  TableName,
  AttributeDefinitions: ['pk', 'sk', 'group', 'rank'].map(AttributeName => ({
    AttributeName,
    AttributeType: 'S',
  })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'groups',
      KeySchema: [
        { AttributeName: 'group', KeyType: 'HASH' },
        { AttributeName: 'rank', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a'] },
    },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  BillingMode: 'PAY_PER_REQUEST',
};
const key = { pk: 'p', sk: 's' };

let engine: Engine;
let twin: Engine;
beforeAll(async () => {
  [engine, twin] = await openTwins(table);
});
afterAll(async () => {
  await engine.close();
  await twin.close();
});

const text = fc.constantFrom('', 'a', 'ab', 'b', 'é', '𝄞', '\uffff', '\u0001N');
const number = fc.constantFrom(0, -0, 1, 2, -1, 0.1, 0.2, 1e-7, 2 ** 53 - 1, -(2 ** 53 - 1), 3.5);
const name = fc.constantFrom('a', 'b', 'c');
const value: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 2 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 3 }),
    fc.constantFrom(12345678901234567890n, new Set(['a', 'b']), new Set([1, 2])),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
})).value;
const indexKeys = fc.record(
  { group: fc.constantFrom('g', 'h', '𝄞'), rank: fc.constantFrom('1', '2', 'a\0b') },
  { requiredKeys: [] },
);
// Most items are plain, or few writes to them would be supported.
const plain = fc.oneof(
  text,
  number,
  fc.array(text, { maxLength: 2 }),
  fc.record({ a: number, b: text, c: fc.boolean() }),
);
const item = fc
  .tuple(
    fc.oneof({ arbitrary: fc.dictionary(name, plain), weight: 3 }, fc.dictionary(name, value)),
    indexKeys,
  )
  .map(([attributes, keys]) => ({ ...attributes, ...keys, ...key }));
const operand = fc.oneof({ arbitrary: plain, weight: 3 }, value);
const path: fc.Arbitrary<Path> = fc.oneof(
  { arbitrary: name, weight: 4 },
  fc.constantFrom('pk', 'group'),
  fc.array(name, { minLength: 2, maxLength: 3 }),
);

const test: fc.Arbitrary<Test> = fc.letrec<{ test: Test }>(tie => ({
  test: fc.oneof(
    { maxDepth: 3 },
    fc.record({ op: fc.constantFrom('attribute_exists', 'attribute_not_exists'), path }),
    fc.record({
      op: fc.constantFrom('=', '<>', '<', '<=', '>', '>=', 'begins_with', 'contains'),
      path,
      value: operand,
    }),
    fc.record({ op: fc.constant('in'), path, value: fc.array(value, { minLength: 1, maxLength: 3 }) }),
    fc.record({ op: fc.constant('not'), tests: fc.tuple(tie('test')) }),
    fc.record({
      op: fc.constantFrom('and', 'or'),
      tests: fc.array(tie('test'), { minLength: 2, maxLength: 3 }),
    }),
  ) as fc.Arbitrary<Test>,
})).test;

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ op: fc.constant('remove'), path }),
  fc.record({ op: fc.constantFrom('set', 'set_if_absent'), path, value: operand }),
  fc.record({ op: fc.constant('set'), path: fc.constant('group'), value: fc.constantFrom('g', 'h', '') }),
  fc.record({ op: fc.constant('add'), path, value: number }),
  fc.record({ op: fc.constant('append'), path, value: fc.array(value, { maxLength: 2 }) }),
) as fc.Arbitrary<Change>;

type Placeholders = {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
};

// Writes tests and changes as expressions.
function createWriter() {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const nameOf = (attribute: string) => {
    names[`#${attribute}`] = attribute;
    return `#${attribute}`;
  };
  const pathOf = (one: Path) => (typeof one === 'string' ? nameOf(one) : one.map(nameOf).join('.'));
  const operandOf = (one: unknown) => {
    const placeholder = `:v${Object.keys(values).length}`;
    values[placeholder] = one;
    return placeholder;
  };
  function testText({ op, path: tested, value: operand, tests }: Test): string {
    if (op === 'not') return `NOT (${testText(tests![0]!)})`;
    if (tests) return tests.map(one => `(${testText(one)})`).join(` ${op} `);
    const written = pathOf(tested!);
    if (op.startsWith('attribute_')) return `${op}(${written})`;
    if (op === 'in') return `${written} IN (${(operand as unknown[]).map(operandOf).join(', ')})`;
    if (op === 'begins_with' || op === 'contains') return `${op}(${written}, ${operandOf(operand)})`;
    return `${written} ${op} ${operandOf(operand)}`;
  }
  function changeText({ op, path: changed, value: operand }: Change): [string, string] {
    const written = pathOf(changed);
    switch (op) {
      case 'remove':
        return ['REMOVE', written];
      case 'add':
        return ['ADD', `${written} ${operandOf(operand)}`];
      case 'set':
        return ['SET', `${written} = ${operandOf(operand)}`];
      case 'set_if_absent':
        return ['SET', `${written} = if_not_exists(${written}, ${operandOf(operand)})`];
      case 'append': {
        const old = `if_not_exists(${written}, ${operandOf([])})`;
        return ['SET', `${written} = list_append(${old}, ${operandOf(operand)})`];
      }
    }
  }
  return {
    testText,
    changesText(changes: readonly Change[]): string {
      const clauses = new Map<string, string[]>();
      for (const [clause, written] of changes.map(changeText))
        clauses.set(clause, [...(clauses.get(clause) ?? []), written]);
      return [...clauses].map(([clause, all]) => `${clause} ${all.join(', ')}`).join(' ');
    },
    placeholders: (): Placeholders => ({
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  };
}

type Failure = Error & { Item?: object; CancellationReasons?: { Code: string }[] };
const failure = (error: Failure) => ({
  failure: error.name,
  message: error.message,
  codes: error.CancellationReasons?.map(({ Code }) => Code),
});

async function clear(one: Engine): Promise<void> {
  await one.client.delete({ TableName, Key: key });
}

const prepared = () => engine.client.put.prepared!;
let supported = 0;

describe('prepared conditions', () => {
  it('hold where the expression holds, or are not supported', async () => {
    await fc.assert(
      fc.asyncProperty(fc.option(item), test, async (stored, condition) => {
        await clear(engine);
        if (stored) await engine.client.put({ TableName, Item: stored });
        const { testText, placeholders } = createWriter();
        const ConditionExpression = testText(condition);
        const check = { TableName, Key: key, ConditionExpression, ...placeholders() };
        const wire = await engine.client
          .transactWrite({ TransactItems: [{ ConditionCheck: check }], ReturnConsumedCapacity: 'TOTAL' })
          .then(({ ConsumedCapacity }) => ConsumedCapacity![0]!.CapacityUnits, failure);
        const own = prepared().writeTogether([{ kind: 'check', table: TableName, key, condition }], {
          bills: true,
        });
        const result = await Promise.resolve(own).then(
          done => done && done.ConsumedCapacity![0]!.CapacityUnits,
          failure,
        );
        if (result === undefined) return;
        supported++;
        expect(result).toEqual(wire);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 1500 : 400 },
    );
    expect(supported).toBeGreaterThan(50);
  });
});

describe('text in prepared conditions', () => {
  // In UTF-8; UTF-16 has the second pair the other way round.
  it.each([
    ['a', 'b'],
    ['\uffff', '𝄞'],
    ['a', 'ab'],
  ])('has %j before %j', async (low, high) => {
    await engine.client.put({ TableName, Item: { ...key, a: low } });
    const holds = (op: Test['op'], value: string) =>
      Promise.resolve(
        prepared().writeOne(
          { kind: 'check', table: TableName, key, condition: { op, path: 'a', value } },
          { bills: false },
        ),
      ).then(
        () => true,
        () => false,
      );
    expect(
      await Promise.all([holds('<', high), holds('>=', high), holds('<=', low), holds('>', low)]),
    ).toEqual([true, false, true, false]);
  });
});

describe('prepared updates', () => {
  it('have the result of the expression, or are not supported', async () => {
    supported = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.option(item),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('old', 'new'),
        async (stored, changes, returns) => {
          for (const one of [engine, twin]) {
            await clear(one);
            if (stored) await one.client.put({ TableName, Item: stored });
          }
          const write = { kind: 'update' as const, table: TableName, key, changes };
          const own = await Promise.resolve(
            prepared().writeOne(write, { returns: returns as 'new', bills: true }),
          );
          if (own === undefined) return;
          supported++;
          const { changesText, placeholders } = createWriter();
          const { Attributes, ConsumedCapacity } = await twin.client.update({
            TableName,
            Key: key,
            UpdateExpression: changesText(changes),
            ...placeholders(),
            ReturnValues: returns === 'old' ? 'ALL_OLD' : 'ALL_NEW',
            ReturnConsumedCapacity: 'TOTAL',
          });
          expect(own.item).toEqual(Attributes);
          expect(own.ConsumedCapacity).toEqual(ConsumedCapacity);
          const [one, other] = await Promise.all(
            [engine, twin].map(({ client }) => client.scan({ TableName, IndexName: 'groups' })),
          );
          expect(one).toEqual(other);
          expect((await engine.client.get({ TableName, Key: key })).Item).toEqual(
            (await twin.client.get({ TableName, Key: key })).Item,
          );
        },
      ),
      { numRuns: process.env.STAK_LONG_TESTS ? 1000 : 300 },
    );
    expect(supported).toBeGreaterThan(12);
    expect(engine.check().problems).toEqual([]);
  });
});

describe('the prepared form', () => {
  it('belongs to the function, so that a replacement has none', () => {
    const { client } = engine;
    const wrapped = { ...client, put: (input: Parameters<typeof client.put>[0]) => client.put(input) };
    expect((wrapped.put as typeof client.put).prepared).toBeUndefined();
    expect(wrapped.get.prepared).toBe(client.get.prepared);
  });

  it.each([
    ['a table that does not exist', { table: 'none', item: key }],
    ['an item without its key', { table: TableName, item: { pk: 'p' } }],
    ['an empty key', { table: TableName, item: { pk: 'p', sk: '' } }],
    ['a key that is too long', { table: TableName, item: { pk: 'p', sk: 'x'.repeat(1025) } }],
    ['a key of another type', { table: TableName, item: { pk: 'p', sk: 1 } }],
    ['a key of an index of another type', { table: TableName, item: { ...key, group: 1 } }],
    ['an empty key of an index', { table: TableName, item: { ...key, group: '' } }],
    ['text that is not well-formed', { table: TableName, item: { ...key, a: '\ud800' } }],
    ['an item that is too large', { table: TableName, item: { ...key, a: 'x'.repeat(410_000) } }],
    ['a set', { table: TableName, item: { ...key, a: new Set(['x']) } }],
    ['a number beyond doubles', { table: TableName, item: { ...key, a: 12345678901234567890n } }],
    ['bytes inside a map', { table: TableName, item: { ...key, a: { b: new Uint8Array(1) } } }],
  ])('does not support %s, and writes nothing', async (_, write) => {
    await clear(engine);
    const result = await Promise.resolve(prepared().writeOne({ kind: 'put', ...write }, { bills: false }));
    expect(result).toBeUndefined();
    expect((await engine.client.get({ TableName, Key: key })).Item).toBeUndefined();
  });

  it('does not support one item twice in a transaction', async () => {
    const put = { kind: 'put' as const, table: TableName, item: key };
    for (const writes of [
      Array(2).fill(put),
      [
        ...Array.from({ length: 9 }, (_, i) => ({ ...put, item: { ...key, sk: `${i}` } })),
        { ...put, item: { ...key, sk: '8' } },
      ],
    ])
      expect(await Promise.resolve(prepared().writeTogether(writes, { bills: false }))).toBeUndefined();
  });

  it('sees what another process has changed about a table', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stak-prepared-'));
    const one = await createEngine({ path: folder, joins: false });
    const other = await createEngine({ path: folder, joins: false });
    const put = (sk: string) => ({
      kind: 'put' as const,
      table: TableName,
      item: { pk: 'p', sk, ends: 4e9 },
    });
    const write = async (sk: string) =>
      expect(
        await Promise.resolve(one.client.put.prepared!.writeOne(put(sk), { bills: false })),
      ).toBeDefined();
    try {
      await one.execute('CreateTable', table);
      await write('1');
      await other.execute('UpdateTimeToLive', {
        TableName,
        TimeToLiveSpecification: { AttributeName: 'ends', Enabled: true },
      });
      await other.settled();
      await write('2');
      await one.settled();
      expect(one.check()).toMatchObject({ items: 2, ttlEntries: 2, problems: [] });
    } finally {
      await one.close();
      await other.close();
      rmSync(folder, { recursive: true });
    }
  });
});
