import { join } from 'node:path';
import type { Clock, ErrorCatalogue, Ids, Logger, Worker } from '@stak/kit';
import type { Alarm, StreamSource, Subscription } from '@stak/streams';
import type { AnyTable, DynamoClient, Store } from '@stak/table';
import { lakeEndpoints } from './api.ts';
import { beginBackfill } from './backfill.ts';
import { captureChanges, subscriptionName } from './capture.ts';
import {
  createDucks,
  createKeepingDuck,
  createReadingDucks,
  type Duck,
  type Ducks,
  type ReadingDucks,
} from './duck.ts';
import { createAskingEraser, createEraser } from './eraser.ts';
import { lakeErrors } from './errors.ts';
import type { Insight } from './insight.ts';
import { createKeeper } from './keeper.ts';
import { createReading } from './lake.ts';
import * as limits from './limits.ts';
import { openManifest } from './manifest.ts';
import type { ObjectStore } from './objects.ts';
import type { Part } from './parts.ts';
import { redriveLetters } from './redrive.ts';
import { createRequests } from './requests.ts';
import type { EnterTenant, TenantsOf } from './scope.ts';
import { type FollowedTable, planOf } from './tables.ts';

export { lakeErrors } from './errors.ts';
export { folderObjects } from './folder-objects.ts';
export type { Insight, InsightRow } from './insight.ts';
export type { ObjectStore } from './objects.ts';
export { type S3Options, s3Objects } from './s3-objects.ts';
export { type FollowedEntity, type FollowedTable, follow, type Owner } from './tables.ts';
export { taskInsights } from './task-insights.ts';
export { deliveryInsights, messageInsights } from './traffic-insights.ts';

type Base = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  // Says how far behind the lake is.
  source: StreamSource;
  objects: ObjectStore;
  // A folder of this process alone, for files that are being made.
  scratch: string;
  tables: readonly FollowedTable[];
  insights?: readonly Insight[];
};

export type ReaderDeps = Base & {
  // The tenants of an account.
  tenantsOf: TenantsOf;
  // Asked about every end user who asks something; left out where there are none.
  enterTenant?: EnterTenant;
  // The processes that SQL runs in; its own ones by default.
  ducks?: ReadingDucks;
};

export type KeeperDeps = Base & {
  // For the scans of a backfill, which no service may make.
  client: DynamoClient;
  flushMs?: number;
  bronzeDays?: number;
  duck?: Duck;
};

export type LakeDeps = Omit<ReaderDeps, 'ducks'> & Omit<KeeperDeps, 'duck'> & { ducks?: Ducks };

const openParts = ({ tables, objects, clock, ids, log }: Base): Part[] =>
  tables.map(table => {
    const plan = planOf(table);
    return { plan, objects, clock, ids, log, manifest: openManifest(objects, plan.table.name, clock) };
  });

// The whole lake in one place.
export function createLake(deps: LakeDeps) {
  const { ducks = createDucks() } = deps;
  const parts = openParts(deps);
  const keeper = keeperOf({ ...deps, duck: ducks.keeping }, parts);
  const reader = readerOf({ ...deps, ducks }, parts, keeper.lookForLost);
  return {
    ...reader,
    ...keeper,
    close() {
      reader.close();
      keeper.close();
    },
  };
}

// Answers callers, where another thread or process keeps the lake. `wake` tells it that something was asked.
export function createLakeReader(deps: ReaderDeps & { wake(): void }) {
  const { objects, clock, log } = deps;
  const requests = createRequests(deps);
  const findLost = () =>
    void requests.ask({ kind: 'find lost files' }).catch(error => log.error({ err: error }, 'nobody asked'));
  return {
    ...readerOf(deps, openParts(deps), findLost),
    subscriptions: [] as Subscription[],
    workers: [] as Worker[],
    eraser: createAskingEraser({ objects, clock, requests }),
  };
}

// Captures, compacts, heals, erases, and answers nobody.
export const createLakeKeeper = (deps: KeeperDeps) => keeperOf(deps, openParts(deps));

function readerOf(deps: ReaderDeps, parts: readonly Part[], onMissingFile: () => void) {
  const { insights = [], scratch, ducks = createReadingDucks() } = deps;
  const { guests, asking } = ducks;
  const lake = createReading({
    ...deps,
    parts,
    insights,
    guests,
    own: asking,
    scratch: join(scratch, 'asking'),
    onMissingFile,
  });
  return {
    api: lakeEndpoints(lake),
    errors: lakeErrors as ErrorCatalogue,
    tables: [] as AnyTable[],
    // The consumers that capture, wherever they run.
    consumers: parts.map(({ plan: { table } }) => ({ name: subscriptionName(table.name), table })),
    ...lake,
    close() {
      guests.close();
      asking.close();
    },
  };
}

function keeperOf(deps: KeeperDeps, parts: readonly Part[]) {
  const { objects, clock, ids, log, client, insights = [], scratch } = deps;
  const { flushMs = limits.flushMs, bronzeDays = limits.bronzeDays, duck = createKeepingDuck() } = deps;
  const files = { duck, scratch: join(scratch, 'keeping') };
  const { eraser, ...erasing } = createEraser({ ...deps, ...files, parts });
  const about = { parts, objects, client, clock, ids, log, insights, bronzeDays };
  const keeper = createKeeper({ ...files, ...about, ...erasing });
  const partOf = (table: string): Part => {
    const found = parts.find(({ plan }) => plan.table.name === table);
    if (!found) throw lakeErrors.create('lake.table_not_found', `The lake does not follow ${table}.`);
    return found;
  };

  return {
    subscriptions: parts.map(part =>
      captureChanges({ ...part, flushMs, onCaptured: keeper.noteChange }),
    ) as Subscription[],
    workers: [keeper.worker] as Worker[],
    eraser,
    lookForLost: keeper.lookForLost,
    // Somebody has put a request where it is found.
    wake: keeper.noteRequest,
    // One step of what the worker does for a table; true if there may be more.
    keep: (table: string) => keeper.keepTable(partOf(table)),
    eraseAgain: erasing.eraseAgain,
    redrive: (table: string) => redriveLetters(partOf(table)),
    // Reads the whole table again: after changes were lost because nobody read the stream for a day.
    backfill: async (table: string) => {
      await beginBackfill(partOf(table));
      keeper.noteChange();
    },
    // For the consumers of the subscriptions: what the stream has lost is still in the table.
    onAlarm({ consumer }: Pick<Alarm, 'consumer'>): void {
      const part = parts.find(({ plan }) => subscriptionName(plan.table.name) === consumer);
      if (part)
        beginBackfill(part).then(keeper.noteChange, error =>
          log.error({ err: error, consumer }, 'no backfill begun'),
        );
    },
    close: () => duck.close(),
  };
}
