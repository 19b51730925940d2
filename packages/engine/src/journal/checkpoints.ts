import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { firstUnarchived, historyFolder } from '../history/files.ts';
import { behindBytes } from '../history/limits.ts';
import { flushFile, flushFolder } from '../storage/disk.ts';
import { makeFolder } from '../storage/file.ts';
import { readFreedPages, readOldPages } from '../storage/freed-pages.ts';
import { type MetaPage, readNewestMeta, readStoreId, writeStoreId } from '../storage/meta-page.ts';
import type { Store } from '../storage/store.ts';
import {
  describe,
  isIntact,
  publishDraft,
  readCheckpoint,
  removeCheckpoint,
  writeDraft,
} from './checkpoint-file.ts';
import { firstUnshipped, journalFile, journalFolder, recycleFiles, removeFiles } from './files.ts';
import { createPageImages, removePageImages } from './page-images.ts';
import {
  dropShipping,
  type JournalEnd,
  newHistory,
  readEnd,
  readShipping,
  saveEnd,
  saveShipping,
} from './position.ts';

// Checkpoints of a store whose commits are not flushed. After a power failure the recorded checkpoint is the store, and
// the journal is applied to it. So each page of that checkpoint must be where it was, or have a copy on the disk:
//
// 1. LMDB overwrites a page only if the transaction that freed it is older than the state of every reader. A process
//    that writes always holds a reader. At first that is of a checkpoint which it recorded, so no page of that one, or
//    of a newer one, is overwritten. Before it exchanges its reader for a later one, it copies the pages of the
//    checkpoint that were freed in between, and flushes the copies (`advance`). Otherwise LMDB could not use any page
//    again until the next checkpoint, and would write each one once.
// 2. Another process may have begun a checkpoint that it has not recorded yet. The state of a reader says so
//    (`JournalEnd.checkpoint`); from there on, pages of that checkpoint are copied, which include those of the recorded
//    one.
// 3. A recorded checkpoint is not replaced by an older one. Recording happens while no process can write.
// 4. A process drops its copies when a checkpoint that is newer than all of them is on the disk, its folder included.
// 5. When a process dies, its reader is cleared at some time, and its copies stay. Every other process that writes has
//    its own reader and its own copies; one that does not write yet records a checkpoint before its first write. So it
//    does not matter in which order processes end, nor that LMDB clears all readers when it opens a store.

type Held = { txn: number; end: JournalEnd; copiedUntil: number; recoveries: number; release(): void };

export function createCheckpoints(store: Store, fileBytes: number) {
  const folder = dirname(store.file);
  const journal = journalFolder(folder);
  const images = createPageImages(journal, store.pageSize);
  let opened: number | undefined;
  let held: Held | undefined;
  let making: Promise<JournalEnd> | undefined;
  let advancing: Promise<void> | undefined;

  function handle(): number {
    opened ??= openSync(store.file, 'r+');
    return opened;
  }

  // A new store, one of an earlier version and a copy have no id, or no journal. All that is in them is on the disk:
  // their journal starts here. Of several processes that find such a store, the first one does this.
  function adopt(): void {
    makeFolder(journal); // its name is on the disk with the first checkpoint
    store.write(() => {
      const id = readStoreId(handle());
      const recorded = readCheckpoint(folder);
      const end = readEnd(store);
      const isOwn = id !== undefined && (!recorded || recorded.id === id);
      if (isOwn && end && (end.offset === 0 || existsSync(journalFile(journal, end.file)))) return;
      if (!isOwn) {
        removeCheckpoint(folder);
        removeFiles(journal);
        writeStoreId(handle(), randomBytes(16).toString('hex'));
      }
      dropShipping(store);
      const { commit, at, chain, file } = end ?? { commit: 0, at: 0, chain: 0, file: 0 };
      const txn = store.txnId();
      saveEnd(store, { commit, at, chain, file: file + 1, offset: 0, txn, checkpoint: txn });
    });
  }

  // The newest state, with a reader of it.
  function look(): { page: MetaPage; end: JournalEnd; release(): void } {
    return store.exclusive(() => ({
      page: readNewestMeta(handle()),
      end: readEnd(store)!,
      release: store.holdSnapshot(),
    }));
  }

  // Something else may have written to the store since the last commit. A checkpoint contains that, but a backup does
  // not get it: it needs a new history.
  function passGap(txn: number): JournalEnd {
    const end = readEnd(store)!;
    const shipping = txn === end.txn + 1 ? undefined : readShipping(store);
    if (!shipping) return end;
    const { commit, chain, file } = end;
    const start = { history: newHistory(Date.now()), commit, chain, file: file + 1, offset: 0 };
    saveShipping(store, { ...shipping, start });
    return { ...end, file: file + 1, offset: 0 };
  }

  // The newest state, which says itself that a checkpoint of it has begun.
  function begin() {
    for (;;) {
      let txn = 0;
      store.write(
        () => {
          txn = store.txnId();
          saveEnd(store, { ...passGap(txn), txn, checkpoint: txn });
        },
        { flush: false },
      );
      const { page, end, release } = look();
      if (page.txn === txn) return { page, end, txn, release };
      release(); // another process has written in between
    }
  }

  function keep(next: Omit<Held, 'copiedUntil'>): void {
    held?.release();
    held = { ...next, copiedUntil: next.txn };
    images.clear();
    if (!store.hasOtherProcesses()) removePageImages(journal);
  }

  // Before the first write. The last process that closed the store may have recorded a checkpoint of the newest state;
  // then a reader of it is enough.
  async function prepare(): Promise<JournalEnd> {
    adopt();
    const { page, end, release } = look();
    const recorded = readCheckpoint(folder);
    const isRecorded = recorded?.txn === page.txn && recorded.id === readStoreId(handle());
    if (!isRecorded || !isIntact(recorded, handle())) {
      release();
      return make();
    }
    await flushFolder(folder); // the process that recorded it may have been killed before it did this
    keep({ txn: page.txn, end, recoveries: recorded.recoveries, release });
    return end;
  }

  async function record(): Promise<JournalEnd> {
    await advancing;
    const { page, end, txn, release } = begin();
    const id = readStoreId(handle())!;
    const recoveries = readCheckpoint(folder)?.recoveries ?? 0;
    try {
      await flushFile(handle(), store.file);
      const draft = await writeDraft(folder, describe(handle(), { page, id, recoveries, journal: end }));
      store.exclusive(() => {
        const recorded = readCheckpoint(folder);
        if (recorded?.id === id && recorded.txn >= txn) rmSync(draft);
        else publishDraft(folder, draft);
      });
      // Also if another process has recorded a newer one: its name must be on the disk before anything is dropped.
      await flushFolder(folder);
    } catch (error) {
      release();
      throw error;
    }
    keep({ txn, end, recoveries, release });
    recycle(end.file);
    return end;
  }

  // Files before this one, unless a backup or the history needs them.
  function recycle(file = Number.POSITIVE_INFINITY): JournalEnd {
    return store.exclusive(() => {
      const end = readEnd(store)!;
      const shipping = readShipping(store);
      const shipped = shipping ? firstUnshipped(journal, fileBytes, shipping, end) : end.file;
      const archived = firstUnarchived(historyFolder(folder)) ?? end.file;
      const isFarBehind = (end.file - archived) * fileBytes > behindBytes;
      const needed = Math.min(file, shipped, isFarBehind ? end.file : archived);
      recycleFiles(journal, fileBytes, needed, end.file);
      return end;
    });
  }

  // Resolves to the end of the journal in it: everything before is on the disk.
  function make(): Promise<JournalEnd> {
    making ??= record().finally(() => {
      making = undefined;
    });
    return making;
  }

  async function advanceNow(current: Held): Promise<void> {
    const { page, end, release } = look();
    try {
      copyPages(current, page, Math.max(end.checkpoint, readCheckpoint(folder)?.txn ?? 0));
      await images.flush();
    } catch (error) {
      release();
      throw error;
    }
    if (held !== current) return release();
    current.release();
    current.release = release;
    current.copiedUntil = page.txn;
  }

  function copyPages({ copiedUntil, recoveries }: Held, { txn, bytes }: MetaPage, checkpoint: number): void {
    const file = { handle: handle(), pageSize: store.pageSize };
    const id = readStoreId(handle())!;
    for (const freed of readFreedPages(file, bytes, copiedUntil))
      for (const old of readOldPages(file, freed, checkpoint)) images.add({ id, recoveries, txn, ...old });
  }

  return {
    adopt,
    prepare,
    make,
    recycle: () => recycle(),
    // Lets LMDB use pages again that were freed since the checkpoint.
    advance(): Promise<void> {
      if (!held || making) return Promise.resolve();
      advancing ??= advanceNow(held).finally(() => {
        advancing = undefined;
      });
      return advancing;
    },
    isBusy: () => making !== undefined || advancing !== undefined,
    end: (): JournalEnd | undefined => held?.end,
    imageBytes: images.bytes,
    // From here on this process must not write, unless it prepares itself again.
    giveUp(): void {
      held?.release();
      held = undefined;
    },
    close(): void {
      held?.release();
      held = undefined;
      images.close();
      if (opened !== undefined) closeSync(opened);
      opened = undefined;
    },
  };
}
