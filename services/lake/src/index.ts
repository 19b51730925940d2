import { join } from 'node:path';
import type { ErrorCatalogue, Worker } from '@stak/kit';
import type { Subscription } from '@stak/streams';
import type { AnyTable } from '@stak/table';
import { subscriptionName } from './capture/capture.ts';
import { createCatalogRoutes, createOperatorRoutes } from './catalog/routes.ts';
import type { LakeDeps, ReaderDeps } from './deps.ts';
import { createDucks, createReaderDucks } from './duckdb/duck.ts';
import { createRequestingEraser } from './erasure/eraser.ts';
import { lakeErrors } from './errors.ts';
import { type LakeTable, openLakeTables } from './lake-table.ts';
import { createMaintenance } from './maintenance/maintenance.ts';
import { createReader } from './reader.ts';
import { createLakeRoutes, createTextRoutes } from './routes.ts';
import { createRequests } from './storage/requests.ts';
import type { Owner } from './tables.ts';

export type { LakeDeps, MaintenanceDeps, ReaderDeps } from './deps.ts';
export { lakeErrors } from './errors.ts';
export { createLakeMaintenance } from './maintenance/maintenance.ts';
export type { QueryLimit } from './reader.ts';
export { folderObjects } from './storage/folder-objects.ts';
export type { ObjectStore } from './storage/objects.ts';
export { type S3Options, s3Objects } from './storage/s3-objects.ts';
export {
  type FollowedEntity,
  type FollowedTable,
  follow,
  type Owner,
  type Texts,
} from './tables.ts';

// Reader and maintenance in one process.
export function createLake(deps: LakeDeps) {
  const { ducks = createDucks() } = deps;
  const lakeTables = openLakeTables(deps);
  const maintenance = createMaintenance({ ...deps, duck: ducks.maintenance }, lakeTables);
  const reader = openReader({ ...deps, ducks }, lakeTables, {
    onMissingFile: maintenance.lookForLost,
    async eraseTexts(owners) {
      while ((await maintenance.eraseTexts(owners)) !== 'done');
    },
  });
  return {
    ...reader,
    ...maintenance,
    close() {
      reader.close();
      maintenance.close();
    },
  };
}

// Serves callers while another thread or process runs the maintenance. `wake` notifies it of a new request.
export function createLakeReader(deps: ReaderDeps & { wake(): void }) {
  const { objects, clock, log } = deps;
  const requests = createRequests(deps);
  const requestSearch = () =>
    void requests
      .ask({ kind: 'find lost files' })
      .catch(error => log.error({ err: error }, 'could not request a search for lost files'));
  return {
    ...openReader(deps, openLakeTables(deps), {
      onMissingFile: requestSearch,
      eraseTexts: owners => requests.ask({ kind: 'erase texts', owners }),
    }),
    subscriptions: [] as Subscription[],
    workers: [] as Worker[],
    eraser: createRequestingEraser({ objects, clock, requests }),
  };
}

// The part of the maintenance that a reader needs.
type ReaderMaintenance = { onMissingFile(): void; eraseTexts(owners: readonly Owner[]): Promise<void> };

function openReader(deps: ReaderDeps, lakeTables: readonly LakeTable[], maintained: ReaderMaintenance) {
  const { insights = [], scratch, ducks = createReaderDucks(), textsSetting, tenantsOf } = deps;
  const eraseTexts = async (accountId: string): Promise<void> => {
    const tenantIds = await tenantsOf(accountId);
    await maintained.eraseTexts([{ account_id: accountId }, ...tenantIds.map(tenant_id => ({ tenant_id }))]);
  };
  const reader = createReader({
    ...deps,
    lakeTables,
    insights,
    callers: ducks.callers,
    own: ducks.insights,
    scratch: join(scratch, 'asking'),
    onMissingFile: maintained.onMissingFile,
  });
  return {
    api: [
      ...createLakeRoutes(reader),
      ...createCatalogRoutes(reader.catalog, deps.objects),
      ...(textsSetting ? createTextRoutes(textsSetting, eraseTexts) : []),
    ] as const,
    // The catalog of all accounts' rows, for a server that has operators.
    operatorApi: (assertOperator: Parameters<typeof createOperatorRoutes>[1]) =>
      createOperatorRoutes(reader.catalog, assertOperator),
    errors: lakeErrors as ErrorCatalogue,
    tables: [] as AnyTable[],
    // The consumers that capture, in any process.
    consumers: lakeTables.map(({ plan: { table } }) => ({ name: subscriptionName(table.name), table })),
    ...reader,
    close() {
      ducks.callers.close();
      ducks.insights.close();
    },
  };
}
