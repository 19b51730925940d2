import type { EventEmitter } from 'node:events';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { open } from 'lmdb';
import { storeFull } from '../errors.ts';
import { checksum } from './checksum.ts';
import { freeBytes, freeSpace, keepToOwner, makeLockFile, syncFolder, writeWhole } from './disk.ts';
import { checkStoreFile, makeFolder, StoreError, storeFile } from './file.ts';
import { type KeyRange, metaKey } from './keys.ts';
import { leaveNoName, memoryFile } from './memory.ts';
import type { KeySpan } from './page-check.ts';
import { createPageGuard, type PageGuard } from './page-guard.ts';
import { type Db, type Encoder, nothing, openReads } from './reads.ts';

// LMDB, as the engine uses it: one ordered space of binary keys, one writer at a time, many readers. A write
// transaction runs on this thread. By default it is on the disk when it ends; with `flush: false` it is only in the
// memory of the system, and the journal makes it durable.

// Format 2 has its newest commits in the journal, which a version that knows format 1 only would not apply. Format 3 has
// checksums in its items.
const formatVersion = 3;
const oldestFormat = 2; // of version 0.2.0

export type Decode<T> = (bytes: Buffer, end: number) => T;
export type Entry<T> = { key: Buffer; value: T };
export type RangeOptions = KeyRange & { reverse?: boolean };

export type Store = ReturnType<typeof openStore>;

export const copyBytes: Decode<Buffer> = (bytes, end) => Buffer.from(bytes.subarray(0, end));

// LMDB's flags of a transaction: one that can be rolled back, and one that is not flushed as well.
const flushedTransaction = 0x3;
const unflushedTransaction = 0x10003;

// 8 KiB pages allow keys of 4026 bytes; the longest DynamoDB key needs about 3100.
const pageSize = 8192;

// When LMDB fails to write, it formats an error into a buffer that may be too short for it, which can end the process.
// So a transaction for which the disk may lack space is refused before LMDB writes it. Another process may take the
// space in between; that is rare.
const bytesPerChange = 2 * pageSize; // a change copies a leaf and a branch, or copies a leaf and splits it
const spareBytes = 512 * 1024; // the upper branches, and the list of free pages

const fileOf = (path: string): string => storeFile(resolve(path));

type StoreOptions = { pagesVerifiedAtOpen?: number | undefined };

export function openStore(path: string, { pagesVerifiedAtOpen }: StoreOptions = {}) {
  const inMemory = path === ':memory:';
  const file = inMemory ? memoryFile() : fileOf(path);
  const folder = dirname(file);
  let guard: PageGuard | undefined;
  const { db, get, range, each } = openReads(
    encoder => {
      const opened = openDatabase(file, inMemory, encoder, pagesVerifiedAtOpen);
      const done = () => {
        guard = undefined;
      };
      if (opened.unread.length > 0) guard = createPageGuard(file, opened.unread, done);
      return opened.db;
    },
    () => guard,
  );
  let changedBytes = 0; // by the current transaction, at most
  let roomBytes = 0; // for it
  const transact = createTransactions(db, file);
  let isNewSnapshot = true;
  (db as unknown as EventEmitter).addListener('begin-transaction', () => {
    isNewSnapshot = true;
  });

  // Runs work in one write transaction. If the work throws, or the disk fails, the transaction is rolled back.
  function write(work: () => void, { flush = true } = {}): void {
    transact(() => {
      changedBytes = 0;
      roomBytes = inMemory ? Infinity : freeBytes(folder) - spareBytes;
      work();
      // Nothing is written if nothing was changed.
      if (changedBytes > 0 && changedBytes > roomBytes)
        throw storeFull(`the disk is full (${freeSpace(folder)})`);
    }, flush);
  }

  return {
    file,
    get,
    range,
    each,
    write,
    commit: async (work: () => void): Promise<void> => write(work),
    // Runs work while no process can write.
    exclusive<T>(work: () => T): T {
      return db.transactionSync(work, unflushedTransaction as never) as T;
    },
    // Keeps every page of the newest commit as it is, until it is released.
    holdSnapshot(): () => void {
      db.resetReadTxn();
      const transaction = db.useReadTransaction();
      db.resetReadTxn();
      return () => transaction.done();
    },
    // Reads of the newest commit, as it is now, until it is released.
    openSnapshot(): { range: typeof range; release(): void } {
      db.resetReadTxn();
      const transaction = db.useReadTransaction();
      db.resetReadTxn();
      return {
        range: (options, as) => range(options, as, transaction),
        release: () => transaction.done(),
      };
    },
    // Whether reads may have seen another state since this was last asked.
    hasNewSnapshot(): boolean {
      const isNew = isNewSnapshot;
      isNewSnapshot = false;
      return isNew;
    },
    // Whether the current transaction should take more, where the rest can have one of its own. Changes share pages, so
    // a transaction needs much less than is counted: several small ones fit where a large one would be refused.
    hasRoom: () => changedBytes <= roomBytes / 2,
    has: (key: Buffer) => get(key, nothing) !== undefined,
    keys: (options: RangeOptions) => range(options, nothing),
    count: (keys: KeyRange): number => {
      const parts = guard ? [...guard.partsOf(keys)] : [keys];
      return parts.reduce((sum, { start, end }) => sum + db.getKeysCount({ start, end }), 0);
    },
    put(key: Buffer, value: Buffer): void {
      guard?.beforeWrite(key);
      changedBytes += bytesPerChange + value.length;
      void db.put(key, value);
    },
    remove(key: Buffer): void {
      guard?.beforeWrite(key);
      changedBytes += bytesPerChange;
      void db.remove(key);
    },
    // The number of the current write transaction. Each one that changes something has the next number.
    txnId: (): number => (db as unknown as { getWriteTxnId(): number }).getWriteTxnId(),
    // The next read starts from the newest commit, including those of other processes.
    refresh: () => db.resetReadTxn(),
    // Verifies some pages that were not read when the store was opened. False if there are none left.
    verifyPages: (): boolean => guard?.step() ?? false,
    async backup(to: string): Promise<void> {
      while (guard?.step()) await new Promise(setImmediate);
      await writeWhole(storeFile(to), draft => db.backup(draft, true));
    },
    stats: () => db.getStats() as LmdbStats,
    pageSize,
    pagesWritten: (): number =>
      (db as unknown as { env: { info(): { pagesWritten: number } } }).env.info().pagesWritten,
    bytes: (): number => statSync(file).size,
    // Whether another process has read the store and is alive. LMDB lists its readers by process.
    hasOtherProcesses: (): boolean =>
      (db as unknown as { readerList(): string })
        .readerList()
        .split('\n')
        .some(line => /^ *\d+ /.test(line) && Number.parseInt(line, 10) !== process.pid),
    clearDeadReaders: () => db.readerCheck(),
    close(): Promise<void> {
      guard?.close();
      guard = undefined;
      return db.close();
    },
  };
}

function createTransactions(db: Db, file: string): (work: () => void, flush: boolean) => void {
  let broken: StoreError | undefined;
  return (work, flush) => {
    if (broken) throw broken;
    let isDecided = false;
    try {
      db.transactionSync(
        () => {
          work();
          isDecided = true;
        },
        (flush ? flushedTransaction : unflushedTransaction) as never,
      );
    } catch (error) {
      if (!isDecided) throw error;
      const cause = (error as Error).message;
      const failure = `${cause} (${freeSpace(dirname(file))})`;
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

export type LmdbStats = {
  pageSize: number;
  treeDepth: number;
  entryCount: number;
  lastPageNumber: number;
  root: TreeStats;
  free: TreeStats;
};

type TreeStats = { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };

function openDatabase(
  file: string,
  inMemory: boolean,
  encoder: Encoder,
  pagesVerifiedAtOpen: number | undefined,
): { db: Db; unread: KeySpan[] } {
  const folder = dirname(file);
  let unread: KeySpan[] = [];
  if (!inMemory) {
    makeFolder(folder);
    unread = checkStoreFile(folder, pagesVerifiedAtOpen);
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
      trackMetrics: true, // counts the pages that it writes
    } as never);
    if (inMemory) leaveNoName(file);
    else syncFolder(folder);
    return { db: db as Db, unread };
  } catch (error) {
    const location = inMemory ? 'memory' : folder;
    throw new StoreError(`cannot open the store in ${location}: ${(error as Error).message}`);
  }
}

// ---- the store's own facts

// A mark, a checksum, then JSON. Before format 3 it was JSON alone.
const factMark = 1;
const factHead = 5;

export function encodeJson(value: unknown): Buffer {
  const text = JSON.stringify(value);
  const bytes = Buffer.allocUnsafe(factHead + Buffer.byteLength(text));
  bytes[0] = factMark;
  bytes.write(text, factHead);
  bytes.writeUInt32LE(checksum(bytes, factHead, bytes.length, factMark), 1);
  return bytes;
}

export const decodeText: Decode<string> = (bytes, end) => {
  if (bytes[0] !== factMark) return bytes.toString('utf8', 0, end);
  if (end < factHead || bytes.readUInt32LE(1) !== checksum(bytes, factHead, end, factMark))
    throw new StoreError(factDamaged);
  return bytes.toString('utf8', factHead, end);
};

export function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StoreError(factDamaged);
  }
}

export const decodeJson: Decode<unknown> = (bytes, end) => parseText(decodeText(bytes, end));

const factDamaged =
  'the store is damaged: a description of a table, or another fact of its own, is not as it was written. ' +
  'Restore a backup';

export function readMeta<T>(store: Pick<Store, 'get'>, name: string): T | undefined {
  return store.get(metaKey(name), decodeJson) as T | undefined;
}

// A new file gets our version, and a file of an earlier one is upgraded; a file of a later version is left unchanged.
// `mayWrite` is false for a store that is opened for reading only. `isServed` says whether another process serves the
// store: one of an earlier version could not read what is written from now on.
export async function claimFormat(
  store: Store,
  { mayWrite, isServed }: { mayWrite: boolean; isServed(): Promise<boolean> },
): Promise<void> {
  const format = readMeta<number>(store, 'format');
  const isEarlier = format !== undefined && format >= oldestFormat && format < formatVersion;
  if (format === formatVersion || (isEarlier && !mayWrite)) return;
  if (format !== undefined && !isEarlier)
    throw new StoreError(
      `this store has format ${format}; this version of Stak reads format ${formatVersion}. ` +
        'Open it with the version that wrote it, or restore a backup.',
    );
  const isOpen = isEarlier && (await isServed());
  store.refresh();
  if (isOpen && readMeta<number>(store, 'format') !== formatVersion)
    throw new StoreError(
      'another process has this store open with an earlier version of Stak: stop it first',
    );
  await store.commit(() => {
    // As JSON alone: an earlier version has to read the number that it refuses.
    store.put(metaKey('format'), Buffer.from(JSON.stringify(formatVersion)));
  });
}
