import { closeSync, existsSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readMetaPages } from './meta-page.ts';

/** A store that cannot be opened or restored, with the reason: it is damaged, cut short, or not a store. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

export const storeFile = (folder: string): string => join(folder, 'stak.mdb');

export const storeExists = (folder: string): boolean => existsSync(storeFile(folder));

// A store, and a copy of it, is private to its owner.
const folderMode = 0o700;
export const fileMode = 0o600;

// Node's recursive mkdir never returns if a parent exists but refuses children (/proc).
export function makeFolder(folder: string): void {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new StoreError(`${folder} is not a folder`);
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.unshift(path);
  try {
    for (const path of missing) mkdirSync(path, folderMode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new StoreError(`cannot create the folder ${folder}: ${(error as Error).message}`);
    }
  }
}

// LMDB maps any file it is given and trusts it, so a file that is not a store, or incomplete, must be detected before.
export function checkStoreFile(folder: string): void {
  if (!storeExists(folder)) return;
  const file = openFile(folder);
  try {
    // LMDB has created the file and was stopped before it wrote anything.
    if (fstatSync(file).size === 0) return;
    const pages = readMetaPages(file);
    if (!pages) throw new StoreError(`${storeFile(folder)} is not a Stak store`);
    // Read last: another process may be extending the file.
    const { size } = fstatSync(file);
    if (pages.every(({ lastPage, pageSize }) => lastPage * pageSize >= size)) {
      throw new StoreError(`${storeFile(folder)} is cut short: restore a backup`);
    }
  } finally {
    closeSync(file);
  }
}

// Opened for writing, as LMDB does: LMDB crashes if that is refused.
function openFile(folder: string): number {
  try {
    return openSync(storeFile(folder), 'r+');
  } catch (error) {
    throw new StoreError(`cannot open the store in ${folder}: ${(error as Error).message}`);
  }
}
