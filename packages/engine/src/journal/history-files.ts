import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

// The history of a store, in a folder beside its journal: copies of the whole store (snapshots), and the commits
// (segments of the journal) since the oldest of them. The names of the files say what is in them:
//
//   snapshot-<commit>-<chain>-<file>-<offset>-<commit>-<time>.gz   where its reading began in the journal; where it ended, and when
//   commits-<commit>-<chain>-<commit>-<chain>-<time>-<time>-<file>.gz   after which commit; up to which; of when; where the
//                                                                     journal continues
//
// Times are in whole milliseconds: that of the first commit rounded down, that of the last one rounded up.

export type HistorySnapshot = {
  name: string;
  bytes: number;
  from: { commit: number; chain: number; file: number; offset: number };
  commit: number;
  at: number; // it is whole from this moment on
};

export type HistorySegment = {
  name: string;
  bytes: number;
  before: { commit: number; chain: number };
  last: { commit: number; chain: number };
  firstAt: number;
  lastAt: number;
  nextFile: number; // of the journal
};

export type HistoryFiles = { snapshots: HistorySnapshot[]; segments: HistorySegment[] };

export const historyFolder = (path: string): string => join(path, 'history');

const draftSuffix = '.draft';
export const draftOf = (name: string): string => `${name}${draftSuffix}`;

const padded = (number: number): string => String(number).padStart(15, '0');
const hex = (chain: number): string => chain.toString(16).padStart(8, '0');

export const snapshotName = ({ from, commit, at }: Omit<HistorySnapshot, 'name' | 'bytes'>): string =>
  `snapshot-${padded(from.commit)}-${hex(from.chain)}-${from.file}-${from.offset}-${commit}-${Math.ceil(at)}.gz`;

export const segmentName = (segment: Omit<HistorySegment, 'name' | 'bytes'>): string => {
  const { before, last, firstAt, lastAt, nextFile } = segment;
  const range = `${padded(before.commit)}-${hex(before.chain)}-${last.commit}-${hex(last.chain)}`;
  return `commits-${range}-${Math.floor(firstAt)}-${Math.ceil(lastAt)}-${nextFile}.gz`;
};

const snapshotShape = /^snapshot-(\d+)-([0-9a-f]{8})-(\d+)-(\d+)-(\d+)-(\d+)\.gz$/;
const segmentShape = /^commits-(\d+)-([0-9a-f]{8})-(\d+)-([0-9a-f]{8})-(\d+)-(\d+)-(\d+)\.gz$/;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The files of a history, oldest first; with their sizes if those are asked for. */
export function listHistory(folder: string, { withSizes = false } = {}): HistoryFiles {
  const snapshots: HistorySnapshot[] = [];
  const segments: HistorySegment[] = [];
  for (const name of namesIn(folder).sort()) {
    const snapshot = snapshotShape.exec(name);
    const segment = snapshot ? undefined : segmentShape.exec(name);
    if (!snapshot && !segment) continue;
    // Another process may have removed it.
    const bytes = withSizes ? statSync(join(folder, name), { throwIfNoEntry: false })?.size : 0;
    if (bytes === undefined) continue;
    if (snapshot) {
      const [, commit, chain, file, offset, last, at] = snapshot as string[];
      const from = {
        commit: Number(commit),
        chain: Number.parseInt(chain!, 16),
        file: Number(file),
        offset: Number(offset),
      };
      snapshots.push({ name, bytes, from, commit: Number(last), at: Number(at) });
    } else {
      const [, before, beforeChain, last, lastChain, firstAt, lastAt, nextFile] =
        segment as unknown as string[];
      segments.push({
        name,
        bytes,
        before: { commit: Number(before), chain: Number.parseInt(beforeChain!, 16) },
        last: { commit: Number(last), chain: Number.parseInt(lastChain!, 16) },
        firstAt: Number(firstAt),
        lastAt: Number(lastAt),
        nextFile: Number(nextFile),
      });
    }
  }
  // A store that was replaced by another one counts its commits anew.
  snapshots.sort((a, b) => a.at - b.at || a.commit - b.commit);
  segments.sort((a, b) => a.firstAt - b.firstAt || a.before.commit - b.before.commit);
  return { snapshots, segments };
}

export const bytesOf = ({ snapshots, segments }: HistoryFiles): number =>
  [...snapshots, ...segments].reduce((sum, { bytes }) => sum + bytes, 0);

/** The segments that continue a snapshot, in order, up to the first gap. */
export function segmentsAfter(
  { from }: HistorySnapshot,
  segments: readonly HistorySegment[],
): HistorySegment[] {
  const run: HistorySegment[] = [];
  let { commit, chain } = from;
  for (const segment of segments) {
    // The journal may have been archived beyond the beginning of the snapshot before it was taken.
    const follows = segment.before.commit === commit && segment.before.chain === chain;
    const contains = run.length === 0 && segment.before.commit < commit && segment.last.commit > commit;
    if (!follows && !contains) continue;
    run.push(segment);
    ({ commit, chain } = segment.last);
  }
  return run;
}

/** The first file of the journal that is not in the history yet; undefined if there is no history. */
export function firstUnarchived(folder: string): number | undefined {
  const { snapshots, segments } = listHistory(folder);
  const newest = snapshots.at(-1);
  if (newest) return segmentsAfter(newest, segments).at(-1)?.nextFile ?? newest.from.file;
  // The first snapshot is being taken.
  const [from] = namesIn(folder).flatMap(name => /^from-(\d+)\.draft$/.exec(name)?.[1] ?? []);
  return from === undefined ? undefined : Number(from);
}

export const removeFile = (folder: string, name: string): void => rmSync(join(folder, name), { force: true });

/** Removes the drafts of processes that were killed. */
export function removeDrafts(folder: string): void {
  for (const name of namesIn(folder))
    if (name.endsWith(draftSuffix)) rmSync(join(folder, name), { recursive: true, force: true });
}
