import type { Context } from '../context.ts';
import { DynamoError, resourceNotFound, validationError } from '../errors.ts';
import { parseArn } from '../tables/arns.ts';
import * as copies from '../validation/copies.ts';
import { backedUpTable } from './continuous-backups.ts';

// The engine backs up whole stores (`engine.backup`), reads no buckets and has one region. Callers that ask for
// backups, exports, imports or global tables get the error that DynamoDB has for it not being there, which they can
// handle; lists are empty.

export function createBackup(context: Context, input: copies.CreateBackupInput): never {
  copies.validateCreateBackup(input);
  const { name } = backedUpTable(context, input.TableName);
  throw new DynamoError(
    'ContinuousBackupsUnavailableException',
    `Backups of a table are not available: ${name}. Back up the whole store instead.`,
  );
}

const backupNotFound = (arn: string): DynamoError =>
  new DynamoError('BackupNotFoundException', `Backup not found: ${arn}`);

// DescribeBackup and DeleteBackup.
export function findBackup(_: Context, input: copies.BackupArnInput): never {
  copies.validateBackupArn(input);
  throw backupNotFound(input.BackupArn);
}

export function restoreTableFromBackup(_: Context, input: copies.RestoreBackupInput): never {
  copies.validateRestoreBackup(input);
  throw backupNotFound(input.BackupArn);
}

export function restoreTableToPointInTime(context: Context, input: copies.RestoreTimeInput): never {
  copies.validateRestoreTime(input);
  const { SourceTableName, SourceTableArn } = input;
  if ((SourceTableName === undefined) === (SourceTableArn === undefined)) {
    throw validationError('Invalid Request: Must provide exactly one of: sourceTableArn, sourceTableName');
  }
  const table = backedUpTable(context, SourceTableName ?? nameIn(SourceTableArn!));
  if (!table.recovery) throw recoveryUnavailable(table.name);
  throw new DynamoError(
    'InvalidRestoreTimeException',
    `No history of table '${table.name}' is kept that it could be restored from`,
  );
}

export function exportTableToPointInTime(context: Context, input: copies.ExportTableInput): never {
  copies.validateExportTable(input);
  const table = backedUpTable(context, nameIn(input.TableArn));
  if (!table.recovery) throw recoveryUnavailable(table.name);
  throw new DynamoError(
    'InvalidExportTimeException',
    `No history of table '${table.name}' is kept that it could be exported from`,
  );
}

const recoveryUnavailable = (name: string): DynamoError =>
  new DynamoError(
    'PointInTimeRecoveryUnavailableException',
    `Point in time recovery is not enabled for table '${name}'`,
  );

function nameIn(arn: string): string {
  const resource = parseArn(arn);
  if (!resource) throw validationError('Invalid Request: Table ARN is invalid.');
  return resource.tableName;
}

export function describeExport(_: Context, input: copies.ExportArnInput): never {
  copies.validateExportArn(input);
  throw new DynamoError('ExportNotFoundException', `Export not found: ${input.ExportArn}`);
}

export function describeImport(_: Context, input: copies.ImportArnInput): never {
  copies.validateImportArn(input);
  throw new DynamoError('ImportNotFoundException', `Import not found: ${input.ImportArn}`);
}

export function importTable(_: Context, input: object): never {
  copies.validateImportTable(input);
  throw new DynamoError('LimitExceededException', 'Imports from S3 are not available here: the limit is 0');
}

const listOf = (name: string) => (_: Context, input: object) => {
  copies.validateListing(input);
  return { [name]: [] };
};
export const listBackups = listOf('BackupSummaries');
export const listExports = listOf('ExportSummaries');
export const listImports = listOf('ImportSummaryList');
export const listGlobalTables = listOf('GlobalTables');

// CreateGlobalTable and UpdateGlobalTable, of the version that AWS has given up.
export function changeGlobalTable(_: Context, input: copies.GlobalTableInput): never {
  copies.validateGlobalTable(input);
  throw validationError(
    'One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is not supported. We ' +
      'recommend using DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy).',
  );
}

const noGlobalTable = (name: string): string => `Global table with name: '${name}' does not exist.`;

// DescribeGlobalTable, DescribeGlobalTableSettings and UpdateGlobalTableSettings.
export function findGlobalTable(_: Context, input: copies.GlobalTableInput): never {
  copies.validateGlobalTable(input);
  throw new DynamoError('GlobalTableNotFoundException', noGlobalTable(input.GlobalTableName));
}

// DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling.
export function findReplicaScaling(_: Context, input: copies.ReplicaScalingInput): never {
  copies.validateReplicaScaling(input);
  throw resourceNotFound(noGlobalTable(input.TableName));
}
