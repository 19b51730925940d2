import {
  backupArnShape,
  createBackupShape,
  listBackupsShape,
  restoreBackupShape,
  restoreTimeShape,
} from './backups.ts';
import { batchGetItemShape } from './batch-get-item.ts';
import { batchWriteItemShape } from './batch-write-item.ts';
import { bulkOperationShape, listBulkOperationsShape, startBulkPutItemsShape } from './bulk-operations.ts';
import { createTableShape } from './create-table.ts';
import { deleteItemShape } from './delete-item.ts';
import {
  exportArnShape,
  exportTableShape,
  importArnShape,
  importTableShape,
  listExportsShape,
  listImportsShape,
} from './exports.ts';
import { getItemShape } from './get-item.ts';
import type { Operation } from './operations.ts';
import { putItemShape } from './put-item.ts';
import { queryShape } from './query.ts';
import { scanShape } from './scan.ts';
import { searchVectorsShape } from './search-vectors.ts';
import type { StructureShape } from './shape.ts';
import { batchExecuteStatementShape, executeStatementShape, executeTransactionShape } from './statements.ts';
import { describeStreamShape, getRecordsShape, getShardIteratorShape, listStreamsShape } from './streams.ts';
import {
  deleteResourcePolicyShape,
  describeContributorInsightsShape,
  enableKinesisShape,
  getResourcePolicyShape,
  listContributorInsightsShape,
  putResourcePolicyShape,
  updateContinuousBackupsShape,
  updateContributorInsightsShape,
  updateKinesisShape,
} from './table-extras.ts';
import {
  deleteTableShape,
  describeContinuousBackupsShape,
  describeTableShape,
  emptyShape,
  listTablesShape,
} from './tables.ts';
import { listTagsOfResourceShape, tagResourceShape, untagResourceShape } from './tags.ts';
import { describeTimeToLiveShape, updateTimeToLiveShape } from './time-to-live.ts';
import { transactGetItemsShape } from './transact-get-items.ts';
import { transactWriteItemsShape } from './transact-write-items.ts';
import { globalTableShape, listGlobalTablesShape, replicaScalingShape } from './unsupported.ts';
import { updateItemShape } from './update-item.ts';
import { updateTableShape } from './update-table.ts';

// The shape that a validator checks is also used to read the JSON.
export const inputShapes: { readonly [O in Operation]: StructureShape } = {
  BatchExecuteStatement: batchExecuteStatementShape,
  BatchGetItem: batchGetItemShape,
  BatchWriteItem: batchWriteItemShape,
  CancelBulkOperation: bulkOperationShape,
  CreateBackup: createBackupShape,
  CreateGlobalTable: globalTableShape,
  CreateTable: createTableShape,
  DeleteBackup: backupArnShape,
  DeleteItem: deleteItemShape,
  DeleteResourcePolicy: deleteResourcePolicyShape,
  DeleteTable: deleteTableShape,
  DescribeBackup: backupArnShape,
  DescribeBulkOperation: bulkOperationShape,
  DescribeContinuousBackups: describeContinuousBackupsShape,
  DescribeContributorInsights: describeContributorInsightsShape,
  DescribeEndpoints: emptyShape,
  DescribeExport: exportArnShape,
  DescribeGlobalTable: globalTableShape,
  DescribeGlobalTableSettings: globalTableShape,
  DescribeImport: importArnShape,
  DescribeKinesisStreamingDestination: describeTableShape,
  DescribeLimits: emptyShape,
  DescribeStream: describeStreamShape,
  DescribeTable: describeTableShape,
  DescribeTableReplicaAutoScaling: replicaScalingShape,
  DescribeTimeToLive: describeTimeToLiveShape,
  DisableKinesisStreamingDestination: enableKinesisShape,
  EnableKinesisStreamingDestination: enableKinesisShape,
  ExecuteStatement: executeStatementShape,
  ExecuteTransaction: executeTransactionShape,
  ExportTableToPointInTime: exportTableShape,
  GetItem: getItemShape,
  GetRecords: getRecordsShape,
  GetResourcePolicy: getResourcePolicyShape,
  GetShardIterator: getShardIteratorShape,
  ImportTable: importTableShape,
  ListBackups: listBackupsShape,
  ListBulkOperations: listBulkOperationsShape,
  ListContributorInsights: listContributorInsightsShape,
  ListExports: listExportsShape,
  ListGlobalTables: listGlobalTablesShape,
  ListImports: listImportsShape,
  ListStreams: listStreamsShape,
  ListTables: listTablesShape,
  ListTagsOfResource: listTagsOfResourceShape,
  PutItem: putItemShape,
  PutResourcePolicy: putResourcePolicyShape,
  Query: queryShape,
  RestoreTableFromBackup: restoreBackupShape,
  RestoreTableToPointInTime: restoreTimeShape,
  Scan: scanShape,
  SearchVectors: searchVectorsShape,
  StartBulkPutItems: startBulkPutItemsShape,
  TagResource: tagResourceShape,
  TransactGetItems: transactGetItemsShape,
  TransactWriteItems: transactWriteItemsShape,
  UntagResource: untagResourceShape,
  UpdateContinuousBackups: updateContinuousBackupsShape,
  UpdateContributorInsights: updateContributorInsightsShape,
  UpdateGlobalTable: globalTableShape,
  UpdateGlobalTableSettings: globalTableShape,
  UpdateItem: updateItemShape,
  UpdateKinesisStreamingDestination: updateKinesisShape,
  UpdateTable: updateTableShape,
  UpdateTableReplicaAutoScaling: replicaScalingShape,
  UpdateTimeToLive: updateTimeToLiveShape,
};
