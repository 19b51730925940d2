import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Sealer, yieldToEventLoop } from '@stak/kit';
import { type AnyEntity, type AnyTable, type Attributes, type DynamoClient, hasKeyOf } from '@stak/table';
import { UsageError } from '../../config/errors.ts';
import { resealItem } from '../sealed-values.ts';
import type { AccountItems } from './account.ts';
import {
  type ArchiveSource,
  countItems,
  hasManifest,
  itemLine,
  type Manifest,
  manifestName,
  manifestText,
  passphraseSealer,
  readManifest,
  sealManifest,
  sha256,
  writeManifest,
  writeWhole,
} from './format.ts';
import { tarEnd, tarEntry } from './tar.ts';

export type ExportOptions = {
  client: DynamoClient;
  tables: readonly AnyTable[];
  without?: readonly AnyEntity[]; // entities that are specific to this store
  accounts?: Pick<AccountItems, 'ids' | 'has'>; // only their items
  source?(): Promise<ArchiveSource>; // which store this is, and its state
  hasChanged?(): boolean; // during the export
  sealer?: Sealer; // of the store; required with a passphrase. The archive is sealed with it
  passphrase?: string; // without one, secrets stay as they are stored
  now: () => number;
  partBytes?: number;
  pageItems?: number; // items read at a time, before other work runs
  progress?(table: string, items: number): void;
};

const defaultPartBytes = 16 * 1024 * 1024;
const defaultPageItems = 250; // with a larger page, memory grows because pages outlive the collection of young objects
const check = 'stak-archive';

/**
 * Writes every item of the tables into a folder. An interrupted export continues if the store is unchanged: an archive
 * of two states would be consistent with neither.
 */
export async function exportArchive(
  options: ExportOptions & { folder: string },
): Promise<{ items: number; unopened: number }> {
  const { folder, passphrase } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const manifest = hasManifest(folder) ? await readManifest(folder) : await begin(options);
  if (manifest.finished !== undefined)
    throw new UsageError(`${folder} has an archive that is complete: choose another folder`);
  if (String(manifest.accounts) !== String(options.accounts?.ids))
    throw new UsageError(`${folder} has an export of other accounts: choose another folder`);
  await requireSame(options, manifest, folder);
  const counts = { unopened: 0 };
  for await (const part of readParts(options, manifest, await openSeals(manifest, passphrase), counts)) {
    if (part) await writeWhole(join(folder, part.file), part.content);
    else await writeManifest(folder, manifest);
  }
  if (options.hasChanged?.())
    throw new UsageError('the store was written to during the export: begin again in another folder');
  await writeManifest(folder, manifest);
  return { items: countItems(manifest), unopened: counts.unopened };
}

/** The same as a tar file, generated while it is read: one part is in memory at a time. */
export async function* streamArchive(options: ExportOptions): AsyncGenerator<Uint8Array> {
  const manifest = await begin(options);
  const sealer = await openSeals(manifest, options.passphrase);
  const nowMs = options.now();
  for await (const part of readParts(options, manifest, sealer, { unopened: 0 }))
    if (part) yield tarEntry(part.file, part.content, nowMs);
  yield tarEntry(manifestName, Buffer.from(manifestText(manifest)), nowMs);
  yield tarEnd;
}

async function requireSame({ source }: ExportOptions, manifest: Manifest, folder: string): Promise<void> {
  const { store, state } = (await source?.()) ?? {};
  if (manifest.source?.store !== store)
    throw new UsageError(`${folder} has an export of another store: choose another folder`);
  if (manifest.source?.state !== state)
    throw new UsageError(
      `the store has changed since the export into ${folder} was started: start again in another folder`,
    );
}

async function begin({ passphrase, now, accounts, source }: ExportOptions): Promise<Manifest> {
  const salt = randomBytes(16).toString('base64');
  return {
    format: 'stak-archive',
    version: 1,
    begun: new Date(now()).toISOString(),
    ...(accounts && { accounts: [...accounts.ids] }),
    ...(source && { source: await source() }),
    secrets:
      passphrase === undefined
        ? 'as stored'
        : { salt, check: (await passphraseSealer(passphrase, salt)).seal(check, check) },
    tables: {},
  };
}

/** Opens and seals the secrets of an archive; undefined if they are as stored. */
export async function openSeals(
  { secrets }: Manifest,
  passphrase: string | undefined,
): Promise<Sealer | undefined> {
  if (secrets === 'as stored') {
    if (passphrase !== undefined)
      throw new UsageError('the archive has its secrets as they were stored: it needs no passphrase');
    return undefined;
  }
  if (passphrase === undefined) throw new UsageError('the archive needs its passphrase');
  const sealer = await passphraseSealer(passphrase, secrets.salt);
  try {
    sealer.open(secrets.check, check);
  } catch {
    throw new UsageError('that is not the passphrase of the archive');
  }
  return sealer;
}

/** Whether the store may have removed the item by now. */
export function hasExpired({ ttl }: AnyTable, item: Attributes, nowMs: number): boolean {
  const seconds: unknown = ttl === undefined ? undefined : item[ttl];
  return typeof seconds === 'number' && seconds * 1000 <= nowMs;
}

// A part is compressed as it is read: of sixteen megabytes of lines, only the compressed ones are in memory.
function openPart() {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    write: (text: string) =>
      new Promise<void>((resolve, reject) => {
        gzip.write(text, error => (error ? reject(error) : resolve()));
      }),
    async end(): Promise<Uint8Array> {
      gzip.end();
      await finished(gzip);
      return Buffer.concat(chunks);
    },
  };
}

type PartContent = { file: string; content: Uint8Array };

// The files of all tables. Yields nothing in between, when the manifest lists the last file.
async function* readParts(
  options: ExportOptions,
  manifest: Manifest,
  archiveSealer: Sealer | undefined,
  counts: { unopened: number },
): AsyncGenerator<PartContent | undefined> {
  for (const table of options.tables) yield* readTable(options, manifest, table, archiveSealer, counts);
  manifest.finished = new Date(options.now()).toISOString();
  if (options.sealer) manifest.seal = sealManifest(manifest, options.sealer);
}

async function* readTable(
  options: ExportOptions,
  manifest: Manifest,
  table: AnyTable,
  archiveSealer: Sealer | undefined,
  counts: { unopened: number },
): AsyncGenerator<PartContent | undefined> {
  const {
    client,
    sealer,
    now,
    partBytes = defaultPartBytes,
    pageItems = defaultPageItems,
    progress,
  } = options;
  const { without = [], accounts } = options;
  const left = without.filter(entity => table.entities.includes(entity));
  manifest.tables[table.name] ??= { parts: [], isWhole: false };
  const state = manifest.tables[table.name]!;
  let items = state.parts.reduce((sum, part) => sum + part.items, 0);
  while (!state.isWhole) {
    const part = openPart();
    let count = 0;
    let bytes = 0;
    let ExclusiveStartKey = state.next as Attributes | undefined;
    do {
      const page = await client.scan({
        TableName: table.name,
        ConsistentRead: true,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
        Limit: pageItems,
      });
      await yieldToEventLoop();
      let lines = '';
      for (const stored of page.Items ?? []) {
        if (hasExpired(table, stored, now()) || left.some(entity => hasKeyOf(entity, stored))) continue;
        if (accounts && !(await accounts.has(table, stored))) continue;
        const sealed = archiveSealer && sealer && resealItem(table, stored, sealer, archiveSealer);
        counts.unopened += sealed?.unopened ?? 0;
        lines += `${itemLine(sealed?.item ?? stored)}\n`;
        count += 1;
      }
      await part.write(lines);
      bytes += lines.length;
      ExclusiveStartKey = page.LastEvaluatedKey;
      progress?.(table.name, items + count);
    } while (ExclusiveStartKey && bytes < partBytes);
    items += count;
    const content = await part.end();
    if (count > 0) {
      const file = `${table.name}-${String(state.parts.length + 1).padStart(5, '0')}.ndjson.gz`;
      yield { file, content };
      state.parts.push({ file, items: count, sha256: sha256(content) });
    }
    state.isWhole = ExclusiveStartKey === undefined;
    if (ExclusiveStartKey) state.next = ExclusiveStartKey;
    else delete state.next;
    yield undefined;
  }
}
