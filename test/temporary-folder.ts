import { existsSync, mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

// Stores, lakes and backups write through to the disk, and hundreds of tests would wait for it. None is about what a
// disk does: what a power failure leaves is simulated. So their temporary files are in memory if there is plenty.
const memoryBacked = '/dev/shm';
const enoughBytes = 4 * 1024 ** 3;

export const temporaryFolder = hasRoom() ? join(memoryBacked, `stak-tests-${process.pid}`) : undefined;

function hasRoom(): boolean {
  if (!existsSync(memoryBacked)) return false;
  const { bavail, bsize } = statfsSync(memoryBacked);
  return bavail * bsize >= enoughBytes;
}

export default function setup(): (() => void) | undefined {
  if (temporaryFolder === undefined) return undefined;
  mkdirSync(temporaryFolder, { recursive: true });
  return () => rmSync(temporaryFolder, { recursive: true, force: true, maxRetries: 3 });
}
