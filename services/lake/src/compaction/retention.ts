import type { LakeTable } from '../lake-table.ts';
import * as limits from '../limits.ts';
import { dayOf, hasBronzeFormat } from '../storage/bronze-file.ts';
import { type ListedFile, namedFiles, type State } from '../storage/manifest-state.ts';
import { keyPart } from '../storage/objects.ts';
import { type RewriteDeps, replaceFiles, rewriteFiles } from './rewrite-files.ts';

// Whether silver includes the file: from then on it is history. Items of no entity have no silver.
export const isSettled = (state: State, lakeTable: LakeTable, file: ListedFile): boolean =>
  !lakeTable.plan.entities.has(file.entity) || file.commit <= (state.silver[file.entity]?.through ?? 0);

// Small files of one entity and day, if there are enough to merge: history, or changes since a silver that is too large
// to be rewritten for them.
export function smallFiles(lakeTable: LakeTable, state: State): ListedFile[] | undefined {
  const groups = new Map<string, { files: ListedFile[]; most: number }>();
  for (const file of state.files.values()) {
    if (file.bytes >= limits.smallFileBytes) continue;
    const isHistory = isSettled(state, lakeTable, file);
    const name = `${file.entity} ${file.day} ${isHistory}`;
    const group = groups.get(name) ?? {
      files: [],
      most: isHistory ? limits.smallFiles : limits.recentFiles,
    };
    // Files of earlier versions are rewritten in any number.
    if (!hasBronzeFormat(file)) group.most = 1;
    group.files.push(file);
    groups.set(name, group);
  }
  return [...groups.values()].find(({ files, most }) => files.length >= most)?.files;
}

export async function mergeSmallFiles(
  lakeTable: LakeTable,
  deps: RewriteDeps,
  files: readonly ListedFile[],
): Promise<boolean> {
  return replaceFiles(lakeTable, files, await rewriteFiles(lakeTable, deps, files, 'true'));
}

// Texts have no history: silver contains the current ones.
export const spentTexts = (lakeTable: LakeTable, state: State): string[] =>
  [...(lakeTable.plan.texts.size > 0 ? state.files.values() : [])]
    .filter(file => lakeTable.plan.texts.has(file.entity) && isSettled(state, lakeTable, file))
    .map(({ path }) => path);

export async function dropSpentTexts(lakeTable: LakeTable): Promise<void> {
  const { manifest, clock } = lakeTable;
  await manifest.commit(state => {
    const drop = spentTexts(lakeTable, state);
    return drop.length === 0 ? undefined : { at: clock.now(), drop };
  });
}

// Deletes history that is too old.
export async function dropOldFiles(lakeTable: LakeTable, bronzeDays: number): Promise<void> {
  const { manifest, clock } = lakeTable;
  const first = dayOf(clock.now() - bronzeDays * 24 * 60 * 60_000);
  await manifest.commit(state => {
    const old = [...state.files.values()].filter(
      file => file.day < first && isSettled(state, lakeTable, file),
    );
    return old.length === 0 ? undefined : { at: clock.now(), drop: old.map(({ path }) => path) };
  });
}

const garbageOf = ({ clock }: LakeTable, { garbage }: State, olderThanMs: number): string[] =>
  garbage.filter(({ since }) => since <= clock.now() - olderThanMs).map(({ path }) => path);

export const hasGarbage = (lakeTable: LakeTable, state: State): boolean =>
  garbageOf(lakeTable, state, limits.garbageMs).length > 0;

// Deletes objects that the manifest no longer names, once no reader can have them open.
export async function deleteGarbage(lakeTable: LakeTable, olderThanMs: number): Promise<void> {
  const { manifest, objects, clock } = lakeTable;
  const state = await manifest.read();
  const deleted = garbageOf(lakeTable, state, olderThanMs);
  if (deleted.length > 0) await lakeTable.iceberg.letGo(state, deleted, clock.now() - olderThanMs);
  for (const path of deleted) await objects.delete(path);
  if (deleted.length > 0) await manifest.commit(() => ({ at: clock.now(), deleted }));
}

export const foldersOf = (table: string): string[] =>
  ['bronze', 'silver', 'gold'].map(kind => `${kind}/table=${keyPart(table)}/`);

// Objects that were written by a process that died before it could list them.
export async function deleteOrphans({ manifest, objects, clock, plan }: LakeTable): Promise<number> {
  const state = await manifest.read();
  const known = new Set([
    ...namedFiles(state).keys(),
    ...state.letters.map(({ path }) => path),
    ...state.garbage.map(({ path }) => path),
  ]);
  let count = 0;
  for (const folder of [...foldersOf(plan.table.name), `dead-letters/${keyPart(plan.table.name)}/`])
    for await (const { key, changedAt } of objects.list(folder)) {
      // Objects written while the list was made are young.
      if (known.has(key) || changedAt > clock.now() - limits.orphanMs) continue;
      await objects.delete(key);
      count += 1;
    }
  return count;
}
