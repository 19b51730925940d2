import cluster from 'node:cluster';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import v8 from 'node:v8';
import type { CAC } from 'cac';
import { localUrlOf, urlOf } from '../../config/address.ts';
import type { ServerConfig, ServerFlags } from '../../config/config.ts';
import { explain } from '../../config/errors.ts';
import type { RunningServer, ServerOptions } from '../../process/server.ts';
import { endAtOnce, endAtOnceOnCrash, untilStopped } from '../../process/signals.ts';
import { alone, joinSupervisor, leaveSupervisor, type Supervised } from '../../process/supervised.ts';

export function registerStart(cli: CAC): void {
  cli
    .command('start', 'Run the server, with the console and a demo workspace')
    .option('--path <folder>', 'The data folder (default: ./data)')
    .option('--memory', 'Keep everything in memory only')
    .option('--port <port>', 'Port to listen on; 0 picks a free one (default: 8787)')
    .option('--host <host>', 'Address to listen on (default: 127.0.0.1)')
    .option('--workers <count>', 'The number of serving processes (default: one per core but one, at most 8)')
    .option('--no-demo', 'Do not create a demo workspace')
    .example('stak start')
    .example('stak start --memory --port 0')
    .action(start);
}

// cac sets `demo: true` by default, which is not the same as `--demo`.
async function start(flags: ServerFlags): Promise<void> {
  process.umask(0o077); // for all files that it writes, and all processes that it starts
  const { loadEnvFile, readServerConfig } = await import('../../config/config.ts');
  loadEnvFile();
  const config = readServerConfig({ ...flags, demo: flags.demo === false ? false : undefined });
  if (config.workers === 1) return serve(config, alone(sayAddress));
  if (cluster.isPrimary) return superviseWorkers(config);
  try {
    const joined = joinSupervisor();
    // Loads the slowest modules while the first worker prepares the store. If that fails, `serve` fails too.
    import('../../process/server.ts').catch(() => {});
    const supervised = await joined;
    if (supervised) await serve(config, supervised);
  } finally {
    leaveSupervisor();
  }
}

async function superviseWorkers(config: ServerConfig): Promise<void> {
  const { workers, host, port, drainSeconds, logLevel } = config;
  const { supervise } = await import('../../process/supervisor.ts');
  const { recordServer } = await import('../../process/server-file.ts');
  const servingPort = port === 0 ? await findPort(host) : port;
  let forget: (() => void) | undefined;
  const folder = folderOf(config);
  let store: number | undefined; // its file
  process.exitCode = await supervise({
    workers,
    port: servingPort,
    stopMs: (drainSeconds + stopSeconds) * 1000,
    // The same format as the workers' lines, without their logger.
    log: (level, fields, msg) => {
      if (logLevel !== 'silent')
        console.log(JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg }));
    },
    stopped: untilStopped(),
    isStoreThere: () => store === undefined || fileOf(folder) === store,
    onServing: url => {
      if (folder !== undefined) forget = recordServer(folder, localUrlOf(host, servingPort));
      store = fileOf(folder);
      sayAddress(url);
    },
  });
  forget?.();
}

// Identifies the store file of a folder by its inode.
const fileOf = (folder: string | undefined): number | undefined =>
  folder === undefined ? undefined : statSync(join(folder, 'stak.mdb'), { throwIfNoEntry: false })?.ino;

// A store in memory or on AWS has none.
const folderOf = ({ store }: ServerConfig): string | undefined =>
  store.kind === 'embedded' && store.path !== ':memory:' ? store.path : undefined;

async function findPort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

const stopSeconds = 30; // requests in flight, workers, the store: each has its own shorter time

async function serve(given: ServerConfig, supervised: Supervised): Promise<void> {
  endAtOnceOnCrash();
  // V8 collects the whole heap whenever it has grown by this share. Without the flag that is about a third: every five
  // seconds at 200 events a second, and each time requests wait for 20 to 50 ms. It also begins earlier by the size of its
  // space for new objects, which is why that one keeps its default.
  v8.setFlagsFromString('--heap-growing-percent=150');
  const config = { ...given, port: supervised.port ?? given.port };
  // Loaded late, so that configuration errors are reported at once.
  const { startServer } = await import('../../process/server.ts');
  const { releaseMemoryWhenIdle } = await import('@stak/kit');
  const { recordServer } = await import('../../process/server-file.ts');
  const stopTracing =
    config.tracing && (await (await import('../../config/tracing.ts')).startTracing(config.tracing));
  const folder = folderOf(config);
  const options = await serverOptions(config, supervised);
  const server = await startServer(config, options);
  const stopReleasing = releaseMemoryWhenIdle();
  let running: RunningServer | undefined = server;
  const unfinished: string[] = [];
  const isAlone = supervised.worker === undefined;
  const forget = isAlone && folder !== undefined ? recordServer(folder, server.localUrl) : undefined;
  try {
    supervised.onShared('demo account', id => running?.services.explorer?.admitFromHere(id as string));
    await Promise.race([supervised.ready(server.url), supervised.stopped]);
    if (supervised.isFirst) {
      await offerDemo(config, server, supervised);
      supervised.prepared();
    }
    const hasMoved = await Promise.race([
      supervised.stopped.then(() => false),
      server.moved.then(() => true),
    ]);
    if (hasMoved) {
      running = undefined;
      unfinished.push(...(await server.stop({ isAtOnce: true })));
      running = await startServer(continuing(config, server), options);
      await supervised.stopped;
    }
  } finally {
    forget?.();
    stopReleasing();
    if (running) unfinished.push(...(await running.stop()));
    await stopTracing?.();
  }
  // Others take it over when this process has ended, so it must not go on here.
  if (unfinished.length > 0) endAtOnce();
}

const demoFolderOf = (config: ServerConfig): string | undefined =>
  config.demo ? folderOf(config) : undefined;

async function serverOptions(config: ServerConfig, supervised: Supervised): Promise<ServerOptions> {
  const { createLogger } = await import('@stak/kit');
  const { mountPages } = await import('./pages.ts');
  const { worker } = supervised;
  const demoFolder = demoFolderOf(config);
  return {
    log: createLogger({ level: config.logLevel, ...(worker !== undefined && { base: { worker } }) }),
    supervised,
    keepsLake: worker === undefined || worker === 1, // it is started again like any other
    extend: (api, services) => mountPages(api, services, { ...config, demoFolder }),
  };
}

// Creates the demo workspace, unless it exists, and prints how to open it.
async function offerDemo(config: ServerConfig, server: RunningServer, supervised: Supervised): Promise<void> {
  const demoFolder = demoFolderOf(config);
  if (demoFolder === undefined) return;
  const { prepareDemo } = await import('../demo/demo.ts');
  const { signInLink } = await import('../../http/demo-sign-in.ts');
  const { issueSignInToken } = await import('../../http/demo-sign-in-token.ts');
  const demo = await prepareDemo(server.localUrl, demoFolder).catch(sayNoDemo);
  if (!demo) return;
  if (config.isPrivate) {
    const token = await issueSignInToken(demoFolder);
    console.log(`Open the demo workspace, once: ${signInLink(server.localUrl, token)}`);
  }
  sayDemo(demo);
  if (config.explorer?.admitsDemo) supervised.share('demo account', demo.accountId);
}

// With the other store, at the same URL: tokens contain it.
const continuing = (config: ServerConfig, { localUrl }: RunningServer): ServerConfig => ({
  ...config,
  publicUrl: config.publicUrl ?? urlOf(config.host, config.port),
  port: Number(new URL(localUrl).port),
});

const sayAddress = (url: string): void => console.log(`Stak is at ${url}  (its documentation: ${url}/docs/)`);

function sayDemo({ email, password }: { email: string; password: string }): void {
  console.log(`The demo's account: ${email} with the password ${password}`);
  console.log('To see it move: npx --no-install stak demo --for 5m');
}

// A server can run without its demo.
function sayNoDemo(error: unknown): undefined {
  console.error(`stak: there is no demo workspace: ${explain(error)}`);
}
