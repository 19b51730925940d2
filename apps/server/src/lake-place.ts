import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { folderObjects, type ObjectStore, s3Objects } from '@stak/lake';
import type { ServerConfig } from './config.ts';

export type LakePlace = { objects: ObjectStore; scratch: string; close(): Promise<void> };

// Where the lake lies: beside an embedded store, in a bucket, or nowhere.
export async function openLake({ store, lake }: ServerConfig): Promise<LakePlace | undefined> {
  if (lake.kind === 'off') return undefined;
  // Files that are being made, and for a store in memory all of them, are of this process alone.
  const scratch = await mkdtemp(join(tmpdir(), 'stak-lake-'));
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
