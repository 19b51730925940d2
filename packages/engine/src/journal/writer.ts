import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileMode, makeFolder } from '../storage/file.ts';
import { metaKey } from '../storage/keys.ts';
import { encodeJson, readMeta, type Store } from '../storage/store.ts';
import { createRecordBuilder } from './records.ts';

// The journal: every commit of the store, in files beside it, for a backup to ship. A record is written inside the
// transaction it describes, and the same transaction stores the end of the journal in LMDB. So a record counts if its
// transaction does: a record of a transaction that failed, or of a process killed in between, lies after the end and is
// overwritten. Files are not flushed; if the machine stops, records of commits that LMDB has may be lost. The chain of
// checksums shows a reader that they are missing.

/** The end of the journal of a store. */
export type JournalPosition = {
  // Identifies an unbroken sequence of commits. After a gap, a new one starts.
  history: string;
  commit: number;
  // When that commit was made; never earlier than the one before.
  at: number;
  chain: number;
  file: number;
  offset: number;
  // LMDB's number of the transaction that wrote this. A version of the engine without a journal does not update it.
  txn: number;
  limitBytes: number;
  // Why the journal has stopped, until a new history starts.
  stopped?: string;
};

export const journalKey = metaKey('journal');
const fileBytes = 4 * 1024 * 1024;

export const readPosition = (store: Pick<Store, 'get'>): JournalPosition | undefined =>
  readMeta<JournalPosition>(store, 'journal');

export const journalFolder = (path: string): string => join(path, 'journal');
export const journalFile = (folder: string, { history, file }: { history: string; file: number }): string =>
  join(folder, `${history}-${String(file).padStart(8, '0')}.log`);

export type JournalWriter = ReturnType<typeof createJournalWriter>;

export function createJournalWriter(store: Store, path: string, now: () => number) {
  const folder = journalFolder(path);
  const builder = createRecordBuilder();
  let open: { history: string; file: number; handle: number } | undefined;
  let isReplaced = false; // whether this transaction has replaced the journal's position
  let last: JournalPosition | undefined; // as this process has saved it

  function handleOf(position: JournalPosition): number {
    const { history, file } = position;
    if (open?.file === file && open.history === history) return open.handle;
    close();
    makeFolder(folder);
    // Not opened for appending: what a failed transaction left after the end is overwritten.
    const name = journalFile(folder, position);
    open = { history, file, handle: openSync(name, position.offset === 0 ? 'w' : 'r+', fileMode) };
    return open.handle;
  }

  function close(): void {
    if (open) closeSync(open.handle);
    open = undefined;
  }

  function save(position: JournalPosition): void {
    store.put(journalKey, encodeJson(position));
    last = position;
  }

  // Collects what one transaction writes, from its first operation on. If this process made the last transaction, the
  // saved position is known.
  function beginTx() {
    const begun = last && last.txn + 1 === store.txnId() ? last : readPosition(store);
    if (!begun || begun.stopped !== undefined) return undefined;
    builder.clear();
    isReplaced = false;
    return { put: builder.put, remove: builder.remove, finish: () => finish(begun) };
  }

  function finish(begun: JournalPosition): void {
    const position = isReplaced ? readPosition(store) : begun;
    // Unless this transaction has started or ended a history.
    if (builder.isEmpty() || position?.history !== begun.history) return;
    const txn = store.txnId();
    try {
      const isNext = txn === begun.txn + 1 || txn === begun.txn;
      if (!isNext) throw new Error('something else has written to the store');
      save(append(position, txn));
    } catch (error) {
      // The store is more important than its backup.
      close();
      save({ ...position, txn, stopped: (error as Error).message });
    }
  }

  function append(begun: JournalPosition, txn: number): JournalPosition {
    const start = begun.offset < fileBytes ? begun : nextFile(begun);
    const commit = start.commit + 1;
    const at = Math.max(start.at, now());
    const { record, chain } = builder.seal(commit, at, start.chain);
    const handle = handleOf(start);
    for (let written = 0; written < record.length; )
      written += writeSync(handle, record, written, record.length - written, start.offset + written);
    return { ...start, commit, at, chain, offset: start.offset + record.length, txn };
  }

  function nextFile(full: JournalPosition): JournalPosition {
    if (journalBytes(folder) >= full.limitBytes)
      throw new Error(`the journal has grown to its limit of ${full.limitBytes} bytes`);
    // Bytes that a failed transaction left after the end do not belong to the journal.
    ftruncateSync(handleOf(full), full.offset);
    return { ...full, file: full.file + 1, offset: 0 };
  }

  return {
    beginTx,
    // Called inside a transaction: everything after it is in the journal.
    begin(limitBytes: number): JournalPosition {
      const at = now();
      const stamp = new Date(at).toISOString().replace(/[-:.]/g, '');
      const history = `${stamp}-${randomBytes(4).toString('hex')}`;
      const txn = store.txnId();
      const position = { history, commit: 0, at, chain: 0, file: 1, offset: 0, txn, limitBytes };
      isReplaced = true;
      save(position);
      return position;
    },
    // Also called inside a transaction.
    setLimit(limitBytes: number): void {
      const position = readPosition(store);
      if (!position) return;
      // A gap in the numbers must stay visible.
      const txn = store.txnId() === position.txn + 1 ? store.txnId() : position.txn;
      isReplaced = true;
      save({ ...position, txn, limitBytes });
    },
    end(): void {
      isReplaced = true;
      last = undefined;
      store.remove(journalKey);
    },
    // A transaction was rolled back: another process may have got its number.
    forget(): void {
      last = undefined;
    },
    close,
  };
}

function journalBytes(folder: string): number {
  let bytes = 0;
  for (const name of listFiles(folder))
    bytes += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}

export function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter(name => name.endsWith('.log'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
