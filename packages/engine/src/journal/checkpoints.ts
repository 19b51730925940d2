import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { flushFile, flushFolder } from '../storage/disk.ts';
import { makeFolder } from '../storage/file.ts';
import { readNewestMeta, readStoreId, writeStoreId } from '../storage/meta-page.ts';
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
import { dropShipping, type JournalEnd, readEnd, readShipping, saveEnd } from './position.ts';

// Checkpoints of a store whose commits are not flushed. After a power failure the recorded checkpoint is the store, and
// the journal is applied to it. So no page of that checkpoint may be overwritten:
//
// 1. LMDB reuses a page only if no reader needs a state that contains it. A process that writes holds a reader of a
//    state that is not newer than the recorded checkpoint: its own, which it recorded first. A page of the checkpoint
//    is freed by a transaction after it, so it is after the state of every such reader, and is not reused.
// 2. A recorded checkpoint is never replaced by an older one, or by one for which 1 does not hold. Recording happens
//    while no process can write.
// 3. A process gives its reader up only when a newer checkpoint is on the disk, its folder included, and it holds a
//    reader of that one or an earlier one; or when it will not write again without preparing itself first.
// 4. When a process dies, its reader is cleared at some time. Every other process that writes has its own, and one that
//    does not write yet records a checkpoint before its first write. So it does not matter in which order processes
//    end, and that LMDB clears all readers when the first process opens a store.

type Held = { txn: number; end: JournalEnd; release(): void };

export type Checkpoints = ReturnType<typeof createCheckpoints>;

export function createCheckpoints(store: Store, fileBytes: number) {
  const folder = dirname(store.file);
  const journal = journalFolder(folder);
  let opened: number | undefined;
  let held: Held | undefined;
  let running: Promise<JournalEnd> | undefined;

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
      saveEnd(store, { commit, at, chain, file: file + 1, offset: 0, txn: store.txnId() });
    });
  }

  // The newest state, with a reader that keeps its pages.
  function begin() {
    return store.exclusive(() => {
      const meta = readNewestMeta(handle());
      const end = readEnd(store)!;
      return { meta, end, txn: meta.txn, release: store.holdSnapshot() };
    });
  }

  function keep(next: Held): void {
    held?.release();
    held = next;
  }

  // Before the first write. A checkpoint of the newest state may have been recorded by the last process that closed the
  // store; then a reader of it is enough.
  async function prepare(): Promise<JournalEnd> {
    adopt();
    const { meta, ...next } = begin();
    const recorded = readCheckpoint(folder);
    if (recorded?.txn === meta.txn && recorded.id === readStoreId(handle()) && isIntact(recorded, handle())) {
      await flushFolder(folder); // the process that recorded it may have been killed before it did this
      keep(next);
      return next.end;
    }
    next.release();
    return make();
  }

  async function record(): Promise<JournalEnd> {
    const { meta, ...next } = begin();
    try {
      const checkpoint = describe(handle(), readStoreId(handle())!, meta, next.end);
      await flushFile(handle(), store.file);
      const draft = await writeDraft(folder, checkpoint);
      store.exclusive(() => {
        const recorded = readCheckpoint(folder);
        const isNewer = recorded?.id === checkpoint.id && recorded.txn >= checkpoint.txn;
        if (isNewer) rmSync(draft);
        else publishDraft(folder, draft);
      });
      // Also if another process has recorded a newer one: its name must be on the disk before anything is given up.
      await flushFolder(folder);
    } catch (error) {
      next.release();
      throw error;
    }
    keep(next);
    recycle(next.end.file);
    return next.end;
  }

  // Files before this one, unless a backup needs them.
  function recycle(file = Number.POSITIVE_INFINITY): JournalEnd {
    return store.exclusive(() => {
      const end = readEnd(store)!;
      const shipping = readShipping(store);
      const shipped = shipping ? firstUnshipped(journal, fileBytes, shipping, end) : end.file;
      recycleFiles(journal, fileBytes, Math.min(file, shipped), end.file);
      return end;
    });
  }

  // Resolves to the end of the journal in it: everything before is on the disk.
  function make(): Promise<JournalEnd> {
    running ??= record().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    adopt,
    prepare,
    make,
    recycle: () => recycle(),
    isBusy: () => running !== undefined,
    end: (): JournalEnd | undefined => held?.end,
    // From here on this process must not write, unless it prepares itself again.
    giveUp(): void {
      held?.release();
      held = undefined;
    },
    close(): void {
      held?.release();
      held = undefined;
      if (opened !== undefined) closeSync(opened);
      opened = undefined;
    },
  };
}
