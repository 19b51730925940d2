import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

// Stores, lakes and backups write through to the disk, and hundreds of tests would wait for it. None is about what a
// disk does: what a power failure leaves is simulated. So their temporary files are in memory if there is plenty.
const memoryBacked = '/dev/shm';
const enoughBytes = 4 * 1024 ** 3;

const prefix = 'stak-tests-';

export const temporaryFolder = hasRoom() ? join(memoryBacked, `${prefix}${process.pid}`) : undefined;

function hasRoom(): boolean {
  if (!existsSync(memoryBacked)) return false;
  const { bavail, bsize } = statfsSync(memoryBacked);
  return bavail * bsize >= enoughBytes;
}

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

export default function setup(): (() => void) | undefined {
  if (temporaryFolder === undefined) return undefined;
  // Removes folders of runs that were killed.
  for (const name of readdirSync(memoryBacked))
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length))))
      remove(join(memoryBacked, name));
  mkdirSync(temporaryFolder, { recursive: true });
  return () => remove(temporaryFolder);
}
