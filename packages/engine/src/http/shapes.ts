import {
  backupArnShape,
  createBackupShape,
  listBackupsShape,
  restoreBackupShape,
  restoreTimeShape,
} from '../validation/backups.ts';
import { batchGetItemShape } from '../validation/batch-get-item.ts';
import { batchWriteItemShape } from '../validation/batch-write-item.ts';
import { createTableShape } from '../validation/create-table.ts';
import { deleteItemShape } from '../validation/delete-item.ts';
import {
  exportArnShape,
  exportTableShape,
  importArnShape,
  importTableShape,
  listExportsShape,
  listImportsShape,
} from '../validation/exports.ts';
import { getItemShape } from '../validation/get-item.ts';
import type { Operation } from '../validation/operations.ts';
import { putItemShape } from '../validation/put-item.ts';
import { queryShape } from '../validation/query.ts';
import { scanShape } from '../validation/scan.ts';
import { searchVectorsShape } from '../validation/search-vectors.ts';
import type { StructureShape } from '../validation/shape.ts';
import {
  batchExecuteStatementShape,
  executeStatementShape,
  executeTransactionShape,
} from '../validation/statements.ts';
import {
  describeStreamShape,
  getRecordsShape,
  getShardIteratorShape,
  listStreamsShape,
} from '../validation/streams.ts';
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
} from '../validation/table-extras.ts';
import {
  deleteTableShape,
  describeContinuousBackupsShape,
  describeTableShape,
  emptyShape,
  listTablesShape,
} from '../validation/tables.ts';
import { listTagsOfResourceShape, tagResourceShape, untagResourceShape } from '../validation/tags.ts';
import { describeTimeToLiveShape, updateTimeToLiveShape } from '../validation/time-to-live.ts';
import { transactGetItemsShape } from '../validation/transact-get-items.ts';
import { transactWriteItemsShape } from '../validation/transact-write-items.ts';
import {
  bulkOperationShape,
  globalTableShape,
  listBulkOperationsShape,
  listGlobalTablesShape,
  replicaScalingShape,
  startBulkPutItemsShape,
} from '../validation/unsupported.ts';
import { updateItemShape } from '../validation/update-item.ts';
import { updateTableShape } from '../validation/update-table.ts';

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
