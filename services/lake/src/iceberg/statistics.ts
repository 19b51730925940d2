import type { FileMetaData, Statistics } from 'hyparquet';
import { GoneError, type ObjectStore } from '../storage/objects.ts';
import type { Field, Schema } from './schema.ts';

// The statistics in the footer of a Parquet file, by column number. Engines skip files by them.
export type ColumnStatistics = {
  id: number;
  bytes: number;
  values: number;
  nulls?: number;
  lower?: Buffer;
  upper?: Buffer;
};

const boundChars = 16; // the same length as Iceberg's own writers

export async function readStatistics(
  objects: ObjectStore,
  file: { path: string; bytes: number },
  { fields }: Schema,
): Promise<{ rows: number; statistics: ColumnStatistics[] }> {
  const { parquetMetadataAsync } = await import('hyparquet');
  const slice = async (start: number, end = file.bytes): Promise<ArrayBuffer> => {
    const body = await objects.getRange(file.path, start, end);
    if (!body) throw new GoneError(`${file.path} is gone`);
    return new Uint8Array(body).buffer;
  };
  const { row_groups: groups, num_rows: rows } = await parquetMetadataAsync({
    byteLength: file.bytes,
    slice,
  }).catch(error => {
    throw error instanceof GoneError ? error : new GoneError(`${file.path} is not whole: ${error}`);
  });
  const statistics = fields.flatMap(field => statisticsOf(field, groups) ?? []);
  return { rows: Number(rows), statistics };
}

function statisticsOf(field: Field, groups: FileMetaData['row_groups']): ColumnStatistics | undefined {
  const chunks = groups.flatMap(
    ({ columns }) =>
      columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === field.name)?.meta_data ?? [],
  );
  if (chunks.length === 0) return undefined;
  const about = chunks.map(({ statistics }) => statistics);
  const nulls = about.map(one => one?.null_count);
  const bytes = chunks.reduce((sum, { total_compressed_size }) => sum + Number(total_compressed_size), 0);
  const values = chunks.reduce((sum, { num_values }) => sum + Number(num_values), 0);
  return {
    id: field.id,
    bytes,
    values,
    ...(nulls.every(count => count !== undefined) && {
      nulls: nulls.reduce((sum, one) => sum + Number(one), 0),
    }),
    ...boundsOf(field, about, values),
  };
}

type Value = NonNullable<Statistics['min_value']>;

// Undefined if a row group has no statistics, unless it contains only nulls.
function boundsOf(
  { type }: Field,
  about: readonly (Statistics | undefined)[],
  values: number,
): Pick<ColumnStatistics, 'lower' | 'upper'> {
  if (values === 0) return {};
  const tellingGroups = about.filter(one => one?.min_value !== undefined && one.max_value !== undefined);
  if (tellingGroups.length === 0 || tellingGroups.length < about.length) return {};
  const least = (a: Value, b: Value) => (a < b ? a : b);
  const most = (a: Value, b: Value) => (a > b ? a : b);
  const min = tellingGroups.map(group => group!.min_value!).reduce(least);
  const max = tellingGroups.map(group => group!.max_value!).reduce(most);
  const lower = encodeValue(type, min, true);
  const upper = encodeValue(type, max, false);
  return { ...(lower && { lower }), ...(upper && { upper }) };
}

// "Binary single-value serialization" of Iceberg's specification.
function encodeValue(type: Field['type'], value: Value, isLower: boolean): Buffer | undefined {
  if (type === 'boolean') return typeof value === 'boolean' ? Buffer.from([value ? 1 : 0]) : undefined;
  if (type === 'string') {
    // JavaScript orders some non-ASCII texts differently from Parquet. A truncated text is not an upper bound.
    if (typeof value !== 'string' || !/^\p{ASCII}*$/u.test(value)) return undefined;
    if (value.length > boundChars && !isLower) return undefined;
    return Buffer.from(value.slice(0, boundChars));
  }
  const bytes = Buffer.alloc(type === 'int' ? 4 : 8);
  if (type === 'timestamp') {
    // A date was truncated to milliseconds when it was read; the bound must not be.
    if (typeof value === 'bigint') bytes.writeBigInt64LE(value);
    else if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
    else bytes.writeBigInt64LE(BigInt(value.getTime()) * 1000n + (isLower ? 0n : 999n));
  } else if (type === 'double') {
    if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
    bytes.writeDoubleLE(value);
  } else if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  else if (type === 'int') bytes.writeInt32LE(Number(value));
  else bytes.writeBigInt64LE(BigInt(value));
  return bytes;
}
