import { describe, expect, it } from 'vitest';
import { type Refusal, refusal } from './refusal.ts';

const TableName = 'things';
const Key = { pk: { S: 'a' } };
const Item = { pk: { S: 'a' } };

const keys = (count: number) => Array.from({ length: count }, (_, i) => ({ pk: { S: `k${i}` } }));
const batches: Refusal[] = [
  [
    'no tables to read',
    'BatchGetItem',
    { RequestItems: {} },
    'The requestItems parameter is required for BatchGetItem',
  ],
  [
    'no tables to write',
    'BatchWriteItem',
    { RequestItems: {} },
    'The requestItems parameter is required for BatchWriteItem',
  ],
  [
    'more than 100 keys',
    'BatchGetItem',
    { RequestItems: { things: { Keys: keys(101) } } },
    "1 validation error detected: Value at 'RequestItems.things.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100",
  ],
  [
    'more than 100 keys in two tables',
    'BatchGetItem',
    { RequestItems: { things: { Keys: keys(60) }, others: { Keys: keys(60) } } },
    'Too many items requested for the BatchGetItem call',
  ],
  [
    'no keys',
    'BatchGetItem',
    { RequestItems: { things: { Keys: [] } } },
    "1 validation error detected: Value at 'RequestItems.things.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  [
    'an expression for one table and the older parameter for another',
    'BatchGetItem',
    {
      RequestItems: {
        things: { Keys: keys(1), ProjectionExpression: 'pk' },
        others: { Keys: keys(1), AttributesToGet: ['pk'] },
      },
    },
    'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}',
  ],
  [
    'a table that no table can be called',
    'BatchGetItem',
    { RequestItems: { 'bad!name': { Keys: [{ pk: { S: 'a' } }] } } },
    '1 validation error detected: Value \'{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}\' at \'requestItems\' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]',
  ],
  [
    'bytes under a name that no table can have',
    'BatchWriteItem',
    { RequestItems: { 'bad!name': [{ PutRequest: { Item: { pk: { B: 'AQI=' } } } }] } },
    '1 validation error detected: Value \'{"bad!name":[{"PutRequest":{"Item":{"pk":{"B":"AQI="}}}}]}\' at \'requestItems\' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]',
  ],
  [
    'a request to do nothing',
    'BatchWriteItem',
    { RequestItems: { things: [{}] } },
    'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
  ],
  [
    'no actions',
    'TransactWriteItems',
    { TransactItems: [] },
    "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  [
    'an action without an operation',
    'TransactWriteItems',
    { TransactItems: [{}] },
    'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request',
  ],
  [
    'two actions in one',
    'TransactWriteItems',
    { TransactItems: [{ Put: { TableName, Item }, Delete: { TableName, Key } }] },
    'TransactItems can only contain one of Check, Put, Update or Delete',
  ],
  [
    'an update of nothing',
    'TransactWriteItems',
    { TransactItems: [{ Update: { TableName, Key } }] },
    "1 validation error detected: Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy constraint: Member must not be null",
  ],
  [
    'a put over 400 KB',
    'TransactWriteItems',
    { TransactItems: [{ Put: { TableName, Item: { ...Item, big: { S: 'x'.repeat(409_600) } } } }] },
    'Item size has exceeded the maximum allowed size',
  ],
  [
    'more than 4 MB',
    'TransactWriteItems',
    {
      TransactItems: keys(12).map(key => ({
        Put: { TableName, Item: { ...key, big: { S: 'x'.repeat(350_000) } } },
      })),
    },
    'Collection size of items exceeded, which can also be caused by the aggregate size of the items in the transaction exceeding the 4MB limit',
  ],
  [
    'a null in a list',
    'TransactGetItems',
    { TransactItems: [null] },
    "1 validation error detected: Value null at 'transactItems.1.member' failed to satisfy constraint: Member must not be null",
  ],
  [
    'no statements',
    'BatchExecuteStatement',
    { Statements: [] },
    "1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
];

it.each(batches)('%s (%s)', (_title, operation, body, message) => {
  expect(refusal(operation, body)).toBe(message);
});

describe('what a message repeats', () => {
  it('prints the requests of a batch that is too long', () => {
    const requests = keys(26).map(Item => ({ PutRequest: { Item } }));
    expect(refusal('BatchWriteItem', { RequestItems: { things: requests } })).toMatch(
      /^1 validation error detected: Value '\{things=\[.+\]\}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have length greater than or equal to 1\]$/s,
    );
  });

  it('is truncated if the request is huge', () => {
    const huge = { TableName: 'x'.repeat(1_000_000), Item };
    expect(refusal('PutItem', huge)?.length).toBeLessThan(10_000);
    const many = { TransactItems: keys(101).map(Key => ({ Get: { TableName: 'x'.repeat(200), Key } })) };
    expect(refusal('TransactGetItems', many)).toMatch(
      /^1 validation error detected: Value '\[.+\]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100$/,
    );
  });

  it('stops after ten errors', () => {
    const request = { TransactItems: Array.from({ length: 20 }, () => ({})) };
    expect(refusal('TransactGetItems', request)).toMatch(/^10 validation errors detected: /);
  });
});
