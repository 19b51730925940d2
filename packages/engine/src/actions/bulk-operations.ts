import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { DynamoError, resourceInUse, resourceNotFound, validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { continueBulkPut } from '../transfer/bulk-put.ts';
import { type BulkPut, type BytesByIndex, bulkRecords, noProgress } from '../transfer/bulk-records.ts';
import { newTransferKey } from '../transfer/records.ts';
import {
  type BulkOperationInput,
  type ListBulkOperationsInput,
  type StartBulkPutItemsInput,
  validateBulkOperation,
  validateListBulkOperations,
  validateStartBulkPutItems,
} from '../validation/bulk-operations.ts';

export async function startBulkPutItems(context: Context, input: StartBulkPutItemsInput) {
  validateStartBulkPutItems(input);
  const kept = JSON.parse(JSON.stringify(input)) as StartBulkPutItemsInput;
  const started = await context.submit(tx => {
    const now = context.now();
    const all = bulkRecords.all(context);
    const same = kept.ClientToken !== undefined && all.find(record => isRepeated(record, kept, now));
    if (same) {
      if (isDeepStrictEqual(same.input, kept)) return same;
      throw new DynamoError(
        'IdempotentParameterMismatchException',
        'The client token was used for a bulk operation with other parameters.',
      );
    }
    const table = context.catalog.get(
      kept.TableName,
      `Requested resource not found: Table: ${kept.TableName} not found`,
    );
    if (table.indexes.some(index => index.status === 'CREATING'))
      throw resourceInUse(`Table is being updated: ${table.name}: an index is being created`);
    if (all.filter(record => !record.isDone).length >= limits.bulkOperations)
      throw new DynamoError(
        'LimitExceededException',
        `At most ${limits.bulkOperations} bulk operations can be in progress`,
      );
    const fresh: BulkPut = {
      key: newTransferKey(now),
      tableName: table.name,
      tableId: table.id,
      tableUuid: table.uuid,
      by: context.peer.id,
      startedAt: now,
      isDone: false,
      input: kept,
      progress: noProgress(),
    };
    bulkRecords.save(tx, fresh);
    return fresh;
  });
  if (!started.isDone && started.by === context.peer.id) continueBulkPut(context, started.key);
  return { BulkOperationDescription: describe(context, started) };
}

const isRepeated = ({ input, startedAt }: BulkPut, { ClientToken }: StartBulkPutItemsInput, now: number) =>
  input.ClientToken === ClientToken && startedAt > now - limits.bulkTokenMs;

function find(context: Context, arn: string): BulkPut {
  const record = bulkRecords.find(context, arn);
  if (!record) throw resourceNotFound(`Requested resource not found: Bulk operation: ${arn}`);
  return record;
}

export function describeBulkOperation(context: Context, input: BulkOperationInput) {
  validateBulkOperation(input);
  return { BulkOperationDescription: describe(context, find(context, input.BulkOperationArn)) };
}

export function cancelBulkOperation(context: Context, input: BulkOperationInput) {
  validateBulkOperation(input);
  return context.submit(tx => {
    const record = find(context, input.BulkOperationArn);
    if (record.isDone)
      throw validationError(
        `The bulk operation is ${statusOf(record)}: only one that is in progress can be cancelled`,
      );
    bulkRecords.save(tx, { ...record, isCancelled: true });
    return { BulkOperationArn: input.BulkOperationArn, BulkOperationStatus: 'CANCELLING' };
  });
}

const operationsPerPage = 10;
const tokenBytes = 8;

// The newest first. A token is the key of the last one in hexadecimal, in groups of 16 digits as on AWS.
export function listBulkOperations(context: Context, input: ListBulkOperationsInput) {
  validateListBulkOperations(input);
  const { MaxResults: limit = operationsPerPage, NextToken: token } = input;
  const before = token === undefined ? undefined : Buffer.from(token, 'hex').toString('latin1').trimEnd();
  const records = bulkRecords
    .listed(context)
    .reverse()
    .filter(record => before === undefined || record.key < before);
  const page = records.slice(0, limit);
  return {
    BulkOperationsSummaryList: page.map(record => ({
      BulkOperationArn: bulkRecords.arnOf(context, record),
      BulkOperationStatus: statusOf(record),
      StartTime: record.startedAt / 1000,
      ...(record.endedAt !== undefined && { EndTime: record.endedAt / 1000 }),
    })),
    ...(page.length < records.length && { NextToken: tokenOf(page.at(-1)!.key) }),
  };
}

const tokenOf = (key: string): string =>
  Buffer.from(key.padEnd(Math.ceil(key.length / tokenBytes) * tokenBytes)).toString('hex');

function statusOf({ isDone, isCancelled, failure, progress }: BulkPut): string {
  if (!isDone) return isCancelled ? 'CANCELLING' : 'IN_PROGRESS';
  if (failure) return failure.code === 'UserCancelled' ? 'CANCELLED' : 'FAILED';
  return progress.failed > 0 ? 'COMPLETED_WITH_ERRORS' : 'COMPLETED';
}

function describe(context: Context, record: BulkPut) {
  const { input, progress, failure } = record;
  return {
    BulkOperationArn: bulkRecords.arnOf(context, record),
    BulkOperationStatus: statusOf(record),
    TableDetails: [{ TableName: record.tableName, TableId: record.tableUuid }],
    ...(input.ClientToken !== undefined && { ClientToken: input.ClientToken }),
    InputS3Configuration: input.InputS3Configuration,
    OutputS3Configuration: input.OutputS3Configuration,
    StartTime: record.startedAt / 1000,
    ...(record.endedAt !== undefined && { EndTime: record.endedAt / 1000 }),
    ProcessedItemCount: progress.processed,
    ProcessedInputBytes: progress.bytes,
    // How large the files are is known when they have been read.
    ...(record.isDone && !failure && { TotalInputBytes: progress.bytes }),
    BulkOperationUsage: [usageOf(context, record)],
    FailedItemCount: progress.failed,
    ...(record.isDone && failure && { FailureCode: failure.code, FailureMessage: failure.message }),
    ...(input.MaxWriteRequestUnits !== undefined && { MaxWriteRequestUnits: input.MaxWriteRequestUnits }),
    PerformanceTier: input.PerformanceTier ?? 'STANDARD',
  };
}

function usageOf(context: Context, { tableName, tableId, progress: { usage } }: BulkPut) {
  const { indexes, vectors } = usage;
  const locals = new Set(
    context.catalog
      .findById(tableId)
      ?.indexes.filter(({ kind }) => kind === 'local')
      .map(({ name }) => name),
  );
  const bytes = (member: string, entries: BytesByIndex) =>
    Object.fromEntries(entries.map(([name, amount]) => [name, { [member]: amount }]));
  const local = indexes.filter(([name]) => locals.has(name));
  const global = indexes.filter(([name]) => !locals.has(name));
  return {
    TableName: tableName,
    BulkPutBytes: indexes.reduce((sum, [, amount]) => sum + amount, usage.table),
    Table: { BulkPutBytes: usage.table },
    ...(local.length > 0 && { LocalSecondaryIndexes: bytes('BulkPutBytes', local) }),
    ...(global.length > 0 && { GlobalSecondaryIndexes: bytes('BulkPutBytes', global) }),
    ...(vectors.length > 0 && { VectorIndexes: bytes('BulkPutVectorBytes', vectors) }),
  };
}
