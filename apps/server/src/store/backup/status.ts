import { findEnd, findHead, listHistories, manifestKey, readObject, type Target } from './target.ts';

// The contents of a backup, as far as they are visible without reading objects.
export type BackupStatus = {
  ranges: Range[]; // of each history that can be restored
  oldest: number | undefined; // the oldest moment that can be restored
  newest: number | undefined;
  snapshot: { at: number; bytes: number } | undefined; // the newest
  lagMs: number | undefined; // since the newest moment
  bytes: number;
  objects: number;
  gaps: Gap[];
};
type Range = {
  history: string;
  from: number;
  until: number;
  madeAt: number | undefined;
  server: string | undefined; // the version that took the newest snapshot
};
type Gap = { from: number; to: number; missing?: string };

export async function readStatus(target: Target, nowMs: number): Promise<BackupStatus> {
  const histories = await listHistories(target.objects);
  const gaps: Gap[] = [];
  const ranges: Range[] = [];
  let end: number | undefined;
  for (const history of histories) {
    const complete = history.snapshots.filter(({ isComplete }) => isComplete);
    const [first] = complete;
    if (!first) continue;
    if (end !== undefined && first.at > end) gaps.push({ from: end, to: first.at });
    const head = await findHead(target, history.id);
    const log = history.log.filter(({ to }) => to > first.after);
    end = await findEnd(target, history, head);
    const { facts } = await readObject(target, 'manifest', manifestKey(complete.at(-1)!.folder));
    const { madeAt, server } = facts;
    ranges.push({ history: history.id, from: first.at, until: end, madeAt, server });
    let number = first.after;
    for (const { from, to } of [...log, ...(head ? [{ from: head.number + 1, to: head.number }] : [])]) {
      if (from > number + 1) gaps.push({ from: first.at, to: end, missing: segments(number + 1, from - 1) });
      number = Math.max(number, to);
    }
  }
  const snapshots = histories.flatMap(history => history.snapshots.filter(({ isComplete }) => isComplete));
  const newest = snapshots.sort((a, b) => a.at - b.at).at(-1);
  return {
    ranges,
    oldest: snapshots[0]?.at,
    newest: end,
    snapshot: newest && { at: newest.at, bytes: newest.bytes },
    lagMs: end === undefined ? undefined : Math.max(0, nowMs - end),
    bytes: histories.reduce((sum, { bytes }) => sum + bytes, 0),
    objects: histories.reduce(
      (sum, { log, bundled, snapshots: all }) =>
        sum +
        log.length +
        bundled.length +
        all.reduce((parts, snapshot) => parts + snapshot.parts.length + 1, 0),
      0,
    ),
    gaps,
  };
}

const segments = (from: number, to: number): string =>
  from === to ? `segment ${from}` : `segments ${from} to ${to}`;
