import { resolve } from 'node:path';
import type { Engine, EngineOptions } from '@stak/engine';
import { loadEnvFile, readBackupTarget, readDynamoConfig } from '../../config/config.ts';
import { readText } from '../../config/flags.ts';
import { isLoopback } from '../../config/loopback.ts';
import { copySecretKey, refuseOtherKey } from '../../config/secrets.ts';
import { readDemo, removeDemo, saveDemo } from '../../http/demo-file.ts';
import { untilStopped } from '../../process/signals.ts';
import { openBuckets } from '../../store/buckets.ts';
import type { FlagsOf } from '../action.ts';
import { note } from '../print.ts';
import type { options } from './dynamodb.ts';

type Flags = FlagsOf<typeof options>;

// Responses that nobody reads: 64 of the largest, 16 MB each. A client that parses one does not read the next meanwhile.
const unreadBytes = 1024 * 1024 * 1024;

export const actions = {
  serve,
  check: (flags: Flags) => (flags.repair === true ? repair(flags) : withEngine(flags, check)),
  stats: (flags: Flags) => withEngine(flags, stats),
  backup,
};

async function serve(flags: Flags): Promise<void> {
  process.umask(0o077);
  const { host, port, path, allowOrigins } = readDynamoConfig(flags);
  const bucketsPath = flags.buckets === undefined ? undefined : readText('--buckets', flags.buckets);
  const buckets = openBuckets(bucketsPath, loadEnvFile());
  const engine = await open(path, true, buckets);
  try {
    const { createHttpServer } = await import('@stak/engine');
    const { createReaderWatch } = await import('@stak/http');
    const { createLogger, systemClock } = await import('@stak/kit');
    const log = createLogger();
    const { add: onConnection } = createReaderWatch({
      clock: systemClock,
      log,
      mostBytes: unreadBytes,
      mostBytesOfOne: unreadBytes, // local clients all have the same address
    });
    const server = createHttpServer(engine, {
      ...{ host, port, allowOrigins, log, onConnection },
      showTables: isLoopback(host),
    });
    const { url } = await server.listen();
    const where = path === ':memory:' ? 'in memory' : `in ${path}`;
    console.log(
      `DynamoDB ${where} at ${url}  (try: aws dynamodb list-tables --endpoint-url ${url} --region us-east-1)`,
    );
    if (!isLoopback(host))
      console.error('stak: signatures are not checked; anyone who reaches this port owns the data');
    await untilStopped();
    await server.close();
  } finally {
    await engine.close();
  }
}

async function check(engine: Engine): Promise<void> {
  note('Reading everything…');
  const report = await engine.check();
  console.log(JSON.stringify(report, null, 2));
  if (report.problemCount > 0) process.exitCode = 1;
}

// From the history in the folder, and from the backup if there is one.
async function repair(flags: Flags): Promise<void> {
  const path = resolve(readDynamoConfig(flags).path);
  const { rebuildStore } = await import('@stak/engine');
  const rebuild = async () => {
    note('Pages of the file are damaged: making it again from the history and the journal…');
    const { damagedFile } = await rebuildStore(path);
    note(`The damaged file is kept as ${damagedFile}`);
  };
  let engine = await openDamaged(path);
  if (!engine || engine.check().problems.some(({ kind }) => kind === 'page')) {
    await engine?.close();
    await rebuild();
    engine = await open(path, false);
  }
  try {
    const { repaired, report } = await engine.repair();
    console.log(JSON.stringify({ repaired, ...report }, null, 2));
    if (report.problemCount > 0) process.exitCode = 1;
  } finally {
    await engine.close();
  }
}

// Undefined if the file is too damaged to be opened.
async function openDamaged(path: string): Promise<Engine | undefined> {
  const { StoreDamage } = await import('@stak/engine');
  try {
    return await open(path, false);
  } catch (error) {
    if (error instanceof StoreDamage) return undefined;
    throw error;
  }
}

async function stats(engine: Engine): Promise<void> {
  console.log(JSON.stringify(await engine.stats(), null, 2));
}

async function backup(flags: Flags): Promise<void> {
  const to = readText('--to', flags.to);
  const { path } = readDynamoConfig(flags);
  await refuseOtherKey(path, to);
  // Read before the tables are copied, so that it matches them.
  const demo = await readDemo(path);
  note(`Copying to ${to}…`);
  await withEngine(flags, engine => engine.backup(resolve(to)));
  const hasKey = await copySecretKey(path, to);
  await (demo ? saveDemo(to, demo) : removeDemo(to));
  console.log(`Backed up to ${to}${hasKey ? ', with the secret-key that opens what is sealed in it' : ''}`);
}

async function withEngine(flags: Flags, work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await open(readDynamoConfig(flags).path, false);
  try {
    await work(engine);
  } finally {
    await engine.close();
  }
}

async function backupOf() {
  const { STAK_BACKUP: backup } = loadEnvFile();
  if (!backup || backup === 'off') return undefined;
  const { historyOfBackup } = await import('../../store/backup/older-history.ts');
  return historyOfBackup(readBackupTarget({}));
}

// A command that only reads does not create a store in a mistyped folder.
async function open(path: string, create: boolean, buckets?: EngineOptions['buckets']): Promise<Engine> {
  // Loaded late, so that usage errors are reported without waiting for the engine.
  const { createEngine } = await import('@stak/engine');
  const older = await backupOf();
  return createEngine({
    path: path === ':memory:' ? path : resolve(path),
    create,
    ...(buckets !== undefined && { buckets }),
    ...(older && { history: { older } }),
  });
}
