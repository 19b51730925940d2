import type { Clock } from '@stak/kit';
import type { Insight, InsightRow } from '@stak/table';
import * as limits from '../limits.ts';

// The latest results. Files never change and sums can be added, so the next result reads only newer files.

type CachedSums = { gold: readonly string[]; recent: ReadonlySet<string>; rows: InsightRow[]; atMs: number };

export type SumCache = {
  // The cached sums of exactly these files of gold and some of the recent ones, if there are any.
  find(question: string, gold: readonly string[], recent: readonly string[]): CachedSums | undefined;
  set(question: string, gold: readonly string[], recent: readonly string[], rows: InsightRow[]): void;
};

export function createSumCache(clock: Clock): SumCache {
  const cached = new Map<string, CachedSums>(); // the oldest first
  const forgetOld = () => {
    for (const [question, { atMs }] of cached) {
      if (cached.size <= limits.cachedSums && clock.now() - atMs < limits.cachedSumsMs) return;
      cached.delete(question);
    }
  };
  return {
    find(question, gold, recent) {
      forgetOld();
      const found = cached.get(question);
      if (!found || found.gold.join() !== gold.join()) return undefined;
      const known = new Set(recent);
      for (const path of found.recent) if (!known.has(path)) return undefined; // merged, or erased
      return found;
    },
    set(question, gold, recent, rows) {
      cached.delete(question);
      cached.set(question, { gold, recent: new Set(recent), rows, atMs: clock.now() });
      forgetOld();
    },
  };
}

// Like DuckDB: equal groups are one row, rows whose sums are all zero are dropped, in the order of the groups.
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

// Groups are text, ordered by their bytes, with null last.
function compare(a: InsightRow[string], b: InsightRow[string]): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
