import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import { DynamoError, resourceInUse, validationError } from '../errors.ts';
import { tableArn } from '../tables/arns.ts';
import { defineTable } from '../tables/definition.ts';
import { withIds } from '../tables/ids.ts';
import { continueImport, type Import, importRecords } from '../transfer/import.ts';
import { newTransferKey } from '../transfer/records.ts';
import { validateCreateTable } from '../validation/create-table.ts';
import {
  type ImportArnInput,
  type ImportTableInput,
  type ListImportsInput,
  validateImportArn,
  validateImportTable,
  validateListImports,
} from '../validation/exports.ts';
import { tableNameIn } from './restore-table.ts';

export async function importTable(context: Context, input: ImportTableInput) {
  validateImportTable(input);
  if (input.InputFormatOptions?.Csv && input.InputFormat !== 'CSV')
    throw validationError(
      'One or more parameter values were invalid: Csv options are only for the format CSV',
    );
  const definition = input.TableCreationParameters;
  validateCreateTable(definition);
  const started = await context.submit(tx => {
    const { ClientToken: token } = input;
    const same = importRecords
      .all(context)
      .find(record => token !== undefined && record.input.ClientToken === token);
    if (same) {
      if (isDeepStrictEqual(same.input, JSON.parse(JSON.stringify(input)))) return same;
      throw new DynamoError(
        'ImportConflictException',
        'There was a conflict when importing from the specified S3 source: the client token was used for another import.',
      );
    }
    const name = definition.TableName;
    if (context.catalog.findAny(name)) throw resourceInUse(`Table already exists: ${name}`);
    const now = context.now();
    const key = newTransferKey(now);
    const table = withIds(context.store, tx, newId => ({
      ...defineTable(definition, { newId, uuid: randomUUID(), now }),
      isCreating: true as const,
      importedBy: key,
    }));
    context.catalog.save(tx, table);
    const fresh: Import = {
      key,
      tableName: name,
      tableId: table.id,
      tableUuid: table.uuid,
      by: context.peer.id,
      startedAt: now,
      isDone: false,
      input,
      read: { bytes: 0, items: 0 },
      imported: 0,
      errors: 0,
    };
    importRecords.save(tx, fresh);
    return fresh;
  });
  if (!started.isDone) continueImport(context, started);
  return { ImportTableDescription: describe(context, started) };
}

export function describeImport(context: Context, input: ImportArnInput) {
  validateImportArn(input);
  const importRecord = importRecords.find(context, input.ImportArn);
  if (!importRecord) throw new DynamoError('ImportNotFoundException', `Import not found: ${input.ImportArn}`);
  return { ImportTableDescription: describe(context, importRecord) };
}

const importsPerPage = 25;

export function listImports(context: Context, input: ListImportsInput) {
  validateListImports(input);
  const { page, next } = importRecords.page(context, {
    ...(input.TableArn !== undefined && { tableName: tableNameIn(input.TableArn) }),
    limit: input.PageSize ?? importsPerPage,
    ...(input.NextToken !== undefined && { token: input.NextToken }),
  });
  return {
    ImportSummaryList: page.map(record => ({
      ImportArn: importRecords.arnOf(context, record),
      ImportStatus: statusOf(record),
      TableArn: tableArn(context, record.tableName),
      S3BucketSource: record.input.S3BucketSource,
      InputFormat: record.input.InputFormat,
      StartTime: record.startedAt / 1000,
      ...(record.endedAt !== undefined && { EndTime: record.endedAt / 1000 }),
    })),
    ...(next !== undefined && { NextToken: next }),
  };
}

const statusOf = ({ isDone, failure }: Import): string =>
  isDone ? (failure ? 'FAILED' : 'COMPLETED') : 'IN_PROGRESS';

function describe(context: Context, record: Import) {
  const { input } = record;
  return {
    ImportArn: importRecords.arnOf(context, record),
    ImportStatus: statusOf(record),
    TableArn: tableArn(context, record.tableName),
    TableId: record.tableUuid,
    ...(input.ClientToken && { ClientToken: input.ClientToken }),
    S3BucketSource: input.S3BucketSource,
    ErrorCount: record.errors,
    InputFormat: input.InputFormat,
    ...(input.InputFormatOptions && { InputFormatOptions: input.InputFormatOptions }),
    InputCompressionType: input.InputCompressionType ?? 'NONE',
    TableCreationParameters: input.TableCreationParameters,
    StartTime: record.startedAt / 1000,
    ...(record.endedAt !== undefined && { EndTime: record.endedAt / 1000 }),
    ProcessedSizeBytes: record.read.bytes,
    ProcessedItemCount: record.read.items,
    ImportedItemCount: record.imported,
    ...(record.failure && { FailureCode: record.failure.code, FailureMessage: record.failure.message }),
  };
}
