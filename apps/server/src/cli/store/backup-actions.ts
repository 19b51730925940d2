import { resolve } from 'node:path';
import { sizeText } from '@stak/accounts';
import { storeExists } from '@stak/engine';
import { loadEnvFile, readBackupTarget, readDataFolder } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readDurationMs, readMoment, readText } from '../../config/flags.ts';
import { copySecretKey, refuseOtherKey } from '../../config/secrets.ts';
import { objectsLocation } from '../../store/backup/backup-host.ts';
import {
  planRestore,
  type RestoreProgress,
  requireEmpty,
  restoreBackup,
  restoreHistory,
} from '../../store/backup/restore.ts';
import { type BackupStatus, readStatus } from '../../store/backup/status.ts';
import type { Target } from '../../store/backup/target.ts';
import { openObjects } from '../../store/lake/lake-objects.ts';
import type { FlagsOf } from '../action.ts';
import { note, printJson, printTable, timeText } from '../print.ts';
import { type Progress, showProgress } from '../progress.ts';
import type { options } from './backup.ts';

type Flags = FlagsOf<typeof options>;
export type RestoreFlags = { from?: unknown; toTime?: unknown; path?: unknown };

export const actions = { status };

async function status(flags: Flags): Promise<void> {
  const maxLagMs = flags.maxLag === undefined ? undefined : readDurationMs('--max-lag', flags.maxLag);
  const status = await withTarget(flags, target => readStatus(target, Date.now()));
  process.exitCode = exitCodeOf(status, maxLagMs);
  const text = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const gaps = status.gaps.map(({ from, to, missing }) => ({ from: text(from), to: text(to), missing }));
  if (flags.json === true)
    return printJson({
      snapshot: status.snapshot && { at: text(status.snapshot.at), bytes: status.snapshot.bytes },
      oldest: text(status.oldest),
      shipped_until: text(status.newest),
      lag_seconds: status.lagMs === undefined ? null : status.lagMs / 1000,
      bytes: status.bytes,
      objects: status.objects,
      histories: status.ranges.length,
      ranges: status.ranges.map(({ history, from, until, madeAt, server }) => ({
        history,
        from: text(from),
        until: text(until),
        store_made_at: text(madeAt),
        server: server ?? null,
      })),
      gaps,
    });
  if (!status.snapshot)
    return console.log('There is no complete snapshot here: nothing can be restored yet.');
  printTable([
    ['backup', ''],
    ['newest snapshot', `${timeText(status.snapshot.at)}, ${sizeText(status.snapshot.bytes)}`],
    ['shipped until', `${text(status.newest)}, ${Math.round((status.lagMs ?? 0) / 1000)} s ago`],
    ['goes back to', timeText(status.oldest ?? 0)],
    ['size', `${sizeText(status.bytes)} in ${status.objects} objects`],
    ...status.ranges.map(({ from, until, madeAt, server }) => [
      'history',
      `${text(from)} to ${text(until)}${madeAt === undefined ? '' : `, of a store made at ${text(madeAt)}`}${server === undefined ? '' : `, by Stak ${server}`}`,
    ]),
    ...(gaps.length === 0 ? [['gaps', 'none']] : []),
    ...gaps.map(({ from, to, missing }) => [
      'gap',
      `${from} to ${to}${missing ? `: ${missing} missing` : ''}`,
    ]),
  ]);
}

// The worst comes first; the help of the command explains them.
function exitCodeOf(
  { snapshot, gaps, lagMs = 0 }: BackupStatus,
  maxLagMs = Number.POSITIVE_INFINITY,
): number {
  if (!snapshot) return 2;
  if (lagMs > maxLagMs) return 4;
  return gaps.length > 0 ? 3 : 0;
}

export async function restore(flags: RestoreFlags): Promise<void> {
  process.umask(0o077);
  const moment = readMoment('--to-time', flags.toTime);
  const folder = storeOf(flags);
  if (folder !== undefined) return restoreFromFolder(folder, flags, moment);
  await withTarget(flags, async target => {
    const path = readDataFolder(flags);
    requireEmpty(resolve(path));
    note('Looking for the snapshot and its log…');
    const plan = await planRestore(target, moment?.getTime());
    const progress = restoreProgress();
    const restored = await restoreBackup(target, plan, resolve(path), progress).finally(progress.end);
    console.log(`Restored to ${path}, as it was at ${new Date(moment ?? restored.at).toISOString()}`);
    console.log('It was checked as by stak dynamodb check: no problems found.');
    console.log(
      `A backup does not contain the keys that open stored secrets (${restored.secretKeyIds.join(', ')}), and the lake.`,
    );
  });
}

// The data folder to restore from, which keeps its last day itself; undefined if a backup is named.
function storeOf({ from }: RestoreFlags): string | undefined {
  const { STAK_BACKUP: backup } = loadEnvFile();
  const named = from === undefined ? backup : readText('--from', from);
  const folder = named === undefined || named === '' || named === 'off' ? readDataFolder({}) : named;
  return storeExists(resolve(folder)) ? folder : undefined;
}

async function restoreFromFolder(from: string, flags: RestoreFlags, moment: Date | undefined): Promise<void> {
  if (!moment) throw new UsageError(`say which moment of ${from} to restore, with --to-time`);
  if (moment.getTime() > Date.now()) throw new UsageError('--to-time is in the future');
  const path = flags.path === undefined ? `${resolve(from)}-restored` : readText('--path', flags.path);
  requireEmpty(resolve(path));
  await refuseOtherKey(from, path);
  note(`Reading the history in ${from}…`);
  await restoreHistory(resolve(from), moment.getTime(), resolve(path));
  await copySecretKey(from, path);
  console.log(`Restored to ${path}, as it was at ${moment.toISOString()}`);
  console.log('It was checked as by stak dynamodb check: no problems found.');
  console.log(`To use it: stop the server of ${from}, and start one with --path ${path}`);
}

// A line for each step of the work.
function restoreProgress(): RestoreProgress & { end(): void } {
  const names = { snapshot: 'Snapshot, parts', log: 'Log, segments', check: 'Check' };
  let current: Progress | undefined;
  return {
    begin(what, total) {
      current?.end();
      current = showProgress(names[what], total);
    },
    step: () => current?.step(),
    end() {
      current?.end();
      current = undefined;
    },
  };
}

async function withTarget<T>(flags: Flags, work: (target: Target) => Promise<T>): Promise<T> {
  loadEnvFile();
  const { location, keys } = readBackupTarget(flags);
  const objects = openObjects(objectsLocation(location));
  try {
    return await work({ objects, keys });
  } finally {
    objects.close();
  }
}
