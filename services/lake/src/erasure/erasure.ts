import { currentRows, isPresent } from '../compaction/current-sql.ts';
import { quoteText } from '../duckdb/sql-text.ts';
import { eraseCopies } from '../iceberg/copies.ts';
import * as limits from '../limits.ts';
import { deleteGarbage } from '../maintenance/retention.ts';
import { type RewriteDeps, replaceFiles, rewriteFiles } from '../maintenance/rewrite-files.ts';
import { ownerCondition } from '../query/scope.ts';
import { locateAll, locateCurrent, type Part, whileFilesLast } from '../storage/lake-table.ts';
import type { ListedFile } from '../storage/manifest-state.ts';
import type { Owner } from '../tables.ts';
import { eraseGold, eraseLetters, eraseSilver } from './erasure-steps.ts';

export type Erased = 'done' | 'more';
// The second look leaves what is in the table: he may have come back.
export type Erasure = { owner: Owner; isSecondLook: boolean };

// Takes somebody's rows out of one table's part of the lake: files that hold any are written anew without them, and
// the old ones are deleted at once.
export async function eraseOwner(part: Part, deps: RewriteDeps, erasure: Erasure): Promise<Erased> {
  const { manifest, clock } = part;
  await manifest.commit(() => ({ at: clock.now(), erased: true }));
  // Silver first: a removal that is still in bronze is what says that an item of silver is gone. And again at the
  // end, for a compaction that came in between.
  await eraseAllSilver(part, deps, erasure);
  const outcome = await whileFilesLast(() => eraseBronze(part, deps, erasure));
  if (outcome === 'done') {
    await eraseAllSilver(part, deps, erasure);
    for (const name of Object.keys((await manifest.read()).gold))
      await whileFilesLast(() => eraseGold(part, deps, name, erasure.owner));
    await eraseLetters(part, erasure.owner);
  }
  // Copies that are being made of what was there see that this has changed, and are made again.
  await manifest.commit(() => ({ at: clock.now(), erased: true }));
  await eraseCopies(part.objects, erasure.owner);
  await deleteGarbage(part, 0);
  return outcome;
}

async function eraseAllSilver(part: Part, deps: RewriteDeps, erasure: Erasure): Promise<void> {
  for (const entity of Object.keys((await part.manifest.read()).silver))
    await whileFilesLast(async () => {
      const living = await alive(part, entity, erasure);
      await eraseSilver(part, deps, entity, erasure.owner, living);
    });
}

// His items that are in the table, as SQL; none of them is to be kept if everything has to go.
async function alive(
  part: Part,
  entity: string,
  { owner, isSecondLook }: Erasure,
): Promise<string | undefined> {
  if (!isSecondLook || !part.plan.entities.has(entity)) return undefined;
  const sources = await locateCurrent(part, await part.manifest.read(), entity);
  return `(${currentRows(sources, ownerCondition(owner, 'silver'))}) where ${isPresent}`;
}

async function eraseBronze(part: Part, deps: RewriteDeps, erasure: Erasure): Promise<Erased> {
  // The oldest first: what is left of an item when the budget is spent ends with its removal.
  const files = [...(await part.manifest.read()).files.values()].sort((a, b) => a.commit - b.commit);
  let budget = limits.eraseFiles;
  for (const entity of new Set(files.map(file => file.entity))) {
    const living = await alive(part, entity, erasure);
    const isHis = ownerCondition(erasure.owner, 'bronze');
    // Of an item that is there, only as it is now: what was under the same key before was erased.
    const isCurrent = `(key, generation, sequence) in (select (_key, _generation, _sequence) from ${living})`;
    const condition = living === undefined ? isHis : `${isHis} and not (${isCurrent})`;
    const some = files.filter(file => file.entity === entity);
    const holding = await findHolding(part, deps, some, condition);
    for (const file of holding.slice(0, budget)) {
      const rest = await rewriteFiles(part, deps, [file], `not (${condition})`);
      // What is left of his need not go on from what silver has.
      await replaceFiles(part, [file], rest && { ...rest, isChained: rest.isChained && !living });
    }
    budget -= holding.length;
    if (budget < 0) return 'more';
  }
  return 'done';
}

// Reads three columns of every file: what an index of owners would cost at each commit, once.
async function findHolding(
  { objects }: Part,
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
