import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { createEngine } from '@stak/engine';
import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import { createIds, createLogger, createSealer, manualClock, seededRandom } from '@stak/kit';
import { createConsumer, engineSource, type Subscription, streamsTable } from '@stak/streams';
import { createStore, createTables, type DynamoClient } from '@stak/table';
import { onTestFinished } from 'vitest';
import { readStreamLag } from '../src/capture/lag.ts';
import { createDucks, type Duck, type Ducks } from '../src/duckdb/duck.ts';
import {
  createLake,
  createLakeMaintenance,
  createLakeReader,
  folderObjects,
  type LakeDeps,
  type ObjectStore,
} from '../src/index.ts';
import { openManifest } from '../src/storage/manifest.ts';
import { choreInsights } from './chore-insights.ts';
import { chore, choresTable, followed } from './test-table.ts';

// A lake that follows the table, and what it takes to let it run.

export const ann: AccountPrincipal = {
  kind: 'account',
  accountId: 'usr_ann',
  scope: 'admin',
  via: 'session',
  credentialId: 's1',
};
export const bob: AccountPrincipal = { ...ann, accountId: 'usr_bob' };
export const endUser: EndUserPrincipal = { kind: 'endUser', tenantId: 't1', userId: 'u1', scope: 'admin' };

// One set of processes for all lakes that this process tests, because starting them is what takes time. They end with
// it: a lake that is closed leaves them to the others.
const shared = ({ run }: Duck): Duck => ({ run, close() {} });
const { callers, insights, maintenance } = createDucks();
export const ducks: Ducks = {
  callers: shared(callers),
  insights: shared(insights),
  maintenance: shared(maintenance),
};

const testSealer = createSealer({ keys: [{ id: 'test', secret: 'a secret for tests that is long enough' }] });

export const silent = createLogger({ level: 'silent' });

// Who removes what was opened: the test, unless it is opened for several.
export type AtEnd = (remove: () => Promise<void>) => void;

export async function temporaryFolder(atEnd: AtEnd = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-lake-'));
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export type Backend = Awaited<ReturnType<typeof openBackend>>;

type BackendOptions = { shards?: number; clock?: ReturnType<typeof manualClock>; atEnd?: AtEnd };

// What a lake needs to run: a table with its stream, and a place for files.
export async function openBackend({ shards = 1, clock = manualClock(), atEnd }: BackendOptions = {}) {
  const engine = await createEngine({ path: ':memory:', clock, sweepIntervalMs: 0, streamShards: shards });
  await createTables(engine, [choresTable, streamsTable], { clock });
  const { paced, isBusy } = createPace();
  const client: DynamoClient = paced(engine.client);
  const store = createStore({ client, clock });
  const source = paced(engineSource(engine));
  const folder = await temporaryFolder(atEnd);
  const objects = paced(folderObjects(join(folder, 'objects')));
  return { engine, clock, client, store, source, folder, objects, isBusy };
}

// The clock of a test must not run ahead of the disk, or leases would end before they are written. So calls under
// way are counted, and time stands still for them.
function createPace() {
  let underWay = 0;
  const uncounted = ['position', 'newest', 'waitForChange', 'list', 'close'];
  const count = (method: (...args: unknown[]) => Promise<unknown>) =>
    async function counted(...args: unknown[]) {
      underWay += 1;
      try {
        return await method(...args);
      } finally {
        underWay -= 1;
      }
    };
  const paced = <T extends object>(port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, method]) => [name, uncounted.includes(name) ? method : count(method)]),
    ) as T;
  return { paced, isBusy: () => underWay > 0 };
}

export type OpenLake = ReturnType<typeof openLake>;

const depsOf = ({ store, clock, client, source, objects, folder }: Backend) => ({
  store,
  clock,
  client,
  source,
  objects,
  ids: createIds({ clock, random: seededRandom(7) }),
  log: silent,
  scratch: join(folder, 'scratch'),
  tables: [followed],
  insights: choreInsights(chore),
  sealer: testSealer,
  publicUrl: 'http://lake.test',
  tenantsOf: async (accountId: string) => (accountId === 'usr_ann' ? ['t1'] : []),
  ducks,
});

export const openLake = (backend: Backend, change: Partial<LakeDeps> = {}) =>
  createLake({ ...depsOf(backend), ...change });

// One that answers and one that keeps, which know each other by the objects alone.
export function openApart(backend: Backend, wake: () => void = () => {}) {
  const deps = depsOf(backend);
  return {
    reader: createLakeReader({ ...deps, wake }),
    maintenance: createLakeMaintenance({ ...deps, duck: ducks.maintenance }),
  };
}

// Follows the stream until everything that is in it is in the lake.
export async function capture(
  backend: Backend,
  lake: Pick<OpenLake, 'subscriptions'>,
  change: Partial<Backend> = {},
): Promise<void> {
  const { source, client, clock } = { ...backend, ...change };
  const stopping = new AbortController();
  const ended = lake.subscriptions.map(subscription =>
    createConsumer({ subscription, source, client, clock, random: seededRandom(1), log: silent }).run(
      stopping.signal,
    ),
  );
  const [{ table }] = lake.subscriptions as [Subscription];
  await until(backend, watchCapture(backend, table.name));
  stopping.abort();
  await Promise.all(ended);
}

// Whether the lake has what the stream has. A table that was never read to the end may have more.
type Watched = Pick<Backend, 'objects' | 'clock' | 'store' | 'source'>;
export function watchCapture(backend: Watched, table = 'chores') {
  const manifest = openManifest(backend.objects, table, backend.clock);
  return async (): Promise<boolean> => (await readStreamLag(backend, table, await manifest.read())).caught_up;
}

// Lets everything go on, and time with it, until the condition holds.
export async function until(
  { clock, isBusy }: Pick<Backend, 'clock' | 'isBusy'>,
  holds: () => boolean | Promise<boolean>,
  stepMs = 500,
): Promise<void> {
  for (let step = 0; step < 5000; step++) {
    if (await holds()) return;
    // DuckDB and the disk take real time, and the processor.
    for (await setImmediate(); isBusy(); ) await setTimeout(1);
    await clock.advance(stepMs);
  }
  throw new Error('this never came to hold');
}

// Everything the worker would do.
export async function keep(lake: Pick<OpenLake, 'keep'>): Promise<void> {
  for (let step = 0; step < 200; step++) if (!(await lake.keep('chores'))) return;
  throw new Error('the lake is never kept');
}

export const readObjects = async (objects: ObjectStore, prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of objects.list(prefix)) keys.push(key);
  return keys;
};
