import {
  BatchExecuteStatementCommand,
  ExecuteStatementCommand,
  ExecuteTransactionCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { openMusic, refusal, run, transact } from './partiql-table.ts';

// Batches, transactions, and statements in plain values.

let engine: Engine;
beforeEach(async () => {
  engine = await openMusic();
  await run(engine, `INSERT INTO Music VALUE {'Artist': 'a', 'Song': '1', 'n': 1}`);
  await run(engine, `INSERT INTO Music VALUE {'Artist': 'a', 'Song': '2', 'n': 2}`);
});
afterEach(() => engine.close());

const at = (song: number, artist = 'a') => `WHERE Artist = '${artist}' AND Song = '${song}'`;
const numbers = async () => {
  const { Items } = await run(engine, `SELECT n FROM Music WHERE Artist = 'a'`);
  return Items.map(item => (item.n as { N: string }).N).join(' ');
};

describe('BatchExecuteStatement', () => {
  type Response = { Item?: object; TableName?: string; Error?: object };
  const batch = async (statements: string[], more: object = {}) =>
    (await engine.execute('BatchExecuteStatement', {
      Statements: statements.map(Statement => ({
        Statement,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })),
      ...more,
    })) as { Responses: Response[]; ConsumedCapacity?: object[] };

  it('reads by key, each statement on its own', async () => {
    const needsKey =
      'Select statements within BatchExecuteStatement must specify the primary key in the where clause.';
    expect(
      await batch([
        `SELECT n FROM Music ${at(1)}`,
        `SELECT * FROM Music ${at(9)}`,
        `SELECT * FROM Music WHERE Artist = 'a'`,
        `SELECT * FROM Music ${at(1)} AND n = 1`,
        `SELECT * FROM Nope ${at(1)}`,
        `SLECT`,
      ]),
    ).toEqual({
      Responses: [
        { TableName: 'Music', Item: { n: { N: '1' } } },
        { TableName: 'Music' },
        { TableName: 'Music', Error: { Code: 'ValidationError', Message: needsKey } },
        { TableName: 'Music', Error: { Code: 'ValidationError', Message: needsKey } },
        { Error: { Code: 'ResourceNotFound', Message: 'Requested resource not found' } },
        {
          Error: {
            Code: 'ValidationError',
            Message: "Statement wasn't well formed, can't be processed: Expected data manipulation",
          },
        },
      ],
    });
  });

  it('writes what it can', async () => {
    const { Responses, ConsumedCapacity } = await batch(
      [
        `UPDATE Music SET n = n + 10 ${at(1)} RETURNING MODIFIED NEW *`,
        `UPDATE Music SET n = n + 10 ${at(2)} AND n = 1`,
        `INSERT INTO Music VALUE {'Artist': 'a', 'Song': '1'}`,
      ],
      { ReturnConsumedCapacity: 'TOTAL' },
    );
    expect(Responses).toMatchObject([
      { TableName: 'Music', Item: { n: { N: '11' } } },
      { TableName: 'Music', Error: { Code: 'ConditionalCheckFailed', Item: { n: { N: '2' } } } },
      {
        TableName: 'Music',
        Error: { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' },
      },
    ]);
    expect(ConsumedCapacity).toEqual([{ TableName: 'Music', CapacityUnits: 1 }]);
    expect(await numbers()).toBe('11 2');
  });

  it('does not mix reads and writes', async () => {
    const error = await refusal(batch([`SELECT * FROM Music ${at(1)}`, `DELETE FROM Music ${at(2)}`]));
    expect(error.name).toBe('ValidationException');
    expect(await numbers()).toBe('1 2');
  });
});

describe('ExecuteTransaction', () => {
  it('reads one item a statement', async () => {
    const { Responses, ConsumedCapacity } = await transact(
      engine,
      [`SELECT n FROM Music ${at(1)}`, `SELECT * FROM Music ${at(9)}`],
      { ReturnConsumedCapacity: 'TOTAL' },
    );
    expect(Responses).toEqual([{ Item: { n: { N: '1' } } }, {}]);
    expect(ConsumedCapacity).toEqual([{ TableName: 'Music', CapacityUnits: 4, ReadCapacityUnits: 4 }]);
  });

  it('writes all or nothing', async () => {
    await transact(engine, [
      `INSERT INTO Music VALUE {'Artist': 'a', 'Song': '3', 'n': 3}`,
      `UPDATE Music SET n = n + 10 ${at(1)}`,
      `EXISTS(SELECT * FROM Music ${at(2)} AND x IS MISSING)`,
    ]);
    expect(await numbers()).toBe('11 2 3');
    const error = await refusal(
      transact(engine, [
        `DELETE FROM Music ${at(1)}`,
        `INSERT INTO Music VALUE {'Artist': 'a', 'Song': '2'}`,
        `EXISTS(SELECT * FROM Music ${at(3)} AND n = 4)`,
        `UPDATE Music SET n = 1 WHERE Artist = 'a'`,
      ]),
    );
    expect(error.name).toBe('TransactionCanceledException');
    expect(error.CancellationReasons).toEqual([
      { Code: 'None' },
      { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' },
      { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      { Code: 'ValidationError', Message: 'The provided key element does not match the schema' },
    ]);
    expect(await numbers()).toBe('11 2 3');
  });

  it('applies a client token once', async () => {
    const add = [`UPDATE Music SET n = n + 10 ${at(1)}`];
    const token = { ClientRequestToken: 'once' };
    await transact(engine, add, token);
    await transact(engine, add, token);
    expect(await numbers()).toBe('11 2');
    const other = await refusal(transact(engine, [`DELETE FROM Music ${at(1)}`], token));
    expect(other.name).toBe('IdempotentParameterMismatchException');
  });

  const failed = (message: string) => `Validation failed in TransactStatements[0]: ${message}`;
  const select = `SELECT * FROM Music ${at(1)}`;
  test.each([
    [[`SELECT`], failed("Statement wasn't well formed, can't be processed: Unexpected term")],
    [
      [`UPDATE Music SET n = 1 ${at(1)} RETURNING ALL NEW *`],
      failed('RETURNING clause is not supported in ExecuteTransaction.'),
    ],
    [
      [`SELECT * FROM "Music"."ByAlbum" ${at(1)}`],
      failed('Reads on indices are not supported within transactions.'),
    ],
    [
      [`${select} AND n = 1`],
      failed('Select statements within ExecuteTransaction must specify the primary key in the where clause.'),
    ],
    [
      [`EXISTS(${select})`, `DELETE FROM Music ${at(2)}`],
      failed('EXISTS() must contain a single item read with additional condition'),
    ],
    [
      [select, `DELETE FROM Music ${at(2)}`],
      'ExecuteTransaction API does not support both read and write operations in the same request.',
    ],
    [[select, select], 'Transaction request cannot include multiple operations on one item'],
    [
      [`DELETE FROM Music ${at(1)}`, `UPDATE Music SET n = 1 ${at(1)}`],
      'Transaction request cannot include multiple operations on one item',
    ],
  ])('%j is refused', async (statements, message) => {
    const error = await refusal(transact(engine, statements));
    expect([error.name, error.message]).toEqual(['ValidationException', message]);
  });

  it('names a missing table among the reasons', async () => {
    const error = await refusal(transact(engine, [select, `SELECT * FROM Nope ${at(1)}`]));
    expect(error.CancellationReasons).toEqual([
      { Code: 'None' },
      { Code: 'ResourceNotFound', Message: 'Requested resource not found' },
    ]);
  });
});

test('the document client uses plain values', async () => {
  const client = engine.documentClient();
  const Statement = `UPDATE Music SET tags = ? ${at(1)} RETURNING ALL NEW *`;
  expect(
    await client.send(new ExecuteStatementCommand({ Statement, Parameters: [new Set(['x'])] })),
  ).toMatchObject({ Items: [{ Artist: 'a', Song: '1', n: 1, tags: new Set(['x']) }] });
  const read = { Statement: `SELECT n FROM Music WHERE Artist = ? AND Song = ?`, Parameters: ['a', '1'] };
  expect(await client.send(new BatchExecuteStatementCommand({ Statements: [read] }))).toMatchObject({
    Responses: [{ TableName: 'Music', Item: { n: 1 } }],
  });
  expect(await client.send(new ExecuteTransactionCommand({ TransactStatements: [read] }))).toMatchObject({
    Responses: [{ Item: { n: 1 } }],
  });
  const page = await client.send(
    new ExecuteStatementCommand({
      Statement: 'SELECT n FROM Music WHERE Artist = ?',
      Parameters: ['a'],
      Limit: 1,
    }),
  );
  expect(page).toMatchObject({ Items: [{ n: 1 }], LastEvaluatedKey: { Artist: 'a', Song: '1' } });
});
