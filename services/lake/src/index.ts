import { join } from 'node:path';
import type { ErrorCatalogue, Sealer, Worker } from '@stak/kit';
import type { Subscription } from '@stak/streams';
import type { AnyTable } from '@stak/table';
import { subscriptionName } from './capture/capture.ts';
import { createDucks, createReadingDucks, type Ducks, type ReadingDucks } from './duckdb/duck.ts';
import { createAskingEraser } from './erasure/eraser.ts';
import { lakeErrors } from './errors.ts';
import { createCatalogRoutes } from './iceberg/routes.ts';
import { type KeeperDeps, keeperOf, type LakeBase, openParts } from './maintenance/maintenance.ts';
import { createRequests } from './maintenance/requests.ts';
import { createReading } from './query/reader.ts';
import type { EnterTenant, TenantsOf } from './query/scope.ts';
import { createLakeRoutes } from './routes.ts';
import type { Part } from './storage/lake-table.ts';

export { lakeErrors } from './errors.ts';
export type { Insight, InsightRow } from './insights/insight.ts';
export { taskInsights } from './insights/task-insights.ts';
export { deliveryInsights, messageInsights } from './insights/traffic-insights.ts';
export { createLakeKeeper, type KeeperDeps } from './maintenance/maintenance.ts';
export { folderObjects } from './storage/folder-objects.ts';
export type { ObjectStore } from './storage/objects.ts';
export { type S3Options, s3Objects } from './storage/s3-objects.ts';
export { type FollowedEntity, type FollowedTable, follow, type Owner } from './tables.ts';

export type ReaderDeps = LakeBase & {
  // The tenants of an account.
  tenantsOf: TenantsOf;
  // Keys to files are sealed, and addressed to this server.
  sealer: Sealer;
  publicUrl: string;
  // Asked about every end user who asks something; left out where there are none.
  enterTenant?: EnterTenant;
  // The processes that SQL runs in; its own ones by default.
  ducks?: ReadingDucks;
};

export type LakeDeps = Omit<ReaderDeps, 'ducks'> & Omit<KeeperDeps, 'duck'> & { ducks?: Ducks };

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
    api: [...createLakeRoutes(lake), ...createCatalogRoutes(lake.catalog, deps.objects)] as const,
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
