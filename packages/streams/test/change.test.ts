import fc from 'fast-check';
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest';
import {
  type Change,
  type ChangeOf,
  type StreamRecord,
  subscribe,
  type UnknownChange,
} from '../src/index.ts';
import { readChange } from '../src/source/change.ts';
import { listShards, newestIterator } from '../src/source/shards.ts';
import {
  comment,
  type Fixture,
  note,
  notesTable,
  openFixture,
  startConsumer,
  until,
} from './stream-fixture.ts';

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.engine.close());

type Both = typeof note | typeof comment;

async function changesOf(work: () => Promise<unknown>, count: number): Promise<Change<Both>[]> {
  const seen: Change<Both>[] = [];
  const subscription = subscribe({
    name: 'typed',
    table: notesTable,
    entities: [note, comment],
    handle: change => void seen.push(change),
    handleOther: change => void seen.push(change),
  });
  await work();
  const consumer = startConsumer(fixture, { subscription });
  await until(fixture.clock, () => seen.length === count);
  await consumer.stop();
  return seen;
}

test('changes carry the entity, both images, and what identifies them', async () => {
  const { store, clock } = fixture;
  const writtenAt = new Date(clock.now());
  const seen = await changesOf(async () => {
    await store.put(note, { id: 'a', version: 1 });
    await store.put(comment, { id: 'a', author: 'x', text: 'first' });
    await store.update(comment, { id: 'a', author: 'x' }, { set: { text: 'second' } });
    await store.delete(comment, { id: 'a', author: 'x' });
  }, 4);
  const keys = { pk: 'note#a', sk: 'comment#x' };
  const first = { id: 'a', author: 'x', text: 'first' };
  const second = { id: 'a', author: 'x', text: 'second' };
  expect(seen).toMatchObject([
    { entity: 'Note', kind: 'insert', new: { id: 'a', version: 1 }, at: writtenAt },
    { entity: 'Comment', kind: 'insert', new: first, keys },
    { entity: 'Comment', kind: 'modify', old: first, new: second, keys },
    { entity: 'Comment', kind: 'remove', old: second, keys },
  ]);
  expect(seen[1]).toMatchObject({ old: undefined });
  expect(seen[3]).toMatchObject({ new: undefined });
  const sequences = seen.map(change => change.sequence);
  expect(sequences).toEqual([...sequences].sort());
  expect(new Set(seen.map(change => change.eventId)).size).toBe(4);
});

test('a removal by time to live is distinguished from others', async () => {
  const { store, clock, engine } = fixture;
  const seen = await changesOf(async () => {
    await store.put(note, { id: 'a', version: 1, expires_at: clock.now() / 1000 + 60 });
    await clock.advance(2 * 60_000);
    await engine.sweep();
  }, 2);
  expect(seen[1]).toMatchObject({ entity: 'Note', kind: 'expire', old: { id: 'a' }, new: undefined });
});

test('an item that is not an entity is passed as stored', async () => {
  const Item = {
    pk: 'else',
    sk: 'else',
    bytes: new Uint8Array([1]),
    tags: new Set(['x']),
    list: [1, { a: null }],
  };
  const [change] = await changesOf(() => fixture.client.put({ TableName: 'notes', Item }), 1);
  expect(change).toMatchObject({
    entity: undefined,
    kind: 'insert',
    new: Item,
    keys: { pk: 'else', sk: 'else' },
  });
});

test('entities that were not requested are skipped', async () => {
  const seen: ChangeOf<typeof note>[] = [];
  await fixture.store.put(comment, { id: 'a', author: 'x', text: 'hello' });
  await fixture.store.put(note, { id: 'a', version: 1 });
  const subscription = subscribe({
    name: 'notes-only',
    table: notesTable,
    entities: [note],
    handle: change => void seen.push(change),
  });
  const consumer = startConsumer(fixture, { subscription });
  await until(fixture.clock, () => consumer.counters().records === 2);
  await consumer.stop();
  expect(seen.map(({ entity }) => entity)).toEqual(['Note']);
});

test('the entity and the kind narrow the images', () => {
  const narrow = (change: Change<Both>) => {
    if (change.entity === undefined) return expectTypeOf(change).toEqualTypeOf<UnknownChange>();
    if (change.entity === 'Comment') expectTypeOf(change.keys).toExtend<object>();
    if (change.entity === 'Note' && change.kind === 'insert') {
      expectTypeOf(change.new.version).toEqualTypeOf<number>();
      expectTypeOf(change.old).toEqualTypeOf<undefined>();
    }
    if (change.entity === 'Comment' && change.kind === 'expire')
      expectTypeOf(change.old.text).toEqualTypeOf<string>();
  };
  expect(narrow).toBeTypeOf('function');
});

test.each([
  ['a name with a space', { name: 'a b' }],
  ['no handler', { handle: undefined }],
  ['two ways of handling', { handleBatch: () => {} }],
  ['no attempt', { attempts: 0 }],
  ['a batch that is too large', { batchRecords: 10_001 }],
  ['an entity of another table', { table: { name: 'other' } }],
  ['a stream without images', { table: { name: 'notes', stream: 'KEYS_ONLY' } }],
])('a subscription with %s is refused', (_, wrong) => {
  const right = { name: 'right', table: notesTable, entities: [note], handle: () => {} };
  expect(() => subscribe(right)).not.toThrow();
  expect(() => subscribe({ ...right, ...wrong })).toThrow();
});

// Values of every type, with names and numbers that are stored in a way of their own.
const value = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.string(),
    fc.integer(),
    fc.constantFrom(0.1, -2.5e-7, 12345678901234567890n, null, true),
    fc.uint8Array({ maxLength: 9 }),
    fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }).map(all => new Set(all)),
    fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 3 }).map(all => new Set(all)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'é', '\u0001N', '\u0001M'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('a change is the same, whether its record comes from the engine or over the wire', async () => {
  const { engine, source } = fixture;
  const items = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'ü', '\u0001S', 'kind'), value), {
    minLength: 2,
  });
  await fc.assert(
    fc.asyncProperty(items, async all => {
      const [shard] = await listShards(source, 'notes');
      const ShardIterator = (await newestIterator(source, shard!))!;
      for (const item of all)
        await engine.client.put({ TableName: 'notes', Item: { ...item, pk: 'note#a', sk: 'note' } });
      const { Records: ours = [] } = await source.getRecords({ ShardIterator });
      const wire = (await engine.execute('GetRecords', { ShardIterator })) as { Records: StreamRecord[] };
      const shown = (record: StreamRecord) => {
        const {
          kind,
          keys,
          sequence,
          eventId,
          at,
          oldBytes,
          newBytes,
          old,
          new: now,
        } = readChange([], record);
        return { kind, keys, sequence, eventId, at, oldBytes, newBytes, old, new: now };
      };
      expect(structuredClone(ours.map(shown))).toEqual(structuredClone(wire.Records.map(shown)));
      expect(JSON.parse(JSON.stringify(ours))).toEqual(JSON.parse(JSON.stringify(wire.Records)));
    }),
    { numRuns: 50 },
  );
});
