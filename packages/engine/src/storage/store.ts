import { dirname, resolve } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { freeBytes, freeSpace, keepToOwner, makeLockFile, syncFolder, writeWhole } from './disk.ts';
import { checkStoreFile, makeFolder, StoreError, storeFile } from './file.ts';
import { type KeyRange, metaKey } from './keys.ts';
import { leaveNoName, memoryFile } from './memory.ts';

// LMDB, as the engine uses it: one ordered space of binary keys, one writer at a time, many readers. A write
// transaction runs on this thread; committing and flushing it happen on LMDB's own.

const formatVersion = 1;

export type Decode<T> = (bytes: Buffer, end: number) => T;
export type Entry<T> = { key: Buffer; value: T };
export type RangeOptions = KeyRange & { reverse?: boolean };

export type Store = ReturnType<typeof openStore>;

export const copyBytes: Decode<Buffer> = (bytes, end) => Buffer.from(bytes.subarray(0, end));
// For callers that need only the key.
const nothing: Decode<true> = () => true;

// When a commit may block this thread: a moving average over about ten commits, in which one slow commit counts little,
// and which recovers after a few hundred commits elsewhere.
const usualPatienceMs = 3;
const sampleWeight = 0.1;
const longestSampleMs = 20;
const forgetting = 0.99;

// 8 KiB pages allow keys of 4026 bytes; the longest DynamoDB key needs about 3100.
const pageSize = 8192;

// When LMDB fails to write, it formats an error into a buffer that may be too short for it, which can end the process.
// So a transaction for which the disk may lack space is refused before LMDB writes it. Another process may take the
// space in between; that is rare.
const bytesPerChange = 2 * pageSize; // a change copies a leaf and a branch, or copies a leaf and splits it
const spareBytes = 512 * 1024; // the upper branches, and the list of free pages

// Transactions of this process that LMDB's own thread has begun, by file. It holds the lock of the file until this
// thread has done their work. If this thread waited for that lock, for another store of the same file, it would
// deadlock.
const elsewhere = new Map<string, Set<Promise<unknown>>>();

// Callers that are about to take the lock on this thread must await this repeatedly, until it returns undefined.
function othersOn(file: string): Promise<unknown> | undefined {
  const running = elsewhere.get(file);
  return running && Promise.allSettled(running);
}

const fileOf = (path: string): string => storeFile(resolve(path));

// Opening a store takes the lock as well.
export const othersIn = (path: string): Promise<unknown> | undefined => othersOn(fileOf(path));

export function openStore(path: string, patienceMs = usualPatienceMs) {
  const inMemory = path === ':memory:';
  const file = inMemory ? memoryFile() : fileOf(path);
  const folder = dirname(file);
  const { db, get, range, each } = openReads(encoder => openDatabase(file, inMemory, encoder));
  let changedBytes = 0; // by the current transaction, at most
  let roomBytes = 0; // for it
  const commit = createCommit(db, file, patienceMs);
  return {
    get,
    range,
    each,
    commit: (work: () => void) =>
      commit(() => {
        changedBytes = 0;
        roomBytes = inMemory ? Infinity : freeBytes(folder) - spareBytes;
        work();
        // Nothing is written if nothing was changed.
        if (changedBytes > 0 && changedBytes > roomBytes)
          throw new StoreError(`the disk is full (${freeSpace(folder)})`);
      }),
    // Whether the current transaction should take more, where the rest can have one of its own. Changes share pages, so
    // a transaction needs much less than is counted: several small ones fit where a large one would be refused.
    hasRoom: () => changedBytes <= roomBytes / 2,
    has: (key: Buffer) => get(key, nothing) !== undefined,
    keys: (options: RangeOptions) => range(options, nothing),
    count: ({ start, end }: KeyRange): number => db.getKeysCount({ start, end }),
    put(key: Buffer, value: Buffer): void {
      changedBytes += bytesPerChange + value.length;
      void db.put(key, value);
    },
    remove(key: Buffer): void {
      changedBytes += bytesPerChange;
      void db.remove(key);
    },
    // The number of the current write transaction. Each one that changes something has the next number.
    txnId: (): number => (db as unknown as { getWriteTxnId(): number }).getWriteTxnId(),
    // The next read starts from the newest commit, including those of other processes.
    refresh: () => db.resetReadTxn(),
    backup: (to: string) => writeWhole(storeFile(to), draft => db.backup(draft, true)),
    stats: () => db.getStats() as LmdbStats,
    clearDeadReaders: () => db.readerCheck(),
    close: () => db.close(),
  };
}

// Opens the file and reads from it, each value with the decoder of its caller.
function openReads(openWith: (encoder: Encoder) => Db) {
  // The decoder of the current read. Reads are synchronous, so one slot is enough, and values are decoded from LMDB's
  // shared buffer without being copied first.
  let decode: Decode<unknown> = nothing;
  const db = openWith({
    encode: (value: Buffer) => value,
    decode: (bytes: Buffer, end?: unknown) => decode(bytes, typeof end === 'number' ? end : bytes.length),
  });

  // LMDB copies the key of every entry it passes through this method.
  let wantsKeys = true;
  const ranges = db as unknown as {
    readKey(bytes: Uint8Array, start: number, end: number): Buffer | undefined;
  };
  const { readKey } = ranges;
  ranges.readKey = (bytes, start, end) => (wantsKeys ? readKey(bytes, start, end) : undefined);

  function get<T>(key: Buffer, as: Decode<T>): T | undefined {
    decode = as;
    return db.get(key) as T | undefined;
  }

  const iterate = ({ start, end, reverse }: RangeOptions) =>
    db
      .getRange(
        reverse
          ? { start: end, end: start, reverse: true, exclusiveStart: true, inclusiveEnd: true }
          : { start, end },
      )
      [Symbol.iterator]();

  // Iterators are used within one turn of the event loop: callers finish them or break.
  function* range<T>(options: RangeOptions, as: Decode<T>): Generator<Entry<T>> {
    const entries = iterate(options);
    try {
      while (true) {
        decode = as;
        const next = entries.next();
        if (next.done) return;
        yield next.value as Entry<T>;
      }
    } finally {
      entries.return?.();
    }
  }

  // The same without a generator and without the keys, for Query and Scan: continues while `visit` returns true.
  function each<T>(options: RangeOptions, as: Decode<T>, visit: (value: T) => boolean): void {
    wantsKeys = false;
    const entries = iterate(options);
    try {
      while (true) {
        decode = as;
        const next = entries.next();
        if (next.done || !visit(next.value.value as T)) return;
      }
    } finally {
      wantsKeys = true;
      entries.return?.();
    }
  }

  return { db, get, range, each };
}

// Runs work in one write transaction and resolves when it is on disk. If the work throws, or the disk fails, the
// transaction is rolled back.
//
// A transaction on LMDB's own thread switches threads four times, which takes longer than the flush of a fast disk. So
// this thread does everything, unless it recently had to wait too long for the disk or for another process: that would
// block all other work.
function createCommit(db: Db, file: string, patienceMs: number): (work: () => void) => Promise<void> {
  let broken: StoreError | undefined;
  let waitedMs = 0;

  function commitHere(work: () => void): void {
    const start = performance.now();
    let workMs = 0;
    db.transactionSync(() => {
      const begun = performance.now();
      work();
      workMs = performance.now() - begun;
    });
    const sampleMs = Math.min(performance.now() - start - workMs, longestSampleMs);
    waitedMs += (sampleMs - waitedMs) * sampleWeight;
  }

  async function commitElsewhere(work: () => void): Promise<void> {
    const committing = db.childTransaction(work);
    const running = elsewhere.get(file) ?? new Set();
    elsewhere.set(file, running.add(committing));
    try {
      await committing;
    } finally {
      running.delete(committing);
      if (running.size === 0) elsewhere.delete(file);
    }
    waitedMs *= forgetting;
  }

  return async work => {
    if (broken) throw broken;
    let isDecided = false;
    const decide = () => {
      work();
      isDecided = true;
    };
    try {
      if (waitedMs > patienceMs) await commitElsewhere(decide);
      else {
        for (let others = othersOn(file); others; others = othersOn(file)) await others;
        commitHere(decide);
      }
    } catch (error) {
      if (!isDecided) throw error;
      const cause = await causeOf(error);
      const failure = `${cause} (${freeSpace(dirname(file))})`;
      for (let others = othersOn(file); others; others = othersOn(file)) await others;
      if (isReadOnly(cause) || !isWritable(db))
        broken = new StoreError(`${failure}; the store must be opened again`);
      throw broken ?? new StoreError(failure);
    }
  };
}

// A disk with an error becomes read-only, and does not become writable again by itself.
const isReadOnly = (cause: string): boolean => cause.startsWith('Read-only file system');

// When LMDB fails to write the page that makes a transaction visible, it refuses every later one, and would leave their
// callers waiting for ever.
function isWritable(db: Db): boolean {
  try {
    db.transactionSync(() => undefined);
    return true;
  } catch {
    return false;
  }
}

// LMDB's own thread reports a failed commit behind a promise.
async function causeOf(error: unknown): Promise<string> {
  const { commitError } = error as { commitError?: Promise<never> };
  return commitError ? commitError.catch((cause: Error) => cause.message) : (error as Error).message;
}

export type LmdbStats = {
  pageSize: number;
  treeDepth: number;
  entryCount: number;
  lastPageNumber: number;
  root: TreeStats;
  free: TreeStats;
};

type TreeStats = { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };

type Encoder = { encode(value: Buffer): Buffer; decode(bytes: Buffer, end?: unknown): unknown };

type Db = RootDatabase<unknown, Buffer> & Database;

function openDatabase(file: string, inMemory: boolean, encoder: Encoder): Db {
  const folder = dirname(file);
  if (!inMemory) {
    makeFolder(folder);
    checkStoreFile(folder);
    makeLockFile(folder);
    keepToOwner(folder);
  }
  try {
    const db = open<unknown, Buffer>({
      path: file,
      ...(inMemory && { noSync: true, deleteOnClose: true }),
      // A transaction is flushed before it becomes visible, so one whose flush failed never happened.
      overlappingSync: false,
      // Otherwise each transaction has a second promise without handlers, which is rejected when it fails.
      eventTurnBatching: false,
      pageSize,
      keyEncoding: 'binary',
      encoder,
      cache: false,
      commitDelay: 0,
      maxReaders: 510,
    } as never);
    if (inMemory) leaveNoName(file);
    else syncFolder(folder);
    return db as Db;
  } catch (error) {
    const location = inMemory ? 'memory' : folder;
    throw new StoreError(`cannot open the store in ${location}: ${(error as Error).message}`);
  }
}

// ---- the store's own facts

export const decodeJson = (bytes: Buffer, end: number): unknown => JSON.parse(bytes.toString('utf8', 0, end));
export const encodeJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

export function readMeta<T>(store: Pick<Store, 'get'>, name: string): T | undefined {
  return store.get(metaKey(name), decodeJson) as T | undefined;
}

// A new file gets our version; a file of another version is left unchanged.
export async function claimFormat(store: Store): Promise<void> {
  const found = readMeta<number>(store, 'format');
  if (found === undefined) {
    await store.commit(() => {
      if (readMeta(store, 'format') === undefined) store.put(metaKey('format'), encodeJson(formatVersion));
    });
  } else if (found !== formatVersion) {
    throw new StoreError(
      `this store has format ${found}; this version of Stak reads format ${formatVersion}. ` +
        'Open it with the version that wrote it, or restore a backup.',
    );
  }
}
