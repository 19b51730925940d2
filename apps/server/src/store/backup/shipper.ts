import { JournalDamage } from '@stak/engine';
import { type Backoff, backoffMs, type Clock, createKeyedLock, type Logger, systemRandom } from '@stak/kit';
import * as limits from './limits.ts';
import { appendSegment, findTail, type Tail, writeHead } from './log-tail.ts';
import { bundleSegments, pruneTarget, type Shipped, takeSnapshot } from './maintenance.ts';
import type { BackupSource } from './source.ts';
import { findHead, type History, listHistories, type Target } from './target.ts';

// Ships the journal of a store to a folder or a bucket, one segment after the other, and takes snapshots of it. Its
// state is in the target: it continues after the last segment there. If it is behind by more than its limit, the journal
// is gone where it would continue: a new history starts, with a snapshot.

export type ShipperSettings = {
  everyMs: number;
  snapshotMs: number; // between two
  keepMs: number;
  secretKeyIds: readonly string[]; // ids of the keys that open the store's secrets
};

export type ShipperState = {
  history: string | undefined;
  commit: number;
  shippedUntil: number; // everything acknowledged before is in the target; 0 until that is known
  snapshotAt: number; // of the newest one; 0 if there is none
  snapshotBytes: number;
  failures: number;
  failure: string | undefined; // since the last success
  gaps: number;
};

export type ShipperDeps = {
  source: BackupSource;
  target: Target;
  clock: Clock;
  log: Logger;
  settings: ShipperSettings;
};

type Snapshot = { history: string; at: number; bytes: number };

export function createShipper({ source, target, clock, log, settings }: ShipperDeps) {
  const state: ShipperState = {
    history: undefined,
    commit: 0,
    shippedUntil: 0,
    snapshotAt: 0,
    snapshotBytes: 0,
    failures: 0,
    failure: undefined,
    gaps: 0,
  };
  let tail: Tail | undefined;
  let newest: Snapshot | undefined;
  let headAt = 0;
  let unbundled = limits.bundledSegments; // checked once after a start

  // Ships everything committed until now. Also called for a snapshot, concurrently with the loop.
  const lock = createKeyedLock();
  const ship = () => lock.run(['ship'], shipNow);

  async function shipNow(): Promise<void> {
    const lookedAt = clock.now();
    const end = (await source.position()) ?? (await source.begin());
    if (tail?.cursor.history !== end.history) tail = await findTail(target, end.start);
    state.history = end.history;
    try {
      for (let chunk = await nextChunk(tail, end); chunk; chunk = await nextChunk(tail, end)) {
        tail = await appendSegment(target, tail, chunk);
        unbundled++;
      }
    } catch (error) {
      if (error instanceof JournalDamage) return beginAnew(error.message);
      // The response to a put may have been lost: the target shows where the log ends.
      tail = undefined;
      throw error;
    }
    state.commit = tail.cursor.commit;
    source.noteShipped(tail.cursor);
    if (lookedAt - headAt >= limits.headMs)
      await noteHead(tail, Math.max(tail.lastAt, lookedAt - limits.settledMs));
    state.shippedUntil = lookedAt;
  }

  const nextChunk = ({ cursor }: Tail, end: Parameters<BackupSource['read']>[1]) =>
    source.read(cursor, end, limits.segmentBytes);

  // Lost parts of the journal are in the store, so a snapshot contains them; only moments in between cannot be
  // restored.
  async function beginAnew(reason: string): Promise<void> {
    state.gaps++;
    log.warn(
      { history: tail?.cursor.history, reason },
      'the log of the backup has a gap: starting a new one',
    );
    tail = undefined;
    await source.begin();
  }

  async function noteHead({ cursor, number, checksum }: Tail, coveredUntil: number): Promise<void> {
    const writtenAt = clock.now();
    await writeHead(target, { history: cursor.history, number, checksum, coveredUntil, writtenAt });
    headAt = writtenAt;
  }

  // Takes a snapshot if one is due, then deletes what it replaces.
  async function maintain(signal: AbortSignal): Promise<void> {
    const { history } = state;
    if (history === undefined || tail?.cursor.history !== history) return;
    if (newest?.history !== history) noteSnapshot(await findSnapshot(target, history));
    if (!newest || clock.now() - newest.at >= settings.snapshotMs) {
      // Segments after this one contain everything that the snapshot does not.
      const after = tail.number;
      const deps = { source, target, clock, settings, after, ship: shipped };
      const taken = await takeSnapshot(deps, signal);
      noteSnapshot(taken);
      log.info({ ...taken }, 'a snapshot was backed up');
      reportForeign(log, await pruneTarget({ target, clock, settings, source }, taken));
    }
    if (unbundled < limits.bundledSegments) return;
    unbundled = 0;
    await bundleSegments(target, history);
  }

  async function shipped(): Promise<Shipped | undefined> {
    await ship();
    return tail && { history: tail.cursor.history, commit: tail.cursor.commit, at: tail.lastAt };
  }

  function noteSnapshot(snapshot: Snapshot | undefined): void {
    newest = snapshot;
    state.snapshotAt = snapshot?.at ?? 0;
    state.snapshotBytes = snapshot?.bytes ?? 0;
  }

  function noteFailure(error: unknown, isFirst: boolean): void {
    state.failures++;
    state.failure = (error as Error).message;
    if (isFirst) log.error({ err: error }, 'the backup fails: it is tried again');
  }

  return {
    ship,
    maintain,
    state: (): ShipperState => ({ ...state }),
    async run(signal: AbortSignal): Promise<void> {
      const shipOnce = async () => {
        await ship();
        state.failure = undefined;
      };
      const { everyMs } = settings;
      const { retryMs, maintenanceMs, snapshotRetryMs } = limits;
      const maintainOnce = () => maintain(signal);
      await Promise.all([
        repeat(shipOnce, { everyMs, retryMs, clock, onFailure: noteFailure }, signal),
        repeat(
          maintainOnce,
          { everyMs: maintenanceMs, retryMs: snapshotRetryMs, clock, onFailure: noteFailure },
          signal,
        ),
      ]);
    },
    // Ships the last commits, and records that it did.
    async finish(): Promise<void> {
      headAt = 0;
      await ship();
    },
    findHead: () => (state.history === undefined ? undefined : findHead(target, state.history)),
  };
}

async function findSnapshot({ objects }: Target, history: string): Promise<Snapshot | undefined> {
  const [found] = await listHistories(objects, `${history}/snapshots/`);
  return found?.snapshots.filter(({ isComplete }) => isComplete).at(-1);
}

function reportForeign(log: Logger, foreign: readonly History[]): void {
  const last = foreign.at(-1);
  if (!last) return;
  log.error(
    { histories: foreign.map(({ id }) => id), until: new Date(last.changedAt).toISOString() },
    'the target has backups from before this store was made: they are kept. If the data folder was lost, stop the server and restore it with stak restore --to-time; if not, delete them',
  );
}

type Repetition = {
  everyMs: number;
  retryMs: Backoff;
  clock: Clock;
  onFailure(error: unknown, isFirst: boolean): void;
};

// Does the work at intervals until the signal is aborted. If the target is full or unreachable, it is retried; the
// journal waits in the store's folder.
async function repeat(
  work: () => Promise<void>,
  { everyMs, retryMs, clock, onFailure }: Repetition,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = clock.now();
    try {
      await work();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      onFailure(error, failures === 1);
    }
    const restMs = failures === 0 ? everyMs : backoffMs(failures, retryMs, systemRandom, 'half');
    const tookMs = failures === 0 ? clock.now() - startedAt : 0;
    await clock.sleep(Math.max(0, restMs - tookMs), signal).catch(() => {});
  }
}
