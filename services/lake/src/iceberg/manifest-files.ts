import { randomBytes } from 'node:crypto';
import type { Type } from 'avsc';
import type { Schema } from './schema.ts';
import type { ColumnStatistics } from './statistics.ts';

// Manifests and lists of manifests: Avro with the field numbers of Iceberg's specification, version 2.

export type DataFile = {
  location: string;
  rows: number;
  bytes: number;
  commit: number; // of the lake, which is Iceberg's sequence number
  day?: string;
  statistics: readonly ColumnStatistics[];
};
export type ManifestFile = {
  manifest_path: string;
  manifest_length: number;
  partition_spec_id: number;
  content: number;
  sequence_number: number;
  min_sequence_number: number;
  added_snapshot_id: number;
  added_files_count: number;
  existing_files_count: number;
  deleted_files_count: number;
  added_rows_count: number;
  existing_rows_count: number;
  deleted_rows_count: number;
  partitions: { contains_null: boolean; lower_bound: Buffer | null; upper_bound: Buffer | null }[] | null;
};

export type PartitionSpec = {
  'spec-id': number;
  fields: { name: string; transform: string; 'source-id': number; 'field-id': number }[];
};

const field = (id: number, name: string, type: unknown) => ({ name, type, 'field-id': id });
const optional = (id: number, name: string, type: unknown) => ({
  ...field(id, name, ['null', type]),
  default: null,
});
const map = (id: number, name: string, [key, value]: [number, number], type: string) =>
  optional(id, name, {
    type: 'array',
    logicalType: 'map',
    items: {
      type: 'record',
      name: `k${key}_v${value}`,
      fields: [field(key, 'key', 'int'), field(value, 'value', type)],
    },
  });

const entrySchema = (spec: PartitionSpec) => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    field(0, 'status', 'int'),
    optional(1, 'snapshot_id', 'long'),
    optional(3, 'sequence_number', 'long'),
    optional(4, 'file_sequence_number', 'long'),
    field(2, 'data_file', {
      type: 'record',
      name: 'r2',
      fields: [
        field(134, 'content', 'int'),
        field(100, 'file_path', 'string'),
        field(101, 'file_format', 'string'),
        field(102, 'partition', {
          type: 'record',
          name: 'r102',
          fields: spec.fields.map(field =>
            optional(field['field-id'], field.name, { type: 'int', logicalType: 'date' }),
          ),
        }),
        field(103, 'record_count', 'long'),
        field(104, 'file_size_in_bytes', 'long'),
        map(108, 'column_sizes', [117, 118], 'long'),
        map(109, 'value_counts', [119, 120], 'long'),
        map(110, 'null_value_counts', [121, 122], 'long'),
        map(125, 'lower_bounds', [126, 127], 'bytes'),
        map(128, 'upper_bounds', [129, 130], 'bytes'),
      ],
    }),
  ],
});

const listSchema = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    field(517, 'content', 'int'),
    field(515, 'sequence_number', 'long'),
    field(516, 'min_sequence_number', 'long'),
    field(503, 'added_snapshot_id', 'long'),
    field(504, 'added_files_count', 'int'),
    field(505, 'existing_files_count', 'int'),
    field(506, 'deleted_files_count', 'int'),
    field(512, 'added_rows_count', 'long'),
    field(513, 'existing_rows_count', 'long'),
    field(514, 'deleted_rows_count', 'long'),
    optional(507, 'partitions', {
      type: 'array',
      'element-id': 508,
      items: {
        type: 'record',
        name: 'r508',
        fields: [
          field(509, 'contains_null', 'boolean'),
          optional(510, 'lower_bound', 'bytes'),
          optional(511, 'upper_bound', 'bytes'),
        ],
      },
    }),
  ],
};

const dayNumber = (day: string): number => Date.parse(day) / 86_400_000;

function dayBytes(day: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(day);
  return bytes;
}

type ManifestInfo = { snapshotId: number; schema: Schema; spec: PartitionSpec };

// Files that are new in this snapshot, and older ones that must be listed again.
export async function encodeManifest(
  { snapshotId, schema, spec }: ManifestInfo,
  added: readonly DataFile[],
  existing: readonly DataFile[],
): Promise<{ body: Buffer; about: Omit<ManifestFile, 'manifest_path'> }> {
  const entries = [
    ...added.map(file => ({ file, status: 1 })),
    ...existing.map(file => ({ file, status: 0 })),
  ];
  const body = await encode(
    entrySchema(spec),
    {
      schema: JSON.stringify(schema),
      'schema-id': String(schema['schema-id']),
      'partition-spec': JSON.stringify(spec.fields),
      'partition-spec-id': String(spec['spec-id']),
      'format-version': '2',
      content: 'data',
    },
    entries.map(({ file, status }) => entryOf(file, status, status === 1 ? snapshotId : file.commit, spec)),
  );
  const days = entries.flatMap(({ file }) => (file.day === undefined ? [] : [dayNumber(file.day)]));
  const rowsOf = (files: readonly DataFile[]) => files.reduce((sum, { rows }) => sum + rows, 0);
  return {
    body,
    about: {
      manifest_length: body.length,
      partition_spec_id: spec['spec-id'],
      content: 0,
      sequence_number: snapshotId,
      min_sequence_number: Math.min(snapshotId, ...entries.map(({ file }) => file.commit)),
      added_snapshot_id: snapshotId,
      added_files_count: added.length,
      existing_files_count: existing.length,
      deleted_files_count: 0,
      added_rows_count: rowsOf(added),
      existing_rows_count: rowsOf(existing),
      deleted_rows_count: 0,
      partitions: spec.fields.map(() => ({
        contains_null: days.length < entries.length,
        lower_bound: days.length > 0 ? dayBytes(Math.min(...days)) : null,
        upper_bound: days.length > 0 ? dayBytes(Math.max(...days)) : null,
      })),
    },
  };
}

function entryOf(file: DataFile, status: number, snapshotId: number, spec: PartitionSpec): object {
  const { statistics } = file;
  const pairs = <T>(read: (one: ColumnStatistics) => T | undefined) =>
    statistics.flatMap(statistic => {
      const value = read(statistic);
      return value === undefined ? [] : [{ key: statistic.id, value }];
    });
  const partition = spec.fields.map(({ name }) => [
    name,
    file.day === undefined ? null : dayNumber(file.day),
  ]);
  return {
    status,
    snapshot_id: snapshotId,
    sequence_number: file.commit,
    file_sequence_number: file.commit,
    data_file: {
      content: 0,
      file_path: file.location,
      file_format: 'PARQUET',
      partition: Object.fromEntries(partition),
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      column_sizes: pairs(one => one.bytes),
      value_counts: pairs(one => one.values),
      null_value_counts: pairs(one => one.nulls),
      lower_bounds: pairs(one => one.lower),
      upper_bounds: pairs(one => one.upper),
    },
  };
}

export const encodeManifestList = (
  { snapshotId, parentId }: { snapshotId: number; parentId: number | undefined },
  manifests: readonly ManifestFile[],
): Promise<Buffer> =>
  encode(
    listSchema,
    {
      'snapshot-id': String(snapshotId),
      'parent-snapshot-id': String(parentId ?? 'null'),
      'sequence-number': String(snapshotId),
      'format-version': '2',
    },
    manifests,
  );

// Named exports of a CommonJS module exist only under a bundler.
type Avro = typeof import('avsc');

const loadAvro = async (): Promise<Avro> => {
  const loaded = await import('avsc');
  return (loaded as unknown as { default?: typeof loaded }).default ?? loaded;
};

// A type generates code when it is made, which takes longer than writing a manifest. There are a handful of them.
const types = new Map<string, Type>();

function typeOf({ Type }: Avro, schema: string): Type {
  const type = types.get(schema) ?? Type.forSchema(JSON.parse(schema));
  types.set(schema, type);
  return type;
}

const headerSchema = JSON.stringify({
  type: 'record',
  name: 'Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: 16 } },
  ],
});

// An object container file of Avro, with all records in one block.
async function encode(
  schema: object,
  about: Record<string, string>,
  records: readonly object[],
): Promise<Buffer> {
  const avro = await loadAvro();
  const text = JSON.stringify(schema);
  const metadata = { ...about, 'avro.schema': text, 'avro.codec': 'null' };
  const meta = Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)]),
  );
  const sync = randomBytes(16);
  const header = typeOf(avro, headerSchema).toBuffer({ magic: Buffer.from('Obj\u0001'), meta, sync });
  if (records.length === 0) return header;
  const type = typeOf(avro, text);
  const long = typeOf(avro, '"long"');
  const block = Buffer.concat(records.map(record => type.toBuffer(record)));
  return Buffer.concat([header, long.toBuffer(records.length), long.toBuffer(block.length), block, sync]);
}

export async function decodeManifestList(body: Uint8Array): Promise<ManifestFile[]> {
  const avro = await loadAvro();
  const decoder = new avro.streams.BlockDecoder({
    parseHook: schema => typeOf(avro, JSON.stringify(schema)),
  });
  const found: ManifestFile[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    decoder.on('data', (one: ManifestFile) => found.push({ ...one }));
    decoder.on('end', resolve);
    decoder.on('error', reject);
  });
  decoder.end(Buffer.from(body));
  await ended;
  return found;
}
