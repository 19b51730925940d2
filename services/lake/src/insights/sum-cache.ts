import type { Clock } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Insight, InsightRow } from './insight.ts';

// Answers of a moment ago. Files never change, and sums add up: what came since is added, the rest is not read again.

type Kept = { gold: readonly string[]; recent: ReadonlySet<string>; rows: InsightRow[]; atMs: number };

export type KeptSums = {
  // The sums of all of these files of gold and some of the recent ones, if there are any.
  find(question: string, gold: readonly string[], recent: readonly string[]): Kept | undefined;
  keep(question: string, gold: readonly string[], recent: readonly string[], rows: InsightRow[]): void;
};

export function createKeptSums(clock: Clock): KeptSums {
  const kept = new Map<string, Kept>(); // the oldest first
  const forgetOld = () => {
    for (const [question, { atMs }] of kept) {
      if (kept.size <= limits.keptSums && clock.now() - atMs < limits.keptSumsMs) return;
      kept.delete(question);
    }
  };
  return {
    find(question, gold, recent) {
      forgetOld();
      const found = kept.get(question);
      if (!found || found.gold.join() !== gold.join()) return undefined;
      const known = new Set(recent);
      for (const path of found.recent) if (!known.has(path)) return undefined; // merged, or erased
      return found;
    },
    keep(question, gold, recent, rows) {
      kept.delete(question);
      kept.set(question, { gold, recent: new Set(recent), rows, atMs: clock.now() });
      forgetOld();
    },
  };
}

// As DuckDB would: equal groups are one row, sums that are all nothing are none, in the order of the groups.
export function addRows(
  { groups, sums }: Insight,
  rows: readonly InsightRow[],
  more: readonly InsightRow[],
): InsightRow[] {
  const [groupNames, sumNames] = [Object.keys(groups), Object.keys(sums)];
  const total = new Map<string, InsightRow>();
  for (const row of [...rows, ...more]) {
    const group = JSON.stringify(groupNames.map(name => row[name]));
    const before = total.get(group);
    const added = sumNames.map(name => [name, Number(before?.[name] ?? 0) + Number(row[name])]);
    total.set(group, { ...row, ...Object.fromEntries(added) });
  }
  const isSomething = (row: InsightRow) => sumNames.some(name => row[name] !== 0);
  return [...total.values()].filter(isSomething).sort((a, b) => {
    for (const name of groupNames) {
      const order = compare(a[name] ?? null, b[name] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  });
}

// Groups are text, ordered by their bytes, and nothing comes last.
function compare(a: InsightRow[string], b: InsightRow[string]): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
