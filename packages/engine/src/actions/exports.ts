import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import { tableArn } from '../tables/arns.ts';
import { type Export, exportRecords, startExport } from '../transfer/export.ts';
import { newTransferKey } from '../transfer/records.ts';
import {
  type ExportArnInput,
  type ExportTableInput,
  type ListExportsInput,
  validateExportArn,
  validateExportTable,
  validateListExports,
} from '../validation/exports.ts';
import { millisecondsOf } from '../validation/times.ts';
import { backedUpTable, restorableTimes } from './continuous-backups.ts';
import { recoveryUnavailable, tableNameIn } from './restore-table.ts';

export async function exportTableToPointInTime(context: Context, input: ExportTableInput) {
  validateExportTable(input);
  const table = backedUpTable(context, tableNameIn(input.TableArn));
  if (!table.recovery) throw recoveryUnavailable(table.name);
  const { earliest, latest } = await restorableTimes(context, table);
  const at = input.ExportTime === undefined ? latest : millisecondsOf(input.ExportTime);
  if (at < Math.floor(earliest) || at > Math.ceil(context.now()))
    throw new DynamoError(
      'InvalidExportTimeException',
      'The specified ExportTime is outside of the point in time recovery window.',
    );
  const now = context.now();
  const fresh: Export = {
    key: newTransferKey(now),
    tableName: table.name,
    tableId: table.id,
    tableUuid: table.uuid,
    by: context.peer.id,
    startedAt: now,
    isDone: false,
    at,
    bucket: input.S3Bucket,
    bucketOwner: input.S3BucketOwner,
    prefix: input.S3Prefix,
    sse: input.S3SseAlgorithm ?? 'AES256',
    sseKey: input.S3SseKmsKeyId,
    token: input.ClientToken,
  };
  const started = await context.submit(tx => {
    const same = exportRecords
      .all(context)
      .find(record => record.token !== undefined && record.token === input.ClientToken);
    if (same && (same.tableId !== table.id || same.bucket !== fresh.bucket || same.prefix !== fresh.prefix))
      throw new DynamoError(
        'ExportConflictException',
        'There was a conflict when writing to the specified S3 bucket: the client token was used for another export.',
      );
    if (!same) exportRecords.save(tx, fresh);
    return same ?? fresh;
  });
  if (started === fresh) startExport(context, fresh, input.ExportTime === undefined);
  return { ExportDescription: describe(context, started) };
}

export function describeExport(context: Context, input: ExportArnInput) {
  validateExportArn(input);
  const exportRecord = exportRecords.find(context, input.ExportArn);
  if (!exportRecord) throw new DynamoError('ExportNotFoundException', `Export not found: ${input.ExportArn}`);
  return { ExportDescription: describe(context, exportRecord) };
}

const exportsPerPage = 25;

export function listExports(context: Context, input: ListExportsInput) {
  validateListExports(input);
  const { page, next } = exportRecords.page(context, {
    ...(input.TableArn !== undefined && { tableName: tableNameIn(input.TableArn) }),
    limit: input.MaxResults ?? exportsPerPage,
    ...(input.NextToken !== undefined && { token: input.NextToken }),
  });
  return {
    ExportSummaries: page.map(record => ({
      ExportArn: exportRecords.arnOf(context, record),
      ExportStatus: statusOf(record),
      ExportType: 'FULL_EXPORT',
    })),
    ...(next !== undefined && { NextToken: next }),
  };
}

const statusOf = ({ isDone, failure }: Export): string =>
  isDone ? (failure ? 'FAILED' : 'COMPLETED') : 'IN_PROGRESS';

function describe(context: Context, record: Export) {
  return {
    ExportArn: exportRecords.arnOf(context, record),
    ExportStatus: statusOf(record),
    StartTime: record.startedAt / 1000,
    ...(record.endedAt !== undefined && { EndTime: record.endedAt / 1000 }),
    ...(record.manifest && { ExportManifest: record.manifest }),
    TableArn: tableArn(context, record.tableName),
    TableId: record.tableUuid,
    ExportTime: record.at / 1000,
    ...(record.token && { ClientToken: record.token }),
    S3Bucket: record.bucket,
    ...(record.bucketOwner && { S3BucketOwner: record.bucketOwner }),
    ...(record.prefix && { S3Prefix: record.prefix }),
    S3SseAlgorithm: record.sse,
    ...(record.sseKey && { S3SseKmsKeyId: record.sseKey }),
    ...(record.failure && { FailureCode: record.failure.code, FailureMessage: record.failure.message }),
    ExportFormat: 'DYNAMODB_JSON',
    ...(record.bytes !== undefined && { BilledSizeBytes: record.bytes, ItemCount: record.items }),
    ExportType: 'FULL_EXPORT',
  };
}
