import type { Insight, InsightRow } from '@stak/table';
import type { Duck } from '../duckdb/duck.ts';
import { columnsFor, type LakeTable, locateAll, locateCurrent, whileFilesLast } from '../lake-table.ts';
import { goldNames, insightSignature } from '../layers/gold-names.ts';
import { finish, readGold, sumChanges, sumCurrent, sumDifferences } from '../layers/gold-sql.ts';
import * as limits from '../limits.ts';
import { type Scope, scopeCondition } from '../scope.ts';
import { recentFiles, type State } from '../storage/manifest-state.ts';
import { addRows, type SumCache } from './sum-cache.ts';

export type InsightsDeps = { duck: Duck; scratch: string; sums: SumCache };
export type Window = { today: string; since: string };

// The result of an insight for a caller's rows: the sums of the last compaction, and the changes since.
export async function answerInsight(
  { duck, scratch, sums }: InsightsDeps,
  lakeTable: LakeTable,
  insight: Insight,
  scope: Scope,
  { today, since }: Window,
): Promise<readonly InsightRow[]> {
  const condition = scopeCondition(scope);
  const ask = async (parts: readonly string[]): Promise<{ rows: InsightRow[]; isWhole: boolean }> => {
    const sql = finish(insight, parts, condition, since);
    const { columns, rows, truncated } = await duck.run({
      scratch,
      prepare: [],
      sql,
      maxRows: limits.insightRows,
    });
    const named = rows.map(row => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])));
    return { rows: named as InsightRow[], isWhole: !truncated };
  };
  const question = [lakeTable.plan.table.name, insight.name, condition, since].join('\n');
  const found = await whileFilesLast(async () => {
    const state = await lakeTable.manifest.read();
    const going = goingOn(lakeTable, state, insight);
    if (!going) return (await ask(await partsOf(lakeTable, state, insight))).rows;
    const { gold, recent } = going;
    const before = sums.find(question, gold, recent);
    const added = before ? recent.filter(path => !before.recent.has(path)) : recent;
    if (before && added.length === 0) return before.rows;
    const asked = await ask(await locateParts(lakeTable, insight, before ? [] : gold, added));
    // Too many groups to continue from: the query runs in full.
    if (before && !asked.isWhole)
      return (await ask(await locateParts(lakeTable, insight, gold, recent))).rows;
    const rows = before ? addRows(insight, before.rows, asked.rows) : asked.rows;
    if (asked.isWhole && rows.length <= limits.cachedRows) sums.set(question, gold, recent, rows);
    return rows.slice(0, limits.insightRows);
  });
  return insight.answer?.(found, { today }) ?? found;
}

type GoingOn = { gold: string[]; recent: string[] };

// The files to add up, if there is a sum of everything before the newest changes.
function goingOn({ clock }: LakeTable, state: State, insight: Insight): GoingOn | undefined {
  const canGoOn = goesOn(state, insight, clock.now());
  const gold: string[] = [];
  for (const { name, isRunning } of goldNames(insight)) {
    const known = state.gold[name];
    if (known?.signature !== insightSignature(insight) || !(isRunning || canGoOn)) return undefined;
    gold.push(known.path);
  }
  return { gold, recent: recentFiles(state, insight.entity.name).map(({ path }) => path) };
}

async function locateParts(
  lakeTable: LakeTable,
  insight: Insight,
  gold: readonly string[],
  changes: readonly string[],
): Promise<string[]> {
  const columns = columnsFor(lakeTable, insight.entity.name);
  const [sums, files] = await Promise.all([
    locateAll(lakeTable.objects, gold),
    locateAll(lakeTable.objects, changes),
  ]);
  const parts = sums.map(readGold);
  if (files.length === 0) return parts;
  for (const { isRunning } of goldNames(insight))
    parts.push((isRunning ? sumChanges : sumDifferences)(insight, files, columns));
  return parts;
}

// For insights whose sums are missing, or cannot be continued.
export async function partsOf(lakeTable: LakeTable, state: State, insight: Insight): Promise<string[]> {
  const { objects, clock } = lakeTable;
  const entity = insight.entity.name;
  const canGoOn = goesOn(state, insight, clock.now());
  const golds = goldNames(insight).map(({ name, isRunning }) => ({ isRunning, gold: state.gold[name] }));
  const all = [...state.files.values()].filter(file => file.entity === entity).map(file => file.path);
  const sources = await locateCurrent(lakeTable, state, entity);
  const parts: string[] = [];
  for (const { isRunning, gold } of golds) {
    const known = gold?.signature === insightSignature(insight) ? gold : undefined;
    if (isRunning) {
      const changes = known ? sources.recent : await locateAll(objects, all);
      if (changes.length > 0) parts.push(sumChanges(insight, changes, sources.columns));
    } else if (!known || !canGoOn) parts.push(sumCurrent(insight, sources));
    else if (sources.recent.length > 0) parts.push(sumDifferences(insight, sources.recent, sources.columns));
    if (known && (isRunning || canGoOn)) parts.push(readGold((await locateAll(objects, [known.path]))[0]!));
  }
  const nothing = { columns: sources.columns, silver: undefined, recent: [], generation: 0 };
  return parts.length > 0 ? parts : [sumCurrent(insight, nothing)];
}

// Whether the old image of every recent change is what silver contains. It is not if a redrive has added rows, an
// erasure has removed some, or a scan has seen a change before the stream delivered it. Then all rows are read instead.
function goesOn(state: State, { entity }: Insight, nowMs: number): boolean {
  const silver = state.silver[entity.name];
  const scannedUntil = state.backfilledAt + limits.clockSkewMs;
  return (
    silver !== undefined &&
    silver.generation === state.completeGeneration &&
    nowMs - state.erasedAt > limits.erasureSettlesMs &&
    recentFiles(state, entity.name).every(file => file.isChained && file.firstAt > scannedUntil)
  );
}
