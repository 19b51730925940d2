import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createDeadLetters,
  type LambdaEvent,
  type StreamRecord,
  type Subscription,
  toLambda,
} from '../src/index.ts';
import { recordToJson } from '../src/source/record-json.ts';
import {
  expectMirrored,
  type Fixture,
  mirroring,
  type NoteChange,
  note,
  notesTable,
  openFixture,
  silent,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.engine.close());

// The stream as Lambda would bring it: JSON, bytes as base64, lower-case identities, the stream's ARN.
async function eventOf(): Promise<LambdaEvent> {
  const { source } = fixture;
  const StreamArn = (await source.listStreams({ TableName: 'notes' })).Streams![0]!.StreamArn!;
  const { StreamDescription } = await source.describeStream({ StreamArn });
  const ShardId = StreamDescription!.Shards![0]!.ShardId!;
  const position = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' as const };
  const { ShardIterator } = await source.getShardIterator(position);
  const { Records = [] } = await source.getRecords({ ShardIterator: ShardIterator! });
  const event = { Records: Records.map(record => JSON.parse(recordToJson(record)) as StreamRecord) };
  for (const record of event.Records) {
    const { Type: type, PrincipalId: principalId } = record.userIdentity ?? {};
    if (type) record.userIdentity = { type, principalId };
    record.eventSourceARN = StreamArn;
  }
  return event;
}

const sequenceOf = (record: StreamRecord | undefined) => record?.dynamodb?.SequenceNumber;

test('the same subscription handles a Lambda event, and its repetition changes nothing', async () => {
  await writeNotes(fixture, ['a', 'b'], 3);
  const handler = toLambda(mirroring(fixture), { log: silent });
  const event = await eventOf();
  expect(await handler(event)).toEqual({ batchItemFailures: [] });
  expect(await handler(event)).toEqual({ batchItemFailures: [] });
  await expectMirrored(fixture);
});

test('a record that a batch repeats is handled once', async () => {
  await writeNotes(fixture, ['a', 'b'], 2);
  const { Records } = await eventOf();
  const pages: number[][] = [];
  const subscription: Subscription<typeof note> = {
    name: 'pages',
    table: notesTable,
    entities: [note],
    handleBatch: changes => void pages.push(changes.map(change => Number(change.new!.version))),
  };
  await toLambda(subscription, { log: silent })({ Records: [...Records, ...Records.slice(1), ...Records] });
  expect(pages).toEqual([[1, 1, 2, 2]]);
});

test('a failure returns the first record to retry', async () => {
  await writeNotes(fixture, ['a', 'b'], 2);
  const event = await eventOf();
  let isPoison = true;
  const seen: string[] = [];
  const subscription = {
    name: 'picky',
    table: notesTable,
    entities: [note],
    concurrency: 1,
    handle(change: NoteChange) {
      const { id, version } = change.new!;
      if (isPoison && id === 'a' && version === 2) throw new Error('no');
      seen.push(id + version);
    },
  };
  const handler = toLambda(subscription, { log: silent });
  const { batchItemFailures } = await handler(event);
  // Record 2 is b1: it is in another lane, which was not begun when a2 failed.
  expect(batchItemFailures).toEqual([{ itemIdentifier: sequenceOf(event.Records[1]) }]);
  expect(seen).toEqual(['a1']);
  isPoison = false;
  expect(await handler({ Records: event.Records.slice(1) })).toEqual({ batchItemFailures: [] });
  expect(seen.filter(id => id[0] === 'a')).toEqual(['a1', 'a2']);
  expect(seen.filter(id => id[0] === 'b')).toEqual(['b1', 'b2']);
});

test('no record is started when the time is almost over', async () => {
  await writeNotes(fixture, ['a'], 3);
  const event = await eventOf();
  let left = 2500;
  const seen: unknown[] = [];
  const subscription = {
    name: 'slow',
    table: notesTable,
    entities: [note],
    handle: (change: unknown) => {
      left -= 1000;
      seen.push(change);
    },
  };
  const handler = toLambda(subscription, { log: silent });
  const { batchItemFailures } = await handler(event, { getRemainingTimeInMillis: () => left });
  expect(seen).toHaveLength(2);
  expect(batchItemFailures).toEqual([{ itemIdentifier: sequenceOf(event.Records[2]) }]);
});

test('expiry, bytes and times are read as in a consumer', async () => {
  const { clock, client, engine } = fixture;
  const expires_at = clock.now() / 1000 + 60;
  const at = new Date(clock.now() + 120_000);
  const bytes = new Uint8Array([0, 1, 255]);
  await client.put({
    TableName: 'notes',
    Item: { pk: 'x', sk: 'x', B: { B: bytes, L: [bytes] }, expires_at },
  });
  await clock.advance(120_000);
  await engine.sweep();
  const seen: unknown[] = [];
  const subscription: Subscription = {
    name: 'raw',
    table: notesTable,
    entities: [],
    handleOther: change => void seen.push(change),
  };
  await toLambda(subscription, { log: silent })(await eventOf());
  expect(seen).toMatchObject([
    { kind: 'insert', new: { B: { B: bytes, L: [bytes] } } },
    { kind: 'expire', old: { B: { B: bytes, L: [bytes] } }, at },
  ]);
});

test('a batch handler gets the whole event, and a failing batch is split', async () => {
  await writeNotes(fixture, ['a'], 3);
  const event = await eventOf();
  const sizes: number[] = [];
  const subscription: Subscription = {
    name: 'batches',
    table: notesTable,
    entities: [note],
    handleBatch(changes) {
      sizes.push(changes.length);
      if (changes.some(change => (change.new as { version: number }).version === 2)) throw new Error('no');
    },
  };
  const handler = toLambda(subscription, { log: silent });
  expect(await handler({ Records: event.Records.slice(0, 1) })).toEqual({ batchItemFailures: [] });
  expect(await handler(event)).toEqual({
    batchItemFailures: [{ itemIdentifier: sequenceOf(event.Records[1]) }],
  });
  expect(sizes).toEqual([1, 3, 1, 1]);
});

test('with a store, a record that fails becomes a dead letter, which a consumer elsewhere redrives', async () => {
  await writeNotes(fixture, ['a', 'b'], 2);
  const event = await eventOf();
  let isPoison = true;
  const seen: string[] = [];
  const subscription = {
    name: 'picky',
    table: notesTable,
    entities: [note],
    attempts: 1,
    handle(change: NoteChange) {
      const { id, version } = change.new!;
      if (isPoison && id === 'a' && version === 1) throw new Error('no');
      seen.push(id + version);
    },
  };
  const { client, clock, store } = fixture;
  const handler = toLambda(subscription, { log: silent, client, clock });
  const letters = async () => {
    const found: unknown[] = [];
    for await (const { sequence, attempts } of createDeadLetters({ store, clock, consumer: 'picky' }).list())
      found.push([sequence, attempts]);
    return found;
  };
  for (let round = 0; round < 2; round++) {
    expect(await handler(event)).toEqual({ batchItemFailures: [] });
    expect(await letters()).toEqual([[sequenceOf(event.Records[0]), 1]]);
  }
  expect(seen.sort()).toEqual(['a2', 'a2', 'b1', 'b1', 'b2', 'b2']);

  isPoison = false;
  const consumer = startConsumer(fixture, { subscription, isElsewhere: true });
  await consumer.redrive();
  await until(clock, () => consumer.counters().redriven === 1);
  expect(await consumer.status()).toMatchObject({ elsewhere: true, shards: [], deadLetters: 0 });
  await consumer.stop();
  expect(seen.filter(one => one === 'a1')).toHaveLength(1); // nothing but the letter was handled there
  expect(consumer.counters().records).toBe(0);

  const back = startConsumer(fixture, { subscription });
  await until(clock, () => back.counters().records === 4);
  expect(await back.status()).toMatchObject({ elsewhere: false });
  await back.stop();
});

test('a waiting handler is aborted before the time is over', async () => {
  await writeNotes(fixture, ['a'], 1);
  const event = await eventOf();
  const { client, clock } = fixture;
  const subscription = {
    name: 'patient',
    table: notesTable,
    entities: [note],
    handle: (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  };
  const endsAt = clock.now() + 10_000;
  const handler = toLambda(subscription, { log: silent, client, clock });
  const answer = handler(event, { getRemainingTimeInMillis: () => endsAt - clock.now() });
  await clock.advance(9_500);
  expect(await answer).toEqual({ batchItemFailures: [{ itemIdentifier: sequenceOf(event.Records[0]) }] });
});

test('a subscription that needs a consumer is refused', () => {
  const subscription = { ...mirroring(fixture), needsConsumer: true };
  expect(() => toLambda(subscription, { log: silent })).toThrow(/runs in a consumer only/);
});
