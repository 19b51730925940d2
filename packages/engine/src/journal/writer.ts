import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileMode, makeFolder } from '../storage/file.ts';
import { metaKey } from '../storage/keys.ts';
import { encodeJson, readMeta, type Store } from '../storage/store.ts';
import { createRecordBuilder } from './records.ts';

// The journal: every commit of the store, in files beside it, for a backup to ship. A record is written inside the
// transaction it describes, and the same transaction says in LMDB where the journal ends. So a record counts when its
// transaction does: one of a transaction that failed, or of a process killed in between, lies behind the end and is
// written over. Files are not flushed; a machine that stops may lose records of commits that LMDB has. The chain of
// checksums shows a reader that they are missing.

/** Where the journal of a store ends. */
export type JournalPosition = {
  // Names an unbroken sequence of commits. It starts over after a gap.
  history: string;
  commit: number;
  // When that commit was made; never earlier than the one before.
  at: number;
  chain: number;
  file: number;
  offset: number;
  // LMDB's number of the transaction that wrote this: another version of the engine, which knows no journal, does not.
  txn: number;
  limitBytes: number;
  // Why nothing is written to the journal any more, until a new history begins.
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
  let isReplaced = false; // whether this transaction has itself changed where the journal is
  let last: JournalPosition | undefined; // as this process has saved it

  function handleOf(position: JournalPosition): number {
    const { history, file } = position;
    if (open?.file === file && open.history === history) return open.handle;
    close();
    makeFolder(folder);
    // Not for appending: what a failed transaction left behind the end is written over.
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

  // What one transaction writes, from its first operation on. Where the last one was of this process, it knows what that
  // has saved.
  function beginTx() {
    const begun = last && last.txn + 1 === store.txnId() ? last : readPosition(store);
    if (!begun || begun.stopped !== undefined) return undefined;
    builder.clear();
    isReplaced = false;
    return { put: builder.put, remove: builder.remove, finish: () => finish(begun) };
  }

  function finish(begun: JournalPosition): void {
    const position = isReplaced ? readPosition(store) : begun;
    // Unless this transaction has begun another history, or ended this one.
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
    // Bytes that a failed transaction left past the end do not belong to the journal.
    ftruncateSync(handleOf(full), full.offset);
    return { ...full, file: full.file + 1, offset: 0 };
  }

  return {
    beginTx,
    // Inside a transaction: everything after it is in the journal.
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
    // Inside a transaction, too.
    setLimit(limitBytes: number): void {
      const position = readPosition(store);
      if (!position) return;
      // Numbers that are missing stay to be seen.
      const txn = store.txnId() === position.txn + 1 ? store.txnId() : position.txn;
      isReplaced = true;
      save({ ...position, txn, limitBytes });
    },
    end(): void {
      isReplaced = true;
      last = undefined;
      store.remove(journalKey);
    },
    // A transaction was not kept: another process may have got its number.
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
