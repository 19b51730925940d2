import { join } from 'node:path';
import type { Clock, ErrorCatalogue, Ids, Logger, Worker } from '@stak/kit';
import type { Alarm, StreamSource, Subscription } from '@stak/streams';
import type { AnyTable, DynamoClient, Store } from '@stak/table';
import { lakeEndpoints } from './api.ts';
import { beginBackfill } from './backfill.ts';
import { captureChanges, subscriptionName } from './capture.ts';
import { createDucks, type Ducks } from './duck.ts';
import { createEraser } from './eraser.ts';
import { lakeErrors } from './errors.ts';
import type { Insight } from './insight.ts';
import { createKeeper } from './keeper.ts';
import { createReading } from './lake.ts';
import * as limits from './limits.ts';
import { openManifest } from './manifest.ts';
import type { ObjectStore } from './objects.ts';
import type { Part } from './parts.ts';
import { redriveLetters } from './redrive.ts';
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

export type LakeDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  // For the scans of a backfill, which no service may make.
  client: DynamoClient;
  // Says how far behind the lake is.
  source: StreamSource;
  objects: ObjectStore;
  // A folder of this process alone, for files that are being made.
  scratch: string;
  tables: readonly FollowedTable[];
  insights?: readonly Insight[];
  // The tenants of an account.
  tenantsOf: TenantsOf;
  // Asked about every end user who asks something; left out where there are none.
  enterTenant?: EnterTenant;
  flushMs?: number;
  bronzeDays?: number;
  // The processes that SQL runs in; its own ones by default.
  ducks?: Ducks;
};

export function createLake(deps: LakeDeps) {
  const { objects, clock, ids, log, client, insights = [], scratch } = deps;
  const { flushMs = limits.flushMs, bronzeDays = limits.bronzeDays, ducks = createDucks() } = deps;
  const parts: Part[] = deps.tables.map(table => {
    const plan = planOf(table);
    return { plan, objects, clock, ids, log, manifest: openManifest(objects, plan.table.name, clock) };
  });
  const { guests, asking, keeping } = ducks;
  const files = { duck: keeping, scratch: join(scratch, 'keeping') };

  const { eraser, eraseAgain } = createEraser({ ...deps, ...files, parts });
  const keeper = createKeeper({ ...files, parts, client, clock, ids, log, insights, bronzeDays, eraseAgain });
  const lake = createReading({
    ...deps,
    parts,
    insights,
    guests,
    own: asking,
    scratch: join(scratch, 'asking'),
    onMissingFile: keeper.lookForLost,
  });
  const partOf = (table: string): Part => {
    const found = parts.find(({ plan }) => plan.table.name === table);
    if (!found) throw lakeErrors.create('lake.table_not_found', `The lake does not follow ${table}.`);
    return found;
  };

  return {
    api: lakeEndpoints(lake),
    errors: lakeErrors as ErrorCatalogue,
    tables: [] as AnyTable[],
    subscriptions: parts.map(part => captureChanges({ ...part, flushMs })) as Subscription[],
    workers: [keeper.worker] as Worker[],
    eraser,
    ...lake,
    // One step of what the worker does for a table; true if there may be more.
    keep: (table: string) => keeper.keepTable(partOf(table)),
    eraseAgain,
    redrive: (table: string) => redriveLetters(partOf(table)),
    // Reads the whole table again: after changes were lost because nobody read the stream for a day.
    backfill: (table: string) => beginBackfill(partOf(table)),
    // For the consumers of the subscriptions: what the stream has lost is still in the table.
    onAlarm({ consumer }: Pick<Alarm, 'consumer'>): void {
      const part = parts.find(({ plan }) => subscriptionName(plan.table.name) === consumer);
      if (part) beginBackfill(part).catch(error => log.error({ err: error, consumer }, 'no backfill begun'));
    },
    close() {
      for (const duck of [guests, asking, keeping]) duck.close();
    },
  };
}
