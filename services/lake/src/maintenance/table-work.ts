import type { Clock, Logger } from '@stak/kit';
import type { DynamoClient } from '@stak/table';
import { beginBackfill, continueBackfill, needsBackfill } from '../capture/backfill.ts';
import { redriveLetters } from '../capture/redrive.ts';
import { sweepCopies } from '../catalog/copies.ts';
import { compactEntity, isDue } from '../compaction/compaction.ts';
import type { GoldDeps } from '../compaction/gold.ts';
import {
  deleteGarbage,
  deleteOrphans,
  dropOldFiles,
  dropSpentTexts,
  hasGarbage,
  mergeSmallFiles,
  smallFiles,
  spentTexts,
} from '../compaction/retention.ts';
import { isGone, type LakeTable } from '../lake-table.ts';
import * as limits from '../limits.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { dropLostFiles } from './lost-files.ts';

export type TableWorkDeps = GoldDeps & {
  lakeTables: readonly LakeTable[];
  objects: ObjectStore;
  client: DynamoClient;
  clock: Clock;
  log: Logger;
  bronzeDays: number;
};

type TableWork = () => Promise<unknown>;

// Finds and does the work of one table: publish, backfill, compact, merge, delete, sweep.
export function createTableWork(deps: TableWorkDeps) {
  const { lakeTables, objects, client, clock, log, bronzeDays } = deps;
  const sweptAt = new Map<LakeTable, number>();
  const suspects = new Set<LakeTable>(); // a reader did not find one of their files

  // The next task for a table, if there is one. Finding it is cheap.
  async function find(lakeTable: LakeTable, signal?: AbortSignal): Promise<TableWork | undefined> {
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
    // A fix comes with a new version, and so with a new process. So the first sweep of a process retries the letters.
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

  async function run(lakeTable: LakeTable, work: TableWork): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isGone(error)) suspects.add(lakeTable);
      throw error;
    }
  }

  return { find, run, suspect: (lakeTable: LakeTable): void => void suspects.add(lakeTable) };
}
