import { closeSync, openSync } from 'node:fs';
import { flushFile, flushFolder } from '../storage/disk.ts';
import { journalFile } from './files.ts';
import type { JournalEnd } from './position.ts';

// Flushes the journal outside the serving thread, one flush at a time. Everything that is asked for meanwhile shares
// the next one. A flush covers all records before it in the same file, whichever process wrote them.

type Target = Pick<JournalEnd, 'commit' | 'file'>;
type Flush = { to: Target; done: Promise<void> };

export function createFlusher(folder: string, start: Target) {
  let durable = start;
  let open: { file: number; handle: number } | undefined;
  let current: Flush | undefined;
  let next: Flush | undefined;
  let failure: Error | undefined;

  async function flushTo(to: Target): Promise<void> {
    if (failure) throw failure;
    try {
      for (let file = durable.file; file <= to.file; file++) await flushOne(file);
    } catch (error) {
      // The system may have dropped what it could not write, and would report the next flush as a success.
      const { message } = error as Error;
      failure = new Error(`the journal was not flushed: ${message}; the store must be opened again`);
      throw failure;
    }
    confirm(to);
  }

  async function flushOne(file: number): Promise<void> {
    if (open?.file !== file && !(await openNext(file))) return;
    await flushFile(open!.handle, journalFile(folder, file));
  }

  // False if the file is gone: a checkpoint contains its commits.
  async function openNext(file: number): Promise<boolean> {
    close();
    try {
      open = { file, handle: openSync(journalFile(folder, file), 'r+') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    // Its name may be new, and the process that made it may have been killed before it flushed the folder.
    await flushFolder(folder);
    return true;
  }

  function confirm(to: Target): void {
    if (to.commit > durable.commit) durable = { commit: to.commit, file: Math.max(durable.file, to.file) };
  }

  function begin(to: Target): Promise<void> {
    const done = flushTo(to).finally(() => {
      current = undefined;
    });
    current = { to, done };
    return done;
  }

  function queue(to: Target): Promise<void> {
    if (!next) {
      const queued: Flush = {
        to,
        // If the one before fails, so does this one.
        done: current!.done
          .catch(() => {})
          .then(() => {
            next = undefined;
            return begin(queued.to);
          }),
      };
      next = queued;
    } else if (to.commit > next.to.commit) next.to = to;
    return next.done;
  }

  function close(): void {
    if (open) closeSync(open.handle);
    open = undefined;
  }

  return {
    isDurable: (commit: number): boolean => commit <= durable.commit,
    // Resolves when the journal is on the disk up to there. Undefined if it is already.
    flush(to: Target): Promise<void> | undefined {
      if (to.commit <= durable.commit) return undefined;
      if (!current) return begin(to);
      return to.commit <= current.to.commit ? current.done : queue(to);
    },
    // A checkpoint contains everything up to there.
    confirm,
    failure: () => failure,
    async close(): Promise<void> {
      await (next ?? current)?.done.catch(() => {});
      close();
    },
  };
}
