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
  emptyMetadata,
  expiredSnapshots,
  type Metadata,
  nextStep,
  type Snapshot,
  type Source,
  type SourceFile,
  type Step,
  withColumns,
  withoutSnapshots,
  withSnapshot,
} from './metadata.ts';
import { readStatistics } from './statistics.ts';

export type Published = { number: number; metadata: Metadata };

export type PublishOptions = {
  // Snapshots with files that were let go of until then are expired.
  cutoffMs: number;
  // When the first file after this moment was released; infinite if none was.
  removedAt(afterMs: number): number;
  kept?: number; // snapshots at most
};

const decode = (body: Uint8Array): string => Buffer.from(body).toString('utf8');
const metadataKey = (folder: string, number: number): string => `${folder}/metadata/v${number}.metadata.json`;
const hintKey = (folder: string): string => `${folder}/metadata/version-hint.text`;

// Writes tables of Iceberg. Metadata have numbers and are put if absent, as the lake's own commits are: of two
// writers one is first, and the other one looks again. Killed before that, nothing has changed.
export function createPublisher({ objects, clock }: { objects: ObjectStore; clock: Clock }) {
  async function current(folder: string): Promise<Published | undefined> {
    const hint = await objects.get(hintKey(folder));
    // Written after the metadata it names, so there may be newer ones.
    let number = hint ? Number(decode(hint)) : 0;
    let metadata: Metadata | undefined;
    for (let next = Math.max(number, 1); ; next++) {
      const body = await objects.get(metadataKey(folder, next));
      if (!body) break;
      metadata = JSON.parse(decode(body)) as Metadata;
      number = next;
    }
    // A writer was killed before it could say so.
    if (metadata && number !== Number(hint && decode(hint))) await putHint(folder, number);
    return metadata && { number, metadata };
  }

  const putHint = (folder: string, number: number) =>
    objects.put(hintKey(folder), Buffer.from(String(number)));

  // The table as it is after that; undefined if another writer was faster.
  async function attempt(
    source: Source,
    options: PublishOptions,
    known: Published | undefined,
  ): Promise<Published | undefined> {
    const { folder } = source;
    const going = await continued(source, known?.metadata);
    const begun = going ?? emptyMetadata(source, await objects.locationOf(folder), clock.now());
    const step = nextStep(begun, source);
    const written: string[] = [];
    const grown = step ? await writeSnapshot(begun, source, step, options, written) : begun;
    const expired = expiredSnapshots(grown, options.cutoffMs, options.kept ?? limits.icebergSnapshots);
    const isSame = known && going?.['current-schema-id'] === known.metadata['current-schema-id'];
    if (isSame && !step && expired.length === 0) return known;
    const number = (known?.number ?? 0) + 1;
    const log = known ? [...grown['metadata-log'], await logEntry(folder, known)] : [];
    const metadata = {
      ...withoutSnapshots(grown, expired),
      'metadata-log': log.slice(-limits.icebergMetadataKept),
    };
    if (!(await putFirst(metadataKey(folder, number), Buffer.from(JSON.stringify(metadata))))) {
      for (const key of written) await objects.delete(key);
      return undefined;
    }
    await putHint(folder, number);
    if (going) await removeExpired(folder, expired, metadata.snapshots[0]);
    else await removeExpired(folder, known?.metadata.snapshots ?? [], undefined);
    await objects.delete(metadataKey(folder, number - limits.icebergMetadataKept - 1));
    return { number, metadata };
  }

  // The metadata to go on from. None if the lake has moved, a column has changed its type, or the lake is another one.
  async function continued(source: Source, known: Metadata | undefined): Promise<Metadata | undefined> {
    if (!known || known.location !== (await objects.locationOf(source.folder))) return undefined;
    const isOlder = known['last-sequence-number'] < source.version || !nextStep(known, source);
    return isOlder ? withColumns(known, source.columns) : undefined;
  }

  // A put whose answer was lost finds its own metadata.
  async function putFirst(key: string, body: Buffer): Promise<boolean> {
    if (await objects.putIfAbsent(key, body)) return true;
    const found = await objects.get(key);
    return found !== undefined && body.equals(found);
  }

  const logEntry = async (folder: string, { number, metadata }: Published) => ({
    'metadata-file': await objects.locationOf(metadataKey(folder, number)),
    'timestamp-ms': metadata['last-updated-ms'],
  });

  async function writeSnapshot(
    metadata: Metadata,
    source: Source,
    step: Step,
    { removedAt }: PublishOptions,
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

  // Keys of what the metadata name by its place.
  const keyOf = (folder: string, location: string): string =>
    `${folder}/metadata/${location.slice(location.lastIndexOf('/') + 1)}`;

  const listKey = (folder: string, snapshot: Snapshot): string => keyOf(folder, snapshot['manifest-list']);

  // Undefined if the list is lost.
  async function readManifests(folder: string, snapshot: Snapshot): Promise<ManifestFile[] | undefined> {
    const body = await objects.get(listKey(folder, snapshot));
    return body && decodeManifestList(body);
  }

  // Manifests of a snapshot go on in the next one, unless that one has listed its files anew.
  async function removeExpired(
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

  // The table as it is after that.
  async function publish(source: Source, options: PublishOptions): Promise<Published> {
    for (;;) {
      const published = await attempt(source, options, await current(source.folder));
      if (published) return published;
    }
  }

  // What a writer left behind that was killed, or was overtaken.
  async function sweep(folder: string): Promise<void> {
    const known = await current(folder);
    const named = new Set([hintKey(folder)]);
    for (const snapshot of known?.metadata.snapshots ?? []) {
      named.add(listKey(folder, snapshot));
      for (const { manifest_path } of (await readManifests(folder, snapshot)) ?? [])
        named.add(keyOf(folder, manifest_path));
    }
    const oldest = (known?.number ?? 0) - limits.icebergMetadataKept;
    for await (const { key, changedAt } of objects.list(`${folder}/metadata/`)) {
      const number = Number(/\/v(\d+)\.metadata\.json$/.exec(key)?.[1] ?? Number.NaN);
      const isNamed = Number.isNaN(number) ? named.has(key) : number >= oldest;
      if (!isNamed && changedAt < clock.now() - limits.icebergOrphanMs) await objects.delete(key);
    }
  }

  return { publish, current, sweep, metadataKey, listKey };
}

async function inBatches<In, Out>(all: readonly In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
  const done: Out[] = [];
  for (let at = 0; at < all.length; at += limits.icebergReads)
    done.push(...(await Promise.all(all.slice(at, at + limits.icebergReads).map(work))));
  return done;
}
