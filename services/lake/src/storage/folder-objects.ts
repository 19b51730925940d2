import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  copyFile,
  link,
  mkdir,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import * as limits from '../limits.ts';
import { checkKey, type ObjectStore, type StoredObject } from './objects.ts';

// The lake is private to its owner, even in a folder that is open to others.
export const folderMode = 0o700;
export const fileMode = 0o600;

// Unfinished files are in a separate folder, so that no listing shows half an object.
const unfinished = '.unfinished';

export function folderObjects(folder: string): ObjectStore {
  const pathOf = (key: string) => join(folder, checkKey(key));
  const known = new Set<string>();
  let sweptAt = 0;

  // A new folder must be flushed to the disk, and so must each new folder above it.
  async function ensureFolder(path: string): Promise<void> {
    if (known.has(path)) return;
    const first = await mkdir(path, { recursive: true, mode: folderMode });
    if (first !== undefined)
      for (let made = path; made.length >= first.length; made = dirname(made))
        await syncFolder(dirname(made));
    known.add(path);
  }

  // A failed attempt leaves nothing behind: on a full disk, every attempt would take a little more.
  async function withDraft<T>(use: (draft: string) => Promise<T>): Promise<T> {
    const drafts = join(folder, unfinished);
    await ensureFolder(drafts);
    await sweepDrafts(drafts);
    const draft = join(drafts, randomUUID());
    try {
      return await use(draft);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  // Left by killed processes. They may contain data that was erased since.
  async function sweepDrafts(drafts: string): Promise<void> {
    if (Date.now() - sweptAt < limits.draftMs) return;
    sweptAt = Date.now();
    for (const name of await readdir(drafts)) {
      const about = await stat(join(drafts, name)).catch(orMissing);
      if (about && about.mtimeMs < sweptAt - limits.draftMs) await rm(join(drafts, name), { force: true });
    }
  }

  async function publish(draft: string, path: string): Promise<void> {
    await ensureFolder(dirname(path));
    await rename(draft, path);
    await syncFolder(dirname(path));
  }

  return {
    get: key => readFile(pathOf(key)).catch(orMissing),
    async getRange(key, start, end) {
      const file = await open(pathOf(key), 'r').catch(orMissing);
      if (!file) return undefined;
      try {
        const body = Buffer.alloc(Math.max(0, end - start));
        const { bytesRead } = await file.read(body, 0, body.length, start);
        return body.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
    async put(key, body) {
      const path = pathOf(key);
      await withDraft(async draft => {
        await writeSynced(draft, body);
        await publish(draft, path);
      });
    },
    async putIfAbsent(key, body) {
      const path = pathOf(key);
      return withDraft(async draft => {
        await writeSynced(draft, body);
        await ensureFolder(dirname(path));
        // A link, unlike a rename, does not replace an existing file.
        const isFirst = await link(draft, path).then(
          () => true,
          error => {
            if (codeOf(error) === 'EEXIST') return false;
            throw error;
          },
        );
        await unlink(draft);
        if (isFirst) await syncFolder(dirname(path));
        return isFirst;
      });
    },
    async *list(prefix) {
      const found: StoredObject[] = [];
      // The deepest folder that contains every key with the prefix.
      const start = join(folder, prefix.slice(0, prefix.lastIndexOf('/') + 1));
      for await (const path of filesIn(start)) {
        const key = relative(folder, path).split(sep).join('/');
        if (!key.startsWith(prefix)) continue;
        const about = await stat(path).catch(orMissing);
        if (about) found.push({ key, bytes: about.size, changedAt: about.mtimeMs });
      }
      yield* found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    delete: key => rm(pathOf(key), { force: true }),
    async locate(key) {
      const path = pathOf(key);
      return (await stat(path).catch(orMissing)) && path;
    },
    locationOf: async key => `file://${resolve(pathOf(key))}`,
    async putFile(key, path) {
      const target = pathOf(key);
      await withDraft(async draft => {
        await rename(path, draft).catch(async error => {
          // The scratch folder may be on another disk.
          if (codeOf(error) !== 'EXDEV') throw error;
          await copyFile(path, draft, constants.COPYFILE_EXCL);
          await rm(path, { force: true });
        });
        const file = await open(draft, 'r+');
        try {
          await file.chmod(fileMode);
          await file.sync();
        } finally {
          await file.close();
        }
        await publish(draft, target);
      });
    },
  };
}

async function writeSynced(path: string, body: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', fileMode);
  try {
    await file.writeFile(body);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(orMissing);
  if (!entries) return;
  for await (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else yield path;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

function orMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
  throw error;
}
