import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import { decodeSize } from '../storage/codec.ts';
import { readSize, type Tx } from '../storage/committer.ts';
import { type Index, type Table, vectorsOf } from '../storage/table.ts';
import { tableArn } from '../tables/arns.ts';
import {
  listBackups as allBackups,
  type Backup,
  backupArn,
  dropBackup,
  findBackup,
  getBackup,
  keyInArn,
  newBackupKey,
  saveBackup,
} from '../tables/backups.ts';
import { describe, keyElements } from '../tables/description.ts';
import { withIds } from '../tables/ids.ts';
import { currentItems, type ItemSource, withId } from '../tables/item-source.ts';
import { startGarbageRemoval } from '../tables/removal.ts';
import { defineAgain } from '../tables/vector-indexes.ts';
import {
  type BackupArnInput,
  type CreateBackupInput,
  type ListBackupsInput,
  validateBackupArn,
  validateCreateBackup,
  validateListBackups,
} from '../validation/backups.ts';
import { nameInArn } from '../validation/table-name.ts';
import { millisecondsOf } from '../validation/times.ts';
import { backedUpTable } from './continuous-backups.ts';

export async function createBackup(context: Context, input: CreateBackupInput) {
  validateCreateBackup(input);
  let items: ItemSource | undefined;
  const backup = await context
    .submit(tx => {
      const table = backedUpTable(context, input.TableName);
      const now = context.now();
      // Everything that was acknowledged before this request is in it.
      items = currentItems(context.store, table.id);
      const made = withIds(context.store, tx, newId => ({
        key: newBackupKey(now),
        id: newId(),
        name: input.BackupName,
        table,
        createdAt: now,
        status: 'CREATING' as const,
        by: context.peer.id,
      }));
      saveBackup(tx, made);
      return made;
    })
    .catch(async error => {
      await items?.close();
      throw error;
    });
  startCopy(context, backup, items!);
  return { BackupDetails: detailsOf(context, backup) };
}

function startCopy(context: Context, backup: Backup, items: ItemSource): void {
  const arn = backupArn(context, backup);
  context.background(`back up ${arn}`, async signal => {
    let last: Buffer | undefined;
    try {
      for (let isDone = false; !isDone; ) {
        if (signal.aborted) return;
        const piece = items.read(last);
        last = piece.at(-1)?.key ?? last;
        isDone = await context.submit((tx: Tx) => {
          const found = findBackup(context, arn);
          if (!found) return true;
          let size = 0;
          for (const { key, bytes } of piece) {
            tx.put(withId(backup.id, key), bytes);
            size += decodeSize(bytes);
          }
          tx.addSize(backup.id, piece.length, size);
          if (piece.length > 0) return false;
          saveBackup(tx, { ...found, status: 'AVAILABLE' });
          return true;
        });
      }
    } catch (error) {
      await discard(context, backup);
      throw error;
    } finally {
      await items.close();
    }
  });
}

async function discard(context: Context, backup: Backup): Promise<void> {
  await context.submit(tx => {
    if (findBackup(context, backupArn(context, backup))) dropBackup(tx, backup);
  });
  startGarbageRemoval(context);
}

// A backup that was not finished has lost its content with the process that made it.
export async function discardUnfinished(context: Context): Promise<void> {
  for (const backup of allBackups(context.store)) {
    if (
      backup.status === 'CREATING' &&
      backup.by !== context.peer.id &&
      (await context.peer.isGone(backup.by))
    )
      await discard(context, backup);
  }
}

export function describeBackup(context: Context, input: BackupArnInput) {
  validateBackupArn(input);
  return { BackupDescription: descriptionOf(context, getBackup(context, input.BackupArn)) };
}

export async function deleteBackup(context: Context, input: BackupArnInput) {
  validateBackupArn(input);
  const description = await context.submit(tx => {
    const backup = getBackup(context, input.BackupArn);
    const isRead = context.catalog
      .all()
      .some(table => table.isCreating && table.restoredFrom?.backupArn === input.BackupArn);
    if (backup.status === 'CREATING' || isRead) throw backupInUse(input.BackupArn);
    const last = descriptionOf(context, backup, 'DELETED');
    dropBackup(tx, backup);
    return last;
  });
  startGarbageRemoval(context);
  return { BackupDescription: description };
}

export const backupInUse = (arn: string): DynamoError =>
  new DynamoError('BackupInUseException', `Backup is being used: ${arn}`);

const backupsPerPage = 100;

export function listBackups(context: Context, input: ListBackupsInput) {
  validateListBackups(input);
  const {
    TableName,
    TimeRangeLowerBound: from,
    TimeRangeUpperBound: until,
    BackupType: type = 'USER',
  } = input;
  const tableName = TableName === undefined ? undefined : nameInArn(TableName);
  const start = input.ExclusiveStartBackupArn;
  const startKey = start === undefined ? '' : (keyInArn(start) ?? '');
  const backups = type === 'USER' || type === 'ALL' ? allBackups(context.store) : [];
  const matching = backups.filter(
    ({ key, table, createdAt }) =>
      key > startKey &&
      (tableName === undefined || table.name === tableName) &&
      (from === undefined || createdAt >= millisecondsOf(from)) &&
      (until === undefined || createdAt < millisecondsOf(until)),
  );
  const page = matching.slice(0, input.Limit ?? backupsPerPage);
  return {
    BackupSummaries: page.map(backup => ({
      TableName: backup.table.name,
      TableId: backup.table.uuid,
      TableArn: tableArn(context, backup.table.name),
      ...detailsOf(context, backup),
    })),
    ...(page.length < matching.length && { LastEvaluatedBackupArn: backupArn(context, page.at(-1)!) }),
  };
}

function detailsOf(context: Context, backup: Backup) {
  return {
    BackupArn: backupArn(context, backup),
    BackupName: backup.name,
    BackupSizeBytes: readSize(context.store, backup.id).bytes,
    BackupStatus: backup.status as Backup['status'] | 'DELETED',
    BackupType: 'USER',
    BackupCreationDateTime: backup.createdAt / 1000,
  };
}

function descriptionOf(context: Context, backup: Backup, status?: 'DELETED') {
  const { table } = backup;
  const { items, bytes } = readSize(context.store, backup.id);
  const { KeySchema, ProvisionedThroughput, OnDemandThroughput, SSEDescription, StreamSpecification } =
    describe(context, table);
  const named = (kind: Index['kind']) => table.indexes.filter(index => index.kind === kind).map(indexInfo);
  const [locals, globals] = [named('local'), named('global')];
  return {
    BackupDetails: { ...detailsOf(context, backup), ...(status && { BackupStatus: status }) },
    SourceTableDetails: {
      TableName: table.name,
      TableId: table.uuid,
      TableArn: tableArn(context, table.name),
      TableSizeBytes: bytes,
      KeySchema,
      TableCreationDateTime: table.createdAt / 1000,
      ProvisionedThroughput: {
        ReadCapacityUnits: ProvisionedThroughput.ReadCapacityUnits,
        WriteCapacityUnits: ProvisionedThroughput.WriteCapacityUnits,
      },
      ...(OnDemandThroughput && { OnDemandThroughput }),
      ItemCount: items,
      BillingMode: table.billing,
    },
    SourceTableFeatureDetails: {
      ...(locals.length > 0 && { LocalSecondaryIndexes: locals }),
      ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
      ...(vectorsOf(table).length > 0 && { VectorIndexes: vectorsOf(table).map(defineAgain) }),
      ...(StreamSpecification && { StreamDescription: StreamSpecification }),
      ...timeToLiveOf(table),
      ...(SSEDescription && { SSEDescription }),
    },
  };
}

const timeToLiveOf = ({ ttl }: Table) =>
  ttl && { TimeToLiveDescription: { TimeToLiveStatus: ttl.status, AttributeName: ttl.attribute } };

function indexInfo({ name, keys, projection, throughput, onDemand }: Index) {
  return {
    IndexName: name,
    KeySchema: keyElements(keys),
    Projection: {
      ProjectionType: projection.type,
      ...(projection.type === 'INCLUDE' && { NonKeyAttributes: projection.attributes }),
    },
    ...(throughput && {
      ProvisionedThroughput: { ReadCapacityUnits: throughput.read, WriteCapacityUnits: throughput.write },
    }),
    ...(onDemand && {
      OnDemandThroughput: { MaxReadRequestUnits: onDemand.read, MaxWriteRequestUnits: onDemand.write },
    }),
  };
}
