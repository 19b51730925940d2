import { streams } from 'avsc';
import { parquetReadObjects } from 'hyparquet';
import type { Metadata, Snapshot } from '../src/iceberg/metadata.ts';
import type { ObjectStore } from '../src/index.ts';
import { readObjects } from './lake-fixture.ts';

// Reads a table as engines do: from the hint to the metadata, its snapshots, their manifests, and the files.

export type DataEntry = {
  status: number;
  data_file: {
    file_path: string;
    partition: Record<string, number | null>;
    record_count: number;
    file_size_in_bytes: number;
    lower_bounds: { key: number; value: Buffer }[];
    upper_bounds: { key: number; value: Buffer }[];
    null_value_counts: { key: number; value: number }[];
  };
};

export async function readTable(objects: ObjectStore, folder: string): Promise<Metadata> {
  const hint = await objects.get(`${folder}/metadata/version-hint.text`);
  const body = await objects.get(`${folder}/metadata/v${Buffer.from(hint!)}.metadata.json`);
  return JSON.parse(Buffer.from(body!).toString()) as Metadata;
}

export const tableFolders = async (objects: ObjectStore): Promise<string[]> => {
  const keys = await readObjects(objects, 'iceberg/');
  return keys.filter(key => key.endsWith('version-hint.text')).map(key => key.split('/metadata/')[0]!);
};

const decodeAvro = (body: Uint8Array): Promise<unknown[]> =>
  new Promise((resolve, reject) => {
    const decoder = new streams.BlockDecoder();
    const records: unknown[] = [];
    decoder.on('data', record => records.push(record));
    decoder.on('end', () => resolve(records));
    decoder.on('error', reject);
    decoder.end(Buffer.from(body));
  });

async function read(objects: ObjectStore, location: string): Promise<Uint8Array> {
  const root = (await objects.locationOf('x')).slice(0, -1);
  const body = location.startsWith(root) && (await objects.get(location.slice(root.length)));
  if (!body) throw new Error(`${location} is not there`);
  return body;
}

export async function readEntries(objects: ObjectStore, snapshot: Snapshot): Promise<DataEntry[]> {
  const list = (await decodeAvro(await read(objects, snapshot['manifest-list']))) as {
    manifest_path: string;
    manifest_length: number;
    added_files_count: number;
    existing_files_count: number;
  }[];
  const entries: DataEntry[] = [];
  for (const manifest of list) {
    const body = await read(objects, manifest.manifest_path);
    const found = (await decodeAvro(body)) as DataEntry[];
    const isTold =
      body.length === manifest.manifest_length &&
      found.length === manifest.added_files_count + manifest.existing_files_count;
    if (!isTold) throw new Error(`the list says something else of ${manifest.manifest_path}`);
    entries.push(...found);
  }
  return entries;
}

export async function readSnapshot<Row>(objects: ObjectStore, snapshot: Snapshot): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { data_file: file } of await readEntries(objects, snapshot)) {
    const body = await read(objects, file.file_path);
    const buffer = body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) as ArrayBuffer;
    const found = (await parquetReadObjects({ file: buffer })) as Row[];
    if (found.length !== file.record_count || body.length !== file.file_size_in_bytes)
      throw new Error(`the manifest says something else of ${file.file_path}`);
    rows.push(...found);
  }
  return rows;
}

// Every row of every snapshot of every table: whatever an engine could reach.
export async function readEverything(objects: ObjectStore): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (const folder of await tableFolders(objects))
    for (const snapshot of (await readTable(objects, folder)).snapshots)
      rows.push(...(await readSnapshot<Record<string, unknown>>(objects, snapshot)));
  return rows;
}
