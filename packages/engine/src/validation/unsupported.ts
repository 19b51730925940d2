import { checkConstraints } from './constraints.ts';
import { integer, required, type StructureShape, string, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

// Backups, restores, exports, imports and global tables: only what is needed to refuse them with the right error.

const arn = required(string({ min: 37, max: 1024 }));

export const createBackupShape = structure('CreateBackupInput', {
  TableName: tableName,
  BackupName: required(string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ })),
});
export const backupArnShape = structure('BackupArnInput', { BackupArn: arn });
export const restoreBackupShape = structure('RestoreTableFromBackupInput', {
  TargetTableName: required(string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ })),
  BackupArn: arn,
});
export const restoreTimeShape = structure('RestoreTableToPointInTimeInput', {
  SourceTableArn: string({ min: 1, max: 1024 }),
  SourceTableName: string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ }),
  TargetTableName: required(string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ })),
});
export const exportTableShape = structure('ExportTableToPointInTimeInput', {
  TableArn: required(string({ min: 1, max: 1024 })),
  S3Bucket: required(string({ max: 255, pattern: /^[a-z0-9A-Z]+[.\-\w]*[a-z0-9A-Z]+$/ })),
});
export const exportArnShape = structure('ExportArnInput', { ExportArn: arn });
export const importArnShape = structure('ImportArnInput', { ImportArn: arn });
export const importTableShape = structure('ImportTableInput', {
  S3BucketSource: required(structure('S3BucketSource', { S3Bucket: required(string()) })),
  InputFormat: required(string()),
  TableCreationParameters: required(structure('TableCreationParameters', { TableName: tableName })),
});
export const globalTableShape = structure('GlobalTableInput', {
  GlobalTableName: required(string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ })),
});
export const replicaScalingShape = structure('TableReplicaAutoScalingInput', { TableName: tableName });
export const listingShape = structure('ListingInput', {
  TableArn: string({ min: 1, max: 1024 }),
  Limit: integer(1, 100),
  MaxResults: integer(1, 25),
  PageSize: integer(1, 25),
});

export type CreateBackupInput = TypeOf<typeof createBackupShape>;
export type BackupArnInput = TypeOf<typeof backupArnShape>;
export type RestoreBackupInput = TypeOf<typeof restoreBackupShape>;
export type RestoreTimeInput = TypeOf<typeof restoreTimeShape>;
export type ExportTableInput = TypeOf<typeof exportTableShape>;
export type ExportArnInput = TypeOf<typeof exportArnShape>;
export type ImportArnInput = TypeOf<typeof importArnShape>;
export type GlobalTableInput = TypeOf<typeof globalTableShape>;
export type ReplicaScalingInput = TypeOf<typeof replicaScalingShape>;

const validatorOf =
  (shape: StructureShape) =>
  (input: unknown): void => {
    resolveTableArn(input);
    checkConstraints(shape, input as object);
  };

export const validateCreateBackup = validatorOf(createBackupShape);
export const validateBackupArn = validatorOf(backupArnShape);
export const validateRestoreBackup = validatorOf(restoreBackupShape);
export const validateRestoreTime = validatorOf(restoreTimeShape);
export const validateExportTable = validatorOf(exportTableShape);
export const validateExportArn = validatorOf(exportArnShape);
export const validateImportArn = validatorOf(importArnShape);
export const validateImportTable = validatorOf(importTableShape);
export const validateGlobalTable = validatorOf(globalTableShape);
export const validateReplicaScaling = validatorOf(replicaScalingShape);
export const validateListing = validatorOf(listingShape);
