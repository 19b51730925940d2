import { existsSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A temporary store. LMDB needs a file to map: in memory-backed storage if there is enough of it. A container may have
// 64 MB, and a store that fills it would crash the process.
const enoughBytes = 256 * 1024 * 1024;
const memoryBacked = '/dev/shm';

export function memoryFile(): string {
  const folder = hasRoom(memoryBacked) ? memoryBacked : tmpdir();
  return join(folder, `stak-${process.pid}-${Math.random().toString(36).slice(2)}.mdb`);
}

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= enoughBytes;
}

// A file without a name disappears with the process that has it open, however that ends. Windows does not allow
// removing a file in use: there LMDB removes it when the store is closed.
export function leaveNoName(file: string): void {
  if (process.platform === 'win32') return;
  for (const name of [file, `${file}-lock`]) rmSync(name, { force: true });
}
