import { join } from 'node:path';
import { type Clock, type Ids, type Logger, type Owners, unknownOwners, type Worker } from '@stak/kit';
import type { Alarm, StreamSource, Subscription } from '@stak/streams';
import type { DynamoClient, Store } from '@stak/table';
import { beginBackfill } from '../capture/backfill.ts';
import { captureChanges, subscriptionName } from '../capture/capture.ts';
import { redriveLetters } from '../capture/redrive.ts';
import { createKeepingDuck, type Duck } from '../duckdb/duck.ts';
import { createEraser } from '../erasure/eraser.ts';
import { lakeErrors } from '../errors.ts';
import { createLakeTables } from '../iceberg/iceberg-tables.ts';
import type { Insight } from '../insights/insight.ts';
import * as limits from '../limits.ts';
import type { Part } from '../storage/lake-table.ts';
import { openManifest } from '../storage/manifest.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { type FollowedTable, planOf } from '../tables.ts';
import { createKeeper } from './worker.ts';

// Everything but the answers, without what only they need: a thread that keeps the lake loads no HTTP.

export type { Insight, InsightRow } from '../insights/insight.ts';
export { taskInsights } from '../insights/task-insights.ts';
export { deliveryInsights, messageInsights } from '../insights/traffic-insights.ts';
export { folderObjects } from '../storage/folder-objects.ts';
export type { ObjectStore } from '../storage/objects.ts';
export { type S3Options, s3Objects } from '../storage/s3-objects.ts';
export { type FollowedEntity, type FollowedTable, follow, type Owner } from '../tables.ts';

export type LakeBase = {
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

export type KeeperDeps = LakeBase & {
  // For the scans of a backfill, which no service may make.
  client: DynamoClient;
  owners?: Owners; // which of those that keep it are gone; without it leases run out
  flushMs?: number;
  bronzeDays?: number;
  duck?: Duck;
};

export const openParts = ({ tables, objects, clock, ids, log, insights = [] }: LakeBase): Part[] =>
  tables.map(table => {
    const plan = planOf(table);
    return {
      plan,
      objects,
      clock,
      ids,
      log,
      manifest: openManifest(objects, plan.table.name, clock),
      tables: createLakeTables({ plan, objects, clock, insights }),
    };
  });

// Captures, compacts, heals, erases, and answers nobody.
export const createLakeKeeper = (deps: KeeperDeps) => keeperOf(deps, openParts(deps));

export function keeperOf(deps: KeeperDeps, parts: readonly Part[]) {
  const { objects, clock, ids, log, client, insights = [], scratch } = deps;
  const { flushMs = limits.flushMs, bronzeDays = limits.bronzeDays, duck = createKeepingDuck() } = deps;
  const files = { duck, scratch: join(scratch, 'keeping') };
  const { eraser, ...erasing } = createEraser({ ...deps, ...files, parts });
  const owners = deps.owners ?? unknownOwners(ids);
  const about = { parts, objects, client, clock, ids, log, owners, insights, bronzeDays };
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
    onAlarm({ consumer, kind }: Pick<Alarm, 'consumer'> & Partial<Alarm>): void {
      if (kind === 'set_aside') return; // kept whole, until somebody has it handled again
      const part = parts.find(({ plan }) => subscriptionName(plan.table.name) === consumer);
      if (part)
        beginBackfill(part).then(keeper.noteChange, error =>
          log.error({ err: error, consumer }, 'no backfill begun'),
        );
    },
    close: () => duck.close(),
  };
}
