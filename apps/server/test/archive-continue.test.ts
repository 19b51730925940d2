import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@stak/client';
import { createEngine } from '@stak/engine';
import { createTables, type DynamoClient } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exportTo, importFrom } from '../src/cli/store/archive-actions.ts';
import { exportArchive } from '../src/store/archive/export.ts';
import { readManifest } from '../src/store/archive/format.ts';
import { hasStream, importArchive } from '../src/store/archive/import.ts';
import { designs } from '../src/store/designs.ts';
import {
  countOf,
  failingAfter,
  importInto,
  newKeys,
  now,
  openEngine,
  type Store,
  sealer,
  tables,
  targetTables,
  withServer,
} from './archive-fixture.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-archive-'));
  vi.stubEnv('STAK_ARCHIVE_PASSPHRASE', 'correct horse battery');
  vi.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

test('an interrupted export and import resume', async () => {
  const from = await openEngine(400);
  const paged = new Proxy(from.client, {
    get: (target, name: keyof DynamoClient) =>
      name === 'scan' ? (input: object) => target.scan({ ...input, Limit: 50 } as never) : target[name],
  });
  const options = { tables, folder, sealer, now, partBytes: 1000 };
  await expect(exportArchive({ ...options, client: failingAfter(paged, 3) })).rejects.toThrow('gone');
  const target = await createEngine({ path: ':memory:' });
  const importing = importInto(target, folder);
  await expect(importArchive(importing)).rejects.toThrow(/was interrupted/);
  expect(await exportArchive({ ...options, client: paged })).toEqual({ items: 400, unopened: 0 });

  const failing = { ...importing, client: failingAfter(target.client, 8) };
  await expect(importArchive(failing)).rejects.toThrow('gone');
  await expect(importArchive(importing)).rejects.toThrow(/is not empty/);
  expect(await importArchive({ ...importing, goOn: true })).toEqual({ items: 400, unopened: 0 });
  expect(await countOf(target.client)).toBe(400);
  await from.close();
  await target.close();
});

test('only the interrupted import resumes', async () => {
  const target = await openEngine(1);
  await createTables(target, targetTables);
  const before = await target.client.scan({ TableName: todoAppData.name });
  for (const name of ['one', 'other']) {
    const from = await openEngine(30);
    await exportArchive({ client: from.client, tables, folder: join(folder, name), sealer, now });
    await from.close();
  }
  const one = importInto(target, join(folder, 'one'));
  await expect(importArchive({ ...one, goOn: true })).rejects.toThrow(
    /no import of this archive was started/,
  );
  expect(await target.client.scan({ TableName: todoAppData.name })).toEqual(before);
  expect(await hasStream(target, todoAppData.name)).toBe(true);
  await target.close();

  const empty = await createEngine({ path: ':memory:' });
  const into = importInto(empty, join(folder, 'one'));
  await expect(importArchive({ ...into, client: failingAfter(empty.client, 6) })).rejects.toThrow('gone');
  const another = importInto(empty, join(folder, 'other'));
  await expect(importArchive({ ...another, goOn: true })).rejects.toThrow(/another archive/);
  expect(await importArchive({ ...into, goOn: true })).toMatchObject({ items: 30 });
  await expect(importArchive({ ...into, goOn: true })).rejects.toThrow(/has finished/);
  await empty.close();
});

test('a partially imported store is not used', { timeout: 60_000 }, async () => {
  const store: Store = { path: join(folder, 'data'), env: { STAK_SECRET_KEYS: newKeys() } };
  vi.stubEnv('STAK_SECRET_KEYS', store.env.STAK_SECRET_KEYS!);
  await withServer(store, async client => {
    for (let n = 0; n < 30; n++) await client.tasks.create({ body: { title: `Task ${n}` } });
  });
  const from = join(folder, 'archive');
  await exportTo({ path: store.path, to: from });
  const path = join(folder, 'new');
  const target = await createEngine({ path });
  const options = { ...importInto(target, from), tables: designs, passphrase: 'correct horse battery' };
  const importing = importArchive({ ...options, client: failingAfter(target.client, 14) });
  await expect(importing).rejects.toThrow('gone');
  await target.close();
  await expect(withServer({ ...store, path }, async () => {})).rejects.toThrow(/import --continue/);
  await expect(exportTo({ path, to: join(folder, 'half') })).rejects.toThrow(/import --continue/);
  await importFrom({ path, from, continue: true });
  await withServer({ ...store, path }, async client => {
    expect((await client.tasks.counts()).data.by_status.pending).toBe(30);
  });
  await expect(importFrom({ path, from, continue: true })).rejects.toThrow(/has finished/);
});

test('an export resumes only with the same, unchanged store', { timeout: 60_000 }, async () => {
  const store: Store = { path: join(folder, 'data'), env: { STAK_SECRET_KEYS: newKeys() } };
  vi.stubEnv('STAK_SECRET_KEYS', store.env.STAK_SECRET_KEYS!);
  const addTask = async (client: Client) => {
    await client.tasks.create({ body: { title: 'Milk' } });
  };
  await withServer(store, addTask);
  // As one that was killed before its last tables.
  const begin = async (name: string, flags: object = {}) => {
    const to = join(folder, name);
    await exportTo({ path: store.path, to, ...flags });
    const manifest = JSON.parse(await readFile(join(to, 'archive.json'), 'utf8'));
    delete manifest.finished;
    delete manifest.tables['todo-app-data'];
    await writeFile(join(to, 'archive.json'), JSON.stringify(manifest));
    return to;
  };
  await exportTo({ path: store.path, to: await begin('same') });
  const changed = await begin('changed');
  const live = await begin('live', { live: true });
  await expect(exportTo({ path: store.path, to: changed, live: true })).rejects.toThrow(/has changed since/);
  await withServer(store, addTask);
  await expect(exportTo({ path: store.path, to: changed })).rejects.toThrow(/has changed since/);
  await exportTo({ path: store.path, to: live, live: true });

  const other = { ...store, path: join(folder, 'other') };
  await withServer(other, addTask);
  const mixed = await begin('mixed', { live: true });
  await expect(exportTo({ path: other.path, to: mixed, live: true })).rejects.toThrow(/another store/);
});

test('an export fails if the store is written meanwhile', async () => {
  const from = await openEngine(50);
  const begunAt = from.streamSequence();
  const { partition, sort } = todoAppData.keys;
  const done = exportArchive({
    client: from.client,
    tables,
    folder,
    sealer,
    now,
    hasChanged: () => from.streamSequence() !== begunAt,
    progress: table =>
      void from.client.put({ TableName: table, Item: { [partition]: 'p', [sort!]: 'late' } }),
  });
  await expect(done).rejects.toThrow(/written to during the export/);
  expect((await readManifest(folder)).finished).toBeUndefined();
  await from.close();
});
