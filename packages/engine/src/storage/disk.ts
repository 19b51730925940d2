import {
  chmodSync,
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileMode, StoreError, storeExists, storeFile } from './file.ts';

// LMDB maps its lock file and touches pages that may not be on the disk yet; if the disk is full, that ends the
// process. So the file is written before LMDB opens it: under another name, because a faster process may already be
// using the real one.
const lockBytes = 36 * 1024; // 510 readers
const firstPagesBytes = 64 * 1024;

export function makeLockFile(folder: string): void {
  const lock = `${storeFile(folder)}-lock`;
  if (existsSync(lock) && storeExists(folder) && statSync(storeFile(folder)).size > 0) return;
  const draft = `${lock}-${process.pid}`;
  try {
    writeFileSync(draft, Buffer.alloc(lockBytes + firstPagesBytes), { mode: fileMode });
    truncateSync(draft, lockBytes);
    if (!existsSync(lock)) linkSync(draft, lock);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Lost a race, or the file system has no links and LMDB creates the file.
    if (code === 'EEXIST' || code === 'EPERM' || code === 'ENOTSUP') return;
    throw new StoreError(`cannot open the store in ${folder}: ${message}`);
  } finally {
    rmSync(draft, { force: true });
  }
}

// LMDB would make its files readable to others, and the folder may be open to all users. A file that an earlier version
// left readable is restricted when its owner opens the store.
export function keepToOwner(folder: string): void {
  const file = storeFile(folder);
  if (!existsSync(file)) {
    try {
      closeSync(openSync(file, 'wx', fileMode)); // LMDB creates a store in an empty file
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new StoreError(`cannot open the store in ${folder}: ${(error as Error).message}`);
    }
  }
  for (const path of [file, `${file}-lock`]) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats || (stats.mode & 0o077) === 0 || stats.uid !== process.getuid?.()) continue;
    chmodSync(path, fileMode);
  }
}

// LMDB reports a full disk as an input/output error; this names the cause.
export function freeSpace(path: string): string {
  const { bavail, bsize } = statfsSync(path);
  return `${bavail * bsize} bytes free on its disk`;
}

/** How many bytes are free on the disk of a folder: no limit where a file system does not know its size. */
export function freeBytes(folder: string): number {
  const { blocks, bavail, bsize } = statfsSync(folder);
  return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY;
}

// A file that gets its name when all of it is on the disk. Only its owner may read it: the folder may have existed
// before, and be open to all users.
export async function writeWhole(file: string, write: (draft: string) => Promise<unknown>): Promise<void> {
  const draft = `${file}-draft`;
  try {
    // Left by a process that was stopped in the middle.
    await rm(draft, { force: true });
    await write(draft);
    const written = await open(draft, 'r+');
    await written
      .chmod(fileMode)
      .then(() => written.sync())
      .finally(() => written.close());
    await rename(draft, file);
    syncFolder(dirname(file));
  } catch (error) {
    await rm(draft, { force: true });
    throw new StoreError(`cannot write ${file}: ${(error as Error).message} (${freeSpace(dirname(file))})`);
  }
}

// A test observes each flush: what a file, or a folder's list of names, was when the flush began is on the disk when it
// ends.
type FlushObserver = (path: string) => () => void;
let observe: FlushObserver = () => () => {};

export function observeFlushes(observer: FlushObserver): void {
  observe = observer;
}

// Outside the serving thread.
export async function flushFile(handle: number, path: string): Promise<void> {
  const ended = observe(path);
  await new Promise<void>((resolve, reject) => {
    fdatasync(handle, error => (error ? reject(error) : resolve()));
  });
  ended();
}

export function flushFileSync(handle: number, path: string): void {
  const ended = observe(path);
  fdatasyncSync(handle);
  ended();
}

// After a power failure, a new file is found only if its folder is on the disk as well.
export function syncFolder(folder: string): void {
  // Not possible on Windows.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  const ended = observe(folder);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  ended();
}

// The same outside the serving thread.
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  const ended = observe(folder);
  try {
    await new Promise<void>((resolve, reject) => {
      fsync(handle, error => (error ? reject(error) : resolve()));
    });
  } finally {
    closeSync(handle);
  }
  ended();
}
