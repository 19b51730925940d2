import { validationError } from '../errors.ts';
import { checkConstraints } from './constraints.ts';
import { globalIndex } from './create-table.ts';
import {
  integer,
  list,
  oneOf,
  refused,
  required,
  type StructureShape,
  string,
  structure,
  type TypeOf,
  timestamp,
} from './shape.ts';
import { tableMembers } from './table-members.ts';
import { newTableName } from './table-name.ts';
import { vectorIndexes } from './vector-indexes.ts';

// Exports of a table to files of a bucket or a folder, and imports from them.

const arn = required(string({ min: 37, max: 1024 }));
export const bucketOwner = string({ pattern: /^[0-9]{12}$/ });
// DynamoDB's pattern repeats its first and last part, which takes the cube of the length to refuse a name.
export const bucket = string({ max: 255, pattern: /^[a-z0-9A-Z][.\-\w]*[a-z0-9A-Z]$/ });
export const prefix = string({ max: 1024 });
const noIncrements = 'exports are of whole tables';
export const token = string({ pattern: /^[^$]+$/ });

export const exportTableShape = structure('ExportTableToPointInTimeInput', {
  TableArn: required(string({ min: 1, max: 1024 })),
  ExportTime: timestamp,
  ClientToken: string(),
  S3Bucket: required(bucket),
  S3BucketOwner: bucketOwner,
  S3Prefix: prefix,
  S3SseAlgorithm: oneOf('AES256', 'KMS'),
  S3SseKmsKeyId: string({ min: 1, max: 2048 }),
  ExportFormat: oneOf('DYNAMODB_JSON', 'ION'),
  ExportType: oneOf('FULL_EXPORT', 'INCREMENTAL_EXPORT'),
  IncrementalExportSpecification: refused(noIncrements),
  FilterSpecification: refused('every item is exported'),
});
export const exportArnShape = structure('ExportArnInput', { ExportArn: arn });
export const listExportsShape = structure('ListExportsInput', {
  TableArn: string({ min: 1, max: 1024 }),
  MaxResults: integer(1, 25),
  NextToken: string(),
});

export const importArnShape = structure('ImportArnInput', { ImportArn: arn });
export const importTableShape = structure('ImportTableInput', {
  ClientToken: token,
  S3BucketSource: required(
    structure('S3BucketSource', {
      S3BucketOwner: bucketOwner,
      S3Bucket: required(bucket),
      S3KeyPrefix: prefix,
    }),
  ),
  InputFormat: required(oneOf('DYNAMODB_JSON', 'ION', 'CSV')),
  InputFormatOptions: structure('InputFormatOptions', {
    Csv: structure('CsvOptions', {
      Delimiter: string({ min: 1, max: 1, pattern: /^[,;:|\t ]$/ }),
      HeaderList: list(string({ min: 1, max: 65536 }), 1, 255),
    }),
  }),
  InputCompressionType: oneOf('GZIP', 'ZSTD', 'NONE'),
  TableCreationParameters: required(
    structure('TableCreationParameters', {
      TableName: newTableName,
      AttributeDefinitions: required(tableMembers.attributeDefinitions),
      KeySchema: tableMembers.keySchema,
      BillingMode: tableMembers.billingMode,
      ProvisionedThroughput: tableMembers.provisionedThroughput,
      OnDemandThroughput: tableMembers.onDemandThroughput,
      SSESpecification: tableMembers.sseSpecification,
      GlobalSecondaryIndexes: list(globalIndex),
      VectorIndexes: vectorIndexes,
    }),
  ),
});
export const listImportsShape = structure('ListImportsInput', {
  TableArn: string({ min: 1, max: 1024 }),
  PageSize: integer(1, 25),
  NextToken: string({ min: 112, max: 1024 }),
});

export type ExportTableInput = TypeOf<typeof exportTableShape>;
export type ExportArnInput = TypeOf<typeof exportArnShape>;
export type ListExportsInput = TypeOf<typeof listExportsShape>;
export type ImportTableInput = TypeOf<typeof importTableShape>;
export type ImportArnInput = TypeOf<typeof importArnShape>;
export type ListImportsInput = TypeOf<typeof listImportsShape>;

const validatorOf =
  (shape: StructureShape) =>
  (input: unknown): void =>
    checkConstraints(shape, input as object);

export const refuse = (field: string, reason: string): never => {
  throw validationError(`One or more parameter values were invalid: ${field} is not supported: ${reason}`);
};

export function validateExportTable(input: ExportTableInput): void {
  checkConstraints(exportTableShape, input);
  if (input.ExportFormat === 'ION') refuse('ExportFormat ION', 'use DYNAMODB_JSON');
  if (input.ExportType === 'INCREMENTAL_EXPORT') refuse('ExportType INCREMENTAL_EXPORT', noIncrements);
}

export function validateImportTable(input: ImportTableInput): void {
  checkConstraints(importTableShape, input);
  if (input.InputFormat === 'ION') refuse('InputFormat ION', 'use DYNAMODB_JSON or CSV');
  if (input.InputCompressionType === 'ZSTD') refuse('InputCompressionType ZSTD', 'use GZIP or NONE');
}

export const validateExportArn = validatorOf(exportArnShape);
export const validateListExports = validatorOf(listExportsShape);
export const validateImportArn = validatorOf(importArnShape);
export const validateListImports = validatorOf(listImportsShape);
