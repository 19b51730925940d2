import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bytesOf,
  type HistoryFiles,
  type HistorySnapshot,
  historyFolder,
  listHistory,
  removeDrafts,
  removeFile,
  segmentName,
  segmentsAfter,
  snapshotName,
} from '../journal/history-files.ts';
import { readEnd } from '../journal/position.ts';
import { readJournal } from '../journal/reader.ts';
import { JournalDamage } from '../journal/records.ts';
import { type Restoring, restoreStore } from '../journal/restore.ts';
import { readPieces } from '../journal/snapshot.ts';
import { freeBytes } from '../storage/disk.ts';
import { makeFolder, StoreError } from '../storage/file.ts';
import { head, space } from '../storage/keys.ts';
import { copyBytes, type Store } from '../storage/store.ts';
import { type ItemSource, itemSource } from '../tables/item-source.ts';
import { createArchive } from './archive.ts';
import * as limits from './limits.ts';
import { cursorAfter, replayFrom } from './replay.ts';

// The history of a store: what it was at each moment of the last day, from its journal. A file of the journal that is
// full is compressed and kept here, before it is used again; and now and then a snapshot of the whole store is taken,
// for the commits to begin from. One process at a time does this. See docs/adr/0187-a-store-keeps-its-last-day.md.

/** How much of its history a store keeps in its folder. */
export type HistorySettings = {
  keepMs?: number;
  mostBytes?: number;
  // A backup elsewhere, for moments before those in the folder.
  older?: OlderHistory;
};

/** Moments of a store that are kept elsewhere. */
export type OlderHistory = {
  // The first of them; undefined if there is none.
  earliest(): Promise<number | undefined>;
  // Loads the store as it was at a moment, without finishing it.
  replay(untilMs: number, restoring: Restoring): Promise<void>;
};

export type HistoryRange = {
  // The first moment from which on every later one can be restored. Undefined until a first snapshot is complete.
  earliest: number | undefined;
  bytes: number;
};

export type HistoryOptions = HistorySettings & {
  now(): number;
  settled(): Promise<void> | undefined;
  claim(): Promise<boolean>;
  onError(error: Error, work: string): void;
};

export type History = ReturnType<typeof createHistory>;

/** The store has no room in its own history. */
class TooLarge extends StoreError {
  constructor(mostBytes: number) {
    super(`the store is too large for a history of ${mostBytes} bytes in its folder: none is kept`);
  }
}

const attempts = 3;
// Ids of processes are used again.
const processToken = randomBytes(4).toString('hex');
let temporaryFolders = 0;

const beginning = { commit: 0, at: 0, chain: 0, file: 1, offset: 0 };

export function createHistory(
  store: Store,
  {
    now,
    settled,
    claim,
    onError,
    older,
    keepMs = limits.keepMs,
    mostBytes = limits.mostBytes,
  }: HistoryOptions,
) {
  const path = dirname(store.file);
  const folder = historyFolder(path);
  let lookedAt = -1; // the commit after which there was nothing to do
  let retryAt = 0;
  let failure: string | undefined;
  let working: Promise<void> | undefined;

  function journalEnd() {
    store.refresh();
    return readEnd(store) ?? { ...beginning, txn: 0, checkpoint: 0 };
  }

  // ---- keeping it

  function isSnapshotDue(files: HistoryFiles, commit: number): boolean {
    const newest = files.snapshots.at(-1);
    if (!newest) return true;
    if (commit === newest.from.commit) return false;
    if (now() - newest.at >= keepMs / 2) return true;
    const after = segmentsAfter(newest, files.segments).reduce((sum, { bytes }) => sum + bytes, 0);
    return after > Math.max((mostBytes - 2 * newest.bytes) / 2, mostBytes / 16);
  }

  // Does what is due: archives files of the journal, takes a snapshot, removes what is too old or too much.
  async function maintain(signal: AbortSignal): Promise<void> {
    if (now() < retryAt) return;
    const end = journalEnd();
    if (end.commit === lookedAt) return;
    const files = listHistory(folder, { withSizes: true });
    const newest = files.snapshots.at(-1);
    const hasFiles = newest !== undefined && end.file > cursorAfter(newest, files).file;
    if (!hasFiles && !isSnapshotDue(files, end.commit)) {
      lookedAt = end.commit;
      return;
    }
    if (!(await claim()) || signal.aborted) return;
    try {
      makeFolder(folder);
      removeDrafts(folder);
      removeTemporary(folder);
      if (freeBytes(folder) < limits.leastFreeBytes) throw new StoreError('the disk is nearly full');
      const isWhole = newest === undefined || (await archive(newest, signal));
      prune();
      failure = undefined;
      if (
        !signal.aborted &&
        (!isWhole || isSnapshotDue(listHistory(folder, { withSizes: true }), journalEnd().commit))
      ) {
        await takeSnapshot(signal);
        prune();
      }
    } catch (error) {
      if (signal.aborted) return;
      retryAt = now() + (error instanceof TooLarge ? keepMs / 2 : limits.retryMs);
      // The same reason is reported once.
      const { message } = error as Error;
      if (message !== failure) onError(error as Error, 'history');
      failure = message;
    }
  }

  // False if the journal does not continue the history any more.
  async function archive(newest: HistorySnapshot, signal: AbortSignal): Promise<boolean> {
    const end = journalEnd();
    await settled();
    let cursor = cursorAfter(newest, listHistory(folder, { withSizes: true }));
    try {
      while (!signal.aborted && cursor.file < end.file) {
        const chunk = await readJournal(path, cursor, { ...end, history: '' }, Number.MAX_SAFE_INTEGER);
        if (!chunk || chunk.next.file >= end.file) break;
        const { commit, chain, file } = chunk.next;
        const before = { commit: cursor.commit, chain: cursor.chain };
        const { firstAt, lastAt, records } = chunk;
        const name = segmentName({ before, last: { commit, chain }, firstAt, lastAt, nextFile: file + 1 });
        await write(name, async add => add(records));
        cursor = { history: '', commit, chain, file: file + 1, offset: 0 };
      }
      return true;
    } catch (error) {
      if (error instanceof JournalDamage) return false;
      throw error;
    }
  }

  async function write(name: string, fill: (add: (piece: Buffer) => Promise<void>) => Promise<void>) {
    const archive = createArchive(folder, name);
    try {
      await fill(archive.add);
      await archive.finish(name);
    } catch (error) {
      archive.abandon();
      throw error;
    }
  }

  // In pieces of different moments: with the commits from its beginning on, it is the store at its end and later.
  async function takeSnapshot(signal: AbortSignal): Promise<void> {
    const from = journalEnd();
    const draft = `from-${from.file}`;
    const archive = createArchive(folder, draft);
    try {
      const read = readPieces(store, from);
      for (let startedAt = performance.now(), piece = read(limits.pieceBytes); piece; ) {
        await archive.add(piece.operations);
        if (archive.bytes() > mostBytes) throw new TooLarge(mostBytes);
        await sleep(Math.min(1000, limits.restPerWork * (performance.now() - startedAt)), undefined, {
          signal,
        });
        startedAt = performance.now();
        piece = read(limits.pieceBytes);
      }
      const end = journalEnd();
      await settled();
      const at = end.commit > 0 ? end.at : now();
      await archive.finish(snapshotName({ from, commit: end.commit, at }));
    } catch (error) {
      archive.abandon();
      throw error;
    }
  }

  function prune(): void {
    let files = listHistory(folder, { withSizes: true });
    const dropOldest = () => {
      const [oldest, next] = files.snapshots;
      if (!oldest) return;
      removeFile(folder, oldest.name);
      const first = next?.from.commit ?? Number.POSITIVE_INFINITY;
      for (const { name, last } of files.segments) if (last.commit <= first) removeFile(folder, name);
      files = listHistory(folder, { withSizes: true });
    };
    const oldestMoment = now() - keepMs;
    while (files.snapshots[1] && files.snapshots[1].at <= oldestMoment) dropOldest();
    while (bytesOf(files) > mostBytes && files.snapshots.length > 1) dropOldest();
    // Commits have come faster than snapshots could be taken.
    while (bytesOf(files) > 1.5 * mostBytes && files.snapshots.length > 0) dropOldest();
  }

  // ---- reading it

  async function range(): Promise<HistoryRange> {
    const files = listHistory(folder, { withSizes: true });
    const bytes = bytesOf(files);
    let connected = files.snapshots.at(-1);
    for (const snapshot of files.snapshots.slice(0, -1).reverse()) {
      const cursor = cursorAfter(snapshot, files);
      if (cursor.commit < connected!.from.commit && cursor.file !== connected!.from.file) break;
      connected = snapshot;
    }
    const before = await older?.earliest();
    const earliest = Math.min(connected?.at ?? Number.POSITIVE_INFINITY, before ?? Number.POSITIVE_INFINITY);
    return { earliest: Number.isFinite(earliest) ? earliest : undefined, bytes };
  }

  // Loads the store as it was at a moment.
  async function replay(untilMs: number, restoring: Restoring): Promise<unknown> {
    const end = journalEnd();
    await settled();
    const snapshot = listHistory(folder, { withSizes: true }).snapshots.findLast(({ at }) => at <= untilMs);
    if (!snapshot && older) return older.replay(untilMs, restoring);
    if (!snapshot) throw notKept(untilMs, listHistory(folder, { withSizes: true }).snapshots[0]?.at);
    return replayFrom(path, snapshot, { untilMs, end }, restoring);
  }

  // Files of the journal may be archived, and removed, while they are read.
  async function replayInto<T>(
    untilMs: number,
    open: () => Restoring,
    use: (restoring: Restoring) => Promise<T>,
  ) {
    for (let attempt = 1; ; attempt++) {
      const restoring = open();
      try {
        await replay(untilMs, restoring);
        return await use(restoring);
      } catch (error) {
        await restoring.abandon();
        rmSync(restoring.path, { recursive: true, force: true });
        const isGone = error instanceof JournalDamage || (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (!isGone) throw error;
        if (attempt === attempts) throw notKept(untilMs);
      }
    }
  }

  /** The items of a table as they were at a moment. */
  async function openItems(tableId: number, untilMs: number): Promise<ItemSource> {
    makeFolder(folder);
    const only = head(space.item, tableId);
    const open = () =>
      restoreStore(join(folder, `${temporaryName()}${temporarySuffix}`), {
        wants: key => key.subarray(0, only.length).equals(only),
      });
    return replayInto(untilMs, open, async restoring => {
      const opened = await restoring.opened();
      return itemSource(opened, tableId, async () => {
        await restoring.abandon();
        rmSync(restoring.path, { recursive: true, force: true });
      });
    });
  }

  /**
   * The newest values of some keys, as they were written, from copies and commits of different age until each is sound.
   * One that is in no copy, or sound in none, is missing.
   */
  async function findValues(
    keys: readonly Buffer[],
    isSound: (key: Buffer, value: Buffer) => boolean,
  ): Promise<Map<string, Buffer>> {
    const end = journalEnd();
    await settled();
    makeFolder(folder);
    const bytesByKey = new Map<string, Buffer>();
    const sources: ((restoring: Restoring) => Promise<unknown>)[] = listHistory(folder, { withSizes: true })
      .snapshots.toReversed()
      .map(
        snapshot => restoring =>
          replayFrom(path, snapshot, { untilMs: Number.POSITIVE_INFINITY, end }, restoring),
      );
    if (older) sources.push(restoring => older.replay(now(), restoring));
    for (const load of sources) {
      const wanted = new Set(keys.map(key => key.toString('hex')).filter(key => !bytesByKey.has(key)));
      if (wanted.size === 0) break;
      const restoring = restoreStore(join(folder, `${temporaryName()}${temporarySuffix}`), {
        wants: key => wanted.has(key.toString('hex')),
      });
      try {
        await load(restoring);
        const { get } = await restoring.opened();
        for (const hex of wanted) {
          const key = Buffer.from(hex, 'hex');
          const value = get(key, copyBytes);
          if (value && isSound(key, value)) bytesByKey.set(hex, value);
        }
      } catch {
        // A copy that is damaged itself, or a gap after it: the one before may help.
      } finally {
        await restoring.abandon();
        rmSync(restoring.path, { recursive: true, force: true });
      }
    }
    return bytesByKey;
  }

  /** Creates a store in an empty folder, as this one was at a moment. */
  const restore = (to: string, untilMs: number): Promise<void> =>
    replayInto(
      untilMs,
      () => restoreStore(to),
      restoring => restoring.finish(),
    );

  return {
    range,
    openItems,
    findValues,
    restore,
    // One at a time.
    maintain(signal: AbortSignal): Promise<void> {
      working ??= maintain(signal)
        .catch(error => onError(error as Error, 'history'))
        .finally(() => {
          working = undefined;
        });
      return working;
    },
  };
}

const temporarySuffix = '.items';
const temporaryName = (): string => `${process.pid}-${processToken}-${temporaryFolders++}`;

// Left by processes that were killed.
function removeTemporary(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(temporarySuffix) || name.includes(processToken)) continue;
    const pid = Number.parseInt(name, 10);
    if (pid === process.pid || !isAlive(pid)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function notKept(untilMs: number, earliest?: number): StoreError {
  const time = (ms: number) => new Date(ms).toISOString();
  return new StoreError(
    earliest === undefined
      ? `the history of this store does not have ${Number.isFinite(untilMs) ? time(untilMs) : 'its newest moment'}`
      : `the history of this store begins at ${time(earliest)}; ${time(untilMs)} is before that`,
  );
}
