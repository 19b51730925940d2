import { randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import type { Tx } from '../storage/committer.ts';
import { metaKey, prefixRange } from '../storage/keys.ts';
import { decodeJson, encodeJson, type Store } from '../storage/store.ts';
import type { Table } from '../storage/table.ts';
import { tableArn } from './arns.ts';
import { discardTable } from './removal.ts';

// A backup of a table is a copy of its items in the same store, under an id of its own, and a record that describes it.
// So it is as durable as everything else, is in every copy of the store, and is checked like a table.

export type Backup = {
  key: string; // the last part of its ARN; backups sort by it in the order they were made
  id: number; // of its items
  name: string;
  table: Table; // as it was
  createdAt: number;
  status: 'CREATING' | 'AVAILABLE';
  by: string; // the peer that makes it
};

const prefix = 'backup/';
const recordKey = ({ key }: Pick<Backup, 'key'>): Buffer => metaKey(prefix + key);

export const newBackupKey = (now: number): string =>
  `${String(Math.floor(now)).padStart(14, '0')}-${randomBytes(4).toString('hex')}`;

export const backupArn = (context: Context, { key, table }: Backup): string =>
  `${tableArn(context, table.name)}/backup/${key}`;

const backupNotFound = (arn: string): DynamoError =>
  new DynamoError('BackupNotFoundException', `Backup not found: ${arn}`);

const arnShape = /:table\/([^/]+)\/backup\/([0-9]{14}-[0-9a-f]{8})$/;

export const keyInArn = (arn: string): string | undefined => arnShape.exec(arn)?.[2];

export function findBackup({ store }: Pick<Context, 'store'>, arn: string): Backup | undefined {
  const [, tableName, key] = arnShape.exec(arn) ?? [];
  const backup = key === undefined ? undefined : (store.get(recordKey({ key }), decodeJson) as Backup);
  return backup?.table.name === tableName ? backup : undefined;
}

export function getBackup(context: Pick<Context, 'store'>, arn: string): Backup {
  const backup = findBackup(context, arn);
  if (!backup) throw backupNotFound(arn);
  return backup;
}

// In the order in which they were made.
export const listBackups = (store: Pick<Store, 'range'>): Backup[] =>
  [...store.range(prefixRange(metaKey(prefix)), decodeJson)].map(({ value }) => value as Backup);

export const saveBackup = (tx: Pick<Tx, 'put'>, backup: Backup): void =>
  tx.put(recordKey(backup), encodeJson(backup));

// Its items, as a table without anything beside them.
export function itemsOf({ id, table }: Backup): Table {
  const { ttl: _, vectors: __, ...rest } = table;
  return { ...rest, id, indexes: [], streams: [] };
}

export function dropBackup(tx: Tx, backup: Backup): void {
  tx.remove(recordKey(backup));
  discardTable(tx, itemsOf(backup));
}
