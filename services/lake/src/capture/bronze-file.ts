import { yieldToEventLoop } from '@stak/kit';
import * as limits from '../limits.ts';
import { keyPart } from '../storage/objects.ts';
import type { Row } from './rows.ts';

// What the manifest stores about a file of bronze.
export type BronzeFile = {
  path: string;
  entity: string;
  day: string;
  rows: number;
  bytes: number;
  isChained: boolean;
  firstAt: number; // of its oldest change
  format?: number; // of its columns; older files have none
  replacesTexts?: true; // some of its rows remove or replace texts, which must not stay in other files for long
};

// Since format 2 all bronze files have the same types, so one table of Iceberg can hold them all.
export const bronzeFormat = 2;
// Merged files have always had these types.
export const hasBronzeFormat = ({ format, path }: BronzeFile): boolean =>
  format === bronzeFormat || path.includes('/merged-');

export type FileGroup = { entity: string; day: string; rows: Row[] };

const dayMs = 24 * 60 * 60_000;
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

// Groups rows by entity and day, one file each, in their order.
export function groupRows(rows: readonly Row[]): FileGroup[] {
  const groups = new Map<string, FileGroup>();
  for (const row of rows) {
    const name = `${Math.floor(row.at / dayMs)} ${row.entity}`;
    const group = groups.get(name);
    if (group) group.rows.push(row);
    else groups.set(name, { entity: row.entity, day: dayOf(row.at), rows: [row] });
  }
  return [...groups.values()];
}

export const bronzePath = (table: string, entity: string, day: string, name: string): string =>
  `bronze/table=${keyPart(table)}/entity=${keyPart(entity)}/day=${day}/${name}.parquet`;

export const firstAt = (rows: readonly Row[]): number =>
  rows.reduce((first, { at }) => Math.min(first, at), Number.MAX_SAFE_INTEGER);

type Typed = { type?: unknown; nullable?: boolean };

// The same type as in files that DuckDB merges.
const timeOfChange = {
  name: 'at',
  type: 'INT64' as const,
  repetition_type: 'REQUIRED' as const,
  logical_type: { type: 'TIMESTAMP' as const, isAdjustedToUTC: false, unit: 'MICROS' as const },
};

// Deterministic: the same rows give the same bytes under the same name.
export async function encodeRows(
  rows: readonly Row[],
  shard: string,
  generation: number,
): Promise<Uint8Array> {
  const { ByteWriter, parquetWrite, schemaFromColumnData } = await import('hyparquet-writer');
  await yieldToEventLoop(); // the files of a page are encoded concurrently
  const writer = Object.assign(new ByteWriter(), { flush: yieldToEventLoop }); // after each group of rows
  const text = (name: string, read: (row: Row) => string | undefined, nullable = false) => ({
    name,
    type: 'STRING' as const,
    nullable,
    data: rows.map(row => read(row) ?? null),
  });
  // Values that differ from row to row need no dictionary.
  const unique: typeof text = (...about) => ({ ...text(...about), encoding: 'PLAIN' as const });
  const columns = [
    text('kind', row => row.kind),
    unique('key', row => row.key),
    unique('sequence', row => row.sequence),
    { name: 'generation', type: 'INT32' as const, nullable: false, data: rows.map(() => generation) },
    text('shard', () => shard),
    unique('event_id', row => row.eventId),
    { name: 'at', data: rows.map(row => BigInt(row.at) * 1000n) },
    text('account_id', row => row.owner.account_id, true),
    text('tenant_id', row => row.owner.tenant_id, true),
    text('user_id', row => row.owner.user_id, true),
    unique('old', row => row.old, true),
    unique('new', row => row.new, true),
    { name: 'chained', type: 'BOOLEAN' as const, nullable: false, data: rows.map(row => row.isChained) },
  ];
  await parquetWrite({
    writer,
    rowGroupSize: limits.groupRows,
    schema: schemaFromColumnData({ columnData: columns, schemaOverrides: { at: timeOfChange } }),
    // Compression in JavaScript, on the thread that serves requests, takes five times as long as everything else.
    // DuckDB compresses when it merges files.
    codec: 'UNCOMPRESSED',
    columnData: columns.map(
      ({ type: _, nullable: __, ...column }: (typeof columns)[number] & Typed) => column,
    ),
  });
  return new Uint8Array(writer.getBuffer());
}
