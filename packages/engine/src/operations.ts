import { createBackup, deleteBackup, describeBackup, listBackups } from './actions/backups.ts';
import { batchExecuteStatement } from './actions/batch-execute-statement.ts';
import { batchGetItem } from './actions/batch-get-item.ts';
import { batchWriteItem } from './actions/batch-write-item.ts';
import {
  cancelBulkOperation,
  describeBulkOperation,
  listBulkOperations,
  startBulkPutItems,
} from './actions/bulk-operations.ts';
import { describeContinuousBackups, updateContinuousBackups } from './actions/continuous-backups.ts';
import {
  describeContributorInsights,
  listContributorInsights,
  updateContributorInsights,
} from './actions/contributor-insights.ts';
import { createTable } from './actions/create-table.ts';
import { deleteItem } from './actions/delete-item.ts';
import { deleteTable } from './actions/delete-table.ts';
import { describeEndpoints } from './actions/describe-endpoints.ts';
import { describeLimits } from './actions/describe-limits.ts';
import { describeStream } from './actions/describe-stream.ts';
import { describeTable } from './actions/describe-table.ts';
import { describeTimeToLive } from './actions/describe-time-to-live.ts';
import { executeStatement } from './actions/execute-statement.ts';
import { executeTransaction } from './actions/execute-transaction.ts';
import { describeExport, exportTableToPointInTime, listExports } from './actions/exports.ts';
import { getItem } from './actions/get-item.ts';
import { getRecords } from './actions/get-records.ts';
import { getShardIterator } from './actions/get-shard-iterator.ts';
import { describeImport, importTable, listImports } from './actions/imports.ts';
import {
  describeKinesisStreamingDestination,
  disableKinesisStreamingDestination,
  enableKinesisStreamingDestination,
  updateKinesisStreamingDestination,
} from './actions/kinesis-destinations.ts';
import { listStreams } from './actions/list-streams.ts';
import { listTables } from './actions/list-tables.ts';
import { listTagsOfResource } from './actions/list-tags-of-resource.ts';
import { putItem } from './actions/put-item.ts';
import { query } from './actions/query.ts';
import { deleteResourcePolicy, getResourcePolicy, putResourcePolicy } from './actions/resource-policies.ts';
import { restoreTableFromBackup, restoreTableToPointInTime } from './actions/restore-table.ts';
import { scan } from './actions/scan.ts';
import { searchVectors } from './actions/search-vectors.ts';
import { tagResource } from './actions/tag-resource.ts';
import { transactGetItems } from './actions/transact-get-items.ts';
import { transactWriteItems } from './actions/transact-write-items.ts';
import * as unsupported from './actions/unsupported.ts';
import { untagResource } from './actions/untag-resource.ts';
import { updateItem } from './actions/update-item.ts';
import { updateTable } from './actions/update-table.ts';
import { updateTimeToLive } from './actions/update-time-to-live.ts';
import type { Context, View } from './context.ts';
import type { Operation } from './validation/operations.ts';

// Every action validates its own input, so any input may be passed.
type Action = (context: Context, input: never, view: View<unknown>) => object | Promise<object>;

export const actions = {
  // These contain items, in the form of the view.
  BatchExecuteStatement: batchExecuteStatement,
  BatchGetItem: batchGetItem,
  BatchWriteItem: batchWriteItem,
  DeleteItem: deleteItem,
  ExecuteStatement: executeStatement,
  ExecuteTransaction: executeTransaction,
  GetItem: getItem,
  PutItem: putItem,
  Query: query,
  Scan: scan,
  SearchVectors: searchVectors,
  TransactGetItems: transactGetItems,
  TransactWriteItems: transactWriteItems,
  UpdateItem: updateItem,
  // These concern tables and streams only.
  CancelBulkOperation: cancelBulkOperation,
  CreateBackup: createBackup,
  CreateGlobalTable: unsupported.changeGlobalTable,
  CreateTable: createTable,
  DeleteBackup: deleteBackup,
  DeleteResourcePolicy: deleteResourcePolicy,
  DeleteTable: deleteTable,
  DescribeBackup: describeBackup,
  DescribeBulkOperation: describeBulkOperation,
  DescribeContinuousBackups: describeContinuousBackups,
  DescribeContributorInsights: describeContributorInsights,
  DescribeEndpoints: describeEndpoints,
  DescribeExport: describeExport,
  DescribeGlobalTable: unsupported.findGlobalTable,
  DescribeGlobalTableSettings: unsupported.findGlobalTable,
  DescribeImport: describeImport,
  DescribeKinesisStreamingDestination: describeKinesisStreamingDestination,
  DescribeLimits: describeLimits,
  DescribeStream: describeStream,
  DescribeTable: describeTable,
  DescribeTableReplicaAutoScaling: unsupported.findReplicaScaling,
  DescribeTimeToLive: describeTimeToLive,
  DisableKinesisStreamingDestination: disableKinesisStreamingDestination,
  EnableKinesisStreamingDestination: enableKinesisStreamingDestination,
  ExportTableToPointInTime: exportTableToPointInTime,
  GetRecords: getRecords,
  GetResourcePolicy: getResourcePolicy,
  GetShardIterator: getShardIterator,
  ImportTable: importTable,
  ListBackups: listBackups,
  ListBulkOperations: listBulkOperations,
  ListContributorInsights: listContributorInsights,
  ListExports: listExports,
  ListGlobalTables: unsupported.listGlobalTables,
  ListImports: listImports,
  ListStreams: listStreams,
  ListTables: listTables,
  ListTagsOfResource: listTagsOfResource,
  PutResourcePolicy: putResourcePolicy,
  RestoreTableFromBackup: restoreTableFromBackup,
  RestoreTableToPointInTime: restoreTableToPointInTime,
  StartBulkPutItems: startBulkPutItems,
  TagResource: tagResource,
  UntagResource: untagResource,
  UpdateContinuousBackups: updateContinuousBackups,
  UpdateContributorInsights: updateContributorInsights,
  UpdateGlobalTable: unsupported.changeGlobalTable,
  UpdateGlobalTableSettings: unsupported.findGlobalTable,
  UpdateKinesisStreamingDestination: updateKinesisStreamingDestination,
  UpdateTable: updateTable,
  UpdateTableReplicaAutoScaling: unsupported.findReplicaScaling,
  UpdateTimeToLive: updateTimeToLive,
} satisfies Partial<Record<Operation, Action>>;

// They are answered when their own commit is on the disk.
export const writeOperations: ReadonlySet<string> = new Set<Operation>([
  'BatchWriteItem',
  'DeleteItem',
  'PutItem',
  'TransactWriteItems',
  'UpdateItem',
]);

export function findAction(operation: string): Action | undefined {
  return Object.hasOwn(actions, operation)
    ? (actions[operation as keyof typeof actions] as Action)
    : undefined;
}
