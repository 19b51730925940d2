import {
  type Api,
  type ApiSettings,
  createMemoryRateLimits,
  type RouteSpec,
  shareRateLimits,
} from '@stak/http';
import { createTableStores, httpTable } from '@stak/http/table';
import {
  type Clock,
  createIds,
  createSealer,
  type Logger,
  type Supervisor,
  superviseWorkers,
  systemClock,
  type Worker,
  type WorkerState,
  watchEventLoop,
} from '@stak/kit';
import { createFollower, streamsTable } from '@stak/streams';
import { createCursors, createLedger, createStore, createTables, type Ledger } from '@stak/table';
import { composeServices, type Services } from '../compose/compose.ts';
import { checkpointMs, createConsumers } from '../compose/consumers.ts';
import type { ComposeDeps } from '../compose/services.ts';
import { localUrlOf, urlOf } from '../config/address.ts';
import type { ServerConfig } from '../config/config.ts';
import { deriveSecret, explainSeal, readSecretKeys } from '../config/secrets.ts';
import { mountMcp } from '../http/mcp.ts';
import { requireArrived } from '../store/archive/arrival.ts';
import { answerMigration, describeTarget, followMove, readMove, watchMove } from '../store/archive/move.ts';
import { startBackup } from '../store/backup/backup-host.ts';
import { historyOfBackup } from '../store/backup/older-history.ts';
import { type Database, type DatabaseOptions, noteOtherPrefixes, openDatabase } from '../store/database.ts';
import { hostLake, type LakeHostDeps } from '../store/lake/lake-host.ts';
import { isInMemory, openLake } from '../store/lake/lake-objects.ts';
import { createPresence } from '../store/presence.ts';
import { createScrubHost, type ScrubHost } from '../store/scrub/scrub-host.ts';
import { createMetrics } from './metrics.ts';
import { createServerApi, listenOn } from './server-api.ts';
import { retryWhileUnavailable, storeCheck } from './store-check.ts';
import type { Supervised } from './supervised.ts';

export type RunningServer = {
  url: string; // for others
  localUrl: string; // for this machine
  routes: readonly RouteSpec[];
  mounted: Api['mounted']; // what is served beside them
  services: Services;
  moved: Promise<void>; // resolves when its store has moved: restart the server, and it continues there
  // Stops accepting requests, finishes those in flight, stops the workers, and closes the store. With `isAtOnce`, load
  // balancers get no time to notice. Returns what has not ended in time: end the process then. Until it has ended, other
  // processes leave its work alone.
  stop(options?: { isAtOnce?: boolean }): Promise<string[]>;
};

export type ServerOptions = {
  log: Logger;
  clock?: Clock;
  supervised?: Pick<Supervised, 'answer' | 'gather' | 'worker'>; // the other serving processes
  passwordCost?: ComposeDeps['passwordCost']; // tests sign up by the dozen
  extend?: (api: Pick<Api, 'app' | 'mount'>, services: Services) => void; // adds pages; a bench adds what it compares us with
  onUsage?: DatabaseOptions['onUsage']; // a simulation counts what each partition uses
  onOpened?: (database: Pick<Database, 'control'>) => void; // and how large the tables become
  keepsLake?: boolean; // false: another process of this server maintains it, and this one only reads it
  lakeThread?: Pick<LakeHostDeps, 'program' | 'restAfterMs'>; // tests run one that is built, and let it rest sooner
  workers?: readonly Worker[]; // tests add some
  storeWithinMs?: number; // how long a start waits for a store that is throttled or away
};

export async function startServer(config: ServerConfig, options: ServerOptions): Promise<RunningServer> {
  const { log, clock = systemClock } = options;
  const database = await openDatabase(config.store, {
    clock,
    ...(options.onUsage && { onUsage: options.onUsage }),
    onError: (error, work) => log.error({ err: error, work }, 'the engine failed at its own work'),
    ...(config.backup && { olderHistory: historyOfBackup(config.backup) }),
  });
  options.onOpened?.(database);
  const move = database.embedded && readMove(database.embedded);
  if (move) {
    await database.close();
    log.warn({ to: describeTarget(move) }, 'the store in this folder has moved: continuing with the new one');
    return startServer(await followMove(config, move, clock), options);
  }
  try {
    return await startOn(database, config, { ...options, clock });
  } catch (error) {
    await database.close();
    throw error;
  }
}

type StartOptions = ServerOptions & { clock: Clock };

async function startOn(
  database: Database,
  config: ServerConfig,
  options: StartOptions,
): Promise<RunningServer> {
  const { log, clock, extend, keepsLake = true } = options;
  const { source, peers } = database;
  const base = await openBase(database, config, options);
  const { keys, publicUrl, presence, lake, lakeHost } = base;
  const services = composeServices(composeDeps(database, config, options, base, listWorkers));
  const wait = { clock, log, withinMs: options.storeWithinMs };
  await retryWhileUnavailable(() => prepareStore(database, config, base, { services, log }), wait);
  await retryWhileUnavailable(async () => presence?.begin(), wait);
  // Stops after the workers: the work that they are finishing must not be taken over.
  const beating = superviseWorkers(presence ? [presence.worker] : [], { clock, log });
  const leave = async (late: readonly string[]): Promise<void> => {
    await beating.stop();
    if (late.length === 0) await presence?.leave();
  };

  const { owners } = base;
  const streams = createConsumers(database, config, services, { store: base.store, owners, clock, log });
  const backup = keepsLake ? await startBackup(database, config, { clock, log, keys }) : undefined;
  const scrub =
    keepsLake && database.embedded
      ? createScrubHost(config.store, { store: database.embedded, clock, log })
      : undefined;
  const metrics = createMetrics();
  const eventLoop = watchEventLoop({ log });
  const workers = superviseWorkers(
    [
      ...streams.consumers,
      ...streams.followers.map(follower => createFollower(follower, { source, clock, log })),
      ...services.all.flatMap(service => service.workers),
      ...(options.workers ?? []),
    ],
    { clock, log },
  );
  let lakeThread: Supervisor | undefined;
  let backupThread: Supervisor | undefined;
  function listWorkers(): WorkerState[] {
    const ofLake = [...(lakeThread?.states() ?? []), ...(lakeHost?.workers() ?? [])];
    return [...workers.states(), ...ofLake, ...(backupThread?.states() ?? [])];
  }
  const exposed = metrics.expose({
    ledger: base.ledger,
    eventLoop,
    workers: listWorkers,
    storage: services.storage.readAll,
    consumers: () => [...streams.states(), ...(lakeHost?.consumers() ?? [])],
    setAside: streams.letters.read,
    missed: async () => (await streams.missed.read()).map(({ consumer }) => consumer),
    ...(backup && { backup: backup.state }),
    token: config.metricsToken,
    isProduction: config.isProduction,
    supervised: options.supervised,
  });
  const { ids, shared } = base;
  const api = createServerApi(config, {
    clock,
    log,
    ids,
    shared,
    publicUrl,
    services,
    metrics,
    exposed,
    eventLoop,
    readiness: readinessChecks(database, config, {
      clock,
      streams,
      presence,
      backup,
      scrub,
      lake: lakeHost && { workers: () => lakeThread?.states() ?? [] },
    }),
  });
  mountMcp(api, publicUrl, config.corsOrigins);
  extend?.(api, services);
  const listening = await listenOn(api, exposed, config, { clock, log }).catch(async error => {
    await leave(await workers.stop());
    eventLoop.stop();
    throw error;
  });
  // Last: serving requests does not wait for it.
  if (lakeHost) lakeThread = superviseWorkers([lakeHost.worker], { clock, log });
  if (backup) backupThread = superviseWorkers([backup.worker], { clock, log });
  const scrubbing = superviseWorkers(scrub ? [scrub.worker] : [], { clock, log });
  if (peers) answerMigration(peers);
  let stopWatching = () => {};
  const moved = new Promise<void>(resolve => {
    if (database.embedded) stopWatching = watchMove(database.embedded, resolve);
  });
  const sender =
    config.tracing &&
    (await import('./otlp-metrics.ts')).sendMetrics(config.tracing, metrics.ofThisProcess, log);

  return {
    url: config.publicUrl ?? urlOf(listening.host, listening.port),
    localUrl: localUrlOf(listening.host, listening.port),
    routes: api.routes,
    mounted: api.mounted,
    services,
    moved,
    async stop({ isAtOnce = false } = {}) {
      stopWatching();
      const unanswered = await listening.close({ isAtOnce });
      await sender?.stop();
      const [late, ofLake = []] = await Promise.all([workers.stop(), lakeThread?.stop(), scrubbing.stop()]);
      eventLoop.stop();
      await services.close();
      await lake?.close();
      const ofBackup = (await backupThread?.stop()) ?? []; // the last writes of the others are shipped, too
      const unfinished = [...(unanswered > 0 ? ['requests'] : []), ...late, ...ofLake, ...ofBackup];
      await leave(unfinished);
      await database.close();
      return unfinished;
    },
  };
}

type ReadinessDeps = {
  clock: Clock;
  streams: ReturnType<typeof createConsumers>;
  presence: Base['presence'];
  backup: Awaited<ReturnType<typeof startBackup>>;
  scrub: ScrubHost | undefined;
  lake: { workers(): readonly WorkerState[] } | undefined;
};

// Requests need the store, and can do without the rest for a while.
function readinessChecks(
  database: Database,
  config: ServerConfig,
  { clock, streams, presence, backup, scrub, lake }: ReadinessDeps,
): Pick<ApiSettings, 'checks' | 'warnings'> {
  return {
    checks: { store: storeCheck(database.client, clock, folderOf(config)) },
    warnings: {
      // An effect is missing until an operator has handled the record.
      dead_letters: async () => ((await streams.letters.read()).length > 0 ? 'degraded' : undefined),
      missed_changes: async () => ((await streams.missed.read()).length > 0 ? 'degraded' : undefined),
      ...(presence && { public_url: presence.check }),
      ...(backup && { backup: backup.check }),
      ...(scrub && { damage: scrub.check }),
      // SQL and insights use what the lake has written so far.
      ...(lake && {
        lake: async () =>
          lake.workers().some(worker => worker.status === 'backing-off') ? 'degraded' : undefined,
      }),
    },
  };
}

type Base = Awaited<ReturnType<typeof openBase>>;

// The base of services and API.
async function openBase(
  database: Database,
  config: ServerConfig,
  { log, clock, keepsLake = true, lakeThread }: StartOptions,
) {
  const { client, peers } = database;
  const keys = await readSecretKeys(config);
  const own = createLedger();
  const ledger: Ledger = { ...own, entries: () => [...own.entries(), ...(lakeHost?.units() ?? [])] };
  const cursors = createCursors(deriveSecret(keys[0]!, 'cursors'));
  const store = createStore({ client, clock, ledger, cursors });
  const ids = createIds({ clock });
  const sealer = createSealer({ keys });
  const publicUrl = config.publicUrl ?? urlOf(config.host, config.port);
  const lake = await openLake(config);
  // An embedded store knows which processes have it open.
  const presence =
    config.store.kind === 'aws' ? createPresence({ store, clock, ids, log, publicUrl }) : undefined;
  const owners = presence?.owners ?? database.owners;
  // With several processes a limit holds for all of them, or nearly: docs/adr/0014 and 0071.
  const countRates = (topic: string) =>
    peers && config.workers > 1
      ? shareRateLimits(createMemoryRateLimits(), { peers, clock, topic })
      : createMemoryRateLimits();
  const shared = createTableStores({ store, clock, sealer, owners, rates: countRates('http rates') });
  // A store in memory belongs to this thread, so the lake is maintained here as well.
  const lakeHost =
    lake && !isInMemory(config.store) && keepsLake
      ? hostLake(config, lake, {
          client,
          source: database.source,
          clock,
          log,
          checkpointMs,
          ...lakeThread,
        })
      : undefined;
  return {
    keys,
    ledger,
    cursors,
    store,
    ids,
    sealer,
    publicUrl,
    presence,
    owners,
    countRates,
    shared,
    lake,
    lakeHost,
  };
}

const folderOf = ({ store }: ServerConfig): string | undefined =>
  store.kind === 'embedded' && store.path !== ':memory:' ? store.path : undefined;

function composeDeps(
  { client, control, source, peers }: Database,
  config: ServerConfig,
  { clock, log, passwordCost }: StartOptions,
  { store, owners, countRates, cursors, ids, sealer, publicUrl, shared, ledger, lake, lakeHost }: Base,
  workers: () => WorkerState[],
): ComposeDeps {
  return {
    store,
    owners,
    peers,
    rates: countRates('webhooks rates'),
    client,
    cursors,
    clock,
    ids,
    log,
    sealer,
    publicUrl,
    config,
    passwordCost,
    announceRevoked: shared.revocations.announce,
    system: { source, ledger, workers },
    ...(lake && {
      lake: { ...lake, client, source, ...(!isInMemory(config.store) && { wake: () => lakeHost?.wake() }) },
    }),
    ...(config.explorer && {
      explorer: { client, control, source, ledger, operators: config.explorer.operators },
    }),
  };
}

async function prepareStore(
  database: Database,
  config: ServerConfig,
  { store }: Base,
  { services, log }: { services: Services; log: Logger },
): Promise<void> {
  await requireArrived(store);
  if (config.store.kind === 'aws') await noteOtherPrefixes(database, config.store.prefix ?? '', log);
  const tables = services.all.flatMap(service => service.tables);
  await createTables(database.control, [streamsTable, httpTable, ...tables], {
    recovery: config.store.kind === 'aws',
    progress: (table, what) => log.info({ table }, what),
  });
  await services.prepare().catch(explainSeal);
}
