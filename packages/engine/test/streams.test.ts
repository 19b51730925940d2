import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import {
  call,
  hashTable,
  iteratorOf,
  openEngine,
  readStream,
  shardsOf,
  streaming,
  streamOf,
  testClock,
} from './engine-fixture.ts';

const clock = testClock();
const hour = 60 * 60_000;
let engine: Engine;

beforeEach(async () => {
  clock.ms = Date.UTC(2026, 0, 1);
  engine = await openEngine({ clock });
});
afterEach(() => engine.close());

const put = (pk: string, value = 'x') =>
  call(engine, 'PutItem', { TableName: 'notes', Item: { pk: { S: pk }, value: { S: value } } });
const remove = (pk: string) => call(engine, 'DeleteItem', { TableName: 'notes', Key: { pk: { S: pk } } });
const setStream = (enabled: boolean) =>
  call(engine, 'UpdateTable', {
    TableName: 'notes',
    ...(enabled ? streaming() : { StreamSpecification: { StreamEnabled: false } }),
  });
const records = (ShardIterator: string, Limit?: number) =>
  call(engine, 'GetRecords', { ShardIterator, ...(Limit && { Limit }) });

async function createNotes(viewType?: string): Promise<string> {
  await call(engine, 'CreateTable', hashTable('notes', streaming(viewType)));
  return streamOf(engine, 'notes');
}

async function onlyShard(arn: string): Promise<string> {
  return (await shardsOf(engine, arn))[0]!.ShardId;
}

describe('records', () => {
  test('have the shape of AWS', async () => {
    const arn = await createNotes();
    clock.ms += 1500;
    await put('a', 'one');
    const [record] = await readStream(engine, arn);
    expect(record).toEqual({
      eventID: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventName: 'INSERT',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(clock.ms / 1000),
        Keys: { pk: { S: 'a' } },
        NewImage: { pk: { S: 'a' }, value: { S: 'one' } },
        SequenceNumber: expect.stringMatching(/^\d{21,40}$/),
        SizeBytes: 3 + 11,
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
    });
    expect((await readStream(engine, arn))[0]?.eventID).toBe(record?.eventID);
  });

  const images: [string, string[][]][] = [
    ['KEYS_ONLY', [[], [], []]],
    ['NEW_IMAGE', [['NewImage'], ['NewImage'], []]],
    ['OLD_IMAGE', [[], ['OldImage'], ['OldImage']]],
    ['NEW_AND_OLD_IMAGES', [['NewImage'], ['NewImage', 'OldImage'], ['OldImage']]],
  ];
  test.each(images)('of a %s stream carry its images', async (viewType, expected) => {
    const arn = await createNotes(viewType);
    await put('a', 'one');
    await put('a', 'two');
    await remove('a');
    const found = await readStream(engine, arn);
    expect(found.map(({ eventName }) => eventName)).toEqual(['INSERT', 'MODIFY', 'REMOVE']);
    const present = found.map(({ dynamodb }) => Object.keys(dynamodb).filter(name => name.endsWith('Image')));
    expect(present.map(names => names.sort())).toEqual(expected);
  });

  test('are not written for a change that changes nothing', async () => {
    const arn = await createNotes();
    await put('a', 'one');
    await put('a', 'one');
    await remove('b');
    expect(await readStream(engine, arn)).toHaveLength(1);
  });
});

describe('iterators', () => {
  test('start at the requested position', async () => {
    const arn = await createNotes();
    const shard = await onlyShard(arn);
    await put('a');
    await put('b');
    const sequences = (await readStream(engine, arn)).map(({ dynamodb }) => dynamodb.SequenceNumber);
    expect(sequences).toEqual([...sequences].sort());
    const latest = await iteratorOf(engine, arn, shard, 'LATEST');
    await put('c');
    const from = async (iterator: string) =>
      (await records(iterator)).Records.map(({ dynamodb }) => dynamodb.Keys.pk);
    const [a, b, c] = ['a', 'b', 'c'].map(S => ({ S }));
    expect(await from(await iteratorOf(engine, arn, shard))).toEqual([a, b, c]);
    expect(await from(latest)).toEqual([c]);
    expect(await from(await iteratorOf(engine, arn, shard, 'AT_SEQUENCE_NUMBER', sequences[1]))).toEqual([
      b,
      c,
    ]);
    expect(await from(await iteratorOf(engine, arn, shard, 'AFTER_SEQUENCE_NUMBER', sequences[1]))).toEqual([
      c,
    ]);
  });

  test('of an open shard continue after its last record', async () => {
    const arn = await createNotes();
    let page = await records(await iteratorOf(engine, arn, await onlyShard(arn)));
    expect(page.Records).toEqual([]);
    await put('a');
    page = await records(page.NextShardIterator!);
    expect(page.Records).toHaveLength(1);
    expect((await records(page.NextShardIterator!)).Records).toEqual([]);
  });

  test('return at most the requested number, a thousand, or a megabyte', async () => {
    const arn = await createNotes('NEW_IMAGE');
    const shard = await onlyShard(arn);
    await Promise.all(Array.from({ length: 1200 }, (_, i) => put(`n${i}`)));
    const first = await records(await iteratorOf(engine, arn, shard));
    expect(first.Records).toHaveLength(1000);
    const second = await records(first.NextShardIterator!, 150);
    expect(second.Records).toHaveLength(150);
    const third = await records(second.NextShardIterator!);
    expect(third.Records).toHaveLength(50);
    for (let i = 0; i < 5; i++) await put(`large${i}`, 'x'.repeat(390_000));
    expect((await records(third.NextShardIterator!)).Records).toHaveLength(2);
  });

  test('expire after fifteen minutes', async () => {
    const arn = await createNotes();
    const iterator = await iteratorOf(engine, arn, await onlyShard(arn));
    clock.ms += 15 * 60_000;
    await records(iterator);
    clock.ms += 1;
    await expect(records(iterator)).rejects.toMatchObject({ name: 'ExpiredIteratorException' });
  });

  test('that were not issued are refused', async () => {
    const arn = await createNotes();
    const shard = await onlyShard(arn);
    const encode = (position: unknown) =>
      `${arn}|1|${Buffer.from(JSON.stringify(position)).toString('base64')}`;
    const bad = [
      'x',
      `${arn}|1|????`,
      encode({}),
      encode([1, -1, 0]),
      encode([1, 'a', clock.ms]),
      encode([1]),
    ];
    for (const iterator of bad) {
      await expect(records(iterator)).rejects.toMatchObject({ name: 'ValidationException' });
    }
    await expect(records(encode([999, 0, clock.ms]))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    const other = arn.replace('notes', 'other');
    await expect(iteratorOf(engine, other, shard)).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    await expect(iteratorOf(engine, arn, shard.replace(/.$/, 'z'))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    await expect(iteratorOf(engine, arn, shard, 'AT_SEQUENCE_NUMBER', '9'.repeat(30))).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });
});

describe('shards', () => {
  test('divide the items, and every item stays in one', async () => {
    await engine.close();
    engine = await openEngine({ clock, streamShards: 4 });
    const arn = await createNotes();
    const shards = await shardsOf(engine, arn);
    expect(shards).toHaveLength(4);
    for (const { ShardId } of shards) expect(ShardId).toMatch(/^shardId-\d{20}-[0-9a-f]{8}$/);
    for (let i = 0; i < 40; i++) {
      await put(`n${i}`, 'one');
      await put(`n${i}`, 'two');
    }
    const found = await Promise.all(
      shards.map(async ({ ShardId }) => (await records(await iteratorOf(engine, arn, ShardId))).Records),
    );
    for (const list of found) expect(list.length).toBeGreaterThan(0);
    const keys = found.map(list => new Set(list.map(({ dynamodb }) => JSON.stringify(dynamodb.Keys))));
    expect(keys.reduce((sum, { size }) => sum + size, 0)).toBe(40);
    expect(found.flat()).toHaveLength(80);
  });

  test('roll over to children that continue where they end', async () => {
    await engine.close();
    engine = await openEngine({ clock, streamShards: 2 });
    const arn = await createNotes();
    const parents = await shardsOf(engine, arn);
    for (let i = 0; i < 20; i++) await put(`n${i}`, 'one');
    const open = await records(await iteratorOf(engine, arn, parents[0]!.ShardId));
    await engine.rollShards('notes');
    for (let i = 0; i < 20; i++) await put(`n${i}`, 'two');

    const shards = await shardsOf(engine, arn);
    expect(shards.map(({ ParentShardId }) => ParentShardId)).toEqual([
      undefined,
      undefined,
      parents[0]?.ShardId,
      parents[1]?.ShardId,
    ]);
    const seen = new Map<string, Set<string>>();
    for (const { ShardId, ParentShardId, SequenceNumberRange } of shards) {
      const page = await records(await iteratorOf(engine, arn, ShardId));
      expect(page.NextShardIterator === null).toBe(ParentShardId === undefined);
      const { StartingSequenceNumber: start, EndingSequenceNumber: end } = SequenceNumberRange;
      expect(end === undefined).toBe(ParentShardId !== undefined);
      for (const { dynamodb } of page.Records) {
        expect(dynamodb.SequenceNumber >= start && dynamodb.SequenceNumber <= (end ?? '9')).toBe(true);
      }
      seen.set(ShardId, new Set(page.Records.map(({ dynamodb }) => JSON.stringify(dynamodb.Keys))));
    }
    for (const { ShardId, ParentShardId } of shards.slice(2)) {
      expect(seen.get(ShardId)).toEqual(seen.get(ParentShardId!));
    }
    // A reader that has read the parent to its last record learns that it has ended.
    expect(await records(open.NextShardIterator!)).toEqual({ Records: [], NextShardIterator: null });
    expect(engine.check().problems).toEqual([]);
  });

  test('are listed in pages', async () => {
    await engine.close();
    engine = await openEngine({ clock, streamShards: 3 });
    const arn = await createNotes();
    const page = async (input: object) =>
      (await call(engine, 'DescribeStream', { StreamArn: arn, ...input })).StreamDescription;
    const first = await page({ Limit: 2 });
    expect(first.Shards).toHaveLength(2);
    expect(first.LastEvaluatedShardId).toBe(first.Shards[1]?.ShardId);
    const second = await page({ ExclusiveStartShardId: first.LastEvaluatedShardId });
    expect(second.Shards).toHaveLength(1);
    expect(second.LastEvaluatedShardId).toBeUndefined();
  });
});

describe('streams', () => {
  test('are described and listed', async () => {
    const arn = await createNotes();
    await call(engine, 'CreateTable', hashTable('other', streaming()));
    const { StreamDescription } = await call(engine, 'DescribeStream', { StreamArn: arn });
    expect(StreamDescription).toMatchObject({
      StreamArn: arn,
      StreamLabel: '2026-01-01T00:00:00.000',
      StreamStatus: 'ENABLED',
      StreamViewType: 'NEW_AND_OLD_IMAGES',
      CreationRequestDateTime: clock.ms / 1000,
      TableName: 'notes',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    });
    const { Streams, LastEvaluatedStreamArn } = await call(engine, 'ListStreams', { Limit: 1 });
    expect(Streams).toEqual([{ StreamArn: arn, TableName: 'notes', StreamLabel: '2026-01-01T00:00:00.000' }]);
    const rest = await call(engine, 'ListStreams', { ExclusiveStartStreamArn: LastEvaluatedStreamArn });
    expect(rest.Streams.map(({ TableName }) => TableName)).toEqual(['other']);
    expect((await call(engine, 'ListStreams', { TableName: 'other' })).Streams).toHaveLength(1);
    await expect(call(engine, 'DescribeStream', { StreamArn: `${arn}x` })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });

  test('that are enabled again are new ones; the old one stays readable for a day', async () => {
    const old = await createNotes();
    await put('a');
    await expect(setStream(true)).rejects.toMatchObject({ name: 'ValidationException' });
    await setStream(false);
    await put('unseen');
    await setStream(true);
    await put('b');
    const arn = await streamOf(engine, 'notes');
    expect(arn).not.toBe(old);
    expect((await readStream(engine, old)).map(({ dynamodb }) => dynamodb.Keys.pk)).toEqual([{ S: 'a' }]);
    expect((await readStream(engine, arn)).map(({ dynamodb }) => dynamodb.Keys.pk)).toEqual([{ S: 'b' }]);
    const { StreamDescription } = await call(engine, 'DescribeStream', { StreamArn: old });
    expect(StreamDescription.StreamStatus).toBe('DISABLED');
    const last = await records(await iteratorOf(engine, old, StreamDescription.Shards[0]!.ShardId));
    expect(last.NextShardIterator).toBeNull();
    clock.ms += 25 * hour;
    await engine.sweep();
    const { Streams } = await call(engine, 'ListStreams');
    expect(Streams.map(({ StreamArn }) => StreamArn)).toEqual([arn]);
  });

  test('outlive their table by a day', async () => {
    const arn = await createNotes();
    await put('a');
    await call(engine, 'DeleteTable', { TableName: 'notes' });
    await engine.settled();
    expect(await readStream(engine, arn)).toHaveLength(1);
    expect(engine.stats()).toMatchObject({ tables: [], logRecords: 1 });
    // A new table of that name has a stream of its own.
    expect(await createNotes()).not.toBe(arn);
    expect(engine.check().problems).toEqual([]);
    clock.ms += 25 * hour;
    await engine.sweep();
    await expect(readStream(engine, arn)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    expect(engine.check()).toMatchObject({ logRecords: 0, problems: [] });
  });

  test('lose their records after a day, and report it', async () => {
    const arn = await createNotes();
    const shard = await onlyShard(arn);
    await put('a');
    const horizon = await iteratorOf(engine, arn, shard);
    const [first] = await readStream(engine, arn);
    clock.ms += 24 * hour - 5 * 60_000;
    await put('b');
    const old = await iteratorOf(engine, arn, shard, 'AT_SEQUENCE_NUMBER', first?.dynamodb.SequenceNumber);
    clock.ms += 5 * 60_000;
    await engine.sweep();
    expect(await readStream(engine, arn)).toHaveLength(2);
    clock.ms += 1;
    await engine.sweep();
    expect((await readStream(engine, arn)).map(({ dynamodb }) => dynamodb.Keys.pk)).toEqual([{ S: 'b' }]);
    await expect(records(old)).rejects.toMatchObject({ name: 'TrimmedDataAccessException' });
    await expect(
      iteratorOf(engine, arn, shard, 'AT_SEQUENCE_NUMBER', first?.dynamodb.SequenceNumber),
    ).rejects.toMatchObject({ name: 'TrimmedDataAccessException' });
    await iteratorOf(engine, arn, shard, 'AFTER_SEQUENCE_NUMBER', first?.dynamodb.SequenceNumber);
    await expect(records(horizon)).rejects.toMatchObject({ name: 'ExpiredIteratorException' });
  });

  test('drop a closed shard when it is a day old, and not before', async () => {
    const arn = await createNotes();
    await engine.rollShards('notes');
    await engine.sweep();
    expect(await shardsOf(engine, arn)).toHaveLength(2);
    clock.ms += 24 * hour + 1;
    await engine.sweep();
    const shards = await shardsOf(engine, arn);
    expect(shards).toHaveLength(1);
    expect(shards[0]?.ParentShardId).toBeDefined();
    await put('a');
    expect(await readStream(engine, arn)).toHaveLength(1);
    expect(engine.check().problems).toEqual([]);
  });

  test('trim more than one step at a time', async () => {
    await createNotes('KEYS_ONLY');
    await Promise.all(Array.from({ length: 1200 }, (_, i) => put(`n${i}`)));
    expect(engine.stats().logRecords).toBe(1200);
    clock.ms += 25 * hour;
    await engine.sweep();
    expect(engine.stats().logRecords).toBe(0);
  });
});
