import type { Worker } from '@stak/kit';
import type { DynamoClient } from '@stak/table';
import { beginBackfill, continueBackfill, needsBackfill } from './backfill.ts';
import { type CompactionDeps, compactEntity, isDue } from './compaction.ts';
import { takeLease } from './leases.ts';
import * as limits from './limits.ts';
import type { Part } from './parts.ts';
import { deleteGarbage, deleteOrphans, dropOldFiles, mergeSmallFiles } from './retention.ts';

export type KeeperDeps = CompactionDeps & {
  parts: readonly Part[];
  client: DynamoClient;
  bronzeDays: number;
  eraseAgain(): Promise<boolean>;
};

// Everything that has to be done besides capturing, one table at a time, by one process at a time.
export function createKeeper(deps: KeeperDeps) {
  const { parts, client, bronzeDays } = deps;
  const sweptAt = new Map<Part, number>();

  // Answers whether it did anything: then there may be more of it.
  async function keepTable(part: Part, signal?: AbortSignal): Promise<boolean> {
    const state = await part.manifest.read();
    if (needsBackfill(state)) {
      await beginBackfill(part);
      return continueBackfill(part, client, signal);
    }
    const due = [...part.plan.entities.keys()].find(entity => isDue(part, state, entity, deps.insights));
    if (due !== undefined) return compactEntity(part, due, deps);
    if (await mergeSmallFiles(part, deps)) return true;
    await deleteGarbage(part, limits.garbageMs);
    const nowMs = part.clock.now();
    if (nowMs - (sweptAt.get(part) ?? 0) >= limits.sweepMs) {
      sweptAt.set(part, nowMs);
      await dropOldFiles(part, bronzeDays);
      await deleteOrphans(part);
    }
    return false;
  }

  async function keepAll(owner: string, signal: AbortSignal): Promise<boolean> {
    let didSomething = false;
    for (const part of parts) {
      if (signal.aborted) return false;
      const { objects, clock, log, plan } = part;
      try {
        const lease = await takeLease({ objects, clock, owner, leaseMs: limits.leaseMs }, plan.table.name);
        if (lease) didSomething = (await keepTable(part, signal)) || didSomething;
      } catch (error) {
        if (signal.aborted) return false;
        log.error({ err: error, table: plan.table.name }, 'the lake could not be kept');
      }
    }
    return (await deps.eraseAgain()) || didSomething;
  }

  const worker = (part: Part): Worker => ({
    name: 'lake keeper',
    async run(signal) {
      const owner = part.ids.next('own');
      while (!signal.aborted) {
        const isBusy = await keepAll(owner, signal);
        if (!isBusy) await part.clock.sleep(limits.keepMs, signal).catch(() => {});
      }
    },
  });

  return { keepTable, workers: parts.slice(0, 1).map(worker) };
}
