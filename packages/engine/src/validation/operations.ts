import {
  validateBackupArn,
  validateCreateBackup,
  validateListBackups,
  validateRestoreBackup,
  validateRestoreTime,
} from './backups.ts';
import { validateBatchGetItem } from './batch-get-item.ts';
import { validateBatchWriteItem } from './batch-write-item.ts';
import {
  validateBulkOperation,
  validateListBulkOperations,
  validateStartBulkPutItems,
} from './bulk-operations.ts';
import { validateCreateTable } from './create-table.ts';
import { validateDeleteItem } from './delete-item.ts';
import {
  validateExportArn,
  validateExportTable,
  validateImportArn,
  validateImportTable,
  validateListExports,
  validateListImports,
} from './exports.ts';
import { validateGetItem } from './get-item.ts';
import { validatePutItem } from './put-item.ts';
import { validateQuery } from './query.ts';
import { validateScan } from './scan.ts';
import { validateSearchVectors } from './search-vectors.ts';
import {
  validateBatchExecuteStatement,
  validateExecuteStatement,
  validateExecuteTransaction,
} from './statements.ts';
import {
  validateDescribeStream,
  validateGetRecords,
  validateGetShardIterator,
  validateListStreams,
} from './streams.ts';
import {
  validateDeleteResourcePolicy,
  validateDescribeContributorInsights,
  validateGetResourcePolicy,
  validateKinesisDestination,
  validateListContributorInsights,
  validatePutResourcePolicy,
  validateUpdateContinuousBackups,
  validateUpdateContributorInsights,
  validateUpdateKinesisDestination,
} from './table-extras.ts';
import { validateEmpty, validateListTables, validateTableInput } from './tables.ts';
import { validateListTagsOfResource, validateTagResource, validateUntagResource } from './tags.ts';
import { validateDescribeTimeToLive, validateUpdateTimeToLive } from './time-to-live.ts';
import { validateTransactGetItems } from './transact-get-items.ts';
import { validateTransactWriteItems } from './transact-write-items.ts';
import { validateGlobalTable, validateListGlobalTables, validateReplicaScaling } from './unsupported.ts';
import { validateUpdateItem } from './update-item.ts';
import { validateUpdateTable } from './update-table.ts';

// Every validator takes any input: it either throws a DynamoError or guarantees the type it declares.
export const validators = {
  BatchExecuteStatement: validateBatchExecuteStatement,
  BatchGetItem: validateBatchGetItem,
  BatchWriteItem: validateBatchWriteItem,
  CancelBulkOperation: validateBulkOperation,
  CreateBackup: validateCreateBackup,
  CreateGlobalTable: validateGlobalTable,
  CreateTable: validateCreateTable,
  DeleteBackup: validateBackupArn,
  DeleteItem: validateDeleteItem,
  DeleteResourcePolicy: validateDeleteResourcePolicy,
  DeleteTable: validateTableInput,
  DescribeBackup: validateBackupArn,
  DescribeBulkOperation: validateBulkOperation,
  DescribeContinuousBackups: validateTableInput,
  DescribeContributorInsights: validateDescribeContributorInsights,
  DescribeEndpoints: validateEmpty,
  DescribeExport: validateExportArn,
  DescribeGlobalTable: validateGlobalTable,
  DescribeGlobalTableSettings: validateGlobalTable,
  DescribeImport: validateImportArn,
  DescribeKinesisStreamingDestination: validateTableInput,
  DescribeLimits: validateEmpty,
  DescribeStream: validateDescribeStream,
  DescribeTable: validateTableInput,
  DescribeTableReplicaAutoScaling: validateReplicaScaling,
  DescribeTimeToLive: validateDescribeTimeToLive,
  DisableKinesisStreamingDestination: validateKinesisDestination,
  EnableKinesisStreamingDestination: validateKinesisDestination,
  ExecuteStatement: validateExecuteStatement,
  ExecuteTransaction: validateExecuteTransaction,
  ExportTableToPointInTime: validateExportTable,
  GetItem: validateGetItem,
  GetRecords: validateGetRecords,
  GetResourcePolicy: validateGetResourcePolicy,
  GetShardIterator: validateGetShardIterator,
  ImportTable: validateImportTable,
  ListBackups: validateListBackups,
  ListBulkOperations: validateListBulkOperations,
  ListContributorInsights: validateListContributorInsights,
  ListExports: validateListExports,
  ListGlobalTables: validateListGlobalTables,
  ListImports: validateListImports,
  ListStreams: validateListStreams,
  ListTables: validateListTables,
  ListTagsOfResource: validateListTagsOfResource,
  PutItem: validatePutItem,
  PutResourcePolicy: validatePutResourcePolicy,
  Query: validateQuery,
  RestoreTableFromBackup: validateRestoreBackup,
  RestoreTableToPointInTime: validateRestoreTime,
  Scan: validateScan,
  SearchVectors: validateSearchVectors,
  StartBulkPutItems: validateStartBulkPutItems,
  TagResource: validateTagResource,
  TransactGetItems: validateTransactGetItems,
  TransactWriteItems: validateTransactWriteItems,
  UntagResource: validateUntagResource,
  UpdateContinuousBackups: validateUpdateContinuousBackups,
  UpdateContributorInsights: validateUpdateContributorInsights,
  UpdateGlobalTable: validateGlobalTable,
  UpdateGlobalTableSettings: validateGlobalTable,
  UpdateItem: validateUpdateItem,
  UpdateKinesisStreamingDestination: validateUpdateKinesisDestination,
  UpdateTable: validateUpdateTable,
  UpdateTableReplicaAutoScaling: validateReplicaScaling,
  UpdateTimeToLive: validateUpdateTimeToLive,
} as const;

export type Operation = keyof typeof validators;
