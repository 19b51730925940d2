import type { BronzeFile } from './bronze-file.ts';
import { type Captured, type Mark, moveMark } from './shard-mark.ts';

// The contents of a table of the lake. The manifest is a numbered list of changes to this state. An object that it does
// not name does not count.

export type ListedFile = BronzeFile & { commit: number };
export type Letter = { path: string; sequence: string; error: string; at: number; generation: number };
export type SilverFile = {
  path: string;
  rows: number;
  bytes: number;
  through: number; // the last commit whose bronze it includes
  generation: number; // of the last complete backfill
  signature: string; // of its columns
  format?: number; // of how they are written
};
// Running sums continue from the last ones; the others are computed again from silver.
export type GoldFile = {
  path: string;
  bytes?: number; // absent in older manifests
  through: number;
  signature: string;
  isRunning: boolean;
};
export type Backfill = { generation: number; segments: number; finished: number[]; startedAt: number };

export type State = {
  version: number;
  at: number;
  shards: Record<string, Mark>;
  files: Map<string, ListedFile>;
  silver: Record<string, SilverFile>;
  gold: Record<string, GoldFile>;
  letters: Letter[];
  // Every backfill starts a generation: what its scan finds is newer than all earlier generations.
  generation: number;
  backfill: Backfill | undefined;
  completeGeneration: number;
  backfilledAt: number; // when the last scan finished
  erasedAt: number; // when rows were last erased
  erasures: number; // how often that started or ended
  // No longer named by the manifest; readers that started before may still have them open.
  garbage: { path: string; since: number }[];
};

export type Entry = {
  at: number;
  by?: string; // identifies the writer: after a lost response our own commit looks like another process's
  captured?: Captured;
  add?: BronzeFile[];
  // Files that replace others: they count as captured when those were.
  replace?: { from: string[]; to: (BronzeFile & { commit: number }) | undefined }[];
  drop?: string[];
  lost?: string[]; // files of any kind that are missing or incomplete
  erased?: true;
  letters?: Letter[];
  answered?: string[]; // letters that were redriven or erased
  silver?: Record<string, SilverFile>;
  gold?: Record<string, GoldFile>;
  backfill?: { begin: number } | { finished: number };
  deleted?: string[]; // garbage that has been deleted
};

export const emptyState = (): State => ({
  version: 0,
  at: 0,
  shards: {},
  files: new Map(),
  silver: {},
  gold: {},
  letters: [],
  generation: 0,
  backfill: undefined,
  completeGeneration: 0,
  backfilledAt: 0,
  erasedAt: 0,
  erasures: 0,
  garbage: [],
});

const markDays = 8; // consumers remember finished shards for a week; after that no record of a shard is repeated
const markMs = markDays * 24 * 60 * 60_000;

export function applyEntry(state: State, commit: number, entry: Entry): void {
  state.version = commit;
  state.at = entry.at;
  if (entry.captured) applyCapture(state, entry.captured, entry.at);
  for (const file of entry.add ?? []) state.files.set(file.path, { ...file, commit });
  for (const { from, to } of entry.replace ?? []) {
    for (const path of from) dropFile(state, path, entry.at);
    if (to) state.files.set(to.path, to);
  }
  for (const path of entry.drop ?? []) dropFile(state, path, entry.at);
  if (entry.lost) forgetFiles(state, new Set(entry.lost));
  state.letters.push(...(entry.letters ?? []));
  const answered = new Set(entry.answered);
  if (answered.size > 0) state.letters = state.letters.filter(({ path }) => !answered.has(path));
  replaceRefs(state, state.silver, entry.silver, entry.at);
  replaceRefs(state, state.gold, entry.gold, entry.at);
  if (entry.erased) {
    state.erasedAt = entry.at;
    state.erasures += 1;
  }
  if (entry.backfill) applyBackfill(state, entry.backfill, entry.at);
  const deleted = new Set(entry.deleted);
  if (deleted.size > 0) state.garbage = state.garbage.filter(({ path }) => !deleted.has(path));
}

function applyCapture(state: State, { shard, ...captured }: Captured, at: number): void {
  state.shards[shard] = moveMark(state.shards[shard], captured, at);
  for (const [name, mark] of Object.entries(state.shards))
    if (mark.at < at - markMs) delete state.shards[name];
}

function applyBackfill(state: State, step: NonNullable<Entry['backfill']>, at: number): void {
  if ('begin' in step) {
    state.generation += 1;
    state.backfill = { generation: state.generation, segments: step.begin, finished: [], startedAt: at };
    return;
  }
  const { backfill } = state;
  if (!backfill) return;
  backfill.finished.push(step.finished);
  if (backfill.finished.length < backfill.segments) return;
  state.completeGeneration = backfill.generation;
  state.backfilledAt = at;
  state.backfill = undefined;
}

// The files of every kind, with their sizes if known.
export function namedFiles({ files, silver, gold }: State): Map<string, number | undefined> {
  const all = [...files.values(), ...Object.values(silver), ...Object.values(gold)];
  return new Map(all.map(({ path, bytes }) => [path, bytes]));
}

function dropFile(state: State, path: string, since: number): void {
  if (state.files.delete(path)) state.garbage.push({ path, since });
}

function forgetFiles({ files, silver, gold }: State, lost: ReadonlySet<string>): void {
  for (const path of lost) files.delete(path);
  for (const refs of [silver, gold])
    for (const [name, { path }] of Object.entries(refs)) if (lost.has(path)) delete refs[name];
}

function replaceRefs<Ref extends { path: string }>(
  state: State,
  refs: Record<string, Ref>,
  changed: Record<string, Ref> | undefined,
  since: number,
): void {
  for (const [name, ref] of Object.entries(changed ?? {})) {
    const path = refs[name]?.path;
    if (path !== undefined && path !== ref.path) state.garbage.push({ path, since });
    refs[name] = ref;
  }
}

// Changes of an entity that silver does not include yet.
export const recentFiles = (state: State, entity: string): ListedFile[] => {
  const through = state.silver[entity]?.through ?? 0;
  return [...state.files.values()].filter(file => file.entity === entity && file.commit > through);
};

export const stateToJson = (state: State): string =>
  JSON.stringify({ ...state, files: [...state.files.values()] });

export function stateFromJson(text: string): State {
  const stored = JSON.parse(text) as Omit<State, 'files'> & { files: ListedFile[] };
  return { ...emptyState(), ...stored, files: new Map(stored.files.map(file => [file.path, file])) };
}
