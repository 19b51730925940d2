import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Insight } from '@stak/table';
import { quoteText } from '../duckdb/sql-text.ts';
import { columnsFor, type LakeTable, locateCurrent } from '../lake-table.ts';
import { signatureOf } from '../layers/columns.ts';
import {
  type CurrentSources,
  currentImages,
  isPresent,
  silverFormat,
  silverRows,
} from '../layers/current-sql.ts';
import { goldNames, insightSignature, insightsOf } from '../layers/gold-names.ts';
import * as limits from '../limits.ts';
import { recentFiles, type SilverFile, type State } from '../storage/manifest-state.ts';
import { keyPart } from '../storage/objects.ts';
import { type GoldDeps, writeGold } from './gold.ts';

// Whether an entity has enough recent files, or outdated silver or gold, to be worth a compaction.
export function isDue(
  lakeTable: LakeTable,
  state: State,
  entity: string,
  insights: readonly Insight[],
): boolean {
  const recent = recentFiles(state, entity);
  const silver = state.silver[entity];
  const rows = recent.reduce((sum, file) => sum + file.rows, 0);
  const isOutdated =
    silver !== undefined &&
    (silver.signature !== signatureOf(columnsFor(lakeTable, entity)) ||
      silver.format !== silverFormat ||
      silver.generation !== state.completeGeneration);
  const lacksGold = insightsOf(lakeTable, entity, insights).some(insight =>
    goldNames(insight).some(({ name }) => state.gold[name]?.signature !== insightSignature(insight)),
  );
  if (recent.length === 0) return isOutdated || (silver !== undefined && lacksGold);
  const most = Math.max(limits.recentRows, (silver?.rows ?? 0) * limits.recentShare);
  // A large silver is not rewritten for many small files: those are merged first.
  const isCheap = (silver?.rows ?? 0) <= limits.cheapRows;
  const isMany = recent.length >= (isCheap ? limits.recentFiles : limits.recentFilesMost);
  const isOld = recent.some(
    file => file.replacesTexts && file.firstAt <= lakeTable.clock.now() - limits.textChangesMs,
  );
  return isOutdated || lacksGold || isMany || isOld || rows >= most;
}

// Rewrites an entity's silver and gold up to the last commit. False if another process committed first.
export async function compactEntity(lakeTable: LakeTable, entity: string, deps: GoldDeps): Promise<boolean> {
  const { manifest, objects, clock, plan } = lakeTable;
  const state = await manifest.read();
  const before = structuredClone({
    version: state.version,
    generation: state.completeGeneration,
    silver: state.silver[entity],
    recent: recentFiles(state, entity).map(({ path }) => path),
    all: [...state.files.values()].filter(file => file.entity === entity).map(({ path }) => path),
    gold: state.gold,
    // A late row must still find that its item was removed.
    keepsTombstones: state.backfill !== undefined || state.letters.length > 0,
  });
  const sources = await locateCurrent(lakeTable, state, entity);
  const name = `${String(before.version).padStart(12, '0')}-${randomUUID().slice(0, 8)}`;
  const folder = `table=${keyPart(plan.table.name)}/entity=${keyPart(entity)}`;

  const written = await writeSilver(deps, sources, before.keepsTombstones, async (file, rows) => {
    const path = `silver/${folder}/${name}.parquet`;
    const bytes = (await stat(file)).size;
    const gold = await writeGold(lakeTable, entity, deps, {
      ...before,
      name,
      silver: file,
      changes: sources.recent,
    });
    await objects.putFile(path, file);
    const { version: through, generation } = before;
    const signature = signatureOf(sources.columns);
    const silver: SilverFile = { path, rows, bytes, through, generation, signature, format: silverFormat };
    return { silver, gold };
  });

  const entry = await manifest.commit(now => {
    const isSame =
      now.silver[entity]?.path === before.silver?.path &&
      before.recent.every(path => now.files.has(path)) &&
      Object.keys(written.gold).every(name => now.gold[name]?.path === before.gold[name]?.path);
    if (!isSame) return undefined;
    return { at: clock.now(), silver: { [entity]: written.silver }, gold: written.gold };
  });
  if (entry) return true;
  for (const { path } of [written.silver, ...Object.values(written.gold)]) await objects.delete(path);
  return false;
}

async function writeSilver<T>(
  { duck, scratch }: GoldDeps,
  sources: CurrentSources,
  keepsTombstones: boolean,
  use: (file: string, rows: number) => Promise<T>,
): Promise<T> {
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const file = join(scratch, `${randomUUID()}.parquet`);
  // A removed item keeps its key and nothing else.
  const image = `case when ${isPresent} then _image end as _image`;
  const rows = `select * replace (${image}) from (${currentImages(sources)})
    where ${keepsTombstones || isPresent} order by _account, _tenant, _user, _key`;
  try {
    const { rows: counted } = await duck.run({
      scratch,
      prepare: [
        // Sorted before the columns are added: rows twice as wide would not fit into memory, nor be written as fast.
        `copy (${silverRows(rows, sources.columns)})
         to ${quoteText(file)} (format parquet, row_group_size ${limits.rowGroupRows})`,
      ],
      sql: `select count(*) from read_parquet(${quoteText(file)})`,
    });
    return await use(file, Number(counted[0]?.[0] ?? 0));
  } finally {
    await rm(file, { force: true });
  }
}
