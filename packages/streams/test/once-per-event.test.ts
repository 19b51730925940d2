import { write } from '@stak/table';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { oncePerEvent } from '../src/index.ts';
import {
  expectMirrored,
  type Fixture,
  isMirrored,
  mirror,
  mirroring,
  type NoteChange,
  note,
  notesTable,
  openFixture,
  startConsumer,
  until,
  writeNotes,
} from './stream-fixture.ts';

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.engine.close());

async function forgetCheckpoints(): Promise<void> {
  const { Items = [] } = await fixture.client.scan({ TableName: 'stak-streams' });
  for (const { pk, sk } of Items)
    if (pk.startsWith('consumer#'))
      await fixture.client.delete({ TableName: 'stak-streams', Key: { pk, sk } });
}

test('every record delivered three times has its effect once', async () => {
  await writeNotes(fixture, ['a', 'b'], 3);
  for (let round = 0; round < 3; round++) {
    const consumer = startConsumer(fixture, { subscription: mirroring(fixture) });
    await until(fixture.clock, () => consumer.counters().records === 6);
    await consumer.stop();
    expect(await isMirrored(fixture)).toBe(true);
    await forgetCheckpoints();
  }
  await expectMirrored(fixture);
});

test('consumers of different names each have their effect', async () => {
  await fixture.store.put(note, { id: 'a', version: 1 });
  for (const name of ['one', 'two']) {
    const consumer = startConsumer(fixture, { subscription: mirroring(fixture, { name }) });
    await until(fixture.clock, () => consumer.counters().records === 1);
    await consumer.stop();
    expect((await fixture.store.get(mirror, { id: `${name} a` }))?.versions).toEqual([1]);
  }
});

test('an effect that fails leaves no marker, and markers expire', async () => {
  const { store, clock } = fixture;
  let isAllowed = false;
  const handle = oncePerEvent({ store, clock }, (change: NoteChange) => {
    const { id, version } = change.new!;
    const put = write.put(mirror, { id, versions: [version] }, { ifAbsent: true });
    const check = write.check(mirror, { id: 'gate' }, isAllowed ? { absent: true } : { present: true });
    return { put, check };
  });
  const subscription = { name: 'gate', table: notesTable, entities: [note], attempts: 100, handle };
  await store.put(note, { id: 'a', version: 1 });
  const consumer = startConsumer(fixture, { subscription });
  await until(clock, () => consumer.counters().retries > 1);
  expect(await store.get(mirror, { id: 'a' })).toBeUndefined();
  isAllowed = true;
  await until(clock, () => consumer.counters().records === 1);
  await consumer.stop();
  expect((await store.get(mirror, { id: 'a' }))?.versions).toEqual([1]);

  const markers = async () =>
    (await fixture.client.scan({ TableName: 'stak-streams' })).Items!.filter(({ pk }) =>
      pk.startsWith('once#'),
    );
  expect(await markers()).toHaveLength(1);
  await clock.advance(15 * 24 * 60 * 60_000);
  await fixture.engine.sweep();
  expect(await markers()).toEqual([]);
});
