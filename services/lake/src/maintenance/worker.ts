import { rm } from 'node:fs/promises';
import { createNotifier, type Owners, type Worker } from '@stak/kit';
import type { Erased } from '../erasure/erasure.ts';
import type { LakeTable } from '../lake-table.ts';
import * as limits from '../limits.ts';
import { takeLease } from '../storage/leases.ts';
import { listRequests, type Request } from '../storage/requests.ts';
import type { Owner } from '../tables.ts';
import { createTableWork, type TableWorkDeps } from './table-work.ts';

type WorkerDeps = TableWorkDeps & {
  owners: Owners;
  eraseFirst(owner: Owner): Promise<Erased>;
  eraseTexts(owners: readonly Owner[]): Promise<Erased>;
  eraseAgain(): Promise<boolean>;
};

// Everything except capture, one task at a time.
export function createMaintenanceWorker(deps: WorkerDeps) {
  const { lakeTables, objects, clock, log, owners } = deps;
  const tableWork = createTableWork(deps);
  const lease = { objects, clock, owners, leaseMs: limits.leaseMs };
  const notifier = createNotifier(clock);
  let hasChanged = true; // something was captured in this process since the tables were checked
  let isAsked = true; // a reader of this process has stored a request
  let isIdle = false; // it has looked at everything, and waits

  // True if it did something, because there may be more to do.
  async function maintainTable(lakeTable: LakeTable): Promise<boolean> {
    const work = await tableWork.find(lakeTable);
    if (work) await tableWork.run(lakeTable, work);
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
      const work = await tableWork.find(lakeTable, signal);
      // Nothing to do, except for Iceberg tables that were written a moment ago and have to wait.
      if (!work) return lakeTable.iceberg.isBehind(await lakeTable.manifest.read()) ? undefined : false;
      if (!(await takeLease({ ...lease, owner }, name))) {
        lakeTable.iceberg.postpone();
        return undefined;
      }
      await tableWork.run(lakeTable, work);
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
    name: 'lake maintenance',
    async run(signal) {
      const owner = owners.next();
      const lookedAt = { tables: 0, requests: 0, erasures: 0 };
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
        if (hasChanged || isAsked) continue;
        isIdle = true;
        await notifier.wait(limits.requestLookMs - limits.keepMs, signal);
        isIdle = false;
      }
    },
  };

  // A reader did not find a file that the manifest names. It does not say whose, so all tables are checked.
  function lookForLost(): void {
    for (const lakeTable of lakeTables) tableWork.suspect(lakeTable);
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

  return { maintainTable, lookForLost, noteChange, noteRequest, isIdle: () => isIdle, worker };
}
