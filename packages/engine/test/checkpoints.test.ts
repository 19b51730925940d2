import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';
import { encodeCheckpoint, readCheckpoint } from '../src/journal/checkpoint-file.ts';
import { observeFlushes } from '../src/storage/disk.ts';
import { readMetaPages } from '../src/storage/meta-page.ts';
import { hashTable, streaming } from './engine-fixture.ts';

let folder: string;
let store: string;
let engine: Engine;
const TableName = 'items';

const open = (path = store) =>
  createEngine({ path, sweepIntervalMs: 0, journal: { checkpointMs: 3_600_000 }, onError() {} });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-checkpoints-'));
  store = join(folder, 'store');
  engine = await open();
  await engine.execute('CreateTable', hashTable(TableName, streaming()));
});

afterEach(async () => {
  observeFlushes(() => () => {});
  await engine.close();
  await rm(folder, { recursive: true });
});

const put = (pk: string, on = engine, body = '') => on.client.put({ TableName, Item: { pk, body } });
const names = async (on: Engine) =>
  (await on.client.scan({ TableName, ConsistentRead: true })).Items!.map(({ pk }) => pk).sort();
const recorded = (path = store) => readCheckpoint(path)!;
const copyLive = async (): Promise<string> => {
  const copy = join(folder, 'copy');
  await cp(store, copy, {
    recursive: true,
    filter: path => !path.endsWith('-lock') && !path.endsWith('processes'),
  });
  return copy;
};

// Leaves what LMDB would find if nothing of the store had reached the disk since it was created, apart from its length.
function tear(path: string): void {
  const file = openSync(join(path, 'stak.mdb'), 'r+');
  const pages = readMetaPages(file)!;
  for (const { pageSize } of pages.slice(0, 1))
    for (const page of [0, 1]) writeSync(file, Buffer.alloc(512, 'torn'), 0, 512, page * pageSize);
  closeSync(file);
}

describe('after the machine has stopped', () => {
  it('a store is its checkpoint and the journal', async () => {
    await put('a');
    await engine.journal.checkpoint();
    for (const pk of ['b', 'c', 'd']) await put(pk);
    const copy = await copyLive();
    // The first page also holds the id of the store, at its end.
    tear(copy);
    const torn = openSync(join(copy, 'stak.mdb'), 'r+');
    const page = Buffer.from(recorded(copy).meta, 'base64');
    writeSync(torn, page, 0, page.length, 0);
    closeSync(torn);
    const opened = await open(copy);
    expect(await names(opened)).toEqual(['a', 'b', 'c', 'd']);
    expect(opened.check().problems).toEqual([]);
    await put('e', opened);
    await opened.close();
    expect(recorded(copy)).toMatchObject({ recoveries: 1 });
    expect(readdirSync(copy).filter(name => name.startsWith('recovery'))).toEqual([]);
    const again = await open(copy);
    expect(await names(again)).toEqual(['a', 'b', 'c', 'd', 'e']);
    await again.close();
  });

  it('is recovered once by processes that start together', async () => {
    await put('a');
    await engine.close();
    writeFileSync(join(store, 'checkpoint'), encodeCheckpoint({ ...recorded(), boot: 'another' }));
    const opened = await Promise.all([open(), open(), open()]);
    expect(recorded()).toMatchObject({ recoveries: 1 });
    for (const one of opened) expect(await names(one)).toEqual(['a']);
    await Promise.all(opened.map((one, n) => put(String(n), one)));
    for (const one of opened) await one.close();
    engine = await open();
    expect(await names(engine)).toEqual(['0', '1', '2', 'a']);
  });

  it('a checkpoint is not applied to the file of another store', async () => {
    await put('old');
    await engine.backup(join(folder, 'backup'));
    await put('new');
    await engine.close();
    await cp(join(folder, 'backup', 'stak.mdb'), join(store, 'stak.mdb'));
    engine = await open();
    expect(await names(engine)).toEqual(['old']);
    await put('newer');
    await engine.close();
    writeFileSync(join(store, 'checkpoint'), encodeCheckpoint({ ...recorded(), boot: 'another' }));
    engine = await open();
    expect(await names(engine)).toEqual(['newer', 'old']);
    expect(engine.check().problems).toEqual([]);
  });
});

describe('a checkpoint', () => {
  it('is recorded when the store is closed, and is then enough to write', async () => {
    await put('a');
    await engine.close();
    const { txn } = recorded();
    engine = await open();
    await put('b');
    expect(recorded().txn).toBe(txn);
    await engine.close();
    expect(recorded().txn).toBeGreaterThan(txn);
  });

  it('never goes back, whichever process is faster', async () => {
    const other = await open();
    let last = 0;
    for (let n = 0; n < 20; n++) {
      await Promise.all([put(`a${n}`), put(`b${n}`, other)]);
      await Promise.all([engine.journal.checkpoint(), other.journal.checkpoint()]);
      expect(recorded().txn).toBeGreaterThan(last);
      last = recorded().txn;
    }
    await other.close();
  });

  it('leaves few files of the journal, which are used again', async () => {
    const small = await createEngine({
      path: join(folder, 'small'),
      sweepIntervalMs: 0,
      journal: { fileBytes: 16_384 },
    });
    await small.execute('CreateTable', hashTable(TableName));
    for (let n = 0; n < 100; n++) {
      await put(String(n % 7), small, 'x'.repeat(3000));
      if (n % 20 === 19) await small.journal.checkpoint();
    }
    expect(readdirSync(join(folder, 'small', 'journal')).length).toBeLessThan(20);
    await small.close();
  });

  it('does not make the file grow while the same items are written', async () => {
    const bytes = () => readFileSync(join(store, 'stak.mdb')).length;
    for (let n = 0; n < 600; n++) await put(String(n % 5), engine, `${n}`);
    const before = bytes();
    for (let n = 0; n < 600; n++) await put(String(n % 5), engine, `${n}`);
    expect(bytes() - before).toBeLessThan(1024 * 1024);
  });
});

describe('nothing leaves the engine before it is on the disk', () => {
  it('a read that sees a commit of another process waits for its flush', async () => {
    const other = await open();
    await put('first', other);
    const order: string[] = [];
    let reading: Promise<unknown> | undefined;
    let isReading = false;
    observeFlushes(path => {
      if (!path.endsWith('.log')) return () => {};
      if (isReading) return () => order.push('flushed');
      isReading = true;
      // The commit is made, and visible to LMDB's readers.
      reading = other.client
        .get({ TableName, Key: { pk: 'new' }, ConsistentRead: true })
        .then(({ Item }) => order.push(Item ? 'read' : 'missed'));
      return () => order.push('flushed');
    });
    await put('new');
    await reading;
    expect(order[0]).toBe('flushed');
    expect(order).toContain('read');
    await other.close();
  });

  it('readers of a stream are woken after the flush', async () => {
    const order: string[] = [];
    const woken = engine.waitForChange(TableName).then(() => order.push('woken'));
    observeFlushes(path => () => void (path.endsWith('.log') && order.push('flushed')));
    await put('a');
    await woken;
    expect(order).toEqual(['flushed', 'woken']);
  });
});

describe('when a flush fails', () => {
  it('the store accepts nothing more until it is opened again', async () => {
    await put('before');
    observeFlushes(path => {
      if (path.endsWith('.log')) throw new Error('EIO: i/o error, fdatasync');
      return () => {};
    });
    const failing = { name: 'InternalServerError', message: expect.stringContaining('EIO') };
    await expect(put('lost')).rejects.toMatchObject(failing);
    observeFlushes(() => () => {});
    await expect(put('later')).rejects.toMatchObject({
      message: expect.stringContaining('must be opened again'),
    });
    await expect(engine.client.get({ TableName, Key: { pk: 'lost' } })).rejects.toMatchObject(failing);
    await engine.close();
    engine = await open();
    await put('after');
    expect(await names(engine)).toEqual(expect.arrayContaining(['after', 'before']));
  });

  it('of a folder that cannot be flushed, LMDB flushes each commit instead', async () => {
    const path = join(folder, 'refusing');
    observeFlushes(flushed => {
      if (flushed === path) throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' });
      return () => {};
    });
    const first = await createEngine({ path, sweepIntervalMs: 0 }).catch(() => undefined);
    expect(first).toBeUndefined(); // LMDB's own file needs its folder
    observeFlushes(() => () => {});
    const made = await open(path);
    observeFlushes(flushed => {
      if (flushed === path) throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' });
      return () => {};
    });
    await made.execute('CreateTable', hashTable(TableName));
    await put('a', made);
    expect(readCheckpoint(path)).toBeUndefined();
    await made.close();
    observeFlushes(() => () => {});
    const again = await open(path);
    await put('b', again);
    expect(await names(again)).toEqual(['a', 'b']);
    expect(readCheckpoint(path)).toBeDefined();
    await again.close();
  });
});
