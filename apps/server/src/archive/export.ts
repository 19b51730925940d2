import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Sealer } from '@stak/kit';
import { type AnyEntity, type AnyTable, type Attributes, type DynamoClient, hasKeyOf } from '@stak/table';
import { UsageError } from '../errors.ts';
import { resealItem } from '../sealed-values.ts';
import type { AccountItems } from './account.ts';
import {
  countItems,
  hasManifest,
  type Manifest,
  passphraseSealer,
  readManifest,
  sha256,
  tagItem,
  writeManifest,
  writeWhole,
} from './format.ts';

export type ExportOptions = {
  client: DynamoClient;
  tables: readonly AnyTable[];
  without?: readonly AnyEntity[]; // what is of this store alone
  accounts?: Pick<AccountItems, 'ids' | 'has'>; // their items alone
  folder: string;
  sealer: Sealer; // of the store
  passphrase?: string; // without one, secrets stay as they are stored
  now: () => number;
  partBytes?: number;
  progress?(table: string, items: number): void;
};

const defaultPartBytes = 16 * 1024 * 1024;
const check = 'stak-archive';

/** Writes every item of the tables into a folder. One that was cut short goes on where it was. */
export async function exportArchive(options: ExportOptions): Promise<{ items: number; unopened: number }> {
  const { tables, folder, passphrase } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const manifest = hasManifest(folder) ? await readManifest(folder) : begin(options);
  if (manifest.finished !== undefined)
    throw new UsageError(`${folder} has an archive that is complete: choose another folder`);
  if (String(manifest.accounts) !== String(options.accounts?.ids))
    throw new UsageError(`${folder} has an export of other accounts: choose another folder`);
  const archiveSealer = openSeals(manifest, passphrase);
  let unopened = 0;
  for (const table of tables)
    unopened += await exportTable({ ...options, ...(archiveSealer && { archiveSealer }) }, manifest, table);
  manifest.finished = new Date(options.now()).toISOString();
  await writeManifest(folder, manifest);
  return { items: countItems(manifest), unopened };
}

function begin({ passphrase, now, accounts }: ExportOptions): Manifest {
  const salt = randomBytes(16).toString('base64');
  return {
    format: 'stak-archive',
    version: 1,
    begun: new Date(now()).toISOString(),
    ...(accounts && { accounts: [...accounts.ids] }),
    secrets:
      passphrase === undefined
        ? 'as stored'
        : { salt, check: passphraseSealer(passphrase, salt).seal(check, check) },
    tables: {},
  };
}

/** What opens and seals the secrets of an archive; none if they are as they were stored. */
export function openSeals({ secrets }: Manifest, passphrase: string | undefined): Sealer | undefined {
  if (secrets === 'as stored') {
    if (passphrase !== undefined)
      throw new UsageError('the archive has its secrets as they were stored: it needs no passphrase');
    return undefined;
  }
  if (passphrase === undefined) throw new UsageError('the archive needs its passphrase');
  const sealer = passphraseSealer(passphrase, secrets.salt);
  try {
    sealer.open(secrets.check, check);
  } catch {
    throw new UsageError('that is not the passphrase of the archive');
  }
  return sealer;
}

/** Whether the store may have dropped the item by now. */
export function hasExpired({ ttl }: AnyTable, item: Attributes, nowMs: number): boolean {
  const seconds: unknown = ttl === undefined ? undefined : item[ttl];
  return typeof seconds === 'number' && seconds * 1000 <= nowMs;
}

// One part is in memory at a time.
async function exportTable(
  options: ExportOptions & { archiveSealer?: Sealer },
  manifest: Manifest,
  table: AnyTable,
): Promise<number> {
  const { client, folder, sealer, archiveSealer, now, partBytes = defaultPartBytes, progress } = options;
  const { without = [], accounts } = options;
  const left = without.filter(entity => table.entities.includes(entity));
  manifest.tables[table.name] ??= { parts: [], isWhole: false };
  const state = manifest.tables[table.name]!;
  let items = state.parts.reduce((sum, part) => sum + part.items, 0);
  let unopened = 0;
  while (!state.isWhole) {
    const lines: string[] = [];
    let bytes = 0;
    let ExclusiveStartKey = state.next as Attributes | undefined;
    do {
      const page = await client.scan({
        TableName: table.name,
        ConsistentRead: true,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      });
      for (const stored of page.Items ?? []) {
        if (hasExpired(table, stored, now()) || left.some(entity => hasKeyOf(entity, stored))) continue;
        if (accounts && !(await accounts.has(table, stored))) continue;
        const sealed = archiveSealer && resealItem(table, stored, sealer, archiveSealer);
        unopened += sealed?.unopened ?? 0;
        const line = JSON.stringify(tagItem(sealed?.item ?? stored));
        lines.push(line);
        bytes += line.length;
      }
      ExclusiveStartKey = page.LastEvaluatedKey;
      progress?.(table.name, items + lines.length);
    } while (ExclusiveStartKey && bytes < partBytes);
    items += lines.length;
    if (lines.length > 0) {
      const file = `${table.name}-${String(state.parts.length + 1).padStart(5, '0')}.ndjson.gz`;
      const content = await promisify(gzip)(`${lines.join('\n')}\n`);
      await writeWhole(join(folder, file), content);
      state.parts.push({ file, items: lines.length, sha256: sha256(content) });
    }
    state.isWhole = ExclusiveStartKey === undefined;
    if (ExclusiveStartKey) state.next = ExclusiveStartKey;
    else delete state.next;
    await writeManifest(folder, manifest);
  }
  return unopened;
}
