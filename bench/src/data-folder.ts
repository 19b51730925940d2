import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../..', import.meta.url));

// A folder that is deleted when the work in it is done. It is on the project's disk: a temporary folder may be in
// memory.
export async function inDataFolder<T>(
  name: string,
  work: (folder: string) => Promise<T>,
  root = project,
): Promise<T> {
  const dataFolder = join(root, 'bench/data');
  mkdirSync(dataFolder, { recursive: true });
  const folder = mkdtempSync(join(dataFolder, `${name}-`));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
