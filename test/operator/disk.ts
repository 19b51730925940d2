import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type SmallDisk = { path: string; fill(): void; free(): void; remove(): void };

/** A disk of its own for the data, in memory; undefined where this process may not mount one. */
export function mountSmallDisk(path: string, megabytes: number): SmallDisk | undefined {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'stak-operator', path], {
      stdio: 'ignore',
    });
  } catch {
    return undefined;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      const file = openSync(filler, 'w');
      try {
        for (let bytes = 1024 * 1024; bytes >= 512; ) {
          try {
            writeSync(file, Buffer.alloc(bytes));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            bytes /= 2;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler),
    remove: () => execFileSync('umount', ['--lazy', path]),
  };
}
