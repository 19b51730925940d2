import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { bootId } from '../storage/boot-id.ts';
import { flushFileSync, syncFolder } from '../storage/disk.ts';
import { makeFolder, StoreError, storeExists, storeFile } from '../storage/file.ts';
import { decodeMeta, readNewestMeta, readStoreId, restoreMeta } from '../storage/meta-page.ts';
import { openStore, type Store } from '../storage/store.ts';
import {
  type Checkpoint,
  describe,
  isIntact,
  publishDraft,
  readCheckpoint,
  writeDraftSync,
} from './checkpoint-file.ts';
import { journalFile, journalFolder } from './files.ts';
import { readPageImages } from './page-images.ts';
import { type JournalEnd, saveEnd } from './position.ts';
import { JournalDamage, type JournalRecord, readOperations, readRecord, recordHead } from './records.ts';

// After the machine has stopped, the store file may hold any part of what was written since the last checkpoint.
// Recovery puts the pages of the checkpoint back that were overwritten, makes the file show it again, and applies the
// journal. If it is interrupted,
// the next process starts again: the checkpoint is replaced only when all is done.

const bytesPerTransaction = 8 * 1024 * 1024;

// The checkpoint to go back to; undefined if the store file is as it was written.
function findTorn(folder: string): Checkpoint | undefined {
  // Without a boot id the store is opened as it is: LMDB flushes itself then.
  if (!storeExists(folder) || bootId() === undefined) return undefined;
  const checkpoint = readCheckpoint(folder);
  if (!checkpoint) return undefined;
  const handle = openSync(storeFile(folder), 'r');
  try {
    const isOwn = readStoreId(handle) === checkpoint.id;
    return isOwn && !isIntact(checkpoint, handle) ? checkpoint : undefined;
  } finally {
    closeSync(handle);
  }
}

export const needsRecovery = (folder: string): boolean => findTorn(folder) !== undefined;

/** Called before LMDB opens the store, which no living process may have open. */
export async function recoverStore(folder: string): Promise<void> {
  await withLock(folder, () => {
    const checkpoint = findTorn(folder);
    // Another process was faster.
    if (!checkpoint) return;
    try {
      makeFolder(journalFolder(folder));
      restoreCheckpoint(folder, checkpoint);
      applyJournal(folder, checkpoint);
    } catch (error) {
      throw new StoreError(`cannot recover the store in ${folder}: ${(error as Error).message}`);
    }
  });
}

// One process at a time. The lock is LMDB's own, of a file made for it: the system frees it when its holder dies.
async function withLock(folder: string, work: () => void): Promise<void> {
  const file = join(folder, 'recovery.mdb');
  const lock = open({ path: file, noSync: true });
  try {
    lock.transactionSync(work);
    // A process that waits for the lock, or makes a new one, finds nothing left to do.
    for (const name of [file, `${file}-lock`]) rmSync(name, { force: true });
  } finally {
    await lock.close();
  }
}

function restoreCheckpoint(folder: string, checkpoint: Checkpoint): void {
  const file = storeFile(folder);
  const handle = openSync(file, 'r+');
  try {
    const meta = Buffer.from(checkpoint.meta, 'base64');
    const { pageSize } = decodeMeta(meta);
    const images = readPageImages(journalFolder(folder), checkpoint, checkpoint.txn, pageSize);
    for (const [page, bytes] of images) writeSync(handle, bytes, 0, pageSize, page * pageSize);
    restoreMeta(handle, meta);
    flushFileSync(handle, file);
  } finally {
    closeSync(handle);
  }
}

function applyJournal(folder: string, { id, recoveries, journal: start }: Checkpoint): void {
  const store = openStore(folder);
  const handle = openSync(store.file, 'r+');
  // The checkpoint is still the one to go back to.
  const release = store.exclusive(store.holdSnapshot);
  try {
    const end = applyRecords(store, journalFolder(folder), start);
    flushFileSync(handle, store.file);
    const checkpoint = describe(handle, {
      id,
      // Earlier copies of pages are not of this checkpoint.
      recoveries: recoveries + 1,
      journal: end,
      page: readNewestMeta(handle),
    });
    publishDraft(folder, writeDraftSync(folder, checkpoint));
    syncFolder(folder);
  } finally {
    release();
    closeSync(handle);
    void store.close();
  }
}

function applyRecords(store: Store, folder: string, start: JournalEnd): JournalEnd {
  let end = start;
  let waiting: JournalRecord[] = [];
  let bytes = 0;

  function write(): void {
    if (waiting.length === 0) return;
    store.write(
      () => {
        for (const { operations } of waiting) apply(store, operations);
        end = { ...end, txn: store.txnId() };
        saveEnd(store, end);
      },
      { flush: false },
    );
    waiting = [];
    bytes = 0;
  }

  for (const { record, file, offset } of readRecords(folder, start)) {
    waiting.push(record);
    bytes += record.operations.length;
    const { commit, at, chain } = record;
    end = { ...end, commit, at, chain, file, offset };
    if (bytes >= bytesPerTransaction) write();
  }
  write();
  return end;
}

function apply(store: Store, operations: Buffer): void {
  for (const { key, value } of readOperations(operations)) {
    if (value) store.put(key, value);
    else store.remove(key);
  }
}

type LocatedRecord = { record: JournalRecord; file: number; offset: number };

// Every commit after the checkpoint, up to the first record that is incomplete or does not follow. A file ends where
// the next one continues.
function* readRecords(folder: string, start: JournalEnd): Generator<LocatedRecord> {
  let before: { commit: number; chain: number } = start;
  let offset = start.offset;
  for (let file = start.file; ; file++, offset = 0) {
    const bytes = readFile(folder, file);
    const isFirst = file === start.file;
    let found = 0;
    for (let record = following(bytes, offset, before); record; record = following(bytes, offset, before)) {
      offset += recordHead + record.operations.length;
      before = record;
      found++;
      yield { record, file, offset };
    }
    if (found === 0 && !isFirst) return;
  }
}

function following(
  bytes: Buffer,
  offset: number,
  before: { commit: number; chain: number },
): JournalRecord | undefined {
  try {
    return readRecord(bytes, offset, before);
  } catch (error) {
    if (error instanceof JournalDamage) return undefined;
    throw error;
  }
}

function readFile(folder: string, file: number): Buffer {
  try {
    return readFileSync(journalFile(folder, file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
