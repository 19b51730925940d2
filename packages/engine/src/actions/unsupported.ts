import type { Context } from '../context.ts';
import { DynamoError, resourceNotFound, validationError } from '../errors.ts';
import { parseArn } from '../tables/arns.ts';
import * as unsupported from '../validation/unsupported.ts';
import { backedUpTable } from './continuous-backups.ts';

// The engine backs up whole stores (`engine.backup`), reads no buckets, has one region. Requests for backups, exports,
// imports, bulk operations or global tables get DynamoDB's error for a missing resource, which callers can handle; lists
// are empty.

export function createBackup(context: Context, input: unsupported.CreateBackupInput): never {
  unsupported.validateCreateBackup(input);
  const { name } = backedUpTable(context, input.TableName);
  throw new DynamoError(
    'ContinuousBackupsUnavailableException',
    `Backups of a table are not available: ${name}. Back up the whole store instead.`,
  );
}

const backupNotFound = (arn: string): DynamoError =>
  new DynamoError('BackupNotFoundException', `Backup not found: ${arn}`);

// DescribeBackup and DeleteBackup.
export function findBackup(_: Context, input: unsupported.BackupArnInput): never {
  unsupported.validateBackupArn(input);
  throw backupNotFound(input.BackupArn);
}

export function restoreTableFromBackup(_: Context, input: unsupported.RestoreBackupInput): never {
  unsupported.validateRestoreBackup(input);
  throw backupNotFound(input.BackupArn);
}

export function restoreTableToPointInTime(context: Context, input: unsupported.RestoreTimeInput): never {
  unsupported.validateRestoreTime(input);
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

export function exportTableToPointInTime(context: Context, input: unsupported.ExportTableInput): never {
  unsupported.validateExportTable(input);
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

export function describeExport(_: Context, input: unsupported.ExportArnInput): never {
  unsupported.validateExportArn(input);
  throw new DynamoError('ExportNotFoundException', `Export not found: ${input.ExportArn}`);
}

export function describeImport(_: Context, input: unsupported.ImportArnInput): never {
  unsupported.validateImportArn(input);
  throw new DynamoError('ImportNotFoundException', `Import not found: ${input.ImportArn}`);
}

export function importTable(_: Context, input: object): never {
  unsupported.validateImportTable(input);
  throw new DynamoError('LimitExceededException', 'Imports from S3 are not available here: the limit is 0');
}

const listOf = (name: string, validate: (input: unknown) => void) => (_: Context, input: object) => {
  validate(input);
  return { [name]: [] };
};
export const listBackups = listOf('BackupSummaries', unsupported.validateListBackups);
export const listExports = listOf('ExportSummaries', unsupported.validateListExports);
export const listImports = listOf('ImportSummaryList', unsupported.validateListImports);
export const listGlobalTables = listOf('GlobalTables', unsupported.validateListGlobalTables);
export const listBulkOperations = listOf('BulkOperationsSummaryList', unsupported.validateListBulkOperations);

export function startBulkPutItems(context: Context, input: unsupported.StartBulkPutItemsInput): never {
  unsupported.validateStartBulkPutItems(input);
  context.catalog.get(input.TableName);
  throw new DynamoError('LimitExceededException', 'Bulk operations are not available here: the limit is 0');
}

// DescribeBulkOperation and CancelBulkOperation.
export function findBulkOperation(_: Context, input: unsupported.BulkOperationInput): never {
  unsupported.validateBulkOperation(input);
  throw resourceNotFound(`Requested resource not found: Bulk operation: ${input.BulkOperationArn}`);
}

// CreateGlobalTable and UpdateGlobalTable, of the version that AWS has deprecated.
export function changeGlobalTable(_: Context, input: unsupported.GlobalTableInput): never {
  unsupported.validateGlobalTable(input);
  throw validationError(
    'One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is not supported. We ' +
      'recommend using DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy).',
  );
}

const noGlobalTable = (name: string): string => `Global table with name: '${name}' does not exist.`;

// DescribeGlobalTable, DescribeGlobalTableSettings and UpdateGlobalTableSettings.
export function findGlobalTable(_: Context, input: unsupported.GlobalTableInput): never {
  unsupported.validateGlobalTable(input);
  throw new DynamoError('GlobalTableNotFoundException', noGlobalTable(input.GlobalTableName));
}

// DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling.
export function findReplicaScaling(_: Context, input: unsupported.ReplicaScalingInput): never {
  unsupported.validateReplicaScaling(input);
  throw resourceNotFound(noGlobalTable(input.TableName));
}
