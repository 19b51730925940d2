import { rm } from 'node:fs/promises';
import { type Clock, createNotifier, type Ids, type Logger, type Owners, type Worker } from '@stak/kit';
import type { DynamoClient } from '@stak/table';
import { beginBackfill, continueBackfill, needsBackfill } from '../capture/backfill.ts';
import { redriveLetters } from '../capture/redrive.ts';
import { compactEntity, isDue } from '../compaction/compaction.ts';
import type { GoldDeps } from '../compaction/gold.ts';
import type { Erased } from '../erasure/erasure.ts';
import { sweepCopies } from '../iceberg/copies.ts';
import * as limits from '../limits.ts';
import { isGone, type LakeTable } from '../storage/lake-table.ts';
import { takeLease } from '../storage/leases.ts';
import type { ObjectStore } from '../storage/objects.ts';
import type { Owner } from '../tables.ts';
import { dropLostFiles } from './lost-files.ts';
import { listRequests, type Request } from './requests.ts';
import {
  deleteGarbage,
  deleteOrphans,
  dropOldFiles,
  dropSpentTexts,
  hasGarbage,
  mergeSmallFiles,
  smallFiles,
  spentTexts,
} from './retention.ts';

type WorkerDeps = GoldDeps & {
  lakeTables: readonly LakeTable[];
  objects: ObjectStore;
  client: DynamoClient;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners: Owners;
  bronzeDays: number;
  eraseFirst(owner: Owner): Promise<Erased>;
  eraseTexts(owners: readonly Owner[]): Promise<Erased>;
  eraseAgain(): Promise<boolean>;
};

// Everything except capture, one task at a time.
export function createMaintenanceWorker(deps: WorkerDeps) {
  const { lakeTables, objects, client, clock, log, owners, bronzeDays } = deps;
  const lease = { objects, clock, owners, leaseMs: limits.leaseMs };
  const notifier = createNotifier(clock);
  let hasChanged = true; // something was captured in this process since the tables were checked
  let isAsked = true; // a reader of this process has stored a request
  const sweptAt = new Map<LakeTable, number>();
  const suspects = new Set<LakeTable>(); // a reader did not find a file of theirs

  // The next task for a table, if there is one. Finding it is cheap.
  async function findWork(
    lakeTable: LakeTable,
    signal?: AbortSignal,
  ): Promise<(() => Promise<unknown>) | undefined> {
    const state = await lakeTable.manifest.read();
    if (suspects.has(lakeTable)) return () => findLost(lakeTable);
    if (lakeTable.iceberg.isDue(state)) return () => publishTables(lakeTable);
    if (needsBackfill(state))
      return async () => {
        await beginBackfill(lakeTable);
        await continueBackfill(lakeTable, client, signal);
      };
    const due = [...lakeTable.plan.entities.keys()].find(entity =>
      isDue(lakeTable, state, entity, deps.insights),
    );
    if (due !== undefined) return () => compactEntity(lakeTable, due, deps);
    if (spentTexts(lakeTable, state).length > 0) return () => dropSpentTexts(lakeTable);
    const small = smallFiles(lakeTable, state);
    if (small) return () => mergeSmallFiles(lakeTable, deps, small);
    if (hasGarbage(lakeTable, state)) return () => deleteGarbage(lakeTable, limits.garbageMs);
    if (clock.now() - (sweptAt.get(lakeTable) ?? 0) >= limits.sweepMs) return () => sweep(lakeTable);
    return undefined;
  }

  // A failure here must not stop the lake. A lost file is often noticed here first.
  async function publishTables(lakeTable: LakeTable): Promise<void> {
    try {
      await lakeTable.iceberg.publish(await lakeTable.manifest.read());
    } catch (error) {
      if (isGone(error)) suspects.add(lakeTable);
      else log.error({ err: error, table: lakeTable.plan.table.name }, 'Iceberg tables could not be written');
    }
  }

  async function sweep(lakeTable: LakeTable): Promise<void> {
    sweptAt.set(lakeTable, clock.now());
    // A repair comes with a new version, hence a new process. So the first sweep of a process retries the letters.
    await redriveLetters(lakeTable);
    await dropOldFiles(lakeTable, bronzeDays);
    await findLost(lakeTable);
    await deleteOrphans(lakeTable);
    await lakeTable.iceberg.sweep(await lakeTable.manifest.read());
    if (lakeTable === lakeTables[0]) await sweepCopies(objects, clock);
  }

  async function findLost(lakeTable: LakeTable): Promise<void> {
    await dropLostFiles(lakeTable, deps);
    suspects.delete(lakeTable);
  }

  async function doWork(lakeTable: LakeTable, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isGone(error)) suspects.add(lakeTable);
      throw error;
    }
  }

  // True if it did something, because there may be more to do.
  async function maintainTable(lakeTable: LakeTable): Promise<boolean> {
    const work = await findWork(lakeTable);
    if (work) await doWork(lakeTable, work);
    return work !== undefined;
  }

  // Undefined if there is something to do and another process holds the lease.
  async function maintainShared(
    lakeTable: LakeTable,
    owner: string,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const { name } = lakeTable.plan.table;
    try {
      const work = await findWork(lakeTable, signal);
      // Nothing to do, except for Iceberg tables that were written a moment ago and have to wait.
      if (!work) return lakeTable.iceberg.isBehind(await lakeTable.manifest.read()) ? undefined : false;
      if (!(await takeLease({ ...lease, owner }, name))) {
        lakeTable.iceberg.postpone();
        return undefined;
      }
      await doWork(lakeTable, work);
      return true;
    } catch (error) {
      if (!signal.aborted)
        log.error({ err: error, table: name }, 'maintenance of a table failed, trying again');
      return undefined;
    }
  }

  async function maintainAll(owner: string, signal: AbortSignal): Promise<boolean> {
    hasChanged = false;
    let isBusy = false;
    for (const lakeTable of lakeTables) {
      if (signal.aborted) return false;
      const outcome = await maintainShared(lakeTable, owner, signal);
      isBusy ||= outcome === true;
      hasChanged ||= outcome === undefined;
    }
    return isBusy;
  }

  // True if there is more to do at once.
  async function doRequests(owner: string): Promise<boolean> {
    isAsked = false;
    let hasMore = false;
    try {
      for (const { key, request } of await listRequests(objects)) {
        if (!(await takeLease({ ...lease, owner }, 'requests'))) return false;
        if ((await doRequest(request)) === 'done') await objects.delete(key);
        else hasMore = true;
      }
    } catch (error) {
      log.error({ err: error }, 'a request to the lake failed, trying again');
    }
    return hasMore;
  }

  async function doRequest(request: Request): Promise<Erased> {
    if (request.kind === 'erase') return deps.eraseFirst(request.owner);
    if (request.kind === 'erase texts') return deps.eraseTexts(request.owners);
    lookForLost();
    return 'done';
  }

  // In a bucket every check costs requests. So captures and requests of this process wake the worker, and those of
  // other processes are looked for at intervals.
  const worker: Worker = {
    name: 'lake keeper',
    async run(signal) {
      const owner = owners.next();
      const startedAt = clock.now();
      const lookedAt = { tables: 0, requests: 0, erasures: startedAt };
      const isTime = (what: keyof typeof lookedAt, everyMs: number): boolean =>
        clock.now() - lookedAt[what] >= everyMs;
      await rm(deps.scratch, { recursive: true, force: true }); // left by a process that was killed
      while (!signal.aborted) {
        let isBusy = false;
        if (isAsked || isTime('requests', limits.requestLookMs)) {
          lookedAt.requests = clock.now();
          isBusy = await doRequests(owner);
          isAsked ||= isBusy;
        }
        if (hasChanged || isTime('tables', limits.idleLookMs)) {
          lookedAt.tables = clock.now();
          const hasMore = await maintainAll(owner, signal);
          hasChanged ||= hasMore;
          isBusy ||= hasMore;
        }
        if (isTime('erasures', limits.eraseLookMs) && !(await deps.eraseAgain()))
          lookedAt.erasures = clock.now();
        if (isBusy) continue;
        await clock.sleep(limits.keepMs, signal).catch(() => {});
        if (!hasChanged && !isAsked) await notifier.wait(limits.requestLookMs - limits.keepMs, signal);
      }
    },
  };

  // A reader did not find a file that the manifest names. It does not say whose, so all tables are checked.
  function lookForLost(): void {
    for (const lakeTable of lakeTables) suspects.add(lakeTable);
    noteChange();
  }

  function noteChange(): void {
    hasChanged = true;
    notifier.notify();
  }

  function noteRequest(): void {
    isAsked = true;
    notifier.notify();
  }

  return { maintainTable, lookForLost, noteChange, noteRequest, worker };
}
