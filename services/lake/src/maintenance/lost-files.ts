import { type GoldDeps, goldNames, insightsOf } from '../compaction/gold.ts';
import * as limits from '../limits.ts';
import type { Part } from '../storage/lake-table.ts';
import { namedFiles, type State } from '../storage/manifest-state.ts';
import { foldersOf, isSettled } from './retention.ts';

// Files that the manifest names and that are not there, or not all of them: deleted by hand, or gone with a disk. They
// are let go of, and the table is read again where it has to be. What was history alone is lost with them.
export async function dropLostFiles(part: Part, { insights }: Pick<GoldDeps, 'insights'>): Promise<void> {
  const { manifest, objects, clock, log, plan } = part;
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
    const sums = sumsWithoutSilver(part, state, insights, lost);
    const mustScan = lost.some(path => isCurrent(part, state, path));
    return {
      at: clock.now(),
      lost: [...lost, ...sums],
      ...(mustScan && { backfill: { begin: limits.segments } }),
    };
  });
  if (entry)
    log.error({ table: plan.table.name, lost: entry.lost }, 'files of the lake are missing, or cut short');
}

// Whether what is there now cannot be told without it.
function isCurrent(part: Part, state: State, path: string): boolean {
  const file = state.files.get(path);
  if (file) return !isSettled(state, part, file);
  return Object.values(state.silver).some(silver => silver.path === path);
}

// Without silver all of bronze is new again, and sums that go on would count it twice.
function sumsWithoutSilver(
  part: Part,
  { silver, gold }: State,
  insights: GoldDeps['insights'],
  lost: readonly string[],
): string[] {
  const entities = Object.keys(silver).filter(entity => lost.includes(silver[entity]!.path));
  const names = entities
    .flatMap(entity => insightsOf(part, entity, insights))
    .flatMap(goldNames)
    .map(({ name }) => name);
  return names.flatMap(name => gold[name]?.path ?? []).filter(path => !lost.includes(path));
}
