import { checkConstraints } from './constraints.ts';
import {
  integer,
  long,
  oneOf,
  required,
  type StructureShape,
  string,
  structure,
  type TypeOf,
} from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

// Backups, restores, exports, imports, bulk operations and global tables: only what is needed to refuse
// them with the right error, and all that lists of them take.

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
export const listBackupsShape = structure('ListBackupsInput', {
  TableName: string({ min: 1, max: 1024 }),
  Limit: integer(1, 100),
  TimeRangeLowerBound: long(),
  TimeRangeUpperBound: long(),
  ExclusiveStartBackupArn: string({ min: 37, max: 1024 }),
  BackupType: oneOf('USER', 'SYSTEM', 'AWS_BACKUP', 'ALL'),
});
export const listExportsShape = structure('ListExportsInput', {
  TableArn: string({ min: 1, max: 1024 }),
  MaxResults: integer(1, 25),
  NextToken: string(),
});
export const listImportsShape = structure('ListImportsInput', {
  TableArn: string({ min: 1, max: 1024 }),
  PageSize: integer(1, 25),
  NextToken: string({ min: 112, max: 1024 }),
});
export const listGlobalTablesShape = structure('ListGlobalTablesInput', {
  ExclusiveStartGlobalTableName: string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ }),
  Limit: integer(1),
  RegionName: string(),
});
export const listBulkOperationsShape = structure('ListBulkOperationsInput', {
  MaxResults: integer(1, 100),
  NextToken: string(),
});
export const startBulkPutItemsShape = structure('StartBulkPutItemsInput', {
  TableName: tableName,
  InputS3Configuration: required(structure('InputS3Configuration', {})),
});
export const bulkOperationShape = structure('BulkOperationInput', {
  BulkOperationArn: required(string({ min: 1, max: 1024 })),
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
export type StartBulkPutItemsInput = TypeOf<typeof startBulkPutItemsShape>;
export type BulkOperationInput = TypeOf<typeof bulkOperationShape>;

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
export const validateListBackups = validatorOf(listBackupsShape);
export const validateListExports = validatorOf(listExportsShape);
export const validateListImports = validatorOf(listImportsShape);
export const validateListGlobalTables = validatorOf(listGlobalTablesShape);
export const validateListBulkOperations = validatorOf(listBulkOperationsShape);
export const validateStartBulkPutItems = validatorOf(startBulkPutItemsShape);
export const validateBulkOperation = validatorOf(bulkOperationShape);
