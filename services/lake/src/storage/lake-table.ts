import type { Clock, Ids, Logger } from '@stak/kit';
import { type Column, columnsOf, signatureOf } from '../compaction/columns.ts';
import type { CurrentSources } from '../compaction/current-sql.ts';
import { DuckError } from '../duckdb/duck.ts';
import type { LakeTables } from '../iceberg/iceberg-tables.ts';
import type { FollowedEntity, Plan } from '../tables.ts';
import type { Manifest } from './manifest.ts';
import { recentFiles, type State } from './manifest-state.ts';
import type { ObjectStore } from './objects.ts';

// One table of the lake: its design, its manifest and where its objects lie.
export type Part = {
  readonly plan: Plan;
  readonly manifest: Manifest;
  readonly tables: LakeTables; // the same for engines that read Iceberg
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
};

export const entityOf = ({ plan }: Part, name: string): FollowedEntity => plan.entities.get(name)!;

export const columnsFor = (part: Part, entity: string): Column[] => columnsOf(entityOf(part, entity));

// A file that the manifest named when it was read, and that was replaced since. Reading again helps.
export class GoneError extends Error {
  override readonly name = 'GoneError';
}

export async function locateAll(objects: ObjectStore, keys: readonly string[]): Promise<string[]> {
  return Promise.all(
    keys.map(async key => {
      const path = await objects.locate(key);
      if (path === undefined) throw new GoneError(`${key} is gone`);
      return path;
    }),
  );
}

// The files an entity's current state is made of, here on this machine. The state is looked at before anything is
// waited for.
export async function locateCurrent(part: Part, state: State, entity: string): Promise<CurrentSources> {
  const columns = columnsFor(part, entity);
  const { completeGeneration } = state;
  const silver = state.silver[entity];
  const recent = recentFiles(state, entity).map(({ path }) => path);
  const isFlat = silver?.signature === signatureOf(columns);
  const [silverPath] = silver ? await locateAll(part.objects, [silver.path]) : [];
  return {
    columns,
    silver: silverPath === undefined ? undefined : { path: silverPath, isFlat },
    recent: await locateAll(part.objects, recent),
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

// A file that is not there, or not all of it.
export const isGone = (error: unknown): boolean =>
  error instanceof GoneError || (error instanceof DuckError && goneShape.test(error.message));

const goneShape = /No files found|No such file|too small to be a Parquet file|No magic bytes found/;
