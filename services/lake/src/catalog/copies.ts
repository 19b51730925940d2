import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createRecentMap } from '@stak/kit';
import type { Insight } from '@stak/table';
import type { Duck } from '../duckdb/duck.ts';
import { quoteName, quoteText, readFiles } from '../duckdb/sql-text.ts';
import { bronzeColumns, entityColumns, goldColumns, ownerColumns } from '../iceberg/iceberg-tables.ts';
import { digestOf, type Metadata } from '../iceberg/metadata.ts';
import { createPublisher, metadataKey } from '../iceberg/publisher.ts';
import type { IcebergColumn } from '../iceberg/schema.ts';
import { listKey } from '../iceberg/snapshot-files.ts';
import { partsOf } from '../insights/answer.ts';
import { columnsFor, type LakeTable, locateAll, locateCurrent, whileFilesLast } from '../lake-table.ts';
import { currentRows, isPresent } from '../layers/current-sql.ts';
import { finish, owners } from '../layers/gold-sql.ts';
import * as limits from '../limits.ts';
import { type Scope, scopeCondition } from '../scope.ts';
import type { State } from '../storage/manifest-state.ts';
import type { ObjectStore } from '../storage/objects.ts';
import type { Owner } from '../tables.ts';

// Files of the lake contain rows of all accounts, so callers get copies: made on request, with only their rows, in a
// folder that only they have a key to. Erasing a user removes their copies too.

const root = 'copies';

export type Namespace = 'bronze' | 'silver' | 'gold';
export type CopyTable = {
  namespace: Namespace;
  name: string;
  lakeTable: LakeTable;
  entity: string;
  insight?: Insight;
};
type ScopeNote = { accountId: string; tenantIds: readonly string[] } | null; // null: rows of all accounts
type CopyScope = Exclude<Scope, { kind: 'endUser' }>;

// Callers who see the same rows share a folder.
export const copyFolder = (scope: CopyScope): string =>
  `${root}/${createHash('sha256').update(scopeCondition(scope)).digest('hex').slice(0, 40)}`;

const noteKey = (folder: string): string => `${folder}/scope.json`;
const hidden = new Set(['shard', 'chained', 'generation', 'event_id']); // used by the lake only

// The operator's tables name the owner of each row; an account's own tables need not.
function columnsOf(
  { namespace, lakeTable, entity, insight }: CopyTable,
  { kind }: CopyScope,
): IcebergColumn[] {
  if (namespace === 'bronze') return bronzeColumns.filter(({ name }) => !hidden.has(name));
  const own = namespace === 'silver' ? entityColumns(columnsFor(lakeTable, entity)) : goldColumns(insight!);
  return kind === 'everyone' ? [...ownerColumns, ...own] : own;
}

// The files that the rows come from: the same files give the same rows.
function inputsOf({ namespace, lakeTable, entity, insight }: CopyTable, state: State): string[] {
  const files = [...state.files.values()].filter(file => file.entity === entity).map(({ path }) => path);
  if (namespace === 'bronze') return files;
  const silver = state.silver[entity]?.path ?? '';
  const gold = insight ? Object.values(state.gold).map(({ path }) => path) : [];
  const { completeGeneration } = state;
  const columns = columnsFor(lakeTable, entity).map(({ name, type }) => `${name} ${type}`);
  return [...files, silver, ...gold, String(completeGeneration), ...columns];
}

async function rowsOf(table: CopyTable, state: State, scope: CopyScope): Promise<string> {
  const { namespace, lakeTable, entity, insight } = table;
  const condition = scopeCondition(scope);
  const whose = scope.kind === 'everyone' ? owners : [];
  if (namespace === 'gold')
    return finish(insight!, await partsOf(lakeTable, state, insight!), condition, undefined, whose);
  if (namespace === 'silver') {
    const texts = columnsFor(lakeTable, entity).map(({ name, type }) =>
      type === 'JSON' ? `${quoteName(name)}::varchar as ${quoteName(name)}` : quoteName(name),
    );
    const sources = await locateCurrent(lakeTable, state, entity);
    return `select ${[...whose, ...texts].join(', ')} from (${currentRows(sources, condition)}) where ${isPresent} order by all`;
  }
  const paths = inputsOf(table, state);
  const columns = columnsOf(table, scope);
  if (paths.length === 0) return emptyRows(columns);
  const files = readFiles(await locateAll(lakeTable.objects, paths));
  return `select ${columns.map(({ name }) => quoteName(name)).join(', ')} from (
    select *, account_id as _account, tenant_id as _tenant, user_id as _user from ${files}
  ) where (${condition}) order by "at", length(sequence), sequence, key, kind`;
}

const sqlTypes = { timestamp: 'timestamp', string: 'varchar' } as Record<string, string>;
const emptyRows = (columns: readonly IcebergColumn[]): string =>
  `select ${columns.map(({ name, type }) => `null::${sqlTypes[type] ?? type} as ${quoteName(name)}`).join(', ')} where false`;

export type CopyDeps = { objects: ObjectStore; clock: Clock; duck: Duck; scratch: string };

export function createCopies({ objects, clock, duck, scratch }: CopyDeps) {
  const underWay = new Map<string, Promise<unknown>>();
  const notedAt = createRecentMap<string, number>(limits.copyNotes);

  // A folder in use is touched, so that the sweep skips it, and records whose rows it contains before any are written.
  async function note(folder: string, scope: CopyScope): Promise<void> {
    if (clock.now() - (notedAt.get(folder) ?? Number.NEGATIVE_INFINITY) < limits.copyNoteMs) return;
    const about: ScopeNote =
      scope.kind === 'everyone' ? null : { accountId: scope.accountId, tenantIds: scope.tenantIds };
    await objects.put(noteKey(folder), Buffer.from(JSON.stringify(about)));
    notedAt.set(folder, clock.now());
  }

  async function build(
    table: CopyTable,
    scope: CopyScope,
  ): Promise<{ location: string; metadata: Metadata }> {
    const top = copyFolder(scope);
    const folder = `${top}/${table.namespace}.${table.name}`;
    const publisher = createPublisher({ objects: { ...objects, locationOf: locationIn(top) }, clock });
    await note(top, scope);
    for (;;) {
      const { erasures } = await table.lakeTable.manifest.read();
      const { number, metadata } = await copy(table, scope, folder, publisher);
      // The copy may hold rows that were erased while it was written.
      if ((await table.lakeTable.manifest.read()).erasures === erasures)
        return { location: await locationIn(top)(metadataKey(folder, number)), metadata };
      await removeAll(objects, `${folder}/`);
    }
  }

  async function copy(
    table: CopyTable,
    scope: CopyScope,
    folder: string,
    publisher: ReturnType<typeof createPublisher>,
  ) {
    const state = structuredClone(await table.lakeTable.manifest.read());
    const inputs = createHash('sha256').update(inputsOf(table, state).join('\n')).digest('hex').slice(0, 32);
    const path = `${folder}/data/${inputs}.parquet`;
    const { version, at } = state;
    const known = await publisher.current(folder);
    const last = known?.metadata.snapshots.at(-1);
    if (last?.summary['stak.files'] === digestOf([{ path, bytes: 0, commit: 0 }])) {
      if (await areThere([path, listKey(folder, last)])) return known!;
      await removeAll(objects, `${folder}/`); // an erasure came during the copy
    }
    const source = { folder, columns: columnsOf(table, scope), isByDay: false, version, at };
    // Nothing was captured yet: a table without a snapshot. Clients would take a snapshot 0 for the newest one.
    const files =
      version === 0
        ? []
        : [{ path, bytes: await writeRows(await rowsOf(table, state, scope), path), commit: version }];
    // Rows were replaced, but older files stay for as long as their snapshots do.
    const options = {
      cutoffMs: Number.NEGATIVE_INFINITY,
      removedAt: () => clock.now(),
      kept: table.lakeTable.plan.texts.has(table.entity) ? 1 : limits.copySnapshots,
    };
    const published = await publisher.publish({ ...source, files }, options);
    await removeOldData(folder, published.metadata);
    return published;
  }

  async function areThere(keys: readonly string[]): Promise<boolean> {
    for (const key of keys) if (!(await objects.getRange(key, 0, 1))) return false;
    return true;
  }

  async function writeRows(rows: string, path: string): Promise<number> {
    await mkdir(scratch, { recursive: true });
    const file = join(scratch, `${randomUUID()}.parquet`);
    try {
      await duck.run({ scratch, prepare: [`copy (${rows}) to ${quoteText(file)} (format parquet)`] });
      const bytes = (await stat(file)).size;
      await objects.putFile(path, file);
      return bytes;
    } finally {
      await rm(file, { force: true });
    }
  }

  async function removeOldData(folder: string, { snapshots }: Metadata): Promise<void> {
    const named = new Set(snapshots.map(({ summary }) => summary['stak.files']));
    for await (const { key, changedAt } of objects.list(`${folder}/data/`)) {
      const isNamed = named.has(digestOf([{ path: key, bytes: 0, commit: 0 }]));
      if (!isNamed && changedAt < clock.now() - limits.copyOrphanMs) await objects.delete(key);
    }
  }

  return {
    // One at a time for each table of a caller: concurrent callers share the result.
    async load(table: CopyTable, scope: CopyScope): Promise<{ location: string; metadata: Metadata }> {
      const key = `${copyFolder(scope)} ${table.namespace} ${table.name}`;
      const last = underWay.get(key) ?? Promise.resolve();
      const next = last.then(() => whileFilesLast(() => build(table, scope)));
      const settled = next.catch(() => {});
      underWay.set(key, settled);
      void settled.then(() => underWay.get(key) === settled && underWay.delete(key));
      return next;
    },
  };
}

// Locations as the holder of the key sees them: the folder is the bucket.
const locationIn = (top: string) => async (key: string) =>
  `s3://${limits.copyBucket}/${key.slice(top.length + 1)}`;

async function removeAll(objects: ObjectStore, prefix: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of objects.list(prefix)) keys.push(key);
  for (const key of keys) await objects.delete(key);
}

// Deletes copies that may hold rows of the erased owner. They are made again on request.
export async function eraseCopies(objects: ObjectStore, { account_id, tenant_id }: Owner): Promise<void> {
  await eachFolder(objects, async (folder, note) => {
    const holds = note && (note.accountId === account_id || note.tenantIds.includes(tenant_id ?? ''));
    if (!note || holds) await removeAll(objects, `${folder}/`);
  });
}

// Deletes copies that were not requested for a day.
export async function sweepCopies(objects: ObjectStore, clock: Clock): Promise<void> {
  const newest = new Map<string, number>();
  for await (const { key, changedAt } of objects.list(`${root}/`)) {
    const folder = key.split('/').slice(0, 2).join('/');
    newest.set(folder, Math.max(newest.get(folder) ?? 0, changedAt));
  }
  for (const [folder, at] of newest)
    if (at < clock.now() - limits.copyUnusedMs) await removeAll(objects, `${folder}/`);
}

async function eachFolder(
  objects: ObjectStore,
  visit: (folder: string, note: ScopeNote | undefined) => Promise<void>,
): Promise<void> {
  const folders = new Set<string>();
  for await (const { key } of objects.list(`${root}/`)) folders.add(key.split('/').slice(0, 2).join('/'));
  for (const folder of folders) {
    const body = await objects.get(noteKey(folder));
    await visit(folder, body && (JSON.parse(Buffer.from(body).toString('utf8')) as ScopeNote));
  }
}
