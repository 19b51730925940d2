import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Insight } from '@stak/table';
import type { Duck } from '../duckdb/duck.ts';
import { quoteText } from '../duckdb/sql-text.ts';
import { columnsFor, type LakeTable, locateAll } from '../lake-table.ts';
import { goldNames, insightSignature, insightsOf } from '../layers/gold-names.ts';
import { addUp, readGold, sumChanges, sumCurrent } from '../layers/gold-sql.ts';
import * as limits from '../limits.ts';
import type { GoldFile, State } from '../storage/manifest-state.ts';
import { keyPart } from '../storage/objects.ts';

export type GoldDeps = { duck: Duck; insights: readonly Insight[]; scratch: string };

export type Compacted = {
  version: number;
  name: string; // of the new files
  silver: string; // the new file, on this machine
  changes: readonly string[]; // those that the last silver did not contain, on this machine
  all: readonly string[]; // all files of bronze
  gold: State['gold'];
};

type Draft = { name: string; file: string; copy: string; ref: GoldFile };

// Computes the sums of an entity's insights for a new silver.
export async function writeGold(
  lakeTable: LakeTable,
  entity: string,
  { duck, insights, scratch }: GoldDeps,
  compacted: Compacted,
): Promise<Record<string, GoldFile>> {
  const drafts: Draft[] = [];
  for (const insight of insightsOf(lakeTable, entity, insights))
    for (const gold of goldNames(insight))
      drafts.push(
        await draftGold(lakeTable, insight, gold, compacted, join(scratch, `${randomUUID()}.parquet`)),
      );
  if (drafts.length === 0) return {};
  try {
    await duck.run({ scratch, prepare: drafts.map(({ copy }) => copy) });
    for (const { file, ref } of drafts) {
      ref.bytes = (await stat(file)).size;
      await lakeTable.objects.putFile(ref.path, file);
    }
  } finally {
    for (const { file } of drafts) await rm(file, { force: true });
  }
  return Object.fromEntries(drafts.map(({ name, ref }) => [name, ref]));
}

async function draftGold(
  lakeTable: LakeTable,
  insight: Insight,
  { name, isRunning }: { name: string; isRunning: boolean },
  { version, silver, changes, all, gold, name: fileName }: Compacted,
  file: string,
): Promise<Draft> {
  const columns = columnsFor(lakeTable, insight.entity.name);
  const signature = insightSignature(insight);
  const last = gold[name]?.signature === signature ? gold[name] : undefined;
  const parts: string[] = [];
  if (isRunning) {
    // A new definition starts with all files of bronze.
    const added = last ? changes : await locateAll(lakeTable.objects, all);
    if (last) parts.push(readGold((await locateAll(lakeTable.objects, [last.path]))[0]!));
    if (added.length > 0) parts.push(sumChanges(insight, added, columns));
  }
  const source = isRunning ? undefined : { path: silver, isFlat: true };
  parts.push(sumCurrent(insight, { columns, silver: source, recent: [], generation: 0 }));
  const sums = `select * from (${addUp(insight, parts)}) order by _account, _tenant, _user`;
  const copy = `copy (${sums}) to ${quoteText(file)} (format parquet, row_group_size ${limits.rowGroupRows})`;
  const path = `gold/table=${keyPart(lakeTable.plan.table.name)}/insight=${keyPart(name)}/${fileName}.parquet`;
  return { name, file, copy, ref: { path, through: version, signature, isRunning } };
}
