import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duck } from '../duckdb/duck.ts';
import { quoteText, readFiles } from '../duckdb/sql-text.ts';
import { type LakeTable, locateAll } from '../lake-table.ts';
import { bronzeFormat, bronzePath } from '../storage/bronze-file.ts';
import type { ListedFile } from '../storage/manifest-state.ts';

export type RewriteDeps = { duck: Duck; scratch: string };

// Writes the rows of one or several files to a new one, which is not listed yet; undefined if no row is left. The
// condition uses bronze's own columns.
export async function rewriteFiles(
  { objects, plan }: LakeTable,
  { duck, scratch }: RewriteDeps,
  files: readonly ListedFile[],
  condition: string,
): Promise<ListedFile | undefined> {
  const [{ entity, day }] = files as [ListedFile];
  const paths = await locateAll(
    objects,
    files.map(({ path }) => path),
  );
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const file = join(scratch, `${randomUUID()}.parquet`);
  try {
    const { rows: counted } = await duck.run({
      scratch,
      prepare: [
        `copy (select * from ${readFiles(paths)} where ${condition} order by generation, length(sequence), sequence)
         to ${quoteText(file)} (format parquet)`,
      ],
      sql: `select count(*) from read_parquet(${quoteText(file)})`,
    });
    const rows = Number(counted[0]?.[0] ?? 0);
    if (rows === 0) return undefined;
    const bytes = (await stat(file)).size;
    const commit = Math.max(...files.map(file => file.commit));
    const path = bronzePath(plan.table.name, entity, day, `merged-${commit}-${randomUUID().slice(0, 8)}`);
    await objects.putFile(path, file);
    const isChained = files.every(file => file.isChained);
    const firstAt = Math.min(...files.map(file => file.firstAt));
    const replaces = files.some(file => file.replacesTexts) && { replacesTexts: true as const };
    return { path, entity, day, rows, bytes, isChained, firstAt, format: bronzeFormat, commit, ...replaces };
  } finally {
    await rm(file, { force: true });
  }
}

// Replaces the others with the file, unless one of them has been replaced in the meantime.
export async function replaceFiles(
  { manifest, objects, clock }: LakeTable,
  from: readonly ListedFile[],
  to: ListedFile | undefined,
): Promise<boolean> {
  const paths = from.map(({ path }) => path);
  const entry = await manifest.commit(state =>
    paths.every(path => state.files.has(path))
      ? { at: clock.now(), replace: [{ from: paths, to }] }
      : undefined,
  );
  if (!entry && to) await objects.delete(to.path);
  return entry !== undefined;
}
