import { createHash, randomUUID } from 'node:crypto';
import type { PartitionSpec } from './manifest-files.ts';
import { type IcebergColumn, nameMapping, nextSchema, type Schema } from './schema.ts';

// The metadata of one Iceberg table, and the next version of it. All functions are synchronous.

export type Snapshot = {
  'snapshot-id': number;
  'parent-snapshot-id'?: number;
  'sequence-number': number;
  'timestamp-ms': number;
  'manifest-list': string;
  'schema-id': number;
  summary: Record<string, string> & { operation: string };
};

export type Metadata = {
  'format-version': 2;
  'table-uuid': string;
  location: string;
  'last-sequence-number': number;
  'last-updated-ms': number;
  'last-column-id': number;
  'current-schema-id': number;
  schemas: Schema[];
  'default-spec-id': number;
  'partition-specs': PartitionSpec[];
  'last-partition-id': number;
  'default-sort-order-id': 0;
  'sort-orders': [{ 'order-id': 0; fields: [] }];
  properties: Record<string, string>;
  'current-snapshot-id': number | null;
  refs: Record<string, { 'snapshot-id': number; type: 'branch' }>;
  snapshots: Snapshot[];
  'snapshot-log': { 'snapshot-id': number; 'timestamp-ms': number }[];
  'metadata-log': { 'metadata-file': string; 'timestamp-ms': number }[];
};

export type SourceFile = { path: string; rows?: number; bytes: number; commit: number; day?: string };

// A table at one version of the lake.
export type Source = {
  folder: string; // the folder of its metadata
  columns: readonly IcebergColumn[];
  isByDay: boolean; // files contain the rows of one day of `at`
  version: number;
  at: number; // of that version
  files: readonly SourceFile[];
};

// The only way to notice a missing file: files keep their names and commits.
export const digestOf = (files: readonly SourceFile[]): string =>
  createHash('sha256')
    .update(
      files
        .map(({ path }) => path)
        .sort()
        .join('\n'),
    )
    .digest('hex')
    .slice(0, 32);

export const currentOf = ({ snapshots, 'current-snapshot-id': id }: Metadata): Snapshot | undefined =>
  snapshots.find(snapshot => snapshot['snapshot-id'] === id);

export type Step = {
  // Files whose manifests are not written yet. `existing` are listed again, unless the earlier manifests are kept.
  added: readonly SourceFile[];
  existing: readonly SourceFile[];
  isAppend: boolean;
};

// Undefined if the last snapshot has exactly these files.
export function nextStep(metadata: Metadata | undefined, { files }: Source): Step | undefined {
  const last = metadata && currentOf(metadata);
  if (!last) return files.length === 0 ? undefined : { added: files, existing: [], isAppend: true };
  if (last.summary['stak.files'] === digestOf(files)) return undefined;
  const isOld = ({ commit }: SourceFile) => commit <= last['sequence-number'];
  const existing = files.filter(isOld);
  const added = files.filter(file => !isOld(file));
  return { added, existing, isAppend: last.summary['stak.files'] === digestOf(existing) };
}

export function emptyMetadata(source: Source, location: string, nowMs: number): Metadata {
  const { current, schemas, lastId } = nextSchema([], 0, source.columns)!;
  const at = current.fields.find(({ name }) => name === 'at');
  const fields =
    source.isByDay && at ? [{ name: 'at_day', transform: 'day', 'source-id': at.id, 'field-id': 1000 }] : [];
  return {
    'format-version': 2,
    'table-uuid': randomUUID(),
    location,
    'last-sequence-number': 0,
    'last-updated-ms': nowMs,
    'last-column-id': lastId,
    'current-schema-id': current['schema-id'],
    schemas,
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields }],
    'last-partition-id': fields.length === 0 ? 999 : 1000,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: { 'schema.name-mapping.default': nameMapping(schemas), 'write.format.default': 'parquet' },
    'current-snapshot-id': null,
    refs: {},
    snapshots: [],
    'snapshot-log': [],
    'metadata-log': [],
  };
}

// Undefined if a column has changed its type.
export function withColumns(metadata: Metadata, columns: readonly IcebergColumn[]): Metadata | undefined {
  const next = nextSchema(metadata.schemas, metadata['last-column-id'], columns);
  if (!next) return undefined;
  return {
    ...metadata,
    schemas: next.schemas,
    'current-schema-id': next.current['schema-id'],
    'last-column-id': next.lastId,
    properties: { ...metadata.properties, 'schema.name-mapping.default': nameMapping(next.schemas) },
  };
}

export function withSnapshot(
  metadata: Metadata,
  { version, at, files }: Source,
  { added, existing, isAppend }: Step,
  about: { list: string; nowMs: number; removedAt: number; isRewritten: boolean },
): Metadata {
  const parent = currentOf(metadata);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const nowMs = Math.max(about.nowMs, metadata['last-updated-ms']); // clocks of several machines differ
  const snapshot: Snapshot = {
    'snapshot-id': version,
    ...(parent && { 'parent-snapshot-id': parent['snapshot-id'] }),
    'sequence-number': version,
    'timestamp-ms': nowMs,
    'manifest-list': about.list,
    'schema-id': metadata['current-schema-id'],
    summary: {
      operation: isAppend ? 'append' : existing.length + added.length === 0 ? 'delete' : 'overwrite',
      'added-data-files': String(added.length),
      'total-data-files': String(files.length),
      'total-files-size': String(bytes),
      'stak.at': String(at),
      'stak.files': digestOf(files),
      'stak.manifests': about.isRewritten ? 'rewritten' : 'kept',
      ...(!isAppend && { 'stak.removed-at': String(about.removedAt) }),
    },
  };
  return {
    ...metadata,
    'last-sequence-number': version,
    'last-updated-ms': nowMs,
    'current-snapshot-id': version,
    refs: { main: { 'snapshot-id': version, type: 'branch' } },
    snapshots: [...metadata.snapshots, snapshot],
    'snapshot-log': [...metadata['snapshot-log'], { 'snapshot-id': version, 'timestamp-ms': nowMs }],
  };
}

// Snapshots that name files released before the given time: those files may or must be deleted. The oldest go first, so
// the remaining ones are always the end of the list.
export function expiredSnapshots({ snapshots }: Metadata, cutoffMs: number, kept: number): Snapshot[] {
  const removal = snapshots.findLastIndex(
    ({ summary }) => Number(summary['stak.removed-at'] ?? Number.POSITIVE_INFINITY) <= cutoffMs,
  );
  const first = Math.max(removal, snapshots.length - kept, 0);
  return snapshots.slice(0, first);
}

export function withoutSnapshots(metadata: Metadata, expired: readonly Snapshot[]): Metadata {
  if (expired.length === 0) return metadata;
  const gone = new Set(expired.map(one => one['snapshot-id']));
  const isKept = (one: { 'snapshot-id': number }) => !gone.has(one['snapshot-id']);
  return {
    ...metadata,
    snapshots: metadata.snapshots.filter(isKept),
    'snapshot-log': metadata['snapshot-log'].filter(isKept),
  };
}
