import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { folderObjects, type ObjectStore, s3Objects } from '@stak/lake';
import type { ServerConfig } from './config.ts';

export type LakePlace = { objects: ObjectStore; scratch: string; close(): Promise<void> };

const scratchName = 'stak-lake-';
const abandonedMs = 24 * 60 * 60_000; // a process that looks dead from here may live in another container

// What processes that were killed left behind. It may hold rows of somebody who was erased since.
export async function sweepScratch(parent: string, nowMs = Date.now()): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(scratchName) ? Number.parseInt(name.slice(scratchName.length), 10) : 0;
    if (!(pid > 0) || isAlive(pid)) continue;
    const path = join(parent, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs >= abandonedMs) await rm(path, { recursive: true, force: true }).catch(() => {}); // somebody else's
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

// Where the lake lies: beside an embedded store, in a bucket, or nowhere.
export async function openLake({ store, lake }: ServerConfig): Promise<LakePlace | undefined> {
  if (lake.kind === 'off') return undefined;
  // Files that are being made, and for a store in memory all of them, are of this process alone.
  await sweepScratch(tmpdir());
  const scratch = await mkdtemp(join(tmpdir(), `${scratchName}${process.pid}-`));
  const removeScratch = () => rm(scratch, { recursive: true, force: true });
  if (lake.kind === 's3') {
    const { bucket, prefix, region } = lake;
    const objects = s3Objects({ bucket, prefix, region, cache: join(scratch, 'cache') });
    const close = async () => {
      objects.close();
      await removeScratch();
    };
    return { objects, scratch, close };
  }
  const isInMemory = store.kind === 'embedded' && store.path === ':memory:';
  const folder = isInMemory ? join(scratch, 'lake') : resolve(lake.path);
  return { objects: folderObjects(folder), scratch, close: removeScratch };
}
