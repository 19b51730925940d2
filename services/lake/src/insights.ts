import type { CurrentSources } from './current-sql.ts';
import type { Duck } from './duck.ts';
import { goldNames } from './gold.ts';
import { finish, readGold, sumChanges, sumCurrent, sumDifferences } from './gold-sql.ts';
import { type Insight, type InsightRow, insightSignature } from './insight.ts';
import * as limits from './limits.ts';
import { recentFiles, type State } from './manifest-state.ts';
import { locateAll, locateCurrent, type Part, whileFilesLast } from './parts.ts';
import { type Scope, scopeCondition } from './scope.ts';

export type InsightsDeps = { duck: Duck; scratch: string };
export type Window = { today: string; since: string };

// What an insight says about a caller's rows: the sums of the last compaction, and what came since.
export async function answerInsight(
  { duck, scratch }: InsightsDeps,
  part: Part,
  insight: Insight,
  scope: Scope,
  { today, since }: Window,
): Promise<readonly InsightRow[]> {
  return whileFilesLast(async () => {
    const parts = await partsOf(part, insight);
    const sql = finish(insight, parts, scopeCondition(scope), since);
    const { columns, rows } = await duck.run({ scratch, prepare: [], sql, maxRows: limits.insightRows });
    const found = rows.map(
      row => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])) as InsightRow,
    );
    return insight.answer?.(found, { today }) ?? found;
  });
}

async function partsOf(part: Part, insight: Insight): Promise<string[]> {
  const { objects, clock } = part;
  const state = await part.manifest.read();
  const entity = insight.entity.name;
  const recent = recentFiles(state, entity);
  const canGoOn = goesOn(state, insight, clock.now());
  const kept = goldNames(insight).map(({ name, isRunning }) => ({ isRunning, gold: state.gold[name] }));
  const all = [...state.files.values()].filter(file => file.entity === entity).map(file => file.path);
  const sources = await locateCurrent(part, state, entity);
  const parts: string[] = [];
  for (const { isRunning, gold } of kept) {
    const known = gold?.signature === insightSignature(insight) ? gold : undefined;
    if (isRunning) {
      const changes = known ? sources.recent : await locateAll(objects, all);
      if (changes.length > 0) parts.push(sumChanges(insight, changes, sources.columns));
    } else if (!known || !canGoOn) parts.push(sumCurrent(insight, sources));
    else if (recent.length > 0) parts.push(sumDifferences(insight, sources.recent, sources.columns));
    if (known && (isRunning || canGoOn)) parts.push(readGold((await locateAll(objects, [known.path]))[0]!));
  }
  return parts.length > 0 ? parts : [sumCurrent(insight, withNothing(sources))];
}

const withNothing = ({ columns }: CurrentSources): CurrentSources => ({
  columns,
  silver: undefined,
  recent: [],
  generation: 0,
});

// Whether the old image of every recent change is what silver has. It is not where a redrive has put something in
// between, where an erasure has taken something away, and where a scan has seen a change before it came by the stream.
// Then all rows are looked at instead.
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
