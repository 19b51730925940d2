import { rm } from 'node:fs/promises';
import type { Clock, Ids, Logger, Worker } from '@stak/kit';
import type { DynamoClient } from '@stak/table';
import { beginBackfill, continueBackfill, needsBackfill } from './backfill.ts';
import { compactEntity, isDue } from './compaction.ts';
import type { GoldDeps } from './gold.ts';
import { takeLease } from './leases.ts';
import * as limits from './limits.ts';
import { dropLostFiles } from './lost-files.ts';
import { isGone, type Part } from './parts.ts';
import { redriveLetters } from './redrive.ts';
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
  client: DynamoClient;
  clock: Clock;
  ids: Ids;
  log: Logger;
  bronzeDays: number;
  eraseAgain(): Promise<boolean>;
};

// Everything that has to be done besides capturing, one thing at a time.
export function createKeeper(deps: KeeperDeps) {
  const { parts, client, clock, log, bronzeDays } = deps;
  const sweptAt = new Map<Part, number>();
  const suspects = new Set<Part>(); // somebody missed a file of theirs

  // The next thing to do for a table, if there is any. Looking costs next to nothing.
  async function findWork(part: Part, signal?: AbortSignal): Promise<(() => Promise<unknown>) | undefined> {
    const state = await part.manifest.read();
    if (suspects.has(part)) return () => findLost(part);
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

  async function sweep(part: Part): Promise<void> {
    sweptAt.set(part, clock.now());
    // What was repaired came with a new process, so the first sweep of each tries them again.
    await redriveLetters(part);
    await dropOldFiles(part, bronzeDays);
    await findLost(part);
    await deleteOrphans(part);
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

  async function keepShared(part: Part, owner: string, signal: AbortSignal): Promise<boolean> {
    const { name } = part.plan.table;
    try {
      const work = await findWork(part, signal);
      if (!work) return false;
      const { objects } = part;
      if (!(await takeLease({ objects, clock, owner, leaseMs: limits.leaseMs }, name))) return false;
      await doWork(part, work);
      return true;
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, table: name }, 'the lake could not be kept');
      return false;
    }
  }

  const worker: Worker = {
    name: 'lake keeper',
    async run(signal) {
      const owner = deps.ids.next('own');
      let lookedAt = clock.now();
      await rm(deps.scratch, { recursive: true, force: true }); // what a process that was killed left behind
      while (!signal.aborted) {
        let isBusy = false;
        for (const part of parts)
          if (!signal.aborted) isBusy = (await keepShared(part, owner, signal)) || isBusy;
        if (clock.now() - lookedAt >= limits.eraseLookMs) {
          const hasMore = await deps.eraseAgain();
          if (!hasMore) lookedAt = clock.now();
        }
        if (!isBusy) await clock.sleep(limits.keepMs, signal).catch(() => {});
      }
    },
  };

  // A reader found a file missing that the manifest names: one of these tables has lost it.
  function lookForLost(): void {
    for (const part of parts) suspects.add(part);
  }

  return { keepTable, lookForLost, worker };
}
