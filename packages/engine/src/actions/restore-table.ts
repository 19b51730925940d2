import type { Context } from '../context.ts';
import { DynamoError, validationError } from '../errors.ts';
import { parseArn, tableArn } from '../tables/arns.ts';
import { backupArn, getBackup } from '../tables/backups.ts';
import { describe, type TableDescription } from '../tables/description.ts';
import { currentItems } from '../tables/item-source.ts';
import { checkOverrides, startRestore } from '../tables/restoration.ts';
import {
  type RestoreBackupInput,
  type RestoreTimeInput,
  validateRestoreBackup,
  validateRestoreTime,
} from '../validation/backups.ts';
import { millisecondsOf } from '../validation/times.ts';
import { backupInUse } from './backups.ts';
import { backedUpTable, restorableTimes } from './continuous-backups.ts';

type Output = { TableDescription: TableDescription };

export async function restoreTableFromBackup(context: Context, input: RestoreBackupInput): Promise<Output> {
  validateRestoreBackup(input);
  const backup = getBackup(context, input.BackupArn);
  if (backup.status === 'CREATING') throw backupInUse(input.BackupArn);
  checkOverrides(backup.table, input);
  const table = await startRestore(context, backup.table, input.TargetTableName, {
    overrides: input,
    from: {
      backupArn: backupArn(context, backup),
      tableArn: tableArn(context, backup.table.name),
      tableId: backup.table.id,
      at: backup.createdAt,
    },
  });
  return { TableDescription: describe(context, table) };
}

export async function restoreTableToPointInTime(context: Context, input: RestoreTimeInput): Promise<Output> {
  validateRestoreTime(input);
  const { SourceTableName: name, SourceTableArn: arn, UseLatestRestorableTime: isLatest } = input;
  if ((name === undefined) === (arn === undefined)) {
    throw validationError('Invalid Request: Must provide exactly one of: sourceTableArn, sourceTableName');
  }
  const { RestoreDateTime: time } = input;
  if ((time === undefined) === !isLatest) {
    throw validationError(
      'Invalid Request: Must provide exactly one of: restoreDateTime, useLatestRestorableTime',
    );
  }
  const source = backedUpTable(context, name ?? tableNameIn(arn!));
  if (!source.recovery) throw recoveryUnavailable(source.name);
  checkOverrides(source, input);
  const { earliest, latest } = await restorableTimes(context, source);
  const at = time === undefined ? latest : millisecondsOf(time);
  // Times of descriptions have fractions of a millisecond.
  if (at < Math.floor(earliest) || at > Math.ceil(context.now())) throw invalidRestoreTime();
  const from = { tableArn: tableArn(context, source.name), tableId: source.id, at };
  const items = isLatest || !context.history ? currentItems(context.store, source.id) : undefined;
  const table = await startRestore(context, source, input.TargetTableName, { overrides: input, from }, items);
  return { TableDescription: describe(context, table) };
}

const invalidRestoreTime = (): DynamoError =>
  new DynamoError(
    'InvalidRestoreTimeException',
    'An invalid restore time was specified. RestoreDateTime must be between EarliestRestorableDateTime and ' +
      'LatestRestorableDateTime.',
  );

export const recoveryUnavailable = (name: string): DynamoError =>
  new DynamoError(
    'PointInTimeRecoveryUnavailableException',
    `Point in time recovery is not enabled for table '${name}'`,
  );

export function tableNameIn(arn: string): string {
  const resource = parseArn(arn);
  if (!resource) throw validationError('Invalid Request: Table ARN is invalid.');
  return resource.tableName;
}
