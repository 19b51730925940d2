import type { Clock } from '@stak/kit';
import * as limits from '../limits.ts';
import type { ObjectStore } from '../storage/objects.ts';
import {
  emptyMetadata,
  expiredSnapshots,
  type Metadata,
  nextStep,
  type Source,
  withColumns,
  withoutSnapshots,
} from './metadata.ts';
import { createSnapshotFiles } from './snapshot-files.ts';

export type Published = { number: number; metadata: Metadata };

export type PublishOptions = {
  // Snapshots with files released before this time are expired.
  cutoffMs: number;
  // When the first file after this time was released; infinite if none was.
  removedAt(afterMs: number): number;
  kept?: number; // snapshots at most
};

const decode = (body: Uint8Array): string => Buffer.from(body).toString('utf8');
export const metadataKey = (folder: string, number: number): string =>
  `${folder}/metadata/v${number}.metadata.json`;
const hintKey = (folder: string): string => `${folder}/metadata/version-hint.text`;

// Writes Iceberg tables. Metadata files are numbered and put if absent, like the lake's own commits: of two writers one
// succeeds, and the other reads again. After a crash before that, nothing has changed.
export function createPublisher({ objects, clock }: { objects: ObjectStore; clock: Clock }) {
  const snapshotFiles = createSnapshotFiles({ objects, clock });

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
    // A writer was killed before it wrote the hint.
    if (metadata && number !== Number(hint && decode(hint))) await putHint(folder, number);
    return metadata && { number, metadata };
  }

  const putHint = (folder: string, number: number) =>
    objects.put(hintKey(folder), Buffer.from(String(number)));

  // Returns the new state of the table; undefined if another writer was first.
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
    const grown = step ? await snapshotFiles.write(begun, source, step, options.removedAt, written) : begun;
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
    if (going) await snapshotFiles.remove(folder, expired, metadata.snapshots[0]);
    else await snapshotFiles.remove(folder, known?.metadata.snapshots ?? [], undefined);
    await objects.delete(metadataKey(folder, number - limits.icebergMetadataKept - 1));
    return { number, metadata };
  }

  // The metadata to continue from. Undefined if the lake was moved or replaced, or a column has changed its type.
  async function continued(source: Source, known: Metadata | undefined): Promise<Metadata | undefined> {
    if (!known || known.location !== (await objects.locationOf(source.folder))) return undefined;
    const isOlder = known['last-sequence-number'] < source.version || !nextStep(known, source);
    return isOlder ? withColumns(known, source.columns) : undefined;
  }

  // If the response of a put was lost, the retry finds its own metadata.
  async function putFirst(key: string, body: Buffer): Promise<boolean> {
    if (await objects.putIfAbsent(key, body)) return true;
    const found = await objects.get(key);
    return found !== undefined && body.equals(found);
  }

  const logEntry = async (folder: string, { number, metadata }: Published) => ({
    'metadata-file': await objects.locationOf(metadataKey(folder, number)),
    'timestamp-ms': metadata['last-updated-ms'],
  });

  // Returns the new state of the table.
  async function publish(source: Source, options: PublishOptions): Promise<Published> {
    for (;;) {
      const published = await attempt(source, options, await current(source.folder));
      if (published) return published;
    }
  }

  // Deletes what writers left behind that were killed, or lost to another.
  async function sweep(folder: string): Promise<void> {
    const known = await current(folder);
    const ofSnapshots = await snapshotFiles.keysOf(folder, known?.metadata.snapshots ?? []);
    const named = new Set([hintKey(folder), ...ofSnapshots]);
    const oldest = (known?.number ?? 0) - limits.icebergMetadataKept;
    for await (const { key, changedAt } of objects.list(`${folder}/metadata/`)) {
      const number = Number(/\/v(\d+)\.metadata\.json$/.exec(key)?.[1] ?? Number.NaN);
      const isNamed = Number.isNaN(number) ? named.has(key) : number >= oldest;
      if (!isNamed && changedAt < clock.now() - limits.icebergOrphanMs) await objects.delete(key);
    }
  }

  return { publish, current, sweep };
}
