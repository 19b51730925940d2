import { batchExecuteStatement } from './actions/batch-execute-statement.ts';
import { batchGetItem } from './actions/batch-get-item.ts';
import { batchWriteItem } from './actions/batch-write-item.ts';
import { createTable } from './actions/create-table.ts';
import { deleteItem } from './actions/delete-item.ts';
import { deleteTable } from './actions/delete-table.ts';
import { describeContinuousBackups } from './actions/describe-continuous-backups.ts';
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
import { listStreams } from './actions/list-streams.ts';
import { listTables } from './actions/list-tables.ts';
import { listTagsOfResource } from './actions/list-tags-of-resource.ts';
import { putItem } from './actions/put-item.ts';
import { query } from './actions/query.ts';
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
  CreateTable: createTable,
  DeleteTable: deleteTable,
  DescribeContinuousBackups: describeContinuousBackups,
  DescribeEndpoints: describeEndpoints,
  DescribeLimits: describeLimits,
  DescribeStream: describeStream,
  DescribeTable: describeTable,
  DescribeTimeToLive: describeTimeToLive,
  GetRecords: getRecords,
  GetShardIterator: getShardIterator,
  ListStreams: listStreams,
  ListTables: listTables,
  ListTagsOfResource: listTagsOfResource,
  TagResource: tagResource,
  UntagResource: untagResource,
  UpdateTable: updateTable,
  UpdateTimeToLive: updateTimeToLive,
} satisfies Partial<Record<Operation, Action>>;

export function findAction(operation: string): Action | undefined {
  return Object.hasOwn(actions, operation)
    ? (actions[operation as keyof typeof actions] as Action)
    : undefined;
}
