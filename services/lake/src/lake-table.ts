import type { Clock, Ids, Logger } from '@stak/kit';
import type { SharedDeps } from './deps.ts';
import { DuckError } from './duckdb/duck.ts';
import { createIcebergTables, type IcebergTables } from './iceberg/iceberg-tables.ts';
import { type Column, columnsOf, signatureOf } from './layers/columns.ts';
import type { CurrentSources } from './layers/current-sql.ts';
import { type Manifest, openManifest } from './storage/manifest.ts';
import { recentFiles, type State } from './storage/manifest-state.ts';
import { GoneError, type ObjectStore } from './storage/objects.ts';
import { type FollowedEntity, noTexts, type Plan, planOf, type Texts } from './tables.ts';

// One followed table: its plan, its manifest and its objects.
export type LakeTable = {
  readonly plan: Plan;
  readonly manifest: Manifest;
  readonly iceberg: IcebergTables; // the same files, as Iceberg tables
  readonly objects: ObjectStore;
  readonly texts: Texts;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
};

export const openLakeTables = ({ tables, insights = [], ...deps }: SharedDeps): LakeTable[] =>
  tables.map(table => {
    const { objects, clock, ids, log, icebergMs, texts = noTexts } = deps;
    const plan = planOf(table);
    const manifest = openManifest(objects, plan.table.name, clock);
    const iceberg = createIcebergTables({
      plan,
      objects,
      clock,
      insights,
      ...(icebergMs !== undefined && { everyMs: icebergMs }),
    });
    return { plan, manifest, iceberg, objects, texts, clock, ids, log };
  });

const entityOf = ({ plan }: LakeTable, name: string): FollowedEntity => plan.entities.get(name)!;

export const columnsFor = (lakeTable: LakeTable, entity: string): Column[] =>
  columnsOf(entityOf(lakeTable, entity));

export async function locateAll(objects: ObjectStore, keys: readonly string[]): Promise<string[]> {
  return Promise.all(
    keys.map(async key => {
      const path = await objects.locate(key);
      if (path === undefined) throw new GoneError(`${key} is gone`);
      return path;
    }),
  );
}

// Local copies of the files that hold an entity's current state. Reads the state before the first await.
export async function locateCurrent(
  lakeTable: LakeTable,
  state: State,
  entity: string,
): Promise<CurrentSources> {
  const columns = columnsFor(lakeTable, entity);
  const { completeGeneration } = state;
  const silver = state.silver[entity];
  const recent = recentFiles(state, entity).map(({ path }) => path);
  const isFlat = silver?.signature === signatureOf(columns);
  const [silverPath] = silver ? await locateAll(lakeTable.objects, [silver.path]) : [];
  return {
    columns,
    silver: silverPath === undefined ? undefined : { path: silverPath, isFlat },
    recent: await locateAll(lakeTable.objects, recent),
    generation: completeGeneration,
  };
}

const attempts = 3; // a file is replaced every few minutes at most

export async function whileFilesLast<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts || !isGone(error)) throw error;
    }
  }
}

// A file is missing or incomplete.
export const isGone = (error: unknown): boolean =>
  error instanceof GoneError || (error instanceof DuckError && goneShape.test(error.message));

const goneShape = /No files found|No such file|too small to be a Parquet file|No magic bytes found/;
