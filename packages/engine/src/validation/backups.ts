import { checkConstraints } from './constraints.ts';
import { globalIndex, localIndex } from './create-table.ts';
import {
  boolean,
  integer,
  list,
  oneOf,
  required,
  type StructureShape,
  string,
  structure,
  type TypeOf,
  timestamp,
} from './shape.ts';
import { tableMembers } from './table-members.ts';
import { resolveTableArn } from './table-name.ts';
import { vectorIndexes } from './vector-indexes.ts';

// Backups of tables, and tables that are made from them or from an earlier moment.

const pattern = /^[a-zA-Z0-9_.-]+$/;
const newName = required(string({ min: 3, max: 255, pattern }));
const arn = required(string({ min: 37, max: 1024 }));

export const createBackupShape = structure('CreateBackupInput', {
  TableName: required(string({ min: 1, max: 1024, pattern })),
  BackupName: required(string({ min: 3, max: 255, pattern })),
});
export const backupArnShape = structure('BackupArnInput', { BackupArn: arn });
export const listBackupsShape = structure('ListBackupsInput', {
  TableName: string({ min: 1, max: 1024 }),
  Limit: integer(1, 100),
  TimeRangeLowerBound: timestamp,
  TimeRangeUpperBound: timestamp,
  ExclusiveStartBackupArn: string({ min: 37, max: 1024 }),
  BackupType: oneOf('USER', 'SYSTEM', 'AWS_BACKUP', 'ALL'),
});

const overrides = {
  BillingModeOverride: tableMembers.billingMode,
  GlobalSecondaryIndexOverride: list(globalIndex),
  LocalSecondaryIndexOverride: list(localIndex),
  ProvisionedThroughputOverride: tableMembers.provisionedThroughput,
  OnDemandThroughputOverride: tableMembers.onDemandThroughput,
  SSESpecificationOverride: tableMembers.sseSpecification,
  VectorIndexOverride: vectorIndexes,
};

export const restoreBackupShape = structure('RestoreTableFromBackupInput', {
  TargetTableName: newName,
  BackupArn: arn,
  ...overrides,
});
export const restoreTimeShape = structure('RestoreTableToPointInTimeInput', {
  SourceTableArn: string({ min: 1, max: 1024 }),
  SourceTableName: string({ min: 3, max: 255, pattern }),
  TargetTableName: newName,
  UseLatestRestorableTime: boolean,
  RestoreDateTime: timestamp,
  ...overrides,
});

export type CreateBackupInput = TypeOf<typeof createBackupShape>;
export type BackupArnInput = TypeOf<typeof backupArnShape>;
export type ListBackupsInput = TypeOf<typeof listBackupsShape>;
export type RestoreBackupInput = TypeOf<typeof restoreBackupShape>;
export type RestoreTimeInput = TypeOf<typeof restoreTimeShape>;
export type RestoreOverrides = Omit<RestoreBackupInput, 'TargetTableName' | 'BackupArn'>;

const validatorOf =
  (shape: StructureShape) =>
  (input: unknown): void => {
    resolveTableArn(input);
    checkConstraints(shape, input as object);
  };

export const validateCreateBackup = validatorOf(createBackupShape);
export const validateBackupArn = validatorOf(backupArnShape);
export const validateListBackups = validatorOf(listBackupsShape);
export const validateRestoreBackup = validatorOf(restoreBackupShape);
export const validateRestoreTime = validatorOf(restoreTimeShape);
