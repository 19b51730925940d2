import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createEngine, JournalDamage, type Restoring, restoreStore } from '@stak/engine';
import * as limits from './limits.ts';
import { BackupError, type FactsOf, type Opened } from './sealed-object.ts';
import {
  beganAt,
  describeSegments,
  findEnd,
  findHead,
  getLogObject,
  type History,
  inspectSegments,
  type LogObject,
  listHistories,
  manifestKey,
  openSegment,
  partKey,
  readObject,
  type SnapshotFolder,
  type Target,
} from './target.ts';

// Restores a store from its backup, as it was at one moment: the newest snapshot before it, then the log up to it.
// Anything damaged, missing or out of order is reported and ends the restore; nothing is skipped.

export type Plan = {
  history: string;
  snapshot: SnapshotFolder;
  manifest: FactsOf<'manifest'>;
  log: LogObject[]; // after the snapshot, in order
  head: FactsOf<'head'> | undefined;
  untilMs: number; // Infinity: everything
};

export type RestoreProgress = {
  begin(what: 'snapshot' | 'log' | 'check', total: number): void;
  step(count?: number): void;
};

export type Restored = { commit: number; at: number; entries: number; secretKeyIds: readonly string[] };

const time = (ms: number): string => new Date(ms).toISOString();
const endTime = (ms: number): string => time(Math.ceil(ms)); // times of commits have fractions of a millisecond

// The objects that are needed to restore a moment, or the newest one.
export async function planRestore(target: Target, untilMs = Number.POSITIVE_INFINITY): Promise<Plan> {
  const histories = await listHistories(target.objects);
  const snapshots = histories.flatMap(history => history.snapshots.filter(({ isComplete }) => isComplete));
  if (snapshots.length === 0) throw new BackupError('there is no complete snapshot here to restore from');
  const { snapshot, manifest } = await findSnapshot(target, snapshots, untilMs);
  const history = histories.find(({ id }) => id === snapshot.history)!;
  const head = await findHead(target, history.id);
  const log = history.log.filter(({ to }) => to > snapshot.after);
  if (Number.isFinite(untilMs)) await requireCovered(target, { histories, history, head, manifest, untilMs });
  else await requireOneStore(target, histories, history, manifest);
  return { history: history.id, snapshot, manifest, log, head, untilMs };
}

// The newest snapshot that was complete at that time. A folder is named after the time at which it was started.
async function findSnapshot(
  target: Target,
  snapshots: readonly SnapshotFolder[],
  untilMs: number,
): Promise<Pick<Plan, 'snapshot' | 'manifest'>> {
  let earliest = Number.POSITIVE_INFINITY;
  for (const snapshot of snapshots.toSorted((a, b) => b.at - a.at || b.commit - a.commit)) {
    if (snapshot.at > untilMs) {
      earliest = snapshot.at;
      continue;
    }
    const { facts: manifest } = await readObject(target, 'manifest', manifestKey(snapshot.folder));
    requireManifest(manifest, snapshot);
    if (manifest.at <= untilMs) return { snapshot, manifest };
    earliest = manifest.at;
  }
  throw new BackupError(`the backup begins at ${time(earliest)}; ${time(untilMs)} is before that`);
}

// A server started after its disk was lost has begun an empty store: it is newer than the lost one, and rarely the one
// to restore.
async function requireOneStore(
  target: Target,
  histories: readonly History[],
  newest: History,
  { madeAt = 0 }: FactsOf<'manifest'>,
): Promise<void> {
  const isBefore = (history: History) =>
    beganAt(history) < madeAt - limits.madeMs && history.snapshots.some(({ isComplete }) => isComplete);
  const before = histories.findLast(history => history !== newest && isBefore(history));
  if (!before) return;
  const endOf = async (history: History) => findEnd(target, history, await findHead(target, history.id));
  const end = await endOf(before);
  if (end >= madeAt) return;
  throw new BackupError(
    `the newest store here was made at ${time(madeAt)} and started empty. Restore the one before it with --to-time ${endTime(end)}, or the newest with --to-time ${endTime(await endOf(newest))}`,
  );
}

function requireManifest(
  manifest: FactsOf<'manifest'>,
  { folder, history, commit, at, after }: SnapshotFolder,
): void {
  const isSame =
    manifest.history === history &&
    manifest.from === commit &&
    Math.floor(manifest.at) >= at &&
    manifest.after === after;
  if (!isSame) throw new BackupError(`${manifestKey(folder)} belongs to another snapshot`);
}

type Coverage = {
  histories: readonly History[];
  history: History;
  head: FactsOf<'head'> | undefined;
  manifest: FactsOf<'manifest'>;
  untilMs: number;
};

// The state at a moment is only known if the log goes that far.
async function requireCovered(target: Target, coverage: Coverage): Promise<void> {
  const { histories, history, head, manifest, untilMs } = coverage;
  const end = Math.max(manifest.at, await findEnd(target, history, head));
  if (untilMs <= Math.ceil(end)) return;
  const next = histories
    .filter(({ id }) => id !== history.id)
    .flatMap(history => history.snapshots.filter(({ isComplete, at }) => isComplete && at > untilMs))
    .sort((a, b) => a.at - b.at)[0];
  throw new BackupError(
    next
      ? `${time(untilMs)} is in a gap of the backup: its log ends at ${time(end)} and begins again at ${time(next.at)}`
      : `the backup goes until ${time(end)}; leave out --to-time to restore all of it`,
  );
}

// A folder that does not exist, is empty, or contains only the secret key.
export function requireEmpty(path: string): void {
  if (!existsSync(path)) return;
  const [found] = readdirSync(path).filter(name => name !== 'secret-key' && name !== draftName);
  if (found !== undefined)
    throw new BackupError(`${path} is not empty (${found}): nothing is restored over what is there`);
}

const draftName = 'restoring';
const storeName = 'stak.mdb';

export async function restoreBackup(
  target: Target,
  plan: Plan,
  path: string,
  progress: RestoreProgress,
): Promise<Restored> {
  requireEmpty(path);
  // An incomplete store must not be mistaken for a store.
  const draft = join(path, draftName);
  rmSync(draft, { recursive: true, force: true });
  const restoring = restoreStore(draft);
  try {
    const { manifest } = plan;
    const end = await replayBackup(target, plan, restoring, progress);
    await restoring.finish();
    progress.begin('check', 1);
    await takeDraft(draft, path);
    progress.step();
    return { ...end, entries: manifest.entries, secretKeyIds: manifest.secretKeyIds };
  } catch (error) {
    await restoring.abandon().catch(() => {});
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Restores a store from the history in its own folder. */
export async function restoreHistory(from: string, untilMs: number, path: string): Promise<void> {
  requireEmpty(path);
  const draft = join(path, draftName);
  rmSync(draft, { recursive: true, force: true });
  try {
    const engine = await createEngine({ path: from, create: false, readOnly: true, joins: false });
    try {
      await engine.history!.restore(draft, untilMs);
    } finally {
      await engine.close();
    }
    await takeDraft(draft, path);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

// A store gets its name when everything in it was compared.
async function takeDraft(draft: string, path: string): Promise<void> {
  await verify(draft);
  renameSync(join(draft, storeName), join(path, storeName));
  rmSync(draft, { recursive: true });
  await syncFolder(path);
}

const noProgress: RestoreProgress = { begin() {}, step() {} };

/** Loads the store as it was at the moment of the plan, without finishing it. */
export async function replayBackup(
  target: Target,
  plan: Plan,
  restoring: Restoring,
  progress: RestoreProgress = noProgress,
): Promise<{ commit: number; at: number }> {
  const { manifest, snapshot, log } = plan;
  progress.begin('snapshot', manifest.parts);
  await loadSnapshot(target, plan, async operations => {
    await restoring.load(operations);
    progress.step();
  });
  const start = await restoring.loaded();
  if (start.history !== plan.history || start.commit !== manifest.from)
    throw new BackupError(`${snapshot.folder} is a snapshot of another store or moment`);
  progress.begin(
    'log',
    log.reduce((sum, { from, to }) => sum + to - from + 1, 0),
  );
  const end = (await applyLog(target, plan, restoring, progress)) ?? start;
  if (end.commit < manifest.commit)
    throw new BackupError(
      `the log ends at commit ${end.commit}; ${snapshot.folder} is whole only with commit ${manifest.commit}`,
    );
  return end;
}

async function loadSnapshot(
  target: Target,
  { history, manifest, snapshot }: Plan,
  load: (operations: Buffer) => Promise<void>,
): Promise<void> {
  const numbers = Array.from({ length: manifest.parts }, (_, n) => n + 1);
  const read = (part: number) => readObject(target, 'snapshot', partKey(snapshot.folder, part));
  let previous = '';
  for await (const { facts, content, checksum } of readAhead(numbers, read)) {
    const name = partKey(snapshot.folder, facts.part);
    if (facts.history !== history || facts.commit !== manifest.from)
      throw new BackupError(`${name} belongs to another snapshot`);
    if (facts.previous !== previous) throw new BackupError(`${name} does not follow the part before it`);
    previous = checksum;
    await load(content);
  }
  if (previous !== manifest.last)
    throw new BackupError(`the last part of ${snapshot.folder} is not the one that was written`);
}

async function applyLog(
  target: Target,
  { history, snapshot, log, head, untilMs }: Plan,
  restoring: Pick<ReturnType<typeof restoreStore>, 'apply'>,
  progress: RestoreProgress,
): Promise<{ commit: number; at: number } | undefined> {
  requireContiguous(snapshot.after, log, head);
  let end: { commit: number; at: number; isPast: boolean } | undefined;
  let before: Opened<'log'> | undefined;
  const fetch = async (object: LogObject) => ({ object, bytes: await getLogObject(target, object) });
  for await (const { object, bytes } of readAhead(log, fetch)) {
    for (const inspected of inspectSegments(object, bytes)) {
      const segment = await openSegment(target, inspected);
      const { facts, content } = segment;
      if (facts.number <= snapshot.after) {
        before = segment;
        continue;
      }
      requireNext(history, snapshot.after, before, segment);
      before = segment;
      end = await restoring.apply(content, facts.first, untilMs).catch(error => {
        if (error instanceof JournalDamage)
          throw new BackupError(`segment ${facts.number} does not continue the log: ${error.message}`);
        throw error;
      });
      progress.step();
      if (end.isPast) return end;
      if (head?.number === facts.number && head.checksum !== segment.checksum)
        throw new BackupError(`segment ${facts.number} is not the one that the head of the log names`);
    }
  }
  return end;
}

// Checked before anything is read: a missing number is a missing segment.
function requireContiguous(after: number, log: readonly LogObject[], head: Plan['head']): void {
  let last = after;
  for (const { from, to, key } of log) {
    if (from > last + 1)
      throw new BackupError(
        `segment ${describeSegments({ from: last + 1, to: from - 1 })} is missing before ${key}`,
      );
    last = Math.max(last, to);
  }
  if (head && head.number > last)
    throw new BackupError(`segment ${describeSegments({ from: last + 1, to: head.number })} is missing`);
}

function requireNext(
  history: string,
  after: number,
  before: Opened<'log'> | undefined,
  { facts }: Opened<'log'>,
): void {
  const expected = before ? before.facts.number + 1 : after + 1;
  if (facts.history !== history) throw new BackupError(`segment ${expected} is of another history`);
  if (facts.number !== expected)
    throw new BackupError(`segment ${facts.number} stands where segment ${expected} belongs`);
  if (before && facts.previous !== before.checksum)
    throw new BackupError(
      `segment ${facts.number} does not follow the segment ${before.facts.number} that is here`,
    );
}

async function verify(path: string): Promise<void> {
  const engine = await createEngine({ path, readOnly: true });
  try {
    const { problemCount, problems } = engine.check();
    if (problemCount > 0)
      throw new BackupError(
        `the restored store has ${problemCount} problems, first: ${problems[0]!.message}`,
      );
  } finally {
    await engine.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

// In order, with a few reads in flight at a time.
async function* readAhead<T, R>(items: readonly T[], read: (item: T) => Promise<R>): AsyncGenerator<R> {
  const started: Promise<R>[] = [];
  let next = 0;
  const start = () => {
    const reading = read(items[next++]!);
    reading.catch(() => {}); // reported when it is awaited
    started.push(reading);
  };
  while (next < items.length && started.length < limits.parallelReads) start();
  while (started.length > 0) {
    const value = await started.shift()!;
    if (next < items.length) start();
    yield value;
  }
}
