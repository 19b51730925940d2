import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createEngine,
  type Engine,
  type JournalCursor,
  noteShipped,
  readJournal,
  restoreStore,
} from '../src/index.ts';
import { journalFile, listFiles } from '../src/journal/files.ts';
import { createJournal } from '../src/journal/journal.ts';
import { readOperations } from '../src/journal/records.ts';
import { createCommitter } from '../src/storage/committer.ts';
import { metaKey } from '../src/storage/keys.ts';
import { openStore as openFile } from '../src/storage/store.ts';
import { startPeer } from './crash/peers.ts';
import { createRandom } from './crash/random.ts';
import {
  addLateIndex,
  createScratchTable,
  createTables,
  dropLateIndex,
  dropTable,
  enableExpiry,
} from './crash/tables.ts';
import { execute, planOperation, tableName } from './crash/workload.ts';
import { readStream, streamOf } from './engine-fixture.ts';

let folder: string;
let store: string;
let engine: Engine;
let restores = 0;
const limitBytes = 1024 ** 3;
const mb = 1024 * 1024;

// Every look at the clock is a millisecond later, so that no two commits have the same time.
let ms = Date.now();
const clock = { now: () => ++ms };
const openStore = () => createEngine({ path: store, sweepIntervalMs: 0, clock });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-journal-'));
  store = join(folder, 'store');
  engine = await openStore();
});

afterEach(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

type Copy = { parts: Buffer[]; commit: number; chain: number; history: string };
type Log = { records: Buffer; first: number }[];

function copyOf(from: Engine): Copy {
  const snapshot = from.snapshot();
  const parts: Buffer[] = [];
  for (let part = snapshot.read(64 * 1024); part; part = snapshot.read(64 * 1024))
    parts.push(part.operations);
  return { parts, ...snapshot.from! };
}

async function readAll(from?: JournalCursor, most = mb): Promise<{ log: Log; next: JournalCursor }> {
  const end = (await engine.journal.position())!;
  let next = from ?? end.start;
  const log: Log = [];
  for (let chunk = await readJournal(store, next, end, most); chunk; ) {
    log.push(chunk);
    next = chunk.next;
    chunk = await readJournal(store, next, end, most);
  }
  return { log, next };
}

async function restore(copy: Copy, log: Log, untilMs = Number.POSITIVE_INFINITY): Promise<Engine> {
  const path = join(folder, `restored-${++restores}`);
  const restoring = restoreStore(path);
  for (const part of copy.parts) await restoring.load(part);
  expect(await restoring.loaded()).toMatchObject({ commit: copy.commit, chain: copy.chain });
  for (const { records, first } of log) if ((await restoring.apply(records, first, untilMs)).isPast) break;
  await restoring.finish();
  return createEngine({ path, readOnly: true });
}

// Every key and value, without what a restored store has of its own.
function contentOf({ parts }: Pick<Copy, 'parts'>): Map<string, string> {
  const content = new Map<string, string>();
  for (const part of parts)
    for (const { key, value } of readOperations(part))
      if (value) content.set(key.toString('latin1'), value.toString('latin1'));
  for (const name of ['journal', 'shipping', 'sequence', 'sweeper', 'claims/backup'])
    content.delete(`\0${name}`);
  return content;
}

const newestFile = async () => journalFile(join(store, 'journal'), (await engine.journal.position())!.file);

const put = (n: number, body = '') =>
  engine.client.put({ TableName: tableName, Item: { pk: 'p', sk: String(n), body } });

describe('the journal', () => {
  it('restores the store at any moment, with its tables, indexes, expiry and tokens', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    const early = copyOf(engine);
    const random = createRandom('journal', 1);
    const moments: { at: number; content: Map<string, string> }[] = [];
    const steps: Record<number, () => Promise<unknown>> = {
      20: () => addLateIndex(engine),
      30: () => createScratchTable(engine, 'scratch').then(() => enableExpiry(engine, 'scratch')),
      40: () => engine.client.put({ TableName: 'scratch', Item: { pk: '1', owner: 'o', expires: 1 } }),
      50: () => engine.sweep(),
      60: () => dropLateIndex(engine),
      70: () => dropTable(engine, 'scratch'),
    };
    let late: Copy | undefined;
    for (let n = 0; n < 100; n++) {
      await steps[n]?.();
      await Promise.all(
        [0, 1, 2, 3].map(writer =>
          execute(engine.client, planOperation(random, `${writer}.${n}`, writer, true)),
        ),
      );
      if (n % 10 !== 5) continue;
      await engine.settled();
      moments.push({ at: (await engine.journal.position())!.at, content: contentOf(copyOf(engine)) });
      if (n === 45) late = copyOf(engine);
    }
    const { log } = await readAll(undefined, 20_000);
    expect(log.length).toBeGreaterThan(5);
    for (const [n, { at, content }] of moments.entries()) {
      const restored = await restore(n > 4 && n % 2 ? late! : early, log, at);
      expect(contentOf(copyOf(restored)), `moment ${n}`).toEqual(content);
      expect(restored.check().problems).toEqual([]);
      await restored.close();
    }
  });

  it('is copied while it is written: parts of many moments and the commits between them are the store', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    for (let n = 0; n < 60; n++) await put(n, 'x'.repeat(200));
    const random = createRandom('snapshot', 2);
    const snapshot = engine.snapshot();
    const parts: Buffer[] = [];
    for (let part = snapshot.read(1500), n = 0; part; part = snapshot.read(1500), n++) {
      parts.push(part.operations);
      await execute(engine.client, planOperation(random, `during.${n}`, n % 4, true));
      if (n === 2) await createScratchTable(engine, 'scratch');
      if (n === 6) await dropTable(engine, 'scratch');
      await engine.client.delete({ TableName: tableName, Key: { pk: 'p', sk: String(n) } });
    }
    expect(parts.length).toBeGreaterThan(10);
    await engine.settled();
    const { log } = await readAll();
    const restored = await restore({ parts, ...snapshot.from! }, log);
    expect(contentOf(copyOf(restored))).toEqual(contentOf(copyOf(engine)));
    expect(restored.check().problems).toEqual([]);
    await restored.close();
  });

  it('does not let the file grow while a copy is read', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    const changes = async (round: number) => {
      for (let n = 0; n < 150; n++) await put(n % 10, `${round}.${n} ${'x'.repeat(1000)}`);
      return statSync(join(store, 'stak.mdb')).size;
    };
    await changes(1);
    const before = await changes(2);
    const snapshot = engine.snapshot();
    expect(snapshot.read(1000)).toBeDefined();
    expect((await changes(3)) - before).toBeLessThan(2 * mb);
  });

  it('has the commits of every process, each once and in order, also of one that was killed', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    const copy = copyOf(engine);
    const peers = await Promise.all([startPeer(store), startPeer(store)]);
    const puts = (peer: number) =>
      Array.from({ length: 300 }, (_, n) => ({
        TableName: tableName,
        Item: { pk: { S: `peer-${peer}` }, sk: { S: String(n) } },
      }));
    const asked = peers.map((peer, n) => peer.callAll('PutItem', puts(n)));
    for (let n = 0; n < 100; n++) await put(n);
    await peers[0]!.kill();
    await asked[1];
    for (let n = 0; n < 20; n++) await put(n, 'again');
    const { log } = await readAll();
    const restored = await restore(copy, log);
    expect(contentOf(copyOf(restored))).toEqual(contentOf(copyOf(engine)));
    expect(restored.check().problems).toEqual([]);
    await restored.close();
    await peers[1]!.stop();
  }, 30_000);

  it('continues in the next file when one is full, and uses files again that were shipped', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    const copy = copyOf(engine);
    for (let n = 0; n < 30; n++) await put(n, 'x'.repeat(350_000));
    const journal = join(store, 'journal');
    await engine.journal.checkpoint();
    expect(listFiles(journal).length).toBeGreaterThan(2);
    const { log, next } = await readAll(undefined, 1000);
    const restored = await restore(copy, log);
    expect(contentOf(copyOf(restored))).toEqual(contentOf(copyOf(engine)));
    await restored.close();
    const inodes = () => listFiles(journal).map(file => statSync(journalFile(journal, file)).ino);
    const before = inodes();
    noteShipped(store, next);
    await engine.journal.checkpoint();
    expect(listFiles(journal)[0]).toBe(next.file);
    expect(inodes().sort()).toEqual(before.filter(ino => inodes().includes(ino)).sort());
    expect(inodes().length).toBeGreaterThan(2);
    for (let n = 0; n < 30; n++) await put(n, 'y'.repeat(350_000));
    const again = await restore(copy, [...log, ...(await readAll(next)).log]);
    expect(contentOf(copyOf(again))).toEqual(contentOf(copyOf(engine)));
    await again.close();
  });

  it('keeps nothing for a backup that is behind by more than its limit, which starts again', async () => {
    await createTables(engine);
    const { history } = await engine.journal.begin({ limitBytes: mb });
    for (let n = 0; n < 30; n++) await put(n, 'x'.repeat(350_000));
    await engine.journal.checkpoint();
    await expect(readAll()).rejects.toThrow(/file of the journal with commit \d+ is missing/);
    const next = await engine.journal.begin({ limitBytes });
    expect(next.history).not.toBe(history);
    await put(2);
    expect(await engine.journal.position()).toMatchObject({ history: next.history });
    expect((await readAll()).log).toHaveLength(1);
    await engine.journal.end();
    await put(3);
    expect(await engine.journal.position()).toBeUndefined();
  });

  it('overwrites what a failed transaction left behind its end', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    const copy = copyOf(engine);
    await put(1);
    appendFileSync(await newestFile(), 'x'.repeat(5000));
    await put(2);
    const { log, next } = await readAll();
    expect(next.commit).toBe((await engine.journal.position())!.commit);
    const restored = await restore(copy, log);
    expect(contentOf(copyOf(restored))).toEqual(contentOf(copyOf(engine)));
    await restored.close();
  });

  it('continues correctly after a commit that the disk refused, whose number another process got', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    const { commit } = (await engine.journal.position())!;
    const opened = openFile(store);
    const journal = createJournal(opened, { now: clock.now, isReader: false, onError() {} });
    let isFull = false;
    const write: typeof opened.write = (work, options) =>
      opened.write(() => {
        work();
        if (isFull) throw new Error('the disk is full');
      }, options);
    const { submit, close } = createCommitter(
      { ...opened, write },
      { committed() {}, aborted: journal.forget },
      { journal },
    );
    const writeOne = () => submit(tx => tx.put(metaKey('test'), Buffer.from(String(++ms))));
    await writeOne();
    isFull = true;
    await expect(writeOne()).rejects.toThrow('the disk is full');
    isFull = false;
    await put(1);
    await writeOne();
    expect((await readAll()).next.commit).toBe(commit + 3);
    await close();
    await journal.close();
    await opened.close();
  });

  it('reports commits that are damaged, truncated, missing or of another store', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    for (let n = 0; n < 20; n++) await put(n);
    const file = await newestFile();
    const bytes = await readFile(file);
    const end = (await engine.journal.position())!;
    const read = () => readAll().then(({ next }) => next.commit);
    expect(await read()).toBe(end.commit);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(file, bytes);
    await expect(read()).rejects.toThrow(/commit \d+ is damaged/);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(file, bytes);
    truncateSync(file, bytes.length - 10);
    await expect(read()).rejects.toThrow(`commit ${end.commit} is cut short`);
    await rm(file);
    await expect(read()).rejects.toThrow(/missing/);
    writeFileSync(file, bytes);
    const { start } = end;
    await expect(readJournal(store, { ...start, chain: 7 }, end, mb)).rejects.toThrow(/is damaged/);
    const later = { ...start, commit: end.commit + 7 };
    await expect(readJournal(store, later, end, mb)).rejects.toThrow(/no commit/);
  });

  it('of a backup starts again after writes that it does not have', async () => {
    await createTables(engine);
    const { history } = await engine.journal.begin({ limitBytes });
    await put(1);
    await engine.close();
    engine = await openStore();
    await put(2);
    expect(await engine.journal.position()).toMatchObject({ history });
    await engine.close();
    const other = open({ path: join(store, 'stak.mdb'), keyEncoding: 'binary', encoding: 'binary' });
    await other.put(Buffer.from([0, 120]), Buffer.from('1'));
    await other.close();
    engine = await openStore();
    await put(3);
    expect((await engine.journal.position())!.history).not.toBe(history);
    expect((await readAll()).log).toHaveLength(1);
  });

  it('of a copy is its own', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    for (let n = 0; n < 5; n++) await put(n);
    await engine.backup(join(folder, 'copy'));
    const copy = await createEngine({ path: join(folder, 'copy'), sweepIntervalMs: 0 });
    await copy.client.put({ TableName: tableName, Item: { pk: 'p', sk: 'copy' } });
    expect(await copy.journal.position()).toBeUndefined();
    await copy.close();
  });

  it('accepts another limit while it is written', async () => {
    await createTables(engine);
    const { history } = await engine.journal.begin({ limitBytes });
    await put(1);
    await Promise.all([put(2), engine.journal.setLimit(7), put(3)]);
    await put(4);
    const position = (await engine.journal.position())!;
    expect(position).toMatchObject({ limitBytes: 7, history });
    expect((await readAll()).next.commit).toBe(position.commit);
  });

  it('is not written for a store in memory', async () => {
    const memory = await createEngine({ path: ':memory:' });
    await expect(memory.journal.begin({ limitBytes })).rejects.toThrow(/memory/);
    await memory.close();
  });
});

describe('a restored store', () => {
  it('gives new changes numbers that no reader of the old one has seen', async () => {
    await createTables(engine);
    await engine.journal.begin({ limitBytes });
    const copy = copyOf(engine);
    for (let n = 0; n < 10; n++) await put(n);
    const restored = await restore(copy, []);
    await restored.close();
    const path = join(folder, `restored-${restores}`);
    const again = await createEngine({ path, sweepIntervalMs: 0 });
    expect(await again.journal.position()).toBeUndefined();
    const numbers = async (from: Engine) =>
      (await readStream(from, await streamOf(from, tableName))).map(one =>
        BigInt(one.dynamodb.SequenceNumber),
      );
    await again.client.put({ TableName: tableName, Item: { pk: 'new', sk: '1' } });
    const [last] = (await numbers(again)).slice(-1);
    expect(last! > (await numbers(engine)).at(-1)!).toBe(true);
    await again.close();
  });

  it('is never written over an existing one', () => {
    expect(() => restoreStore(store)).toThrow(/already holds a store/);
  });
});

describe('a claim', () => {
  it('is held by one opening of the store at a time, until that one is gone', async () => {
    const other = await openStore();
    expect(await engine.claim('backup', 60_000)).toBe(true);
    expect(await engine.claim('backup', 60_000)).toBe(true);
    expect(await other.claim('backup', 60_000)).toBe(false);
    await engine.close();
    await expect.poll(() => other.claim('backup', 60_000)).toBe(true);
    await other.close();
  });
});
