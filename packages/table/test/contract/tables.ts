import { type Clock, systemClock } from '@stak/kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTables, defineTable } from '../../src/index.ts';
import { inbox } from '../example-table.ts';
import { awsError, impatientClock, type Target } from './target.ts';

const keys = { partition: 'pk', sort: 'sk' } as const;

export function testTables(target: () => Target): void {
  // Another one each time: ExtendDB keeps the shards of a deleted table's stream, and refuses a stream of that name.
  let name = '';
  beforeEach(() => {
    name = `example-small-${crypto.randomUUID()}`;
  });
  // Elsewhere a table is ready in seconds, here at once.
  const isHere = process.env.DYNAMODB_ENDPOINT === undefined;
  const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(isHere ? ms / 20 : ms, signal);
  const clock = { ...systemClock, sleep };
  const make = (...tables: Parameters<typeof createTables>[1]) =>
    createTables(target().control, tables, { clock });
  const describeSmall = async () =>
    ((await target().control.execute('DescribeTable', { TableName: name })) as { Table: Description }).Table;
  type Description = {
    GlobalSecondaryIndexes?: { IndexName: string; Projection: object }[];
    StreamSpecification?: object;
  };

  afterEach(() =>
    target()
      .control.execute('DeleteTable', { TableName: name })
      .catch(() => {}),
  );

  it('leaves a table alone that is as designed', async () => {
    expect(await make(inbox)).toEqual([{ table: inbox.name, done: [] }]);
  });

  it('creates a table, and adds what the design has gained', async () => {
    expect(await make(defineTable({ name, keys }))).toEqual([{ table: name, done: ['create the table'] }]);
    const grown = defineTable({
      name,
      keys,
      indexes: {
        one: { partition: 'onepk', sort: 'onesk' },
        two: { partition: 'twopk', project: ['title'] },
      },
      ttl: 'ttl',
      stream: 'NEW_IMAGE',
    });
    expect(await make(grown)).toEqual([
      {
        table: name,
        done: ['add the index one', 'add the index two', 'enable the stream', 'enable expiry by ttl'],
      },
    ]);
    const { GlobalSecondaryIndexes = [], StreamSpecification } = await describeSmall();
    expect(GlobalSecondaryIndexes.map(index => index.IndexName).sort()).toEqual(['one', 'two']);
    expect(StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_IMAGE' });
    expect((await make(grown))[0]?.done).toEqual([]);
  });

  it('is created once by servers that start together', async () => {
    const indexes = { one: { partition: 'onepk' }, two: { partition: 'twopk' } } as const;
    for (const table of [
      defineTable({ name, keys }),
      defineTable({ name, keys, indexes, ttl: 'ttl', stream: 'NEW_IMAGE' }),
    ]) {
      await Promise.all([make(table), make(table), make(table)]);
      expect(await make(table)).toEqual([{ table: name, done: [] }]);
    }
  });

  it('is created although the store fails for a moment', async () => {
    const { control } = target();
    const failed = new Set<string>();
    const execute: typeof control.execute = async (operation, input) => {
      if (failed.has(operation)) return control.execute(operation, input);
      failed.add(operation);
      throw awsError('InternalServerError', { $metadata: { httpStatusCode: 500 } });
    };
    const clock = impatientClock();
    const table = defineTable({ name, keys, ttl: 'ttl' });
    await createTables({ execute }, [table], { clock: { ...systemClock, ...clock } });
    expect([...failed]).toEqual(['DescribeTable', 'CreateTable', 'DescribeTimeToLive', 'UpdateTimeToLive']);
    expect(clock.slept.length).toBeGreaterThanOrEqual(failed.size);
  });

  it('reports why DynamoDB refuses a design', async () => {
    // A name has three characters at least.
    const short = defineTable({ name, keys, indexes: { me: { partition: 'mepk' } } });
    await expect(make(short)).rejects.toThrow(/indexName/i);
    await make(defineTable({ name, keys }));
    await expect(make(short)).rejects.toThrow(/indexName/i);
  });

  it('refuses a table that contradicts its design, with the differences', async () => {
    await make(
      defineTable({
        name,
        keys,
        indexes: { one: { partition: 'onepk', sort: 'onesk' }, more: { partition: 'morepk' } },
        ttl: 'ttl',
        stream: 'NEW_IMAGE',
      }),
    );
    const other = defineTable({
      name,
      keys: { partition: 'pk', sort: 'id' },
      indexes: { one: { partition: 'onepk', project: 'KEYS_ONLY' } },
      stream: 'KEYS_ONLY',
    });
    await expect(make(other)).rejects.toMatchObject({
      code: 'table.design_mismatch',
      details: {
        differences: [
          'its key is pk, sk, designed as pk, id',
          'the key of one is onepk, onesk, designed as onepk',
          'the projection of one is ALL, designed as KEYS_ONLY',
          'its stream is NEW_IMAGE, designed as KEYS_ONLY',
        ],
      },
    });
    await expect(make(defineTable({ name, keys, ttl: 'expires' }))).rejects.toThrow(
      /expire by ttl, not by expires/,
    );
  });
}
