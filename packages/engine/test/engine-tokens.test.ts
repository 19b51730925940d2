import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../src/index.ts';
import { call, hashTable, openEngine, testClock } from './engine-fixture.ts';

const clock = testClock();
let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ clock });
  await engine.execute('CreateTable', hashTable('tokens'));
});
afterAll(() => engine.close());

const add = (token: string, bytes: Uint8Array, attribute = 'count') =>
  engine.client.transactWrite({
    ClientRequestToken: token,
    TransactItems: [
      {
        Update: {
          TableName: 'tokens',
          Key: { pk: token },
          UpdateExpression: 'ADD #count :one SET payload = :bytes',
          ExpressionAttributeNames: { '#count': attribute },
          ExpressionAttributeValues: { ':one': 1, ':bytes': bytes },
        },
      },
    ],
  });
const count = async (token: string) =>
  (await engine.client.get({ TableName: 'tokens', Key: { pk: token } })).Item?.count;

describe('a transaction with a client token', () => {
  it('is applied once, however often it is sent, also concurrently', async () => {
    await Promise.all([1, 2, 3].map(() => add('once', Uint8Array.of(1))));
    await add('once', Uint8Array.of(1));
    expect(await count('once')).toBe(1);
  });

  it('is the same request if its bytes have another class', async () => {
    await add('bytes', Uint8Array.of(1, 2, 3));
    await add('bytes', Buffer.from([1, 2, 3]));
    expect(await count('bytes')).toBe(1);
  });

  it('is refused if anything else differs', async () => {
    await add('other', Uint8Array.of(1));
    const mismatch = { name: 'IdempotentParameterMismatchException' };
    await expect(add('other', Uint8Array.of(2))).rejects.toMatchObject(mismatch);
    await expect(add('other', Uint8Array.of(1), 'total')).rejects.toMatchObject(mismatch);
    expect(await count('other')).toBe(1);
  });

  it('may be used again after ten minutes, before and after the sweep', async () => {
    await add('later', Uint8Array.of(1));
    clock.ms += 10 * 60_000 - 1;
    await add('later', Uint8Array.of(1));
    expect(await count('later')).toBe(1);
    clock.ms += 1;
    await add('later', Uint8Array.of(2));
    expect(await count('later')).toBe(2);
    clock.ms += 10 * 60_000;
    await engine.sweep();
    await add('later', Uint8Array.of(2));
    expect(await count('later')).toBe(3);
    expect(engine.check().problems).toEqual([]);
  });

  it('is billed as reads when it is repeated', async () => {
    const write = () =>
      engine.client.transactWrite({
        ClientRequestToken: 'billed',
        ReturnConsumedCapacity: 'TOTAL',
        TransactItems: [
          { Put: { TableName: 'tokens', Item: { pk: 'large', text: 'x'.repeat(5000) } } },
          { Put: { TableName: 'tokens', Item: { pk: 'small' } } },
        ],
      });
    expect((await write()).ConsumedCapacity).toEqual([
      { TableName: 'tokens', CapacityUnits: 12, WriteCapacityUnits: 12 },
    ]);
    expect((await write()).ConsumedCapacity).toEqual([
      { TableName: 'tokens', CapacityUnits: 6, ReadCapacityUnits: 6 },
    ]);
  });

  it('of statements is billed as reads when it is repeated', async () => {
    const write = () =>
      call(engine, 'ExecuteTransaction', {
        ClientRequestToken: 'statements',
        ReturnConsumedCapacity: 'TOTAL',
        TransactStatements: [{ Statement: `INSERT INTO "tokens" VALUE {'pk': 'stated'}` }],
      });
    expect(await write()).toMatchObject({ ConsumedCapacity: [{ WriteCapacityUnits: 2 }] });
    expect(await write()).toMatchObject({ Responses: [{}], ConsumedCapacity: [{ ReadCapacityUnits: 2 }] });
  });

  it('leaves nothing behind if it was cancelled', async () => {
    const write = (ConditionExpression: string) =>
      engine.client.transactWrite({
        ClientRequestToken: 'cancelled',
        TransactItems: [{ Put: { TableName: 'tokens', Item: { pk: 'c' }, ConditionExpression } }],
      });
    await expect(write('attribute_exists(pk)')).rejects.toMatchObject({
      name: 'TransactionCanceledException',
    });
    await write('attribute_not_exists(pk)');
    expect((await engine.client.get({ TableName: 'tokens', Key: { pk: 'c' } })).Item).toEqual({ pk: 'c' });
  });
});

describe('a transaction with several faults', () => {
  const deep = (depth: number): object => (depth === 0 ? { S: 'x' } : { M: { n: deep(depth - 1) } });
  const tooDeep = { Put: { TableName: 'tokens', Item: { pk: { S: 'deep' }, data: deep(32) } } };
  const nowhere = { Put: { TableName: 'nowhere', Item: { pk: { S: 'a' } } } };
  const check = (more: object = {}) => ({
    ConditionCheck: {
      TableName: 'tokens',
      Key: { pk: { S: 'checked' } },
      ConditionExpression: 'attribute_not_exists(pk)',
      ...more,
    },
  });
  const malformed = check({ ConditionExpression: 'attribute_not_exists(' });
  const unused = check({ ExpressionAttributeValues: { ':v': { S: 'x' } } });
  const syntax = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("';
  const leftOver = 'Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}';

  it.each([
    [[malformed, tooDeep], syntax],
    [[tooDeep, malformed], 'Nesting Levels have exceeded supported limits'],
    [[nowhere, malformed], syntax],
    [[nowhere, unused], leftOver],
    [[unused, nowhere], leftOver],
    [[check(), unused], leftOver],
  ])('reports the first fault visible in the request alone, case %#', async (TransactItems, message) => {
    await expect(engine.execute('TransactWriteItems', { TransactItems })).rejects.toThrow(message);
  });
});
