import { resolve } from 'node:path';
import type { Engine } from '@stak/engine';
import { readDynamoConfig } from '../../config/config.ts';
import { readText } from '../../config/flags.ts';
import { isLoopback } from '../../config/loopback.ts';
import { copySecretKey, refuseOtherKey } from '../../config/secrets.ts';
import { readDemo, removeDemo, saveDemo } from '../../http/demo-file.ts';
import { untilStopped } from '../../process/signals.ts';
import type { FlagsOf } from '../action.ts';
import { note } from '../print.ts';
import type { options } from './dynamodb.ts';

type Flags = FlagsOf<typeof options>;

// Responses that nobody reads: 64 of the largest, 16 MB each. A client that parses one does not read the next meanwhile.
const unreadBytes = 1024 * 1024 * 1024;

export const actions = {
  serve,
  check: (flags: Flags) => withEngine(flags, check),
  stats: (flags: Flags) => withEngine(flags, stats),
  backup,
};

async function serve(flags: Flags): Promise<void> {
  process.umask(0o077);
  const { host, port, path, allowOrigins } = readDynamoConfig(flags);
  const engine = await open(path, true);
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
    const server = createHttpServer(engine, { host, port, allowOrigins, log, onConnection });
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

// A command that only reads does not create a store in a mistyped folder.
async function open(path: string, create: boolean): Promise<Engine> {
  // Loaded late, so that usage errors are reported without waiting for the engine.
  const { createEngine } = await import('@stak/engine');
  return createEngine({ path: path === ':memory:' ? path : resolve(path), create });
}
