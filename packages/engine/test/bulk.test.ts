import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { Bucket } from '../src/transfer/buckets.ts';
import {
  call,
  hashTable,
  newIndex,
  openEngine,
  readStream,
  streaming,
  streamOf,
  testClock,
} from './engine-fixture.ts';

const clock = testClock();
let folder: string;
let engine: Engine;
const open = (buckets: string | (() => Bucket) = join(folder, 'buckets')) =>
  openEngine({ clock, path: join(folder, 'store'), buckets });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stak-bulk-'));
  engine = await open();
  await call(engine, 'CreateTable', hashTable('notes', streaming()));
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});

const fileOf = (key: string) => join(folder, 'buckets', 'bucket', key);
function writeSource(key: string, content: string | Buffer): void {
  mkdirSync(dirname(fileOf(key)), { recursive: true });
  writeFileSync(fileOf(key), content);
}
const itemLine = (pk: string, more: object = {}) => JSON.stringify({ Item: { pk: { S: pk } }, ...more });
const input = (more: { InputS3Configuration?: object; OutputS3Configuration?: object } & object = {}) => ({
  TableName: 'notes',
  ...more,
  InputS3Configuration: {
    S3Bucket: 'bucket',
    S3KeyPrefix: 'in/',
    InputFormat: 'DYNAMODB_JSON',
    ...more.InputS3Configuration,
  },
  OutputS3Configuration: {
    S3Bucket: 'bucket',
    S3KeyPrefix: 'out',
    OutputType: ['ERROR', 'CONDITION_CHECK_FAILURE'],
    ...more.OutputS3Configuration,
  },
});
const start = async (more: object = {}) =>
  (await call(engine, 'StartBulkPutItems', input(more))).BulkOperationDescription;
const describe = async (BulkOperationArn: string) =>
  (await call(engine, 'DescribeBulkOperation', { BulkOperationArn })).BulkOperationDescription;
async function run(more: object = {}) {
  const started = await start(more);
  expect(started).toMatchObject({ BulkOperationStatus: 'IN_PROGRESS', PerformanceTier: 'STANDARD' });
  await engine.settled();
  return describe(started.BulkOperationArn);
}
const reportOf = (arn: string, name: string): Record<string, unknown>[] =>
  readFileSync(fileOf(`out/AWSDynamoDB/${arn.split('/').at(-1)}/${name}-00001.json`), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
const get = async (pk: string) =>
  (await call(engine, 'GetItem', { TableName: 'notes', Key: { pk: { S: pk } } })).Item;
const count = async () => (await call(engine, 'Scan', { TableName: 'notes', Select: 'COUNT' })).Count;

it('items of several files are put into a table that exists, its indexes and its stream', async () => {
  await call(engine, 'UpdateTable', { TableName: 'notes', ...newIndex('byColor', 'color') });
  await engine.settled();
  await call(engine, 'PutItem', { TableName: 'notes', Item: { pk: { S: 'a0' }, old: { S: 'x' } } });
  const color = { Item: { pk: { S: 'a1' }, color: { S: 'red' } } };
  writeSource('in/a.json', `${itemLine('a0')}\n\n${JSON.stringify(color)}\n`);
  writeSource('in/b.json', Array.from({ length: 600 }, (_, n) => itemLine(`b${n}`)).join('\n'));
  writeSource('elsewhere.json', itemLine('no'));
  const done = await run();
  expect(done).toMatchObject({
    BulkOperationStatus: 'COMPLETED',
    TableDetails: [{ TableName: 'notes', TableId: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
    ProcessedItemCount: 602,
    FailedItemCount: 0,
    ProcessedInputBytes: readFileSync(fileOf('in/a.json')).length + readFileSync(fileOf('in/b.json')).length,
    BulkOperationUsage: [
      { TableName: 'notes', GlobalSecondaryIndexes: { byColor: { BulkPutBytes: 4 + 8 } } },
    ],
  });
  expect(done.TotalInputBytes).toBe(done.ProcessedInputBytes);
  expect(await count()).toBe(602);
  expect(await get('a0')).toEqual({ pk: { S: 'a0' } });
  expect(await readStream(engine, await streamOf(engine, 'notes'))).toHaveLength(603);
  expect(engine.check().problems).toEqual([]);
});

it('what is not written is reported: by line, with the reason, and with the item that a condition met', async () => {
  const condition = { ConditionExpression: 'attribute_not_exists(pk)' };
  const lines = [
    itemLine('a', condition),
    itemLine('a', condition),
    'no json',
    '{"Item":{"other":{"S":"a"}}}',
    itemLine('b', { Expected: {} }),
    itemLine('c', { ConditionExpression: 'n > :n', ExpressionAttributeValues: {} }),
    itemLine('d', {
      ConditionExpression: '#b <> :x',
      ExpressionAttributeNames: { '#b': 'b' },
      ExpressionAttributeValues: { ':x': { B: 'AQI=' } },
    }),
  ];
  writeSource('in/data.json.gz', gzipSync(lines.join('\n')));
  const done = await run({ InputS3Configuration: { InputCompressionType: 'GZIP' } });
  expect(done).toMatchObject({
    BulkOperationStatus: 'COMPLETED_WITH_ERRORS',
    ProcessedItemCount: 7,
    FailedItemCount: 4,
  });
  expect(await count()).toBe(2);
  const arn = done.BulkOperationArn;
  expect(reportOf(arn, 'condition-check-failures')).toEqual([
    {
      S3Key: 'in/data.json.gz',
      Line: 2,
      Item: { pk: { S: 'a' } },
      ExistingItem: { pk: { S: 'a' } },
    },
  ]);
  expect(reportOf(arn, 'errors').map(({ Line, ErrorCode }) => [Line, ErrorCode])).toEqual([
    [3, 'SerializationException'],
    [4, 'ValidationException'],
    [5, 'ValidationException'],
    [6, 'ValidationException'],
  ]);
  expect(reportOf(arn, 'errors')[0]!.Record).toBe('no json');
});

it('an operation that a process left continues with the next line, and writes no item twice', async () => {
  const lines = Array.from({ length: 3000 }, (_, n) =>
    itemLine(`k${n}`, { ConditionExpression: 'attribute_not_exists(pk)' }),
  );
  const bytes = Buffer.from(lines.join('\n'));
  const reports: string[] = [];
  let release = () => {};
  const gate = new Promise<void>(resolve => {
    release = resolve;
  });
  let onHalf = () => {};
  const half = new Promise<void>(resolve => {
    onHalf = resolve;
  });
  const buckets = (): Bucket => ({
    put: async (key, content) => void reports.push(`${key}\n${content}`),
    list: async () => ['data.json'],
    async *read() {
      yield bytes.subarray(0, bytes.length / 2);
      onHalf();
      await gate;
      yield bytes.subarray(bytes.length / 2);
    },
  });
  await engine.close();
  engine = await open(buckets);
  const { BulkOperationArn } = await start();
  await half;
  const closing = engine.close();
  release();
  await closing;
  engine = await open(buckets);
  await engine.settled();
  expect(await describe(BulkOperationArn)).toMatchObject({
    BulkOperationStatus: 'COMPLETED',
    ProcessedItemCount: 3000,
    ProcessedInputBytes: bytes.length,
  });
  expect(reports).toEqual([]); // a line that was done twice would fail its condition
  expect(await count()).toBe(3000);
});

it('an operation is cancelled between two batches, and keeps what it has written', async () => {
  let release = () => {};
  const gate = new Promise<void>(resolve => {
    release = resolve;
  });
  const buckets = (): Bucket => ({
    put: async () => {},
    list: async () => ['data.json'],
    async *read() {
      yield Buffer.from(`${Array.from({ length: 256 }, (_, n) => itemLine(`k${n}`)).join('\n')}\n`);
      await gate;
      yield Buffer.from(itemLine('last'));
    },
  });
  await engine.close();
  engine = await open(buckets);
  const { BulkOperationArn } = await start();
  expect(await call(engine, 'CancelBulkOperation', { BulkOperationArn })).toEqual({
    BulkOperationArn,
    BulkOperationStatus: 'CANCELLING',
  });
  expect((await describe(BulkOperationArn)).BulkOperationStatus).toBe('CANCELLING');
  release();
  await engine.settled();
  expect(await describe(BulkOperationArn)).toMatchObject({
    BulkOperationStatus: 'CANCELLED',
    FailureCode: 'UserCancelled',
  });
  expect(await get('last')).toBeUndefined();
  await expect(call(engine, 'CancelBulkOperation', { BulkOperationArn })).rejects.toThrow('CANCELLED');
});

it('fails with a reason if there is nothing to read, or the table goes', async () => {
  expect(await run()).toMatchObject({ BulkOperationStatus: 'FAILED', FailureCode: 'S3NoSuchBucket' });
  writeSource('in/data.json', itemLine('a'));
  expect(await run({ InputS3Configuration: { S3KeyPrefix: 'other' } })).toMatchObject({
    FailureCode: 'S3NoSuchKey',
  });
  const started = await start();
  await call(engine, 'DeleteTable', { TableName: 'notes' });
  await engine.settled();
  expect(await describe(started.BulkOperationArn)).toMatchObject({
    BulkOperationStatus: expect.stringMatching(/^(FAILED|COMPLETED)$/),
  });
  await expect(start()).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    message: 'Requested resource not found: Table: notes not found',
  });
});

it('a client token starts one operation within eight hours, and not another one', async () => {
  writeSource('in/data.json', itemLine('a'));
  const first = await run({ ClientToken: 'once' });
  expect((await start({ ClientToken: 'once' })).BulkOperationArn).toBe(first.BulkOperationArn);
  await expect(start({ ClientToken: 'once', PerformanceTier: 'ACCELERATED' })).rejects.toMatchObject({
    name: 'IdempotentParameterMismatchException',
  });
  clock.ms += 8 * 60 * 60_000 + 1;
  const later = await start({ ClientToken: 'once' });
  expect(later.BulkOperationArn).not.toBe(first.BulkOperationArn);
  await engine.settled();
  const { BulkOperationsSummaryList: page, NextToken } = await call(engine, 'ListBulkOperations', {
    MaxResults: 1,
  });
  expect(page).toMatchObject([
    { BulkOperationArn: later.BulkOperationArn, BulkOperationStatus: 'COMPLETED' },
  ]);
  expect(NextToken).toMatch(/^([0-9a-f]{16})+$/);
  const rest = await call(engine, 'ListBulkOperations', { NextToken });
  expect(rest.BulkOperationsSummaryList.map(one => one.BulkOperationArn)).toEqual([first.BulkOperationArn]);
  expect(rest.NextToken).toBeUndefined();
});

it('no more units are written in a second than were allowed', async () => {
  writeSource('in/data.json', Array.from({ length: 300 }, (_, n) => itemLine(`k${n}`)).join('\n'));
  const before = performance.now();
  expect(await run({ MaxWriteRequestUnits: 1024 })).toMatchObject({ MaxWriteRequestUnits: 1024 });
  expect(performance.now() - before).toBeGreaterThan(250);
});

it.each([
  ['ION', { InputS3Configuration: { InputFormat: 'ION' } }, 'InputFormat ION is not supported'],
  ['ZSTD', { InputS3Configuration: { InputCompressionType: 'ZSTD' } }, 'ZSTD is not supported'],
  ['no output', { OutputS3Configuration: { OutputType: [] } }, 'OutputType needs'],
  ['no bucket', { OutputS3Configuration: { S3Bucket: undefined } }, 'S3Bucket of OutputS3Configuration'],
  ['a low rate', { MaxWriteRequestUnits: 1023 }, 'Member must have value greater than or equal to 1024'],
])('%s is refused by name', async (_, more, message) => {
  await expect(start(more)).rejects.toThrow(message);
});

it('an operation that nobody has started is not found', async () => {
  const BulkOperationArn = `arn:aws:dynamodb:us-east-1:123456789012:table/notes/bulk-operation/x`;
  for (const operation of ['DescribeBulkOperation', 'CancelBulkOperation'] as const)
    await expect(call(engine, operation, { BulkOperationArn })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
});
