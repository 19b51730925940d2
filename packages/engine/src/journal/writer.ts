import { closeSync, openSync, writeSync } from 'node:fs';
import type { Tx } from '../storage/committer.ts';
import { fileMode, makeFolder, StoreError } from '../storage/file.ts';
import type { Store } from '../storage/store.ts';
import { journalFile } from './files.ts';
import { type JournalEnd, newHistory, readEnd, readShipping, saveEnd, saveShipping } from './position.ts';
import { createRecordBuilder, recordHead } from './records.ts';

// Writes the journal: every commit of every process, in files beside the store. A record is written inside the
// transaction it describes, and the same transaction stores the new end of the journal in LMDB. No other process can
// write meanwhile, because LMDB has one writer at a time.

export type JournalWriterOptions = { fileBytes: number; now(): number };

export function createJournalWriter(store: Store, folder: string, { fileBytes, now }: JournalWriterOptions) {
  const builder = createRecordBuilder();
  let open: { file: number; handle: number } | undefined;
  let last: JournalEnd | undefined; // as this process has saved it
  let startsFile = false; // in this transaction
  let written: JournalEnd | undefined; // the end before a record whose transaction is not known to have ended

  function handleOf(file: number): number {
    if (open?.file === file) return open.handle;
    close();
    makeFolder(folder);
    // Not opened for appending: what follows the end is overwritten.
    open = { file, handle: openFile(journalFile(folder, file)) };
    return open.handle;
  }

  function close(): void {
    if (open) closeSync(open.handle);
    open = undefined;
  }

  // Collects what one transaction writes, from its first operation on. If this process made the last transaction, the
  // end is known.
  function beginTx() {
    const begun = last && last.txn + 1 === store.txnId() ? last : readEnd(store);
    if (!begun) throw new StoreError('the journal is not prepared');
    builder.clear();
    startsFile = false;
    return { put: builder.put, remove: builder.remove, finish: () => finish(begun) };
  }

  // If something else has written to the store since the last commit, there is a gap: only a checkpoint makes that
  // durable. A backup gets nothing of it, and needs a new history.
  function finish(begun: JournalEnd): { commit: number; isWritten: boolean; isGap: boolean } {
    written = undefined;
    if (builder.isEmpty()) return { commit: begun.commit, isWritten: false, isGap: false };
    const txn = store.txnId();
    const isGap = txn !== begun.txn + 1;
    const shipping = isGap ? readShipping(store) : undefined;
    if (shipping) startHistory({ put }, begun, shipping.limitBytes);
    const end = append(begun, txn);
    saveEnd(store, end);
    last = end;
    return { commit: end.commit, isWritten: true, isGap };
  }

  function put(key: Buffer, value: Buffer): void {
    store.put(key, value);
    builder.put(key, value);
  }

  // In a file of its own: something may be wrong with the one before.
  function startHistory(tx: Pick<Tx, 'put'>, { commit, chain, file }: JournalEnd, limitBytes: number): void {
    startsFile = true;
    const start = { history: newHistory(now()), commit, chain, file: file + 1, offset: 0 };
    saveShipping(tx, { start, limitBytes });
  }

  const nextPosition = ({ file, offset }: JournalEnd) =>
    offset < fileBytes && !startsFile ? { file, offset } : { file: file + 1, offset: 0 };

  function append(begun: JournalEnd, txn: number): JournalEnd {
    const { file, offset } = nextPosition(begun);
    const commit = begun.commit + 1;
    const at = Math.max(begun.at, now());
    const { record, chain } = builder.seal(commit, at, begun.chain);
    const handle = handleOf(file);
    written = begun;
    for (let count = 0; count < record.length; )
      count += writeSync(handle, record, count, record.length - count, offset + count);
    return { ...begun, commit, at, txn, chain, file, offset: offset + record.length };
  }

  // The record of a transaction that failed must not come back after a power failure.
  function erase(begun: JournalEnd): void {
    store.exclusive(() => {
      if (readEnd(store)?.commit !== begun.commit) return;
      const { file, offset } = nextPosition(begun);
      writeSync(handleOf(file), Buffer.alloc(recordHead), 0, recordHead, offset);
    });
  }

  return {
    beginTx,
    // Called inside a transaction: everything after it is in the new history.
    startHistory: (tx: Pick<Tx, 'put'>, limitBytes: number): void =>
      startHistory(tx, readEnd(store)!, limitBytes),
    // A transaction was rolled back: another process may have got its number.
    forget(): void {
      last = undefined;
      const begun = written;
      written = undefined;
      if (!begun) return;
      try {
        erase(begun);
      } catch {} // the disk fails: the next record overwrites it
    },
    close,
  };
}

function openFile(name: string): number {
  try {
    return openSync(name, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return openSync(name, 'wx+', fileMode);
  }
}
