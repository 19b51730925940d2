import { isDeepStrictEqual } from 'node:util';
import { backoffMs, type Clock, looksSealed, type Sealer } from '@stak/kit';
import { importedAt } from '@stak/streams';
import {
  type AnyTable,
  type Attributes,
  type ControlPlane,
  createStore,
  createTables,
  type DynamoClient,
  isUnavailable,
  readStoredBatch,
  writeStoredBatch,
} from '@stak/table';
import { UsageError } from '../../config/errors.ts';
import { resealItem } from '../sealed-values.ts';
import { arrival, finishArrival, requireUnfinished } from './arrival.ts';
import { hasExpired, openSeals } from './export.ts';
import {
  archiveId,
  checkPart,
  countItems,
  type Manifest,
  type Part,
  readManifest,
  readPart,
  tagItem,
} from './format.ts';

export type ImportOptions = {
  client: DynamoClient;
  control: ControlPlane;
  tables: readonly AnyTable[];
  folder: string;
  sealer: Sealer; // of the store
  passphrase?: string;
  goOn?: boolean; // continues an interrupted import
  whenFull?: string; // advice in the error for a table that is not empty
  expiry?: boolean; // false: nothing expires yet
  recovery?: boolean; // point-in-time recovery of new tables
  onWritten?(): Promise<void>; // called before a server may use the store
  clock: Clock;
  progress?(what: string, table: string, items: number): void;
};

export type Imported = { items: number; unopened: number };

const writeBatch = 25;
export const readBatch = 100;
const atOnce = 4;
const attempts = 12;
const pause = { firstMs: 100, mostMs: 10_000 };

/**
 * Imports an archive into an empty store, and verifies it. Until then the tables have no streams, and no server uses
 * them: consumers would take old items for new ones.
 */
export async function importArchive(options: ImportOptions): Promise<Imported> {
  const { client, control, tables, clock, goOn = false, recovery = false } = options;
  const manifest = await openArchive(options);
  const seals = await storeSeals(options, manifest);
  const store = createStore({ client, clock });
  const id = archiveId(manifest);
  if (goOn) await requireUnfinished(store, id);
  await prepareTables(options);
  if (!goOn) await store.put(arrival, { id, begun_at: clock.now() }, { ifAbsent: true });
  await eachItem(options, manifest, { what: 'Writing', size: writeBatch }, (table, batch) =>
    persist(clock, () =>
      writeStoredBatch(
        options,
        table,
        batch.map(item => ({ PutRequest: { Item: seals.toStored(table, item) } })),
      ),
    ),
  );
  await eachItem(options, manifest, { what: 'Reading again', size: readBatch }, (table, batch) =>
    compareItems(options, table, batch),
  );
  await createTables(control, tables, { recovery });
  await options.onWritten?.();
  await finishArrival(store, id, clock.now());
  return { items: countItems(manifest), unopened: seals.unopened() };
}

/** Creates the tables, without streams: consumers would take old items for new ones. */
export async function prepareTables(
  options: Pick<ImportOptions, 'client' | 'control' | 'tables' | 'goOn' | 'whenFull' | 'expiry'>,
): Promise<void> {
  const { control, tables, expiry = true } = options;
  await createTables(control, tables.map(withoutStream), { expiry });
  await requireRoom(options);
  for (const { name } of tables) if (await hasStream(control, name)) await setStream(control, name, false);
}

/** Reads the manifest of an archive, and checks every file before any is used. */
export async function openArchive({ tables, folder }: Pick<ImportOptions, 'tables' | 'folder'>) {
  const manifest = await readManifest(folder);
  if (manifest.finished === undefined)
    throw new UsageError(`the export into ${folder} was interrupted: run it again to continue`);
  const names = new Set(tables.map(({ name }) => name));
  const foreign = Object.keys(manifest.tables).filter(name => !names.has(name));
  if (foreign.length > 0)
    throw new UsageError(`the archive has tables that this version does not know: ${foreign.join(', ')}`);
  for (const part of partsOf(manifest)) await checkPart(folder, part);
  return manifest;
}

/** Seals secrets with the keys of the store. */
export async function storeSeals(
  { passphrase, sealer }: Pick<ImportOptions, 'passphrase' | 'sealer'>,
  manifest: Manifest,
) {
  const archiveSealer = await openSeals(manifest, passphrase);
  let unopened = 0;
  return {
    unopened: () => unopened,
    toStored(table: AnyTable, item: Attributes): Attributes {
      if (!archiveSealer) return item;
      const sealed = resealItem(table, item, archiveSealer, sealer);
      unopened += sealed.unopened;
      return sealed.item;
    },
  };
}

export async function eachItem(
  { folder, tables, progress }: Pick<ImportOptions, 'folder' | 'tables' | 'progress'>,
  manifest: Manifest,
  { what, size }: { what: string; size: number },
  work: (table: AnyTable, batch: Attributes[]) => Promise<void>,
): Promise<void> {
  for (const table of tables) {
    let count = 0;
    await eachBatch(folder, manifest.tables[table.name]?.parts ?? [], size, async batch => {
      await work(table, batch);
      count += batch.length;
      progress?.(what, table.name, count);
    });
  }
}

const partsOf = ({ tables }: Manifest): Part[] => Object.values(tables).flatMap(({ parts }) => parts);

const withoutStream = (table: AnyTable): AnyTable => ({ ...table, stream: undefined });

// Existing items could be overwritten.
async function requireRoom({
  client,
  tables,
  goOn,
  whenFull = 'import into a store without data, or with --continue if an import into it was cut short',
}: Pick<ImportOptions, 'client' | 'tables' | 'goOn' | 'whenFull'>): Promise<void> {
  if (goOn) return;
  for (const { name } of tables) {
    const { Items = [] } = await client.scan({ TableName: name, Limit: 1, ConsistentRead: true });
    if (Items.length > 0) throw new UsageError(`the table ${name} is not empty: ${whenFull}`);
  }
}

export async function hasStream(control: ControlPlane, TableName: string): Promise<boolean> {
  const { Table } = (await control.execute('DescribeTable', { TableName })) as {
    Table: { StreamSpecification?: { StreamEnabled?: boolean } };
  };
  return Table.StreamSpecification?.StreamEnabled ?? false;
}

export async function setStream(control: ControlPlane, TableName: string, isOn: boolean): Promise<void> {
  await control.execute('UpdateTable', {
    TableName,
    StreamSpecification: { StreamEnabled: isOn, ...(isOn && { StreamViewType: 'NEW_AND_OLD_IMAGES' }) },
  });
}

// Several batches at a time, in bounded memory.
async function eachBatch(
  folder: string,
  parts: readonly Part[],
  size: number,
  work: (batch: Attributes[]) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: unknown;
  const begin = async (batch: Attributes[]) => {
    if (running.size >= atOnce) await Promise.race(running);
    if (failure !== undefined) throw failure;
    const one: Promise<void> = work(batch)
      .catch(error => {
        failure ??= error;
      })
      .finally(() => running.delete(one));
    running.add(one);
  };
  for (const part of parts) {
    let batch: Attributes[] = [];
    for await (const item of readPart(folder, part)) {
      batch.push(item);
      if (batch.length < size) continue;
      await begin(batch);
      batch = [];
    }
    if (batch.length > 0) await begin(batch);
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure;
}

// Retries while the store is busy.
export async function persist<T>(clock: Clock, attempt: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (n >= attempts)
        throw new UsageError(
          'the store does not keep up: run the command again later, an import with --continue',
        );
    }
    await clock.sleep(backoffMs(n, pause, Math.random));
  }
}

export function keyIn({ keys: { partition, sort } }: AnyTable, item: Attributes): Attributes {
  return { [partition]: item[partition], ...(sort !== undefined && { [sort]: item[sort] }) };
}

// Sealed values were sealed again, with another nonce each time. The time of the import differs between attempts.
const comparable = ({ [importedAt]: _, ...item }: Attributes): object =>
  tagItem(
    Object.fromEntries(
      Object.entries(item).map(([name, value]) => [
        name,
        typeof value === 'string' && looksSealed(value) ? 'sealed' : value,
      ]),
    ),
  );

export async function compareItems(
  { client, clock }: Pick<ImportOptions, 'client' | 'clock'>,
  table: AnyTable,
  items: readonly Attributes[],
): Promise<void> {
  const keys = items.map(item => keyIn(table, item));
  const found = await persist(clock, () => readStoredBatch({ client, clock }, table, keys));
  for (const [i, item] of items.entries()) {
    const stored = found[i];
    if (!stored && hasExpired(table, item, clock.now())) continue;
    if (!stored || !isDeepStrictEqual(comparable(stored), comparable(item)))
      throw new UsageError(`${table.name} ${Object.values(keys[i]!).join(' ')} is not as in the archive`);
  }
}
