import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createIcebergTables } from '../src/iceberg/iceberg-tables.ts';
import { type ObjectStore, s3Objects } from '../src/index.ts';
import { garbageMs, icebergMs } from '../src/limits.ts';
import type { State } from '../src/storage/manifest-state.ts';
import { planOf } from '../src/tables.ts';
import { crashing } from './crashing.ts';
import { type BronzeRow, readBronze, readState } from './evidence.ts';
import { readEntries, readEverything, readSnapshot, readTable, tableFolders } from './iceberg-reader.ts';
import {
  ann,
  type Backend,
  capture,
  keep,
  type OpenLake,
  openBackend,
  openLake,
  readObjects,
} from './lake-fixture.ts';
import { startBucket } from './s3-stub.ts';
import { choreSchema, choresOf } from './schema-versions.ts';
import { chore, followed, newChore } from './test-table.ts';

const bronze = 'iceberg/bronze/tasks';
const silver = 'iceberg/silver/tasks';

async function write({ store }: Backend, user: string, ...ids: string[]): Promise<void> {
  for (const id of ids) await store.put(chore, newChore(user, id, { labels: ['a', id] }));
}

// What the worker does, until the tables are as new as the lake.
async function publish(backend: Backend, lake: OpenLake): Promise<void> {
  await capture(backend, lake);
  await keep(lake);
  await backend.clock.advance(icebergMs);
  await keep(lake);
}

const eventIds = (rows: readonly BronzeRow[]) => rows.map(row => `${row.event_id} ${row.key}`).sort();

test.each(['folder', 'bucket'])('Iceberg tables contain the lake’s data, in a %s', async start => {
  const backend = await openBackend();
  if (start === 'bucket') {
    const { endpoint } = await startBucket();
    const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
    const cache = join(backend.folder, 'cache');
    backend.objects = s3Objects({
      bucket: 'lake',
      prefix: 'p',
      region: 'eu-west-1',
      endpoint,
      credentials,
      cache,
    });
  }
  const { objects } = backend;
  const lake = openLake(backend);
  const counts: [number, number][] = []; // rows by snapshot
  for (let round = 0; round < (start === 'folder' ? 4 : 2); round++) {
    await write(backend, round % 2 ? 'usr_ann' : 't1:u1', `a${round}`, `b${round}`);
    await publish(backend, lake);
    const { 'current-snapshot-id': id } = await readTable(objects, bronze);
    counts.push([id!, (await readBronze(backend)).length]);
  }
  const table = await readTable(objects, bronze);
  const current = table.snapshots.at(-1)!;
  expect(current['snapshot-id']).toBe(table['current-snapshot-id']);
  const rows = await readSnapshot<BronzeRow>(objects, current);
  expect(eventIds(rows)).toEqual(eventIds(await readBronze(backend)));

  // Older ones are as they were, and each goes on from the one before.
  for (const [id, count] of counts) {
    const snapshot = table.snapshots.find(one => one['snapshot-id'] === id)!;
    expect(await readSnapshot(objects, snapshot)).toHaveLength(count);
  }
  const sequences = table.snapshots.map(snapshot => snapshot['sequence-number']);
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));

  const [{ data_file: file }] = (await readEntries(objects, current)) as [
    Awaited<ReturnType<typeof readEntries>>[0],
  ];
  expect(file.partition).toEqual({ at_day: Date.UTC(2026, 0, 1) / 86_400_000 });
  const at = table.schemas[0]!.fields.find(({ name }) => name === 'at')!;
  const bound = file.lower_bounds.find(({ key }) => key === at.id)!;
  expect(bound.value.readBigInt64LE()).toBe(BigInt(Date.UTC(2026, 0, 1)) * 1000n);

  const state = await readTable(objects, silver);
  const tasks = await readSnapshot<{ task_id: string; labels: string }>(objects, state.snapshots.at(-1)!);
  expect(tasks.length).toBeGreaterThan(0);
  expect(JSON.parse(tasks[0]!.labels)).toEqual(['a', tasks[0]!.task_id]);
});

test('erased users are in no snapshot and no object', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  for (let round = 0; round < 2; round++) {
    await write(backend, 't1:mallory', `m${round}`);
    await write(backend, 'usr_ann', `a${round}`);
    await publish(backend, lake);
  }
  expect(JSON.stringify(await readEverything(backend.objects), asText)).toContain('mallory');
  while ((await lake.eraser.eraseUser('t1', 'mallory')) !== 'done');
  expect(JSON.stringify(await readEverything(backend.objects), asText)).not.toContain('mallory');
  for (const key of await readObjects(backend.objects, 'iceberg/'))
    expect(Buffer.from((await backend.objects.get(key))!).toString('latin1'), key).not.toContain('mallory');
  const rows = await readSnapshot<BronzeRow>(
    backend.objects,
    (await readTable(backend.objects, bronze)).snapshots.at(-1)!,
  );
  expect(eventIds(rows)).toEqual(eventIds(await readBronze(backend)));
});

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

test('snapshots expire before their files are deleted', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  for (let round = 1; round <= 20; round++) {
    await write(backend, 'usr_ann', `a${round}`);
    await capture(backend, lake);
  }
  await publish(backend, lake);
  const merged = [...(await readState(backend)).files.keys()].some(path => path.includes('/merged-'));
  expect(merged).toBe(true);
  const before = (await readTable(backend.objects, bronze)).snapshots.length;
  await readEverything(backend.objects); // everything that is named is there
  await backend.clock.advance(garbageMs);
  await keep(lake);
  expect((await readState(backend)).garbage).toEqual([]);
  expect((await readTable(backend.objects, bronze)).snapshots.length).toBeLessThan(before);
  await readEverything(backend.objects);
  // What nothing names any more is gone, too.
  const lists = (await readObjects(backend.objects, `${bronze}/metadata/snap-`)).length;
  expect(lists).toBe((await readTable(backend.objects, bronze)).snapshots.length);
});

test('killed at any step, the tables are intact, and the next process continues', async () => {
  const backend = await openBackend();
  const { objects, clock } = backend;
  const about = { plan: planOf(followed), clock, insights: [] };
  const states: State[] = [];
  for (const id of ['a', 'b']) {
    await write(backend, 'usr_ann', id);
    await capture(backend, openLake(backend));
    states.push(await readState(backend));
  }
  const [first, second] = states as [State, State];
  let lives = 0;
  for (let lifetime = 0; lives === lifetime; lifetime++) {
    for (const key of await readObjects(objects, 'iceberg/')) await objects.delete(key);
    await createIcebergTables({ ...about, objects }).publish(first);
    const process = crashing(lifetime);
    const done = createIcebergTables({ ...about, objects: process.wrap(objects) }).publish(second);
    if ((await Promise.race([done.then(() => 'done'), process.death])) !== 'done') lives += 1;
    expect((await readEverything(objects)).length).toBeGreaterThan(0);
    await createIcebergTables({ ...about, objects }).publish(second);
    const table = await readTable(objects, bronze);
    expect(table.snapshots.map(snapshot => snapshot['snapshot-id'])).toEqual([first.version, second.version]);
    const rows = await readSnapshot<BronzeRow>(objects, table.snapshots.at(-1)!);
    expect(eventIds(rows)).toEqual(eventIds(await readBronze(backend)));
  }
  expect(lives).toBeGreaterThan(20);
});

test('concurrent writers write each snapshot once', async () => {
  const backend = await openBackend();
  const [one, two] = [openLake(backend), openLake(backend)];
  for (let round = 0; round < 5; round++) {
    await write(backend, 'usr_ann', `a${round}`);
    await capture(backend, one);
    await backend.clock.advance(icebergMs);
    await Promise.all([one.keep('chores'), two.keep('chores')]);
  }
  await publish(backend, one);
  const table = await readTable(backend.objects, bronze);
  const ids = table.snapshots.map(snapshot => snapshot['snapshot-id']);
  expect(ids).toEqual([...new Set(ids)]);
  const rows = await readSnapshot<BronzeRow>(backend.objects, table.snapshots.at(-1)!);
  expect(eventIds(rows)).toEqual(eventIds(await readBronze(backend)));
});

test('a new attribute gets a new number, and the others keep theirs', async () => {
  const backend = await openBackend();
  await write(backend, 'usr_ann', 'a');
  const early = openLake(backend, { tables: [choresOf(choreSchema)] });
  await publish(backend, early);
  const before = await readTable(backend.objects, silver);
  const later = choresOf(choreSchema.extend({ weight: z.number().optional() }));
  await publish(backend, openLake(backend, { tables: [later] }));
  const after = await readTable(backend.objects, silver);
  expect(after['table-uuid']).toBe(before['table-uuid']);
  const fieldsOf = (table: typeof before) =>
    table.schemas.find(schema => schema['schema-id'] === table['current-schema-id'])!.fields;
  expect(fieldsOf(after)).toEqual([
    ...fieldsOf(before),
    { id: before['last-column-id'] + 1, name: 'weight', required: false, type: 'double' },
  ]);
  expect(after.snapshots.map(snapshot => snapshot['schema-id'])).toEqual([0, 1]);
  expect(JSON.parse(after.properties['schema.name-mapping.default']!)).toHaveLength(fieldsOf(after).length);
});

test('files of an earlier version are rewritten, and included', async () => {
  const backend = await openBackend();
  const { objects } = backend;
  const early: ObjectStore = {
    ...objects,
    putIfAbsent: (key, body) =>
      objects.putIfAbsent(key, Buffer.from(Buffer.from(body).toString().replaceAll(',"format":2', ''))),
  };
  await write(backend, 'usr_ann', 'a', 'b');
  await publish(backend, openLake(backend, { objects: early }));
  for (const key of await readObjects(objects, 'iceberg/')) await objects.delete(key);
  const lake = openLake(backend);
  await publish(backend, lake);
  const rows = await readSnapshot<BronzeRow>(objects, (await readTable(objects, bronze)).snapshots.at(-1)!);
  expect(eventIds(rows)).toEqual(eventIds(await readBronze(backend)));
  expect(await tableFolders(objects)).toContain(silver);
  expect((await lake.query(ann, 'select count(*) from tasks')).rows).toEqual([[2]]);
});

test('a table that lost a manifest list continues', async () => {
  const backend = await openBackend();
  const { objects } = backend;
  const lake = openLake(backend);
  await write(backend, 'usr_ann', 'a');
  await publish(backend, lake);
  for (const key of await readObjects(objects, `${bronze}/metadata/snap-`)) await objects.delete(key);
  await write(backend, 'usr_ann', 'b');
  await publish(backend, lake);
  const rows = await readSnapshot<BronzeRow>(objects, (await readTable(objects, bronze)).snapshots.at(-1)!);
  expect(eventIds(rows)).toEqual(eventIds(await readBronze(backend)));
});

test('a lake that was moved is published with its new address', async () => {
  const backend = await openBackend();
  await write(backend, 'usr_ann', 'a');
  await publish(backend, openLake(backend));
  const moved: ObjectStore = {
    ...backend.objects,
    locationOf: async key => `file:///elsewhere/${key}`,
  };
  const there = { ...backend, objects: moved };
  await write(there, 'usr_ann', 'b');
  await publish(there, openLake(there));
  const table = await readTable(moved, bronze);
  expect(table.location).toBe(`file:///elsewhere/${bronze}`);
  const rows = await readSnapshot<BronzeRow>(moved, table.snapshots.at(-1)!);
  expect(eventIds(rows)).toEqual(eventIds(await readBronze(backend)));
});
