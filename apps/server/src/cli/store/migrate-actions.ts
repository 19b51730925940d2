import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock as clock, createIds } from '@stak/kit';
import { consumerState } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { loadEnvFile, readDataFolder, readStoreConfig } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readDurationMs, readText } from '../../config/flags.ts';
import { findServer } from '../../process/server-file.ts';
import {
  arrival,
  finishArrival,
  ignoreMissing,
  readArrival,
  requireArrived,
} from '../../store/archive/arrival.ts';
import { writeWhole } from '../../store/archive/format.ts';
import { hasStream, prepareTables, setStream } from '../../store/archive/import.ts';
import { type MigrationState, openMigration } from '../../store/archive/migrate.ts';
import { askServers, describeTarget, type Move, readMove, storeOf } from '../../store/archive/move.ts';
import { longestPauseMs, switchOver } from '../../store/archive/switch-over.ts';
import { type Database, openDatabase } from '../../store/database.ts';
import { designs } from '../../store/designs.ts';
import { isServed, servingProcess } from '../../store/presence.ts';
import { visitDatabase } from '../../store/visit.ts';
import { positions, showCount } from './archive-actions.ts';

export type MigrateFlags = {
  path?: unknown;
  to?: unknown;
  region?: unknown;
  endpoint?: unknown;
  prefix?: unknown;
  switch?: unknown;
  abandon?: unknown;
  pause?: unknown;
};

type Target = Omit<Move, 'id'>;
type MigrationFile = { version: 1; to: Target; state: MigrationState };
type Embedded = Database & Required<Pick<Database, 'embedded' | 'peers'>>;

const claimMs = 7 * 24 * 60 * 60_000; // or until this process ends, which the store notices
const answerMs = 30_000; // of a running server, on a slow machine
const saidMs = 3_000; // then it is said that an answer is awaited
const unknownMs = 1_000; // if none has reported that it runs
const thereMs = 60_000; // for the server to continue on the other store
const lookMs = 250;

// Specific to one store.
const without = [...positions, ...consumerState, servingProcess, arrival];

/** Copies the store of a running server, follows its changes, and switches the server over. */
export async function migrate(flags: MigrateFlags): Promise<void> {
  const env = loadEnvFile();
  const pause = readPause(flags.pause);
  const folder = resolve(readDataFolder({ path: flags.path }, env));
  const source = readStoreConfig({ path: folder }, env);
  const work = async (database: Database): Promise<void> => {
    const from = requireEmbedded(database);
    if (flags.abandon === true) return abandon(from, folder);
    const target = readTarget(flags, env);
    const move = readMove(from.embedded);
    if (move) return sayMoved(move);
    if (!(await from.embedded.claim('migrate', claimMs)))
      throw new UsageError('another stak migrate is running on this store');
    await requireArrived(createStore({ client: from.client }));
    await migrateTo(from, folder, target, { isSwitching: flags.switch !== false, ...pause });
  };
  const missing = 'there are no tables here: no server has ever run';
  await visitDatabase(source, missing, work, { mayHaveMoved: true });
}

async function migrateTo(from: Embedded, folder: string, target: Target, how: Switching): Promise<void> {
  const file = readFile(folder) ?? newFile(target);
  if (JSON.stringify(file.to) !== JSON.stringify(target))
    throw new UsageError(
      `a migration to ${describeTarget(file.to)} was started here: continue it, or give it up with stak migrate --abandon`,
    );
  const save = (state: MigrationState) => writeWhole(fileIn(folder), JSON.stringify({ ...file, state }));
  await save(file.state);
  const to = await openDatabase(storeOf(target));
  try {
    await copyAndSwitch({ from, to, file, save, folder, ...how });
  } finally {
    await to.close();
  }
}

type Switching = { isSwitching: boolean; pauseMs?: number };

type MigrationContext = Switching & {
  from: Embedded;
  to: Database;
  file: MigrationFile;
  save(state: MigrationState): Promise<void>;
  folder: string;
};

async function copyAndSwitch({
  from,
  to,
  file,
  save,
  folder,
  isSwitching,
  pauseMs,
}: MigrationContext): Promise<void> {
  const { state } = file;
  const move: Move = { id: state.id, ...file.to };
  await prepareTarget(to, state.id);
  await askAll(from, move, folder);
  const migration = await openMigration({
    from,
    to,
    tables: designs,
    without,
    state,
    save,
    clock,
    recovery: file.to.endpoint === undefined,
    progress: showCount(),
  });
  await migration.copy();
  await migration.follow();
  const counts = await migration.compare();
  clearLine();
  for (const [table, items] of Object.entries(counts)) console.log(`${table}: ${items} items`);
  if (!isSwitching)
    return console.log('Everything is copied and compared. Run it again without --no-switch, within a day.');
  await migration.enableStreams();
  const { count } = await askAll(from, move, folder);
  const pausedMs = await switchOver({
    migration,
    from,
    to,
    tables: designs,
    move,
    isServed: count > 0,
    ...(pauseMs !== undefined && { pauseMs }),
    clock,
    say: console.log,
  });
  await finishTarget(to, move);
  console.log(
    `Moved to ${describeTarget(move)}. Writes were paused for ${(pausedMs / 1000).toFixed(1)} s, and until the server continues there.`,
  );
  if (count > 0) await untilServed(createStore({ client: to.client }));
}

// Refuses a store that is not empty, unless this migration has filled it.
async function prepareTarget(to: Database, id: string): Promise<void> {
  const { client, control } = to;
  const store = createStore({ client });
  const found = await readArrival(store).catch(ignoreMissing);
  if (found?.id === id) return;
  const whenFull = 'stak migrate never overwrites; delete the tables there, or choose others with --prefix';
  if (found) throw new UsageError(`another migration or an import has written to these tables: ${whenFull}`);
  // Nothing expires there before it is served: the effects of an expiry would be lost.
  await prepareTables({ client, control, tables: designs, whenFull, expiry: false });
  await store.put(arrival, { id, begun_at: clock.now() }, { ifAbsent: true });
}

async function askAll({ peers }: Embedded, move: Move, folder: string) {
  const url = findServer(folder);
  const firstMs = url === undefined ? unknownMs : answerMs;
  const stopWaiting = clock.after(saidMs, () => console.log(`Waiting for the server at ${url} to answer…`));
  const answers = await askServers(peers, move, { clock, firstMs }).finally(stopWaiting);
  const [failure] = answers.failures;
  if (failure !== undefined)
    throw new UsageError(
      `the server does not reach ${describeTarget(move)}, where it is to continue: ${failure}. Start it with credentials for it, then run this again`,
    );
  if (answers.count === 0 && url !== undefined)
    throw new UsageError(
      `the server at ${url} runs, but did not answer within ${answerMs / 1000} s whether it reaches ${describeTarget(move)}. It may be busy, see ${url}/readyz, or of a version without stak migrate. Nothing was switched: run this again, or restart the server first`,
    );
  return answers;
}

async function untilServed(store: ReturnType<typeof createStore>): Promise<void> {
  const lastMs = clock.now() + thereMs;
  while (!(await isServed(store, clock.now()))) {
    if (clock.now() > lastMs)
      throw new UsageError('the server does not continue there yet: look at its log, and restart it');
    await clock.sleep(lookMs);
  }
  console.log('The server continues there.');
}

// A server does the same when it continues there; on AWS it may lack the permission.
async function finishTarget({ client, control }: Database, move: Move): Promise<void> {
  await finishArrival(createStore({ client }), move.id, clock.now());
  await createTables(control, designs, { recovery: move.endpoint === undefined });
}

async function sayMoved(move: Move): Promise<void> {
  const to = await openDatabase(storeOf(move));
  try {
    await finishTarget(to, move);
  } finally {
    await to.close();
  }
  console.log(`This store has moved to ${describeTarget(move)}.`);
}

async function abandon(from: Embedded, folder: string): Promise<void> {
  const move = readMove(from.embedded);
  if (move) throw new UsageError(`this store has moved to ${describeTarget(move)} already`);
  const file = readFile(folder);
  if (!file) throw new UsageError('no migration was started here');
  for (const table of file.state.extraStreams)
    if (await hasStream(from.control, table)) await setStream(from.control, table, false);
  await rm(fileIn(folder));
  console.log(`Given up. What was copied is still in ${describeTarget(file.to)}.`);
}

function requireEmbedded(database: Database): Embedded {
  const { embedded, peers } = database;
  if (!embedded || !peers) throw new UsageError('stak migrate needs the folder of an embedded store');
  return { ...database, embedded, peers };
}

function readPause(value: unknown): { pauseMs?: number } {
  if (value === undefined) return {};
  const pauseMs = readDurationMs('--pause', value);
  if (pauseMs > longestPauseMs) throw new UsageError(`--pause takes at most ${longestPauseMs / 60_000}m`);
  return { pauseMs };
}

function readTarget(flags: MigrateFlags, env: NodeJS.ProcessEnv): Target {
  if (readText('--to', flags.to) !== 'aws')
    throw new UsageError('--to takes aws: DynamoDB, or what speaks its protocol');
  const region = flags.region ?? (env.STAK_AWS_REGION || undefined);
  const endpoint = flags.endpoint ?? (env.STAK_AWS_ENDPOINT || undefined);
  const config = readStoreConfig({ region, endpoint, prefix: flags.prefix }, env);
  if (config.kind !== 'aws')
    throw new UsageError('--region or --endpoint is required: where to move the store');
  return {
    region: config.region,
    ...(config.endpoint !== undefined && { endpoint: config.endpoint }),
    ...(config.prefix !== undefined && { prefix: config.prefix }),
  };
}

// ---- the progress of a migration, in the folder of the old store

const fileIn = (folder: string): string => join(folder, 'migration.json');

function readFile(folder: string): MigrationFile | undefined {
  if (!existsSync(fileIn(folder))) return undefined;
  return JSON.parse(readFileSync(fileIn(folder), 'utf8')) as MigrationFile;
}

const newFile = (to: Target): MigrationFile => ({
  version: 1,
  to,
  state: { id: createIds({ clock }).next('mig'), tables: {}, extraStreams: [], followedMs: clock.now() },
});

const clearLine = () => {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
};
