import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createEngine, createHttpServer, type Engine } from '@stak/engine';
import { createLogger } from '@stak/kit';
import type { CAC } from 'cac';
import { readDynamoConfig, readText } from '../config.ts';
import { UsageError } from '../errors.ts';
import { untilStopped } from '../signals.ts';

type Flags = { host?: unknown; port?: unknown; path?: unknown; memory?: unknown; to?: unknown };

const actions = { serve, check, stats, backup };

export function registerDynamoDb(cli: CAC): void {
  cli
    .command('dynamodb [action]', 'Serve DynamoDB from a folder; or check, stats, backup')
    .option('--path <folder>', 'Where the tables are kept (default: ./data)')
    .option('--memory', 'Keep the tables in memory and forget them at the end')
    .option('--port <port>', 'Port to listen on; 0 picks a free one (default: 8000)')
    .option('--host <host>', 'Address to listen on (default: 127.0.0.1)')
    .option('--to <folder>', 'Where backup writes its copy')
    .example('stak dynamodb --port 8000 --path ./data')
    .example('stak dynamodb check --path ./data')
    .example('stak dynamodb stats --path ./data')
    .example('stak dynamodb backup --path ./data --to ./backup')
    .action(async (action: string | undefined, flags: Flags) => {
      const name = action ?? 'serve';
      if (!Object.hasOwn(actions, name))
        throw new UsageError(`stak dynamodb knows check, stats and backup, not ${JSON.stringify(action)}`);
      await actions[name as keyof typeof actions](flags);
    });
}

async function serve(flags: Flags): Promise<void> {
  const { host, port, path } = readDynamoConfig(flags);
  const stopped = untilStopped();
  const engine = await open(path, true);
  try {
    const server = createHttpServer(engine, { host, port, log: createLogger() });
    const { url } = await server.listen();
    const place = path === ':memory:' ? 'in memory' : `in ${path}`;
    console.log(
      `DynamoDB ${place} at ${url}  (try: aws dynamodb list-tables --endpoint-url ${url} --region us-east-1)`,
    );
    await stopped;
    await server.close();
  } finally {
    await engine.close();
  }
}

async function check(flags: Flags): Promise<void> {
  await withEngine(flags, async engine => {
    const report = await engine.check();
    console.log(JSON.stringify(report, null, 2));
    if (report.problems.length > 0) process.exitCode = 1;
  });
}

async function stats(flags: Flags): Promise<void> {
  await withEngine(flags, async engine => console.log(JSON.stringify(await engine.stats(), null, 2)));
}

async function backup(flags: Flags): Promise<void> {
  const target = readText('--to', flags.to);
  await withEngine(flags, async engine => {
    await engine.backup(resolve(target));
    console.log(`Backed up to ${target}`);
  });
}

async function withEngine(flags: Flags, work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await open(readDynamoConfig(flags).path, false);
  try {
    await work(engine);
  } finally {
    await engine.close();
  }
}

// The folder is looked at before LMDB is, because LMDB reports every trouble with it as a bare error code.
async function open(path: string, create: boolean): Promise<Engine> {
  if (path === ':memory:') return createEngine({ path });
  const folder = resolve(path);
  if (create) await mkdir(folder, { recursive: true });
  if (!(await stat(folder)).isDirectory()) throw new UsageError(`not a folder: ${path}`);
  await access(folder, constants.R_OK | constants.W_OK);
  return createEngine({ path: folder });
}
