import { batchExecuteStatement } from './actions/batch-execute-statement.ts';
import { batchGetItem } from './actions/batch-get-item.ts';
import { batchWriteItem } from './actions/batch-write-item.ts';
import { describeContinuousBackups, updateContinuousBackups } from './actions/continuous-backups.ts';
import {
  describeContributorInsights,
  listContributorInsights,
  updateContributorInsights,
} from './actions/contributor-insights.ts';
import * as copies from './actions/copies.ts';
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
import { getItem } from './actions/get-item.ts';
import { getRecords } from './actions/get-records.ts';
import { getShardIterator } from './actions/get-shard-iterator.ts';
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
import { scan } from './actions/scan.ts';
import { tagResource } from './actions/tag-resource.ts';
import { transactGetItems } from './actions/transact-get-items.ts';
import { transactWriteItems } from './actions/transact-write-items.ts';
import { untagResource } from './actions/untag-resource.ts';
import { updateItem } from './actions/update-item.ts';
import { updateTable } from './actions/update-table.ts';
import { updateTimeToLive } from './actions/update-time-to-live.ts';
import type { Context, View } from './context.ts';
import type { Operation } from './validation/operations.ts';

// Every action validates its own input, so it may be handed anything.
type Action = (context: Context, input: never, view: View<unknown>) => object | Promise<object>;

export const actions = {
  // These carry items, in the form the view gives them.
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
  TransactGetItems: transactGetItems,
  TransactWriteItems: transactWriteItems,
  UpdateItem: updateItem,
  // These speak of tables and streams only.
  CreateBackup: copies.createBackup,
  CreateGlobalTable: copies.changeGlobalTable,
  CreateTable: createTable,
  DeleteBackup: copies.findBackup,
  DeleteResourcePolicy: deleteResourcePolicy,
  DeleteTable: deleteTable,
  DescribeBackup: copies.findBackup,
  DescribeContinuousBackups: describeContinuousBackups,
  DescribeContributorInsights: describeContributorInsights,
  DescribeEndpoints: describeEndpoints,
  DescribeExport: copies.describeExport,
  DescribeGlobalTable: copies.findGlobalTable,
  DescribeGlobalTableSettings: copies.findGlobalTable,
  DescribeImport: copies.describeImport,
  DescribeKinesisStreamingDestination: describeKinesisStreamingDestination,
  DescribeLimits: describeLimits,
  DescribeStream: describeStream,
  DescribeTable: describeTable,
  DescribeTableReplicaAutoScaling: copies.findReplicaScaling,
  DescribeTimeToLive: describeTimeToLive,
  DisableKinesisStreamingDestination: disableKinesisStreamingDestination,
  EnableKinesisStreamingDestination: enableKinesisStreamingDestination,
  ExportTableToPointInTime: copies.exportTableToPointInTime,
  GetRecords: getRecords,
  GetResourcePolicy: getResourcePolicy,
  GetShardIterator: getShardIterator,
  ImportTable: copies.importTable,
  ListBackups: copies.listBackups,
  ListContributorInsights: listContributorInsights,
  ListExports: copies.listExports,
  ListGlobalTables: copies.listGlobalTables,
  ListImports: copies.listImports,
  ListStreams: listStreams,
  ListTables: listTables,
  ListTagsOfResource: listTagsOfResource,
  PutResourcePolicy: putResourcePolicy,
  RestoreTableFromBackup: copies.restoreTableFromBackup,
  RestoreTableToPointInTime: copies.restoreTableToPointInTime,
  TagResource: tagResource,
  UntagResource: untagResource,
  UpdateContinuousBackups: updateContinuousBackups,
  UpdateContributorInsights: updateContributorInsights,
  UpdateGlobalTable: copies.changeGlobalTable,
  UpdateGlobalTableSettings: copies.findGlobalTable,
  UpdateKinesisStreamingDestination: updateKinesisStreamingDestination,
  UpdateTable: updateTable,
  UpdateTableReplicaAutoScaling: copies.findReplicaScaling,
  UpdateTimeToLive: updateTimeToLive,
} satisfies Partial<Record<Operation, Action>>;

export function findAction(operation: string): Action | undefined {
  return Object.hasOwn(actions, operation)
    ? (actions[operation as keyof typeof actions] as Action)
    : undefined;
}
