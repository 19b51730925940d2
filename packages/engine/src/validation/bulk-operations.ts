import { validationError } from '../errors.ts';
import { checkConstraints } from './constraints.ts';
import { bucket, bucketOwner, prefix, refuse, token } from './exports.ts';
import { integer, list, long, oneOf, required, string, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

// Puts of many items from files into a table that exists.

export const startBulkPutItemsShape = structure('StartBulkPutItemsInput', {
  TableName: tableName,
  InputS3Configuration: required(
    structure('InputS3Configuration', {
      S3Bucket: required(bucket),
      S3BucketOwner: bucketOwner,
      S3KeyPrefix: prefix,
      InputFormat: required(oneOf('DYNAMODB_JSON', 'ION')),
      InputCompressionType: oneOf('GZIP', 'ZSTD', 'NONE'),
    }),
  ),
  OutputS3Configuration: required(
    structure('OutputS3Configuration', {
      S3Bucket: bucket,
      S3BucketOwner: bucketOwner,
      S3KeyPrefix: prefix,
      S3SseAlgorithm: oneOf('AES256', 'KMS'),
      S3SseKmsKeyId: string({ min: 1, max: 2048 }),
      OutputType: required(list(oneOf('ERROR', 'CONDITION_CHECK_FAILURE'))),
    }),
  ),
  ClientToken: token,
  MaxWriteRequestUnits: long(1024),
  PerformanceTier: oneOf('STANDARD', 'ACCELERATED'),
});
export const bulkOperationShape = structure('BulkOperationInput', {
  BulkOperationArn: required(string({ min: 37, max: 1024 })),
});
export const listBulkOperationsShape = structure('ListBulkOperationsInput', {
  MaxResults: integer(1, 25),
  NextToken: string({ min: 1, max: 1024, pattern: /^([0-9a-f]{16})+$/ }),
});

export type StartBulkPutItemsInput = TypeOf<typeof startBulkPutItemsShape>;
export type BulkOperationInput = TypeOf<typeof bulkOperationShape>;
export type ListBulkOperationsInput = TypeOf<typeof listBulkOperationsShape>;

const invalid = (reason: string) => validationError(`One or more parameter values were invalid: ${reason}`);

export function validateStartBulkPutItems(input: StartBulkPutItemsInput): void {
  resolveTableArn(input);
  checkConstraints(startBulkPutItemsShape, input);
  const { InputS3Configuration: source, OutputS3Configuration: output } = input;
  if (source.InputFormat === 'ION') refuse('InputFormat ION', 'use DYNAMODB_JSON');
  if (source.InputCompressionType === 'ZSTD') refuse('InputCompressionType ZSTD', 'use GZIP or NONE');
  if (output.S3Bucket === undefined) throw invalid('S3Bucket of OutputS3Configuration is required');
  if (output.OutputType.length === 0) throw invalid('OutputType needs ERROR or CONDITION_CHECK_FAILURE');
}

export const validateBulkOperation = (input: BulkOperationInput): void =>
  checkConstraints(bulkOperationShape, input);
export const validateListBulkOperations = (input: ListBulkOperationsInput): void =>
  checkConstraints(listBulkOperationsShape, input);
