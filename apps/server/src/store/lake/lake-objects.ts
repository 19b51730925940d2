import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { folderObjects, type ObjectStore, s3Objects } from '@stak/lake/maintenance';
import type { LakeConfig, ServerConfig, StoreConfig } from '../../config/config.ts';
import { openScratch } from '../scratch.ts';

// The location of objects, as data for another thread.
export type ObjectsLocation =
  | { kind: 'folder'; folder: string }
  | { kind: 's3'; bucket: string; prefix: string; region: string; endpoint?: string; cache: string };
export type OpenLake = {
  objects: ObjectStore;
  location: ObjectsLocation;
  scratch: string;
  close(): Promise<void>;
};

export function openObjects(location: ObjectsLocation): ObjectStore & { close(): void } {
  if (location.kind === 's3') return s3Objects(location);
  return { ...folderObjects(location.folder), close() {} };
}

// The location of the lake: beside an embedded store, in a bucket, or none.
export async function openLake({ store, lake }: ServerConfig): Promise<OpenLake | undefined> {
  if (lake.kind === 'off') return undefined;
  // Temporary files, and all files of a store in memory, belong to this process alone.
  const hasFolder = store.kind === 'embedded' && !isInMemory(store);
  const scratch = await openScratch(hasFolder ? join(resolve(store.path), 'scratch') : tmpdir());
  const location = locationOf(store, lake, scratch.path);
  const objects = openObjects(location);
  const close = async () => {
    objects.close();
    await scratch.remove();
  };
  return { objects, location, scratch: scratch.path, close };
}

function locationOf(
  store: StoreConfig,
  lake: Exclude<LakeConfig, { kind: 'off' }>,
  scratch: string,
): ObjectsLocation {
  if (lake.kind === 's3') return { ...lake, cache: join(scratch, 'cache') };
  return { kind: 'folder', folder: isInMemory(store) ? join(scratch, 'lake') : resolve(lake.path) };
}

export const isInMemory = (store: StoreConfig): boolean =>
  store.kind === 'embedded' && store.path === ':memory:';
