import { nextTurn } from '@stak/kit';
import * as limits from './limits.ts';
import { keyPart } from './objects.ts';
import type { Row } from './rows.ts';

// What the manifest knows of a file of bronze.
export type BronzeFile = {
  path: string;
  entity: string;
  day: string;
  rows: number;
  bytes: number;
  isChained: boolean;
  firstAt: number; // of its oldest change
};

export type FileGroup = { entity: string; day: string; rows: Row[] };

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

// Rows of one entity and day make one file, in the order they came.
export function groupRows(rows: readonly Row[]): FileGroup[] {
  const groups = new Map<string, FileGroup>();
  for (const row of rows) {
    const day = dayOf(row.at);
    const name = `${day} ${row.entity}`;
    const group = groups.get(name);
    if (group) group.rows.push(row);
    else groups.set(name, { entity: row.entity, day, rows: [row] });
  }
  return [...groups.values()];
}

export const bronzePath = (table: string, entity: string, day: string, name: string): string =>
  `bronze/table=${keyPart(table)}/entity=${keyPart(entity)}/day=${day}/${name}.parquet`;

export const firstAt = (rows: readonly Row[]): number =>
  rows.reduce((first, { at }) => Math.min(first, at), Number.MAX_SAFE_INTEGER);

// Made of nothing but the rows and their place: the same rows are the same bytes, under the same name.
export async function encodeRows(
  rows: readonly Row[],
  shard: string,
  generation: number,
): Promise<Uint8Array> {
  const { ByteWriter, parquetWrite } = await import('hyparquet-writer');
  await nextTurn(); // the files of a page are made side by side
  const writer = Object.assign(new ByteWriter(), { flush: nextTurn }); // after each group of rows
  const text = (name: string, read: (row: Row) => string | undefined, nullable = false) => ({
    name,
    type: 'STRING' as const,
    nullable,
    data: rows.map(row => read(row) ?? null),
  });
  // Of what differs from row to row there is no dictionary to be made.
  const unique: typeof text = (...about) => ({ ...text(...about), encoding: 'PLAIN' as const });
  await parquetWrite({
    writer,
    rowGroupSize: limits.groupRows,
    // In JavaScript, on the thread that answers requests, compressing takes five times as long as all the rest. It is
    // left to DuckDB, when files are merged.
    codec: 'UNCOMPRESSED',
    columnData: [
      text('kind', row => row.kind),
      unique('key', row => row.key),
      unique('sequence', row => row.sequence),
      { name: 'generation', type: 'INT32', nullable: false, data: rows.map(() => generation) },
      text('shard', () => shard),
      unique('event_id', row => row.eventId),
      { name: 'at', type: 'TIMESTAMP', nullable: false, data: rows.map(row => new Date(row.at)) },
      text('account_id', row => row.owner.account_id, true),
      text('tenant_id', row => row.owner.tenant_id, true),
      text('user_id', row => row.owner.user_id, true),
      unique('old', row => row.old, true),
      unique('new', row => row.new, true),
      { name: 'chained', type: 'BOOLEAN', nullable: false, data: rows.map(row => row.isChained) },
    ],
  });
  return new Uint8Array(writer.getBuffer());
}
