import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { folderObjects, type ObjectStore, s3Objects } from '@stak/lake';
import type { ServerConfig } from './config.ts';
import { openScratch, sweepScratch } from './scratch.ts';

export type LakePlace = { objects: ObjectStore; scratch: string; close(): Promise<void> };

// Where the lake lies: beside an embedded store, in a bucket, or nowhere.
export async function openLake({ store, lake }: ServerConfig): Promise<LakePlace | undefined> {
  if (lake.kind === 'off') return undefined;
  const isInMemory = store.kind === 'embedded' && store.path === ':memory:';
  // Files that are being made, and for a store in memory all of them, are of this process alone.
  const hasFolder = store.kind === 'embedded' && !isInMemory;
  const scratch = await openScratch(hasFolder ? join(resolve(store.path), 'scratch') : tmpdir());
  if (hasFolder) await sweepScratch(tmpdir()); // where earlier versions had theirs
  if (lake.kind === 's3') {
    const { bucket, prefix, region } = lake;
    const objects = s3Objects({ bucket, prefix, region, cache: join(scratch.path, 'cache') });
    const close = async () => {
      objects.close();
      await scratch.remove();
    };
    return { objects, scratch: scratch.path, close };
  }
  const folder = isInMemory ? join(scratch.path, 'lake') : resolve(lake.path);
  return { objects: folderObjects(folder), scratch: scratch.path, close: scratch.remove };
}
