import { resolve } from 'node:path';
import { requestRecount, storageMark } from '@stak/accounts';
import { createSealer, systemClock } from '@stak/kit';
import { listConsumers, readStatus, streamsTable } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { countCheckpoint } from '@stak/webhooks';
import { accountTables, openAccounts } from '../archive/account.ts';
import { type ArchiveConfig, readArchiveConfig } from '../archive/config.ts';
import { leastPassphrase } from '../archive/download.ts';
import { exportArchive } from '../archive/export.ts';
import { readManifest } from '../archive/format.ts';
import { type Imported, importArchive } from '../archive/import.ts';
import { type AccountImport, importAccounts } from '../archive/import-account.ts';
import { loadEnvFile, type StoreFlags } from '../config.ts';
import { type Database, openDatabase } from '../database.ts';
import { designs } from '../designs.ts';
import { UsageError } from '../errors.ts';
import { printJson } from '../print.ts';
import { ask } from '../prompt.ts';
import { readSecretKeys } from '../secrets.ts';
import { countedTables } from '../storage.ts';
import { visitDatabase } from '../visit.ts';
import { readOptionalList, readText } from './flags.ts';

type Flags = StoreFlags & { asStored?: unknown; json?: unknown };
export type ExportFlags = Flags & { to?: unknown; live?: unknown; account?: unknown };
export type ImportFlags = Flags & { from?: unknown; continue?: unknown };

// How far consumers of streams have read is of this store alone.
const moved = designs.filter(({ name }) => name !== streamsTable.name);
export const positions = [storageMark, countCheckpoint];

export async function exportTo(flags: ExportFlags): Promise<void> {
  const folder = resolve(readText('--to', flags.to));
  const { passphrase, ...config } = await readConfig(flags);
  const sealer = createSealer({ keys: await readSecretKeys(config) });
  await visitDatabase(config.store, 'there are no tables here: no server has ever run', async database => {
    if (flags.live !== true) await requireQuiet(database);
    const { now } = systemClock;
    const { client } = database;
    const ids = readOptionalList('--account', flags.account);
    const accounts = ids && (await openAccounts(createStore({ client }), ids));
    const show = showCount();
    const done = await exportArchive({
      client,
      tables: accounts ? accountTables : moved,
      without: positions,
      ...(accounts && { accounts }),
      folder,
      sealer,
      now,
      ...(passphrase !== undefined && { passphrase }),
      progress: (table, items) => show('Reading', table, items),
    });
    report(flags, done, `exported to ${folder}`);
    if (accounts && accounts.people.length > 0)
      console.error(
        `stak: members with an account of their own, which is not in it: ${accounts.people.join(', ')}`,
      );
  });
}

export async function importFrom(flags: ImportFlags): Promise<void> {
  const folder = resolve(readText('--from', flags.from));
  const { passphrase, ...config } = await readConfig(flags);
  const database = await openDatabase(config.store);
  try {
    const sealer = createSealer({ keys: await readSecretKeys(config) });
    const { client, control } = database;
    const options = {
      client,
      folder,
      sealer,
      clock: systemClock,
      goOn: flags.continue === true,
      ...(passphrase !== undefined && { passphrase }),
      progress: showCount(),
    };
    const { accounts } = await readManifest(folder);
    const recovery = config.store.kind === 'aws';
    const done = accounts
      ? await importIntoServer(database, options)
      : await importArchive({ ...options, control, tables: designs, recovery });
    const written = createStore({ client });
    for (const { name } of countedTables) await requestRecount(written, systemClock.now(), name);
    await database.settled();
    report(flags, done, 'imported, and read again');
  } finally {
    await database.close();
  }
}

async function importIntoServer({ control }: Database, options: AccountImport): Promise<Imported> {
  await createTables(control, designs);
  const { people, ...done } = await importAccounts(options);
  if (people.length > 0)
    console.error(`stak: members without an account here, who cannot sign in: ${people.join(', ')}`);
  return done;
}

async function readConfig(flags: Flags): Promise<ArchiveConfig> {
  const { passphrase: set, ...config } = readArchiveConfig(flags, loadEnvFile());
  if (flags.asStored === true) return config;
  const passphrase = set ?? (await ask('Passphrase of the archive: ', { isSecret: true }));
  if (passphrase.length < leastPassphrase)
    throw new UsageError(`the passphrase needs at least ${leastPassphrase} characters`);
  return { ...config, passphrase };
}

// What a server writes while it is read would be missing in part; and what a consumer has not seen yet, nobody would
// ever see.
async function requireQuiet({ client, source }: Database): Promise<void> {
  const store = createStore({ client });
  for (const name of await listConsumers(store)) {
    if (isCountedAgain(name)) continue;
    const { members, shards, deadLetters } = await readStatus({ store, source, clock: systemClock }, name);
    if (members > 0)
      throw new UsageError('a server is running on this store: stop it first, or export with --live');
    const behind = shards.reduce((sum, shard) => sum + (shard.behind?.records ?? 0), 0);
    if (behind > 0)
      throw new UsageError(
        `${name} has not seen the last ${behind} changes: start the server, wait until stak streams status says that all are up to date, and stop it`,
      );
    if (deadLetters > 0)
      throw new UsageError(
        `${name} has ${deadLetters} dead letters, which stay behind: see stak streams letters ${name}, or export with --live`,
      );
  }
}

// What is stored is counted again after an import, and a lake begins with what is in the tables.
const isCountedAgain = (consumer: string): boolean => /^(?:storage|lake)-/.test(consumer);

export function showCount(): (what: string, table: string, items: number) => void {
  const output = process.stderr;
  if (!output.isTTY) return () => {};
  return (what, table, items) => output.write(`\r\x1b[K${what} ${table}: ${items}`);
}

function report(flags: Flags, { items, unopened }: { items: number; unopened: number }, what: string): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  if (flags.json === true) printJson({ items, unopened });
  else console.log(`${items} items ${what}`);
  if (unopened > 0)
    console.error(`stak: ${unopened} secrets did not open under STAK_SECRET_KEYS, and are as they were`);
}
