import { eraseCopies } from '../catalog/copies.ts';
import { deleteGarbage } from '../compaction/retention.ts';
import { type RewriteDeps, replaceFiles, rewriteFiles } from '../compaction/rewrite-files.ts';
import { quoteText } from '../duckdb/sql-text.ts';
import { type LakeTable, locateAll, locateCurrent, whileFilesLast } from '../lake-table.ts';
import { currentRows, isPresent } from '../layers/current-sql.ts';
import * as limits from '../limits.ts';
import { ownerCondition } from '../scope.ts';
import type { ListedFile } from '../storage/manifest-state.ts';
import type { Owner } from '../tables.ts';
import { eraseGold, eraseLetters, eraseSilver } from './erasure-steps.ts';

export type Erased = 'done' | 'more';
// The second pass keeps rows of items that exist: the user may have been created again.
export type Erasure = { owner: Owner; isSecondLook: boolean; isOfTexts?: boolean };

// Removes an owner's rows from one table of the lake. Files that hold any are rewritten without them, and the old
// files are deleted at once.
export async function eraseOwner(lakeTable: LakeTable, deps: RewriteDeps, erasure: Erasure): Promise<Erased> {
  const { manifest, clock } = lakeTable;
  await manifest.commit(() => ({ at: clock.now(), erased: true }));
  // Silver first: a removal that is still in bronze shows that an item of silver is gone. And again at the end, in case
  // of a compaction in between.
  await eraseAllSilver(lakeTable, deps, erasure);
  const outcome = await whileFilesLast(() => eraseBronze(lakeTable, deps, erasure));
  if (outcome === 'done') await eraseAllSilver(lakeTable, deps, erasure);
  if (outcome === 'done' && !erasure.isOfTexts) {
    for (const name of Object.keys((await manifest.read()).gold))
      await whileFilesLast(() => eraseGold(lakeTable, deps, name, erasure.owner));
    await eraseLetters(lakeTable, erasure.owner);
  }
  // Copies in progress notice this commit, and are made again.
  await manifest.commit(() => ({ at: clock.now(), erased: true }));
  await eraseCopies(lakeTable.objects, erasure.owner);
  await deleteGarbage(lakeTable, 0);
  return outcome;
}

async function eraseAllSilver(lakeTable: LakeTable, deps: RewriteDeps, erasure: Erasure): Promise<void> {
  for (const entity of Object.keys((await lakeTable.manifest.read()).silver))
    if (isConcerned(lakeTable, entity, erasure))
      await whileFilesLast(async () => {
        const living = await alive(lakeTable, entity, erasure);
        await eraseSilver(lakeTable, deps, entity, erasure.owner, living);
      });
}

const isConcerned = ({ plan }: LakeTable, entity: string, { isOfTexts = false }: Erasure): boolean =>
  !isOfTexts || plan.texts.has(entity);

// The owner's existing items, as SQL. Undefined if none is to be kept.
async function alive(
  lakeTable: LakeTable,
  entity: string,
  { owner, isSecondLook }: Erasure,
): Promise<string | undefined> {
  if (!isSecondLook || !lakeTable.plan.entities.has(entity)) return undefined;
  const sources = await locateCurrent(lakeTable, await lakeTable.manifest.read(), entity);
  return `(${currentRows(sources, ownerCondition(owner, 'silver'))}) where ${isPresent}`;
}

async function eraseBronze(lakeTable: LakeTable, deps: RewriteDeps, erasure: Erasure): Promise<Erased> {
  // The oldest first: if the budget runs out, what is left of an item still ends with its removal.
  const files = [...(await lakeTable.manifest.read()).files.values()].sort((a, b) => a.commit - b.commit);
  let budget = limits.eraseFiles;
  for (const entity of new Set(files.map(file => file.entity))) {
    if (!isConcerned(lakeTable, entity, erasure)) continue;
    const living = await alive(lakeTable, entity, erasure);
    const isHis = ownerCondition(erasure.owner, 'bronze');
    // Only the current state of an existing item stays: earlier states under the same key are erased.
    const isCurrent = `(key, generation, sequence) in (select (_key, _generation, _sequence) from ${living})`;
    const condition = living === undefined ? isHis : `${isHis} and not (${isCurrent})`;
    const some = files.filter(file => file.entity === entity);
    const holding = await findHolding(lakeTable, deps, some, condition);
    for (const file of holding.slice(0, budget)) {
      const rest = await rewriteFiles(lakeTable, deps, [file], `not (${condition})`);
      // The remaining rows do not continue from silver.
      await replaceFiles(lakeTable, [file], rest && { ...rest, isChained: rest.isChained && !living });
    }
    budget -= holding.length;
    if (budget < 0) return 'more';
  }
  return 'done';
}

// Reads three columns of every file, once. An index of owners would cost as much at each commit.
async function findHolding(
  { objects }: LakeTable,
  { duck, scratch }: RewriteDeps,
  files: readonly ListedFile[],
  condition: string,
): Promise<ListedFile[]> {
  const paths = await locateAll(
    objects,
    files.map(({ path }) => path),
  );
  const list = paths.map(quoteText).join(', ');
  const { rows } = await duck.run({
    scratch,
    prepare: [],
    sql: `select distinct filename from read_parquet([${list}], union_by_name = true, hive_partitioning = false,
      filename = true) where ${condition}`,
    maxRows: files.length,
  });
  const found = new Set(rows.map(([path]) => path));
  return files.filter((_, i) => found.has(paths[i]));
}
