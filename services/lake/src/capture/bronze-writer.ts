import type { ColumnChunk, SchemaElement, Statistics } from 'hyparquet';
import type { ByteWriter } from 'hyparquet-writer';
import * as limits from '../limits.ts';
import { dayOf } from '../storage/bronze-file.ts';
import { createChoices, createTexts, type PageValues } from './parquet-columns.ts';
import type { Row } from './rows.ts';

// Writes rows of bronze as Parquet. Each value is encoded when its row is added, so that neither rows nor images are
// held until a file is complete: a busy batch has eight thousand of them, and collecting that garbage cost as much as
// reading the records.

export type WrittenFile = {
  entity: string;
  day: string;
  rows: number;
  first: string; // the sequence number of its first row, and of its last
  last: string;
  firstAt: number; // of its oldest change
  isChained: boolean; // all rows are
  hasOnlyInserts: boolean;
  body: Uint8Array;
};

type Parquet = Awaited<ReturnType<typeof loadParquet>>;

// The writer of footers and pages. Loaded late: a process that only answers queries does not need it.
async function loadParquet() {
  const [{ ByteWriter, ParquetWriter, schemaFromColumnData }, { writePageHeader }, encoding] =
    await Promise.all([
      import('hyparquet-writer'),
      import('hyparquet-writer/src/datapage.js'),
      import('hyparquet-writer/src/encoding.js'),
    ]);
  const schema: SchemaElement[] = schemaFromColumnData({
    columnData: columns.map(({ name, type, nullable }) => ({ name, type, nullable, data: [] })),
    schemaOverrides: { at: timeOfChange },
  });
  return { ByteWriter, ParquetWriter, schema, writePageHeader, ...encoding };
}

const columns = [
  { name: 'kind', type: 'STRING', nullable: false },
  { name: 'key', type: 'STRING', nullable: false },
  { name: 'sequence', type: 'STRING', nullable: false },
  { name: 'generation', type: 'INT32', nullable: false },
  { name: 'shard', type: 'STRING', nullable: false },
  { name: 'event_id', type: 'STRING', nullable: false },
  { name: 'at', type: undefined, nullable: undefined },
  { name: 'account_id', type: 'STRING', nullable: true },
  { name: 'tenant_id', type: 'STRING', nullable: true },
  { name: 'user_id', type: 'STRING', nullable: true },
  { name: 'old', type: 'STRING', nullable: true },
  { name: 'new', type: 'STRING', nullable: true },
  { name: 'chained', type: 'BOOLEAN', nullable: false },
] as const;

// The same type as in files that DuckDB merges.
const timeOfChange = {
  name: 'at',
  type: 'INT64' as const,
  repetition_type: 'REQUIRED' as const,
  logical_type: { type: 'TIMESTAMP' as const, isAdjustedToUTC: false, unit: 'MICROS' as const },
};

// One file for each entity and day, with the rows in their order. Deterministic: the same rows give the same bytes.
export async function createBronzeFiles(shard: string, generation: number) {
  const parquet = await loadParquet();
  const files = new Map<string, Map<number, ReturnType<typeof createFile>>>();
  let imageChars = 0;

  function fileOf({ entity, at }: Row) {
    const days = files.get(entity) ?? new Map<number, ReturnType<typeof createFile>>();
    files.set(entity, days);
    const day = Math.floor(at / dayMs);
    const file = days.get(day) ?? createFile(parquet, entity, shard, generation);
    days.set(day, file);
    return file;
  }

  return {
    add(row: Row): void {
      const file = fileOf(row);
      file.add(row);
      imageChars += (row.old?.length ?? 0) + (row.new?.length ?? 0);
    },
    imageChars: (): number => imageChars,
    finish: (): WrittenFile[] =>
      [...files.values()].flatMap(days => [...days.values()].map(file => file.finish())),
  };
}

const dayMs = 24 * 60 * 60_000;

function createFile(parquet: Parquet, entity: string, shard: string, generation: number) {
  const bytes = new parquet.ByteWriter();
  // Compression in JavaScript takes five times as long as everything else. DuckDB compresses when it merges files.
  const { schema } = parquet;
  const writer = new parquet.ParquetWriter({ writer: bytes, schema, codec: 'UNCOMPRESSED' });
  const group = createGroup(parquet, bytes, shard, generation);
  const about = { rows: 0, first: '', last: '', firstAt: Number.MAX_SAFE_INTEGER };
  let isChained = true;
  let hasOnlyInserts = true;

  function endGroup(): void {
    const start = bytes.offset;
    const num_rows = BigInt(group.rows());
    if (num_rows === 0n) return;
    const chunks = group.end();
    writer.row_groups.push({ columns: chunks, total_byte_size: BigInt(bytes.offset - start), num_rows });
    writer.num_rows += num_rows;
  }

  return {
    add(row: Row): void {
      if (about.rows === 0) about.first = row.sequence;
      about.last = row.sequence;
      about.rows += 1;
      about.firstAt = Math.min(about.firstAt, row.at);
      isChained &&= row.isChained;
      hasOnlyInserts &&= row.kind === 'insert';
      group.add(row);
      if (group.rows() === limits.groupRows) endGroup();
    },
    finish(): WrittenFile {
      endGroup();
      writer.finish();
      return {
        entity,
        day: dayOf(about.firstAt),
        ...about,
        isChained,
        hasOnlyInserts,
        body: bytes.getBytes(),
      };
    },
  };
}

// The columns of a group of rows, used again for the next one.
function createGroup(parquet: Parquet, writer: ByteWriter, shard: string, generation: number) {
  const kind = createChoices(parquet, false);
  const shards = createChoices(parquet, false);
  const accounts = createChoices(parquet, true);
  const tenants = createChoices(parquet, true);
  const users = createChoices(parquet, true);
  const key = createTexts(parquet, { nullable: false, hasBounds: true });
  const sequence = createTexts(parquet, { nullable: false, hasBounds: true });
  const eventId = createTexts(parquet, { nullable: false, hasBounds: true });
  // No reader skips files by how the JSON of an image begins.
  const old = createTexts(parquet, { nullable: true, hasBounds: false });
  const current = createTexts(parquet, { nullable: true, hasBounds: false });
  let times: number[] = [];
  let chained: boolean[] = [];

  return {
    rows: () => times.length,
    add(row: Row): void {
      const { owner } = row;
      kind.add(row.kind);
      shards.add(shard);
      accounts.add(owner.account_id);
      tenants.add(owner.tenant_id);
      users.add(owner.user_id);
      key.add(row.key);
      sequence.add(row.sequence);
      eventId.add(row.eventId);
      old.add(row.old);
      current.add(row.new);
      times.push(row.at);
      chained.push(row.isChained);
    },
    // Writes the columns, in the order of the schema.
    end(): ColumnChunk[] {
      const count = times.length;
      const values: PageValues[] = [
        kind.end(),
        key.end(),
        sequence.end(),
        sameNumber(parquet, generation, count),
        shards.end(),
        eventId.end(),
        timesOf(times),
        accounts.end(),
        tenants.end(),
        users.end(),
        old.end(),
        current.end(),
        flagsOf(chained),
      ];
      times = [];
      chained = [];
      return values.map((value, i) => writeChunk(parquet, writer, columns[i]!.name, value, count));
    },
  };
}

// A dictionary of one number.
function sameNumber(
  { ByteWriter, writeRleBitPackedHybrid }: Parquet,
  value: number,
  count: number,
): PageValues {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  const writer = new ByteWriter();
  writer.appendUint8(0); // bits of a row's number in the dictionary
  writeRleBitPackedHybrid(writer, Array<number>(count).fill(0), 0);
  const statistics = { min_value: value, max_value: value, null_count: 0n };
  return { type: 'INT32', bytes: writer.getBytes(), dictionary: { bytes, count: 1 }, statistics };
}

function timesOf(times: readonly number[]): PageValues {
  const bytes = Buffer.alloc(8 * times.length);
  let [least, most] = [Number.MAX_SAFE_INTEGER, 0];
  for (const [i, at] of times.entries()) {
    bytes.writeBigInt64LE(microsOf(at), 8 * i);
    least = Math.min(least, at);
    most = Math.max(most, at);
  }
  const statistics = { min_value: microsOf(least), max_value: microsOf(most), null_count: 0n };
  return { type: 'INT64', bytes, statistics };
}

const microsOf = (ms: number): bigint => BigInt(ms) * 1000n;

function flagsOf(flags: readonly boolean[]): PageValues {
  const bytes = Buffer.alloc(Math.ceil(flags.length / 8));
  for (const [i, flag] of flags.entries()) if (flag) bytes[i >> 3]! |= 1 << (i & 7);
  const statistics = { min_value: !flags.includes(false), max_value: flags.includes(true), null_count: 0n };
  return { type: 'BOOLEAN', bytes, statistics };
}

// A page of a dictionary, if there is one, and a page of values.
function writeChunk(
  { writePageHeader }: Parquet,
  writer: ByteWriter,
  name: string,
  { type, bytes, levels, nulls = 0, dictionary, statistics }: PageValues,
  count: number,
): ColumnChunk {
  const start = writer.offset;
  if (dictionary) {
    const size = dictionary.bytes.length;
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: size,
      compressed_page_size: size,
      dictionary_page_header: { num_values: dictionary.count, encoding: 'PLAIN' },
    });
    writer.appendBytes(dictionary.bytes);
  }
  const data_page_offset = BigInt(writer.offset);
  const encoding = dictionary ? 'RLE_DICTIONARY' : 'PLAIN';
  const size = (levels?.length ?? 0) + bytes.length;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: size,
    compressed_page_size: size,
    data_page_header_v2: {
      num_values: count,
      num_nulls: nulls,
      num_rows: count,
      encoding,
      definition_levels_byte_length: levels?.length ?? 0,
      repetition_levels_byte_length: 0,
      is_compressed: true, // by the codec, which is none
    },
  });
  if (levels) writer.appendBytes(levels);
  writer.appendBytes(bytes);
  const total = BigInt(writer.offset - start);
  return {
    file_offset: BigInt(start),
    meta_data: {
      type,
      encodings: [encoding],
      path_in_schema: [name],
      codec: 'UNCOMPRESSED',
      num_values: BigInt(count),
      total_compressed_size: total,
      total_uncompressed_size: total,
      data_page_offset,
      ...(dictionary && { dictionary_page_offset: BigInt(start) }),
      statistics: statistics satisfies Statistics,
    },
  };
}
