import type { GoldDeps } from '../compaction/gold.ts';
import { foldersOf, isSettled } from '../compaction/retention.ts';
import type { LakeTable } from '../lake-table.ts';
import { goldNames, insightsOf } from '../layers/gold-names.ts';
import * as limits from '../limits.ts';
import { namedFiles, type State } from '../storage/manifest-state.ts';

// Finds files that the manifest names but that are missing or incomplete: deleted by hand, or lost with a disk. The
// manifest drops them, and the table is scanned again if its current state needs it. Lost history stays lost.
export async function dropLostFiles(
  lakeTable: LakeTable,
  { insights }: Pick<GoldDeps, 'insights'>,
): Promise<void> {
  const { manifest, objects, clock, log, plan } = lakeTable;
  const named = namedFiles(await manifest.read());
  const there = new Map<string, number>();
  for (const folder of foldersOf(plan.table.name))
    for await (const { key, bytes } of objects.list(folder)) there.set(key, bytes);
  const isWhole = (path: string, bytes = there.get(path)) => there.has(path) && there.get(path) === bytes;
  const missing = [...named].filter(([path, bytes]) => !isWhole(path, bytes)).map(([path]) => path);
  if (missing.length === 0) return;
  const entry = await manifest.commit(state => {
    const named = namedFiles(state);
    const lost = missing.filter(path => named.has(path));
    if (lost.length === 0) return undefined;
    const sums = sumsWithoutSilver(lakeTable, state, insights, lost);
    const mustScan = lost.some(path => isCurrent(lakeTable, state, path));
    return {
      at: clock.now(),
      lost: [...lost, ...sums],
      ...(mustScan && { backfill: { begin: limits.segments } }),
    };
  });
  if (entry)
    log.error({ table: plan.table.name, lost: entry.lost }, 'files of the lake are missing, or cut short');
}

// Whether the current state depends on the file.
function isCurrent(lakeTable: LakeTable, state: State, path: string): boolean {
  const file = state.files.get(path);
  if (file) return !isSettled(state, lakeTable, file);
  return Object.values(state.silver).some(silver => silver.path === path);
}

// Without silver all of bronze is new again, and sums that continue would count it twice.
function sumsWithoutSilver(
  lakeTable: LakeTable,
  { silver, gold }: State,
  insights: GoldDeps['insights'],
  lost: readonly string[],
): string[] {
  const entities = Object.keys(silver).filter(entity => lost.includes(silver[entity]!.path));
  const names = entities
    .flatMap(entity => insightsOf(lakeTable, entity, insights))
    .flatMap(goldNames)
    .map(({ name }) => name);
  return names.flatMap(name => gold[name]?.path ?? []).filter(path => !lost.includes(path));
}
