import { join } from 'node:path';
import { unknownOwners, type Worker } from '@stak/kit';
import type { Subscription } from '@stak/streams';
import { beginBackfill } from '../capture/backfill.ts';
import { captureChanges } from '../capture/capture.ts';
import { redriveLetters } from '../capture/redrive.ts';
import type { MaintenanceDeps } from '../deps.ts';
import { createMaintenanceDuck } from '../duckdb/duck.ts';
import { createEraser } from '../erasure/eraser.ts';
import { lakeErrors } from '../errors.ts';
import { type LakeTable, openLakeTables } from '../lake-table.ts';
import * as limits from '../limits.ts';
import { createReach } from '../storage/reach.ts';
import { createMaintenanceWorker } from './worker.ts';

// The entry point of a thread that runs the maintenance alone. It loads no HTTP.

export type { MaintenanceDeps } from '../deps.ts';
export { folderObjects } from '../storage/folder-objects.ts';
export type { ObjectStore } from '../storage/objects.ts';
export { listRequests } from '../storage/requests.ts';
export { type S3Options, s3Objects } from '../storage/s3-objects.ts';
export {
  type FollowedEntity,
  type FollowedTable,
  follow,
  type Owner,
  type Texts,
} from '../tables.ts';

// Captures, compacts, repairs and erases, without a reader.
export const createLakeMaintenance = (deps: MaintenanceDeps) => createMaintenance(deps, openLakeTables(deps));

export function createMaintenance(deps: MaintenanceDeps, lakeTables: readonly LakeTable[]) {
  const { objects, clock, ids, log, client, insights = [], scratch } = deps;
  const { flushMs = limits.flushMs, bronzeDays = limits.bronzeDays, duck = createMaintenanceDuck() } = deps;
  const files = { duck, scratch: join(scratch, 'keeping') };
  const { eraser, ...erasing } = createEraser({ ...deps, ...files, lakeTables });
  const owners = deps.owners ?? unknownOwners(ids);
  const worker = createMaintenanceWorker({
    ...files,
    ...erasing,
    lakeTables,
    objects,
    client,
    clock,
    log,
    owners,
    insights,
    bronzeDays,
  });
  const lakeTableOf = (table: string): LakeTable => {
    const found = lakeTables.find(({ plan }) => plan.table.name === table);
    if (!found) throw lakeErrors.create('lake.table_not_found', `The lake does not follow ${table}.`);
    return found;
  };

  // Changes that the stream has lost are still in the table.
  const backfill = async (lakeTable: LakeTable) => {
    await beginBackfill(lakeTable);
    worker.noteChange();
  };

  const reach = createReach({ objects, clock, log });

  return {
    subscriptions: lakeTables.map(lakeTable =>
      captureChanges({
        ...lakeTable,
        flushMs,
        reach,
        onCaptured: worker.noteChange,
        recover: () => backfill(lakeTable),
      }),
    ) as Subscription[],
    workers: [worker.worker] as Worker[],
    eraser,
    lookForLost: worker.lookForLost,
    // A reader has stored a request.
    wake: worker.noteRequest,
    // Nothing is left to do for what was captured and requested so far.
    isIdle: worker.isIdle,
    // One step of the worker for a table. True if there may be more to do.
    keep: (table: string) => worker.maintainTable(lakeTableOf(table)),
    eraseTexts: erasing.eraseTexts,
    eraseAgain: erasing.eraseAgain,
    redrive: (table: string) => redriveLetters(lakeTableOf(table)),
    // Reads the whole table again, after changes were lost because nothing read the stream for a day.
    backfill: (table: string) => backfill(lakeTableOf(table)),
    close: () => duck.close(),
  };
}
