import { closeSync, existsSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readMetaPages } from './meta-page.ts';
import { checkPages as checkPagesOf, findPageDamage, type KeySpan, type PageDamage } from './page-check.ts';

/** A store that cannot be opened or restored, with the reason: it is damaged, cut short, or not a store. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** The file of a store is not as it was written. */
export class StoreDamage extends StoreError {}

export const storeFile = (folder: string): string => join(folder, 'stak.mdb');

/** Whether a folder has a store. */
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

// Opening a large store must not wait for all of it: 16 MB are read within a few hundredths of a second. `check` reads
// the rest.
const leafPagesAtOpen = 2048;
const namedPages = 3;

/** Undefined if there is none. */
export function describeDamage(file: string, damage: PageDamage[]): string | undefined {
  if (damage.length === 0) return undefined;
  const named = damage.slice(0, namedPages).map(({ page, message }) => `page ${page}: ${message}`);
  const more = damage.length > namedPages ? `; and ${damage.length - namedPages} more` : '';
  return `${file} is damaged (${named.join('; ')}${more}): the disk or another program has changed it. Restore a backup`;
}

/** Lists the damaged pages of a store's file. A store in memory has no file that could be opened by name. */
export function checkPages(path: string): PageDamage[] {
  if (!existsSync(path)) return [];
  const file = openSync(path, 'r');
  try {
    return findPageDamage(file, { mostLeafPages: Number.POSITIVE_INFINITY });
  } finally {
    closeSync(file);
  }
}

// LMDB maps any file it is given and trusts it, so a file that is not a store, or incomplete, must be detected before.
// Returns the keys whose pages were not read: see `page-guard.ts`.
export function checkStoreFile(folder: string, mostLeafPages = leafPagesAtOpen): KeySpan[] {
  if (!storeExists(folder)) return [];
  const file = openFile(folder);
  try {
    // LMDB has created the file and was stopped before it wrote anything.
    if (fstatSync(file).size === 0) return [];
    const pages = readMetaPages(file);
    if (!pages)
      throw new StoreDamage(`${storeFile(folder)} is not a Stak store, or its beginning is damaged`);
    // Read last: another process may be extending the file.
    const { size } = fstatSync(file);
    if (pages.every(({ lastPage, pageSize }) => lastPage * pageSize >= size)) {
      throw new StoreDamage(`${storeFile(folder)} is cut short: restore a backup`);
    }
    const { damage, unread } = checkPagesOf(file, { mostLeafPages });
    const message = describeDamage(storeFile(folder), damage);
    if (message) throw new StoreDamage(message);
    return unread;
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
