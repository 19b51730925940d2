#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { StoreError } from '../storage/file.ts';
import { type LocalServer, startLocalServer } from './local-server.ts';
import { SeedError } from './seed.ts';

// The command of this package: npx @stak/engine

const help = `Usage: stak-dynamodb [options]

DynamoDB on this machine, for tests and development. Without --path its tables are in memory.

  --port <port>             Port to listen on; 0 picks a free one (default: 8000)
  --host <host>             Address to listen on (default: 127.0.0.1)
  --path <folder>           Keep the tables in this folder
  --seed <file>             Tables and items to begin with, as JSON; can be repeated
  --region <region>         The region in ARNs (default: us-east-1)
  --allow-origin <origin>   Let web pages of this origin call; can be repeated
  --until-stdin-ends        Stop when the standard input ends, so as not to outlive a parent
  --version                 Print the version
  --help                    Print this
`;

const readOptions = () =>
  parseArgs({
    options: {
      port: { type: 'string', default: '8000' },
      host: { type: 'string', default: '127.0.0.1' },
      path: { type: 'string' },
      seed: { type: 'string', multiple: true, default: [] },
      region: { type: 'string', default: 'us-east-1' },
      'allow-origin': { type: 'string', multiple: true, default: [] },
      'until-stdin-ends': { type: 'boolean', default: false },
      version: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values;

function fail(message: string): never {
  console.error(`stak-dynamodb: ${message}`);
  process.exit(1);
}

function options(): ReturnType<typeof readOptions> {
  try {
    return readOptions();
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${help}`);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port <= 65_535 ? port : fail(`--port ${text} is no port: 0 to 65535`);
}

async function start(): Promise<LocalServer> {
  const { host, path, seed, region, port, 'allow-origin': allowOrigins } = given;
  if (path?.trim() === '') fail('--path is empty');
  try {
    return await startLocalServer({
      host,
      port: readPort(port),
      seed,
      region,
      allowOrigins,
      ...(path !== undefined && { path }),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') return fail(`port ${port} of ${host} is taken: --port 0 picks a free one`);
    if (error instanceof SeedError || error instanceof StoreError || code !== undefined) return fail(message);
    throw error;
  }
}

const given = options();
if (given.help) {
  console.log(help);
} else if (given.version) {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  console.log((JSON.parse(manifest) as { version: string }).version);
} else {
  const server = await start();
  const stop = () => {
    // A second signal ends the process at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
    if (given['until-stdin-ends']) process.stdin.destroy();
    void server.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  if (given['until-stdin-ends']) process.stdin.on('end', stop).on('error', stop).resume();
  const where = given.path === undefined ? 'in memory' : `in ${given.path}`;
  // Programs that start this read the first line.
  console.log(`DynamoDB ${where} at ${server.url}`);
  console.log(`Tables: ${server.url}/tables`);
  if (!/^(127\.|::1$|localhost$)/.test(given.host))
    console.error('stak-dynamodb: signatures are not checked; anyone who reaches this port owns the data');
}
