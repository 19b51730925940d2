import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Report, runCheck } from './check.ts';
import type { Context } from './context.ts';
import type { History } from './history/history.ts';
import { replayFrom } from './history/replay.ts';
import { readCheckpoint, removeCheckpoint } from './journal/checkpoint-file.ts';
import { type HistorySnapshot, historyFolder, listHistory } from './journal/history-files.ts';
import { JournalDamage } from './journal/records.ts';
import { restoreStore } from './journal/restore.ts';
import { hasLivePeer } from './peers.ts';
import { syncFolder } from './storage/disk.ts';
import { StoreError, storeFile } from './storage/file.ts';
import { isSound } from './storage/soundness.ts';
import { copyBytes } from './storage/store.ts';

// Puts right what a check has found. A value that is damaged comes from the history: a snapshot and every commit since
// have it as it was written. What follows from items (entries of indexes, expiry, counts) is made from them again.

/** The repairs that were made. Problems that the report still has are lost. */
export type Repair = { repaired: string[]; report: Report };

const passes = 10;

export async function repairStore(context: Context, history: History | undefined): Promise<Repair> {
  const repaired: string[] = [];
  let { report } = runCheck(context);
  if (report.problems.some(({ kind }) => kind === 'page')) return { repaired, report };
  if (history) repaired.push(...(await repairValues(context, history, report)));
  for (let pass = 0; pass < passes; pass++) {
    const check = runCheck(context);
    report = check.report;
    if (check.fixes.length === 0) break;
    await context.submit(tx => {
      for (const fix of check.fixes) fix(tx);
    });
    repaired.push(`${check.fixes.length} entries and counts, from the items`);
    report = runCheck(context).report;
  }
  return { repaired, report };
}

async function repairValues(context: Context, history: History, { problems }: Report): Promise<string[]> {
  const keys = [...new Set(problems.map(({ key }) => key))].map(key => Buffer.from(key, 'hex'));
  const intact = await history.findValues(keys, isSound);
  const repaired: string[] = [];
  await context.submit(tx => {
    for (const [hex, value] of intact) {
      const key = Buffer.from(hex, 'hex');
      if (context.store.get(key, copyBytes)?.equals(value)) continue;
      tx.put(key, value);
      repaired.push(`key ${hex}, from the history`);
    }
  });
  return repaired;
}

/**
 * Makes the file of a store again, whose pages are damaged, from its history and its journal. The damaged one is kept
 * beside it. No process may have it open.
 */
export async function rebuildStore(path: string): Promise<{ damagedFile: string; at: number }> {
  await refuseIfOpen(path);
  const recorded = readCheckpoint(path)?.journal;
  for (const snapshot of listHistory(historyFolder(path)).snapshots.toReversed()) {
    const last = await rebuildFrom(path, snapshot, recorded?.commit ?? 0);
    if (last) return last;
  }
  throw new StoreError(
    `the history in ${path} does not lead to the end of its journal: restore a backup with stak restore`,
  );
}

async function refuseIfOpen(path: string): Promise<void> {
  if (await hasLivePeer(path)) throw new StoreError(`${path} is in use: stop the server first`);
}

const draftName = 'rebuilding';

async function rebuildFrom(path: string, snapshot: HistorySnapshot, leastCommit: number) {
  const draft = join(path, draftName);
  rmSync(draft, { recursive: true, force: true });
  const restoring = restoreStore(draft);
  try {
    const last = await replayToEnd(path, snapshot, restoring);
    if (last.commit < leastCommit) return undefined;
    await restoring.finish();
    const damagedFile = `${storeFile(path)}.damaged`;
    if (existsSync(damagedFile))
      throw new StoreError(`${damagedFile} is in the way: move it elsewhere first`);
    // A server may have been started meanwhile: what it wrote would be lost.
    await refuseIfOpen(path);
    // From here on a process that opens the folder finds either file whole, and takes it for a copy without a journal.
    removeCheckpoint(path);
    linkSync(storeFile(path), damagedFile);
    renameSync(storeFile(draft), storeFile(path));
    rmSync(`${storeFile(path)}-lock`, { force: true });
    syncFolder(path);
    return { damagedFile, at: last.at };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    return undefined;
  } finally {
    await restoring.abandon().catch(() => {});
    rmSync(draft, { recursive: true, force: true });
  }
}

// The file cannot say where its journal ends: it ends with the last commit that follows.
async function replayToEnd(
  path: string,
  snapshot: HistorySnapshot,
  restoring: ReturnType<typeof restoreStore>,
) {
  let last = { commit: 0, at: 0 };
  const watched = {
    ...restoring,
    async apply(...args: Parameters<typeof restoring.apply>) {
      const applied = await restoring.apply(...args);
      last = applied;
      return applied;
    },
    async loaded() {
      const position = await restoring.loaded();
      last = position;
      return position;
    },
  };
  const end = { commit: Number.MAX_SAFE_INTEGER, chain: 0, file: Number.MAX_SAFE_INTEGER, offset: 0 };
  try {
    await replayFrom(path, snapshot, { untilMs: Number.POSITIVE_INFINITY, end }, watched);
  } catch (error) {
    if (!(error instanceof JournalDamage)) throw error;
  }
  return last;
}
