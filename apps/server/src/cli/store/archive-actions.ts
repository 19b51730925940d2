import { resolve } from 'node:path';
import { requestRecount, storageMark } from '@stak/accounts';
import { createSealer, type Sealer, systemClock } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { countCheckpoint } from '@stak/webhooks';
import { loadEnvFile, type StoreFlags } from '../../config/config.ts';
import { FlagError, UsageError } from '../../config/errors.ts';
import { readOptionalList, readText } from '../../config/flags.ts';
import { readSecretKeys } from '../../config/secrets.ts';
import { accountTables, openAccounts } from '../../store/archive/account.ts';
import { requireArrived } from '../../store/archive/arrival.ts';
import { type ArchiveConfig, readArchiveConfig } from '../../store/archive/config.ts';
import { leastPassphrase } from '../../store/archive/download.ts';
import { exportArchive } from '../../store/archive/export.ts';
import { isSealedBy, readManifest } from '../../store/archive/format.ts';
import { type Imported, importArchive } from '../../store/archive/import.ts';
import { type AccountImport, importAccounts } from '../../store/archive/import-account.ts';
import { type Keep, keepNames } from '../../store/archive/keep.ts';
import { nameQuietState, nameStore } from '../../store/archive/quiet.ts';
import { type Database, openDatabase } from '../../store/database.ts';
import { designs } from '../../store/designs.ts';
import { countedTables } from '../../store/storage.ts';
import { visitDatabase } from '../../store/visit.ts';
import { printJson } from '../print.ts';
import { ask } from '../prompt.ts';

type Flags = StoreFlags & { asStored?: unknown; json?: unknown };
export type ExportFlags = Flags & { to?: unknown; live?: unknown; account?: unknown };
export type ImportFlags = Flags & {
  from?: unknown;
  continue?: unknown;
  unverified?: unknown;
  server?: unknown;
  keep?: unknown;
};

// The progress of stream consumers is specific to this store.
const moved = designs.filter(({ name }) => name !== streamsTable.name);
export const positions = [storageMark, countCheckpoint];

export async function exportTo(flags: ExportFlags): Promise<void> {
  const folder = resolve(readText('--to', flags.to));
  const { passphrase, ...config } = await readConfig(flags);
  await visitDatabase(config.store, 'there are no tables here: no server has ever run', async database => {
    const { client, source } = database;
    const store = createStore({ client });
    const begunAt = source.newest?.();
    await requireArrived(store);
    const sealer = await readSealer(config, passphrase !== undefined);
    const ids = readOptionalList('--account', flags.account);
    const accounts = ids && (await openAccounts(store, ids));
    const show = showCount();
    const done = await exportArchive({
      client,
      tables: accounts ? accountTables : moved,
      without: positions,
      ...(accounts && { accounts }),
      source: async () => ({
        store: await nameStore(database, moved),
        ...(flags.live !== true && { state: await nameQuietState(database) }),
      }),
      hasChanged: () => flags.live !== true && source.newest?.() !== begunAt,
      folder,
      now: systemClock.now,
      ...(sealer && { sealer }),
      ...(passphrase !== undefined && { passphrase }),
      progress: (table, items) => show('Reading', table, items),
    });
    report(flags, done, `exported to ${folder}`);
    if (done.unopened > 0) process.exitCode = 1; // they cannot be opened in the other store
    if (accounts && accounts.people.length > 0)
      console.error(
        `stak: members with an account of their own, which is not in it: ${accounts.people.join(', ')}`,
      );
  });
}

// An archive whose secrets stay as they are stored can be written without the keys; then it has no seal.
async function readSealer(config: ArchiveConfig, isNeeded: boolean): Promise<Sealer | undefined> {
  try {
    return createSealer({ keys: await readSecretKeys(config, { isSecondary: true }) });
  } catch (error) {
    if (isNeeded || !(error instanceof UsageError)) throw error;
    return undefined;
  }
}

export async function importFrom(flags: ImportFlags): Promise<void> {
  const folder = resolve(readText('--from', flags.from));
  const keep = readKeep(flags.keep);
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
    const manifest = await readManifest(folder);
    const { accounts } = manifest;
    const isVerified = isSealedBy(manifest, sealer);
    if (!isVerified && flags.unverified !== true)
      throw new UsageError(
        'the archive has no seal of this server: a server with other STAK_SECRET_KEYS made it, or it was changed since. If you know where it comes from, import it with --unverified',
      );
    // Without accounts in its manifest, an archive of a customer would be taken unchecked.
    if (!isVerified && !accounts && flags.server !== true)
      throw new UsageError(
        'the archive names no account: everything in it would be taken as it is, plans, roles and the keys that sign tokens included. If it is of a whole server, and you exported it yourself, import it with --unverified --server',
      );
    const recovery = config.store.kind === 'aws';
    const store = createStore({ client });
    const onWritten = async () => {
      for (const { name } of countedTables) await requestRecount(store, systemClock.now(), name);
    };
    const done = accounts
      ? await importIntoServer(database, { ...options, onWritten, isVerified, keep })
      : await importArchive({ ...options, control, tables: designs, recovery, onWritten });
    await database.settled();
    report(flags, done, 'imported, and read again');
  } finally {
    await database.close();
  }
}

async function importIntoServer(
  { client, control }: Database,
  options: AccountImport & Required<Pick<AccountImport, 'onWritten'>>,
): Promise<Imported> {
  await requireArrived(createStore({ client }));
  await createTables(control, designs);
  const { people, leftOut, ...done } = await importAccounts(options);
  await options.onWritten();
  if (leftOut.size > 0)
    console.error(
      `stak: left out: ${[...leftOut].map(([name, count]) => `${name} (${count})`).join(', ')}. What only a server grants is kept with --keep ${keepNames.join(',')}`,
    );
  if (people.length > 0)
    console.error(`stak: members without an account here, who cannot sign in: ${people.join(', ')}`);
  return done;
}

function readKeep(value: unknown): ReadonlySet<Keep> {
  const given = readOptionalList('--keep', value) ?? [];
  const unknown = given.find(name => !keepNames.some(keepName => keepName === name));
  if (unknown !== undefined) throw new FlagError(`--keep takes ${keepNames.join(', ')}, not ${unknown}`);
  return new Set(keepNames.filter(name => given.includes(name)));
}

async function readConfig(flags: Flags): Promise<ArchiveConfig> {
  const { passphrase: set, ...config } = readArchiveConfig(flags, loadEnvFile());
  if (flags.asStored === true) return config;
  const passphrase = set ?? (await ask('Passphrase of the archive: ', { isSecret: true }));
  if (passphrase.length < leastPassphrase)
    throw new UsageError(`the passphrase needs at least ${leastPassphrase} characters`);
  return { ...config, passphrase };
}

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
