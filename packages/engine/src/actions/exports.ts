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
      .find(one => one.token !== undefined && one.token === input.ClientToken);
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
  const found = exportRecords.find(context, input.ExportArn);
  if (!found) throw new DynamoError('ExportNotFoundException', `Export not found: ${input.ExportArn}`);
  return { ExportDescription: describe(context, found) };
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
    ExportSummaries: page.map(one => ({
      ExportArn: exportRecords.arnOf(context, one),
      ExportStatus: statusOf(one),
      ExportType: 'FULL_EXPORT',
    })),
    ...(next !== undefined && { NextToken: next }),
  };
}

const statusOf = ({ isDone, failure }: Export): string =>
  isDone ? (failure ? 'FAILED' : 'COMPLETED') : 'IN_PROGRESS';

function describe(context: Context, one: Export) {
  return {
    ExportArn: exportRecords.arnOf(context, one),
    ExportStatus: statusOf(one),
    StartTime: one.startedAt / 1000,
    ...(one.endedAt !== undefined && { EndTime: one.endedAt / 1000 }),
    ...(one.manifest && { ExportManifest: one.manifest }),
    TableArn: tableArn(context, one.tableName),
    TableId: one.tableUuid,
    ExportTime: one.at / 1000,
    ...(one.token && { ClientToken: one.token }),
    S3Bucket: one.bucket,
    ...(one.bucketOwner && { S3BucketOwner: one.bucketOwner }),
    ...(one.prefix && { S3Prefix: one.prefix }),
    S3SseAlgorithm: one.sse,
    ...(one.sseKey && { S3SseKmsKeyId: one.sseKey }),
    ...(one.failure && { FailureCode: one.failure.code, FailureMessage: one.failure.message }),
    ExportFormat: 'DYNAMODB_JSON',
    ...(one.bytes !== undefined && { BilledSizeBytes: one.bytes, ItemCount: one.items }),
    ExportType: 'FULL_EXPORT',
  };
}
