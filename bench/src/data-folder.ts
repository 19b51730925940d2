import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// On the project's disk: a temporary folder may be in memory.
const dataFolder = fileURLToPath(new URL('../data', import.meta.url));

// A folder that is deleted when the work in it is done.
export async function inDataFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(dataFolder, { recursive: true });
  const folder = mkdtempSync(join(dataFolder, `${name}-`));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
