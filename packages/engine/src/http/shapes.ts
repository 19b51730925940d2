import { batchGetItemShape } from '../validation/batch-get-item.ts';
import { batchWriteItemShape } from '../validation/batch-write-item.ts';
import { createTableShape } from '../validation/create-table.ts';
import { deleteItemShape } from '../validation/delete-item.ts';
import { getItemShape } from '../validation/get-item.ts';
import type { Operation } from '../validation/operations.ts';
import { putItemShape } from '../validation/put-item.ts';
import { queryShape } from '../validation/query.ts';
import { scanShape } from '../validation/scan.ts';
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
import { updateItemShape } from '../validation/update-item.ts';
import { updateTableShape } from '../validation/update-table.ts';

// The description each validator checks by is also the one its JSON is read by.
export const inputShapes: { readonly [O in Operation]: StructureShape } = {
  BatchExecuteStatement: batchExecuteStatementShape,
  BatchGetItem: batchGetItemShape,
  BatchWriteItem: batchWriteItemShape,
  CreateTable: createTableShape,
  DeleteItem: deleteItemShape,
  DeleteTable: deleteTableShape,
  DescribeContinuousBackups: describeContinuousBackupsShape,
  DescribeEndpoints: emptyShape,
  DescribeLimits: emptyShape,
  DescribeStream: describeStreamShape,
  DescribeTable: describeTableShape,
  DescribeTimeToLive: describeTimeToLiveShape,
  ExecuteStatement: executeStatementShape,
  ExecuteTransaction: executeTransactionShape,
  GetItem: getItemShape,
  GetRecords: getRecordsShape,
  GetShardIterator: getShardIteratorShape,
  ListStreams: listStreamsShape,
  ListTables: listTablesShape,
  ListTagsOfResource: listTagsOfResourceShape,
  PutItem: putItemShape,
  Query: queryShape,
  Scan: scanShape,
  TagResource: tagResourceShape,
  TransactGetItems: transactGetItemsShape,
  TransactWriteItems: transactWriteItemsShape,
  UntagResource: untagResourceShape,
  UpdateItem: updateItemShape,
  UpdateTable: updateTableShape,
  UpdateTimeToLive: updateTimeToLiveShape,
};
