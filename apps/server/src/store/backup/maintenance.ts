import type { Clock } from '@stak/kit';
import { yieldToEventLoop } from '@stak/kit';
import { withDeadline } from '@stak/table';
import { versionText } from '../../config/version.ts';
import * as limits from './limits.ts';
import { BackupError, inspectObject, sealObject } from './sealed-object.ts';
import type { ShipperSettings } from './shipper.ts';
import type { BackupSource } from './source.ts';
import {
  beganAt,
  bundleKey,
  getObject,
  type History,
  type LogObject,
  listHistories,
  logFolder,
  manifestKey,
  partKey,
  putObject,
  readObject,
  type SnapshotFolder,
  snapshotFolder,
  type Target,
} from './target.ts';

// Maintenance of a backup: takes snapshots, bundles small objects, and deletes old ones.

export type Taken = { history: string; commit: number; at: number; bytes: number; entries: number };

// How far the log in the target goes.
export type Shipped = { history: string; commit: number; at: number };

type Deps = {
  source: BackupSource;
  target: Target;
  clock: Clock;
  settings: ShipperSettings;
  after: number; // the segment before it
  ship(): Promise<Shipped | undefined>; // ships everything committed until now; undefined if a new history has started
};

// Copies the whole store. It rests after each piece, because requests need the same disk and processor. Pieces are from
// different moments: with the log from the start of the copy, it is the store as of its end and later.
export async function takeSnapshot(
  { source, target, clock, settings, after, ship }: Deps,
  signal: AbortSignal,
): Promise<Taken> {
  const snapshot = source.snapshot();
  const { from } = snapshot;
  const written: string[] = [];
  try {
    if (!from) throw new Error('the store keeps no journal');
    const { history, commit } = from;
    const [key] = target.keys;
    const folder = snapshotFolder(history, commit, from.at, after);
    let previous = '';
    let parts = 0;
    let entries = 0;
    let bytes = 0;
    for (let piece = await readPart(); piece; piece = await readPart()) {
      const startedAt = performance.now();
      parts++;
      entries += piece.entries;
      const sealed = sealObject(
        { kind: 'snapshot', history, commit, part: parts, previous },
        piece.operations,
        key,
      );
      bytes += sealed.bytes.length;
      previous = sealed.checksum;
      written.push(partKey(folder, parts));
      await putObject(target, partKey(folder, parts), sealed.bytes);
      await clock.sleep((performance.now() - startedAt) * limits.snapshotRest, signal);
    }
    // Before the snapshot counts, everything that is missing in the copy must be in the target.
    const end = await ship();
    if (end?.history !== history) throw new Error('the journal was restarted while a snapshot was taken');
    const secretKeyIds = [...settings.secretKeyIds];
    const madeAt = await source.madeAt();
    const counts = { parts, last: previous, entries, bytes };
    const moments = { from: commit, commit: end.commit, at: Math.max(from.at, end.at) };
    const manifest = sealObject(
      { kind: 'manifest', history, ...moments, after, ...counts, secretKeyIds, madeAt, server: versionText },
      Buffer.alloc(0),
      key,
    );
    await putObject(target, manifestKey(folder), manifest.bytes);
    return { history, commit, at: from.at, bytes, entries };
  } catch (error) {
    // If the target is full, each attempt would take a little more.
    for (const name of written) await remove(target, name).catch(() => {});
    throw error;
  }

  async function readPart(): Promise<{ operations: Buffer; entries: number } | undefined> {
    const pieces: Buffer[] = [];
    let entries = 0;
    for (let bytes = 0; bytes < limits.partBytes; ) {
      const startedAt = performance.now();
      const piece = snapshot.read(limits.readBytes);
      if (!piece) break;
      pieces.push(piece.operations);
      entries += piece.entries;
      bytes += piece.operations.length;
      await yieldToEventLoop();
      await clock.sleep((performance.now() - startedAt) * limits.snapshotRest, signal);
    }
    return pieces.length === 0 ? undefined : { operations: Buffer.concat(pieces), entries };
  }
}

// Replaces many small objects of the log with one that contains them unchanged.
export async function bundleSegments(
  target: Target,
  history: string,
  size = limits.bundledSegments,
): Promise<void> {
  const [found] = await listHistories(target.objects, logFolder(history));
  if (!found) return;
  for (const { key } of found.bundled) await remove(target, key); // left by a process that was stopped in the middle
  const single = found.log.filter(({ from, to, bytes }) => from === to && bytes < limits.smallSegmentBytes);
  for (let start = 0; start + size <= single.length; ) {
    const group = takeGroup(single.slice(start, start + size));
    start += group.length;
    if (group.length > 1) await bundle(target, history, group);
  }
}

// Only adjacent ones: a gap must stay visible.
function takeGroup(candidates: readonly LogObject[]): LogObject[] {
  const group: LogObject[] = [];
  let bytes = 0;
  for (const candidate of candidates) {
    if (
      group.length > 0 &&
      (candidate.from !== group.at(-1)!.to + 1 || bytes + candidate.bytes > limits.bundleBytes)
    )
      break;
    group.push(candidate);
    bytes += candidate.bytes;
  }
  return group;
}

async function bundle(target: Target, history: string, group: readonly LogObject[]): Promise<void> {
  const parts: Buffer[] = [];
  for (const { key } of group) {
    const bytes = await getObject(target, key);
    if (!bytes) throw new BackupError(`${key} is missing`);
    inspectObject(bytes, key);
    parts.push(bytes);
  }
  await putObject(target, bundleKey(history, group[0]!.from, group.at(-1)!.to), Buffer.concat(parts));
  for (const { key } of group) await remove(target, key);
}

const remove = ({ objects }: Target, key: string): Promise<void> =>
  withDeadline(limits.callMs, () => objects.delete(key));

// Every moment since `keepMs` ago can be restored: the newest snapshot before that is kept, and the log after it. Only
// called after a new snapshot, so the last one that can be restored is never deleted. A history that started before
// this store was created belongs to another one, whose folder may be lost: it is kept, and returned.
export async function pruneTarget(
  { target, clock, settings, source }: Pick<Deps, 'target' | 'clock' | 'settings' | 'source'>,
  newest: Pick<Taken, 'history' | 'commit'>,
): Promise<History[]> {
  const now = clock.now();
  const cutoff = now - settings.keepMs;
  const madeAt = (await source.madeAt()) ?? 0;
  const foreign: History[] = [];
  for (const history of await listHistories(target.objects)) {
    const isOwn = history.id === newest.history;
    if (
      !isOwn &&
      beganAt(history) < madeAt - limits.madeMs &&
      history.snapshots.some(snapshot => snapshot.isComplete)
    ) {
      foreign.push(history);
      continue;
    }
    const isOver = !isOwn && history.changedAt < cutoff;
    // Another store with the same target may be writing one.
    const isIdle = isOwn || history.changedAt < now - limits.abandonedMs;
    const keys = isOver
      ? keysOf(history)
      : [
          ...superfluous(history, await findBase(target, history, cutoff)),
          ...(isIdle ? unfinished(history) : []),
        ];
    for (const key of keys) await remove(target, key);
  }
  return foreign;
}

// A snapshot without its manifest does not count: the manifest is deleted first.
const keysOf = ({ id, log, bundled, snapshots }: History): string[] => [
  ...snapshots.flatMap(({ folder, parts }) => [manifestKey(folder), ...parts]),
  ...[...log, ...bundled].map(({ key }) => key),
  `${id}/head`,
];

const unfinished = ({ snapshots }: History): string[] =>
  snapshots.filter(({ isComplete }) => !isComplete).flatMap(({ parts }) => parts);

// The newest snapshot that was complete at that time.
async function findBase(
  target: Target,
  { snapshots }: History,
  cutoff: number,
): Promise<SnapshotFolder | undefined> {
  const begun = snapshots.filter(({ isComplete, at }) => isComplete && at <= cutoff);
  for (const history of begun.reverse()) {
    // A snapshot that cannot be read cannot be restored.
    const manifest = await readObject(target, 'manifest', manifestKey(history.folder)).catch(() => undefined);
    if (manifest && manifest.facts.at <= cutoff) return history;
  }
  return undefined;
}

function superfluous({ log, snapshots }: History, base: SnapshotFolder | undefined): string[] {
  if (!base) return [];
  const complete = snapshots.filter(({ isComplete }) => isComplete);
  const old = complete.slice(0, complete.indexOf(base));
  return [
    ...old.flatMap(({ folder, parts }) => [manifestKey(folder), ...parts]),
    ...log.filter(({ to }) => to <= base.after).map(({ key }) => key),
  ];
}
