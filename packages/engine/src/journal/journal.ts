import { dirname } from 'node:path';
import { internalError } from '../errors.ts';
import { bootId } from '../storage/boot-id.ts';
import type { Tx } from '../storage/committer.ts';
import { StoreError } from '../storage/file.ts';
import type { Store } from '../storage/store.ts';
import { readCheckpoint, removeCheckpoint } from './checkpoint-file.ts';
import { createCheckpoints } from './checkpoints.ts';
import { journalFolder } from './files.ts';
import { createFlusher } from './flusher.ts';
import {
  dropShipping,
  type JournalPosition,
  readCommit,
  readEnd,
  readPosition,
  readShipping,
  saveShipping,
} from './position.ts';
import { createJournalWriter } from './writer.ts';

// The journal is what makes a commit durable. LMDB commits without a flush; then the journal is flushed, outside the
// serving thread, and only then the commit is acknowledged. Nothing that is not durable leaves the engine: a response
// that may contain it waits for `settled`.
//
// Where it cannot be known whether the machine has stopped since the last write, each commit flushes LMDB instead, and
// the journal is only for backups.

/** How the journal of a store is written. The defaults suit every store; tests use smaller ones. */
export type JournalSettings = {
  fileBytes?: number; // the size of one file of the journal
  // How often the store itself is put on the disk.
  checkpointMs?: number;
  // How much is written to the store until its freed pages are used again. By default an eighth of its size, within
  // limits.
  reuseBytes?: number;
};

export type JournalOptions = JournalSettings & {
  now(): number;
  isReader: boolean;
  onError(error: Error, work: string): void;
};

export type Journal = ReturnType<typeof createJournal>;

const checkpointFiles = 16; // 64 MB of journal are applied within seconds
const checkpointImageBytes = 64 * 1024 * 1024;
// LMDB's file grows by what is written until pages can be used again.
const smallestPagesBytes = 1024 * 1024;
const largestPagesBytes = 8 * 1024 * 1024;
const writesPerLook = 8;

// Some file systems cannot flush a folder.
const isRefused = (error: unknown): boolean =>
  ['EINVAL', 'ENOSYS', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '');

export function createJournal(
  store: Store,
  { now, isReader, onError, fileBytes = 4 * 1024 * 1024, checkpointMs = 10_000, reuseBytes }: JournalOptions,
) {
  const folder = dirname(store.file);
  const writer = createJournalWriter(store, journalFolder(folder), { fileBytes, now });
  const checkpoints = createCheckpoints(store, fileBytes);
  let flushesTree = bootId() === undefined;
  let isPrepared = false;
  let afterGap = 0; // a commit that needs a checkpoint to be durable
  let writes = 0; // since the last checkpoint
  let pagesBefore = 0;

  // Read in this order: the first checkpoint is recorded before the first commit without a flush.
  const begun = readEnd(store);
  const recorded = readCheckpoint(folder)?.journal;
  const flusher = createFlusher(journalFolder(folder), recorded ?? begun ?? { commit: 0, file: 0 });

  // Before the first write. Undefined if there is nothing to do.
  function prepare(): Promise<void> | undefined {
    return isPrepared ? undefined : prepareNow();
  }

  async function prepareNow(): Promise<void> {
    try {
      if (!flushesTree) flusher.confirm(await checkpoints.prepare());
    } catch (error) {
      if (!isRefused(error)) throw error;
      flushesTree = true;
    }
    if (flushesTree) {
      checkpoints.adopt();
      // Its pages are about to be reused.
      removeCheckpoint(folder);
    }
    noteCheckpoint();
    isPrepared = true;
  }

  function noteCheckpoint(): void {
    writes = 0;
    pagesBefore = store.pagesWritten();
  }

  async function checkpoint(): Promise<number> {
    noteCheckpoint();
    const end = flushesTree ? checkpoints.recycle() : await checkpoints.make();
    flusher.confirm(end);
    return end.commit;
  }

  function beginTx() {
    const failure = flusher.failure();
    if (failure) throw new StoreError(failure.message);
    const record = writer.beginTx();
    return {
      ...record,
      finish(): void {
        const { isGap, isWritten, commit } = record.finish();
        if (isGap) afterGap = commit;
        if (isWritten) writes++;
      },
    };
  }

  // Everything that a read of this process may have seen. Undefined if it is durable, which costs one comparison.
  let seen = 0;
  function settled(): Promise<void> | undefined {
    if (flushesTree) return undefined;
    if (store.hasNewSnapshot()) {
      seen = readCommit(store);
      store.hasNewSnapshot();
    }
    return flusher.isDurable(seen) ? undefined : flush();
  }

  async function flush(): Promise<void> {
    const end = readEnd(store);
    try {
      if (end) await flusher.flush(end);
    } catch (error) {
      throw internalError((error as Error).message);
    }
  }

  // Resolves when everything that was committed until now is durable.
  async function flushed(): Promise<void> {
    if (flushesTree) return;
    // One that has begun before does not contain it.
    while (afterGap > 0) if ((await checkpoint()) >= afterGap) afterGap = 0;
    await settled();
    if (writes % writesPerLook === 0 || reuseBytes !== undefined) startIfDue();
  }

  // Both happen beside the commits that follow.
  function startIfDue(): void {
    const files = (readEnd(store)?.file ?? 0) - (checkpoints.end()?.file ?? 0);
    const pagesBytes = (store.pagesWritten() - pagesBefore) * store.pageSize;
    const usual = Math.min(Math.max(store.bytes() / 8, smallestPagesBytes), largestPagesBytes);
    if (files > checkpointFiles || checkpoints.imageBytes() > checkpointImageBytes) background(checkpoint);
    else if (pagesBytes > (reuseBytes ?? usual)) {
      pagesBefore = store.pagesWritten();
      background(checkpoints.advance);
    }
  }

  let working: Promise<unknown> | undefined;
  function background(work: () => Promise<unknown>): void {
    working ??= work()
      .catch(error => onError(error as Error, 'checkpoint'))
      .finally(() => {
        working = undefined;
      });
  }

  // A process that only reads for a while must not keep pages from being reused.
  function tick(): void {
    if (!isPrepared) return;
    store.refresh();
    if (writes > 0) background(checkpoint);
    else if (!flushesTree && !checkpoints.isBusy() && checkpoints.end()?.commit !== readCommit(store)) {
      isPrepared = false;
      checkpoints.giveUp();
    }
  }
  const timer = isReader ? undefined : setInterval(tick, checkpointMs).unref();

  async function close(): Promise<void> {
    clearInterval(timer);
    await working;
    try {
      store.refresh();
      const isBehind = checkpoints.end()?.commit !== readCommit(store);
      if (!isReader && !flushesTree && isPrepared && isBehind && !flusher.failure()) await checkpoint();
    } catch (error) {
      onError(error as Error, 'checkpoint'); // the journal has everything
    }
    await flusher.close();
    checkpoints.close();
    writer.close();
  }

  return {
    prepare,
    beginTx,
    forget: writer.forget,
    flushesTree: () => flushesTree,
    settled,
    flushed,
    // The durable end of the journal of all processes; undefined if no backup has begun.
    async position(): Promise<JournalPosition | undefined> {
      store.refresh();
      const position = readPosition(store);
      await settled();
      return position;
    },
    // Starts a history: a backup ships everything from here on.
    begin(tx: Tx, limitBytes: number): JournalPosition {
      writer.startHistory(tx, limitBytes);
      return readPosition(store)!;
    },
    // How far a backup may be behind before it has to start again.
    setLimit(tx: Tx, limitBytes: number): void {
      const shipping = readShipping(store);
      if (shipping) saveShipping(tx, { ...shipping, limitBytes });
    },
    end: (tx: Tx): void => dropShipping(tx),
    async checkpoint(): Promise<void> {
      await prepare();
      await checkpoint();
    },
    close,
  };
}
