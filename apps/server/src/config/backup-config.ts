import { resolve, sep } from 'node:path';
import { z } from 'zod';
import type { ObjectsConfig, StoreConfig } from './config.ts';
import { UsageError } from './errors.ts';
import { readText } from './flags.ts';
import { readObjectsConfig } from './objects-config.ts';
import { parseSecretKey, type SecretKey } from './secrets.ts';

const hourMs = 60 * 60_000;
const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

export const backupVariables = {
  STAK_HISTORY_HOURS: whole(0, 24 * 35).default(24),
  STAK_HISTORY_MB: whole(16, 1_000_000).default(1024),
  STAK_BACKUP: z.string().min(1).optional(),
  STAK_BACKUP_KEYS: z
    .string()
    .transform(text => text.split(',').map(part => part.trim()))
    .optional(),
  STAK_BACKUP_EVERY_MS: whole(100, 60_000).default(500),
  STAK_BACKUP_SNAPSHOT_HOURS: whole(1, 24 * 31).default(6),
  STAK_BACKUP_KEEP_DAYS: whole(1, 3650).default(35),
  STAK_BACKUP_JOURNAL_MB: whole(64, 1_000_000).default(1024),
} as const;

export type BackupVariables = z.output<z.ZodObject<typeof backupVariables>> & {
  STAK_AWS_REGION?: string | undefined;
  STAK_S3_ENDPOINT?: string | undefined;
};

// A store keeps this much history in its own folder; nothing for 0 milliseconds.
export type HistoryConfig = { keepMs: number; mostBytes: number };

export const readHistory = (
  data: Pick<BackupVariables, 'STAK_HISTORY_HOURS' | 'STAK_HISTORY_MB'>,
): HistoryConfig => ({
  keepMs: data.STAK_HISTORY_HOURS * hourMs,
  mostBytes: data.STAK_HISTORY_MB * 1024 * 1024,
});

export type BackupConfig = {
  location: ObjectsConfig;
  keys: readonly SecretKey[]; // newest first; none: not encrypted
  everyMs: number;
  snapshotMs: number;
  keepMs: number;
  journalBytes: number;
};

export function readBackup(data: BackupVariables, store: StoreConfig): BackupConfig | undefined {
  const { STAK_BACKUP: location } = data;
  if (location === undefined || location === 'off') return undefined;
  if (store.kind !== 'embedded')
    throw new UsageError(
      'STAK_BACKUP is for the embedded store; DynamoDB has point-in-time recovery, which stak tables create turns on',
    );
  if (store.path === ':memory:')
    throw new UsageError('STAK_BACKUP needs a store in a folder: leave out --memory');
  const read = readObjectsConfig('STAK_BACKUP', location, data);
  const folder = `${resolve(store.path)}${sep}`;
  if (read.kind === 'folder' && `${resolve(read.path)}${sep}`.startsWith(folder))
    throw new UsageError(
      `STAK_BACKUP is inside ${store.path}, and would be lost with it: choose another folder, on another disk`,
    );
  return {
    location: read,
    keys: readBackupKeys(data.STAK_BACKUP_KEYS),
    everyMs: data.STAK_BACKUP_EVERY_MS,
    snapshotMs: data.STAK_BACKUP_SNAPSHOT_HOURS * hourMs,
    keepMs: data.STAK_BACKUP_KEEP_DAYS * 24 * hourMs,
    journalBytes: data.STAK_BACKUP_JOURNAL_MB * 1024 * 1024,
  };
}

export type BackupTarget = Pick<BackupConfig, 'location' | 'keys'>;

// For the commands: on a new machine there are no other settings.
export function readTarget(from: unknown, env: Record<string, string | undefined>): BackupTarget {
  const { STAK_BACKUP, STAK_BACKUP_KEYS } = backupVariables;
  const parsed = z.object({ STAK_BACKUP, STAK_BACKUP_KEYS }).parse(env);
  const text = from === undefined ? parsed.STAK_BACKUP : readText('--from', from);
  if (text === undefined) throw new UsageError('say where the backup is, with --from or STAK_BACKUP');
  return { location: readObjectsConfig('--from', text, env), keys: readBackupKeys(parsed.STAK_BACKUP_KEYS) };
}

const readBackupKeys = (texts: readonly string[] | undefined): SecretKey[] =>
  (texts ?? []).map(text => parseSecretKey(text, 'STAK_BACKUP_KEYS'));
