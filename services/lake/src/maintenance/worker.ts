import { rm } from 'node:fs/promises';
import { type Clock, createBell, type Ids, type Logger, type Owners, type Worker } from '@stak/kit';
import type { DynamoClient } from '@stak/table';
import { beginBackfill, continueBackfill, needsBackfill } from '../capture/backfill.ts';
import { redriveLetters } from '../capture/redrive.ts';
import { compactEntity, isDue } from '../compaction/compaction.ts';
import type { GoldDeps } from '../compaction/gold.ts';
import type { Erased } from '../erasure/erasure.ts';
import { sweepCopies } from '../iceberg/copies.ts';
import * as limits from '../limits.ts';
import { isGone, type Part } from '../storage/lake-table.ts';
import { takeLease } from '../storage/leases.ts';
import type { ObjectStore } from '../storage/objects.ts';
import type { Owner } from '../tables.ts';
import { dropLostFiles } from './lost-files.ts';
import { listRequests, type Request } from './requests.ts';
import {
  deleteGarbage,
  deleteOrphans,
  dropOldFiles,
  hasGarbage,
  mergeSmallFiles,
  smallFiles,
} from './retention.ts';

export type KeeperDeps = GoldDeps & {
  parts: readonly Part[];
  objects: ObjectStore;
  client: DynamoClient;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners: Owners;
  bronzeDays: number;
  eraseFirst(owner: Owner): Promise<Erased>;
  eraseAgain(): Promise<boolean>;
};

// Everything that has to be done besides capturing, one thing at a time.
export function createKeeper(deps: KeeperDeps) {
  const { parts, objects, client, clock, log, owners, bronzeDays } = deps;
  const lease = { objects, clock, owners, leaseMs: limits.leaseMs };
  const bell = createBell(clock);
  let hasChanged = true; // something was captured here since the tables were looked at
  let isAsked = true; // somebody near has a request
  const sweptAt = new Map<Part, number>();
  const suspects = new Set<Part>(); // somebody missed a file of theirs

  // The next thing to do for a table, if there is any. Looking costs next to nothing.
  async function findWork(part: Part, signal?: AbortSignal): Promise<(() => Promise<unknown>) | undefined> {
    const state = await part.manifest.read();
    if (suspects.has(part)) return () => findLost(part);
    if (part.tables.isDue(state)) return () => publishTables(part);
    if (needsBackfill(state))
      return async () => {
        await beginBackfill(part);
        await continueBackfill(part, client, signal);
      };
    const due = [...part.plan.entities.keys()].find(entity => isDue(part, state, entity, deps.insights));
    if (due !== undefined) return () => compactEntity(part, due, deps);
    const small = smallFiles(part, state);
    if (small) return () => mergeSmallFiles(part, deps, small);
    if (hasGarbage(part, state)) return () => deleteGarbage(part, limits.garbageMs);
    if (clock.now() - (sweptAt.get(part) ?? 0) >= limits.sweepMs) return () => sweep(part);
    return undefined;
  }

  // Whatever is wrong with them, the lake itself goes on. A file that is lost is found missing here first.
  async function publishTables(part: Part): Promise<void> {
    try {
      await part.tables.publish(await part.manifest.read());
    } catch (error) {
      if (isGone(error)) suspects.add(part);
      else log.error({ err: error, table: part.plan.table.name }, 'Iceberg tables could not be written');
    }
  }

  async function sweep(part: Part): Promise<void> {
    sweptAt.set(part, clock.now());
    // What was repaired came with a new process, so the first sweep of each tries them again.
    await redriveLetters(part);
    await dropOldFiles(part, bronzeDays);
    await findLost(part);
    await deleteOrphans(part);
    await part.tables.sweep(await part.manifest.read());
    if (part === parts[0]) await sweepCopies(objects, clock);
  }

  async function findLost(part: Part): Promise<void> {
    await dropLostFiles(part, deps);
    suspects.delete(part);
  }

  async function doWork(part: Part, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isGone(error)) suspects.add(part);
      throw error;
    }
  }

  // True if something was done: then there may be more.
  async function keepTable(part: Part): Promise<boolean> {
    const work = await findWork(part);
    if (work) await doWork(part, work);
    return work !== undefined;
  }

  // Undefined if there is something to do and somebody else holds the table.
  async function keepShared(part: Part, owner: string, signal: AbortSignal): Promise<boolean | undefined> {
    const { name } = part.plan.table;
    try {
      const work = await findWork(part, signal);
      // Nothing else is to be done, and its tables are not written yet because they were a moment ago.
      if (!work) return part.tables.isBehind(await part.manifest.read()) ? undefined : false;
      if (!(await takeLease({ ...lease, owner }, name))) {
        part.tables.postpone();
        return undefined;
      }
      await doWork(part, work);
      return true;
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, table: name }, 'the lake could not be kept');
      return undefined;
    }
  }

  async function keepAll(owner: string, signal: AbortSignal): Promise<boolean> {
    hasChanged = false;
    let isBusy = false;
    for (const part of parts) {
      if (signal.aborted) return false;
      const outcome = await keepShared(part, owner, signal);
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
    lookForLost();
    return 'done';
  }

  // Looking costs requests where the lake lies in a bucket. So what was captured here, and who asks here, is heard of;
  // what others did is looked for, ever so often.
  const worker: Worker = {
    name: 'lake keeper',
    async run(signal) {
      const owner = owners.next();
      const startedAt = clock.now();
      const lookedAt = { tables: 0, requests: 0, erasures: startedAt };
      const isTime = (what: keyof typeof lookedAt, everyMs: number): boolean =>
        clock.now() - lookedAt[what] >= everyMs;
      await rm(deps.scratch, { recursive: true, force: true }); // what a process that was killed left behind
      while (!signal.aborted) {
        let isBusy = false;
        if (isAsked || isTime('requests', limits.requestLookMs)) {
          lookedAt.requests = clock.now();
          isBusy = await doRequests(owner);
          isAsked ||= isBusy;
        }
        if (hasChanged || isTime('tables', limits.idleLookMs)) {
          lookedAt.tables = clock.now();
          const hasMore = await keepAll(owner, signal);
          hasChanged ||= hasMore;
          isBusy ||= hasMore;
        }
        if (isTime('erasures', limits.eraseLookMs) && !(await deps.eraseAgain()))
          lookedAt.erasures = clock.now();
        if (isBusy) continue;
        await clock.sleep(limits.keepMs, signal).catch(() => {});
        if (!hasChanged && !isAsked) await bell.wait(limits.requestLookMs - limits.keepMs, signal);
      }
    },
  };

  // A reader found a file missing that the manifest names: one of these tables has lost it.
  function lookForLost(): void {
    for (const part of parts) suspects.add(part);
    noteChange();
  }

  function noteChange(): void {
    hasChanged = true;
    bell.ring();
  }

  function noteRequest(): void {
    isAsked = true;
    bell.ring();
  }

  return { keepTable, lookForLost, noteChange, noteRequest, worker };
}
