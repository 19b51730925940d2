import { currentRows, isPresent } from './current-sql.ts';
import { eraseGold, eraseLetters, eraseSilver } from './erasure-steps.ts';
import * as limits from './limits.ts';
import type { ListedFile } from './manifest-state.ts';
import { locateAll, locateCurrent, type Part, whileFilesLast } from './parts.ts';
import { deleteGarbage } from './retention.ts';
import { type RewriteDeps, replaceFiles, rewriteFiles } from './rewriting.ts';
import { ownerCondition } from './scope.ts';
import { quoteText } from './sql-text.ts';
import type { Owner } from './tables.ts';

export type Erased = 'done' | 'more';
export type Erasure = { owner: Owner; deadOnly: boolean };

// Takes somebody's rows out of one table's part of the lake: files that hold any are written anew without them, and
// the old ones are deleted at once. With `deadOnly`, only rows of items that are no longer in the table.
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

// The keys of his items that are in the table, as SQL; none of them is to be kept if everything has to go.
async function alive(part: Part, entity: string, { owner, deadOnly }: Erasure): Promise<string | undefined> {
  if (!deadOnly || !part.plan.entities.has(entity)) return undefined;
  const sources = await locateCurrent(part, await part.manifest.read(), entity);
  return `select _key from (${currentRows(sources, ownerCondition(owner, 'silver'))}) where ${isPresent}`;
}

async function eraseBronze(part: Part, deps: RewriteDeps, erasure: Erasure): Promise<Erased> {
  // The oldest first: what is left of an item when the budget is spent ends with its removal.
  const files = [...(await part.manifest.read()).files.values()].sort((a, b) => a.commit - b.commit);
  let budget = limits.eraseFiles;
  for (const entity of new Set(files.map(file => file.entity))) {
    const living = await alive(part, entity, erasure);
    const isHis = ownerCondition(erasure.owner, 'bronze');
    const condition = living === undefined ? isHis : `${isHis} and key not in (${living})`;
    const some = files.filter(file => file.entity === entity);
    const holding = await findHolding(part, deps, some, condition);
    for (const file of holding.slice(0, budget))
      await replaceFiles(part, [file], await rewriteFiles(part, deps, [file], `not (${condition})`));
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
