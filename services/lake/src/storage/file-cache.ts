import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as limits from '../limits.ts';
import { fileMode, folderMode } from './folder-objects.ts';

// Copies of a bucket's objects on this machine's disk. Files of the lake never change under their names, so a copy is
// always valid. A copy may outlive an object that another process deleted, but no manifest lists that object any more.
export function createFileCache(folder: string) {
  const pathOf = (key: string): string =>
    join(folder, `${createHash('sha256').update(key).digest('hex')}.parquet`);
  return {
    // Marks the copy as read, so that it is kept longer.
    async find(key: string): Promise<string | undefined> {
      const path = pathOf(key);
      const now = new Date();
      return utimes(path, now, now).then(
        () => path,
        () => undefined,
      );
    },
    async add(key: string, body: Readable): Promise<string> {
      const path = pathOf(key);
      await mkdir(folder, { recursive: true, mode: folderMode });
      const unfinished = `${path}.${randomUUID()}`;
      try {
        await pipeline(body, createWriteStream(unfinished, { mode: fileMode }));
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true }); // every failed attempt would take more of the disk
        throw error;
      }
      await trim(folder);
      return path;
    },
    delete: (key: string): Promise<void> => rm(pathOf(key), { force: true }),
  };
}

// Removes copies that were not read for a long time, and the least recently read ones if there are too many.
async function trim(folder: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async name => {
      const path = join(folder, name);
      const about = await stat(path).catch(() => undefined);
      return { path, bytes: about?.size ?? 0, readAt: about?.mtimeMs ?? 0 };
    }),
  );
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const oldMs = Date.now() - limits.cacheMs;
  for (const file of files.sort((a, b) => a.readAt - b.readAt)) {
    if (bytes <= limits.cacheBytes && file.readAt > oldMs) return;
    await rm(file.path, { force: true });
    bytes -= file.bytes;
  }
}
