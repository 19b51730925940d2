import { randomUUID } from 'node:crypto';
import type { Clock } from '@stak/kit';
import * as limits from '../limits.ts';
import type { ObjectStore } from '../storage/objects.ts';
import {
  type DataFile,
  decodeManifestList,
  encodeManifest,
  encodeManifestList,
  type ManifestFile,
} from './manifest-files.ts';
import {
  currentOf,
  type Metadata,
  type Snapshot,
  type Source,
  type SourceFile,
  type Step,
  withSnapshot,
} from './metadata.ts';
import { readStatistics } from './statistics.ts';

// The key of a file that the metadata name by its location.
const keyOf = (folder: string, location: string): string =>
  `${folder}/metadata/${location.slice(location.lastIndexOf('/') + 1)}`;

export const listKey = (folder: string, snapshot: Snapshot): string =>
  keyOf(folder, snapshot['manifest-list']);

// The manifests of a snapshot and the list that names them.
export function createSnapshotFiles({ objects, clock }: { objects: ObjectStore; clock: Clock }) {
  // The metadata with the new snapshot. Keys of the files it wrote are added to `written`.
  async function write(
    metadata: Metadata,
    source: Source,
    step: Step,
    removedAt: (afterMs: number) => number,
    written: string[],
  ): Promise<Metadata> {
    const { folder, version } = source;
    const schema = metadata.schemas.find(one => one['schema-id'] === metadata['current-schema-id'])!;
    const spec = metadata['partition-specs'][0]!;
    const last = currentOf(metadata);
    const before = last && step.isAppend ? await readManifests(folder, last) : [];
    const isRewritten = !step.isAppend || !before || before.length >= limits.icebergManifests;
    const describe = async (file: SourceFile): Promise<DataFile> => ({
      ...file,
      location: await objects.locationOf(file.path),
      ...(await readStatistics(objects, file, schema)),
    });
    const added = await inBatches(step.added, describe);
    const existing = isRewritten ? await inBatches(step.existing, describe) : [];
    const manifests: ManifestFile[] = isRewritten ? [] : [...before];
    const put = async (name: string, body: Buffer): Promise<string> => {
      const key = `${folder}/metadata/${name}-${version}-${randomUUID()}.avro`;
      written.push(key);
      await objects.put(key, body);
      return objects.locationOf(key);
    };
    if (added.length + existing.length > 0) {
      const { body, about } = await encodeManifest({ snapshotId: version, schema, spec }, added, existing);
      manifests.push({ manifest_path: await put('manifest', body), ...about });
    }
    const parentId = last?.['snapshot-id'];
    const list = await put('snap', await encodeManifestList({ snapshotId: version, parentId }, manifests));
    // A file that is missing without having been released was lost: snapshots that name it are useless.
    const lastAt = Number(last?.summary['stak.at'] ?? 0);
    const removed = step.isAppend ? 0 : removedAt(lastAt);
    const about = {
      list,
      nowMs: clock.now(),
      removedAt: Number.isFinite(removed) ? removed : 0,
      isRewritten,
    };
    return withSnapshot(metadata, source, step, about);
  }

  // Undefined if the list is lost.
  async function readManifests(folder: string, snapshot: Snapshot): Promise<ManifestFile[] | undefined> {
    const body = await objects.get(listKey(folder, snapshot));
    return body && decodeManifestList(body);
  }

  // Manifests of a snapshot continue in the next one, unless that one has listed its files again.
  async function remove(
    folder: string,
    expired: readonly Snapshot[],
    next: Snapshot | undefined,
  ): Promise<void> {
    for (const [i, snapshot] of expired.entries()) {
      const isGoingOn = (expired[i + 1] ?? next)?.summary['stak.manifests'] === 'kept';
      if (!isGoingOn)
        for (const { manifest_path } of (await readManifests(folder, snapshot)) ?? [])
          await objects.delete(keyOf(folder, manifest_path));
      await objects.delete(listKey(folder, snapshot));
    }
  }

  async function keysOf(folder: string, snapshots: readonly Snapshot[]): Promise<string[]> {
    const keys: string[] = [];
    for (const snapshot of snapshots) {
      keys.push(listKey(folder, snapshot));
      for (const { manifest_path } of (await readManifests(folder, snapshot)) ?? [])
        keys.push(keyOf(folder, manifest_path));
    }
    return keys;
  }

  return { write, remove, keysOf };
}

async function inBatches<In, Out>(all: readonly In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
  const done: Out[] = [];
  for (let at = 0; at < all.length; at += limits.icebergReads)
    done.push(...(await Promise.all(all.slice(at, at + limits.icebergReads).map(work))));
  return done;
}
