import { validateBatchGetItem } from './batch-get-item.ts';
import { validateBatchWriteItem } from './batch-write-item.ts';
import { validateCreateTable } from './create-table.ts';
import { validateDeleteItem } from './delete-item.ts';
import { validateGetItem } from './get-item.ts';
import { validatePutItem } from './put-item.ts';
import { validateQuery } from './query.ts';
import { validateScan } from './scan.ts';
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
import { validateEmpty, validateListTables, validateTableInput } from './tables.ts';
import { validateListTagsOfResource, validateTagResource, validateUntagResource } from './tags.ts';
import { validateDescribeTimeToLive, validateUpdateTimeToLive } from './time-to-live.ts';
import { validateTransactGetItems } from './transact-get-items.ts';
import { validateTransactWriteItems } from './transact-write-items.ts';
import { validateUpdateItem } from './update-item.ts';
import { validateUpdateTable } from './update-table.ts';

// Every operation's validator takes whatever a caller sends: it either throws a DynamoError or vouches for the
// type it declares.
export const validators = {
  BatchExecuteStatement: validateBatchExecuteStatement,
  BatchGetItem: validateBatchGetItem,
  BatchWriteItem: validateBatchWriteItem,
  CreateTable: validateCreateTable,
  DeleteItem: validateDeleteItem,
  DeleteTable: validateTableInput,
  DescribeContinuousBackups: validateTableInput,
  DescribeEndpoints: validateEmpty,
  DescribeLimits: validateEmpty,
  DescribeStream: validateDescribeStream,
  DescribeTable: validateTableInput,
  DescribeTimeToLive: validateDescribeTimeToLive,
  ExecuteStatement: validateExecuteStatement,
  ExecuteTransaction: validateExecuteTransaction,
  GetItem: validateGetItem,
  GetRecords: validateGetRecords,
  GetShardIterator: validateGetShardIterator,
  ListStreams: validateListStreams,
  ListTables: validateListTables,
  ListTagsOfResource: validateListTagsOfResource,
  PutItem: validatePutItem,
  Query: validateQuery,
  Scan: validateScan,
  TagResource: validateTagResource,
  TransactGetItems: validateTransactGetItems,
  TransactWriteItems: validateTransactWriteItems,
  UntagResource: validateUntagResource,
  UpdateItem: validateUpdateItem,
  UpdateTable: validateUpdateTable,
  UpdateTimeToLive: validateUpdateTimeToLive,
} as const;

export type Operation = keyof typeof validators;
