import * as limits from '../limits.ts';
import { invalid } from './attribute-values.ts';
import { checkConstraints } from './constraints.ts';
import { integer, oneOf, required, string, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

// The four operations of DynamoDB Streams.
const streamArn = string({ min: 37, max: 1024 });
const shardId = string({ min: 28, max: 65 });
const { required: _, ...optionalTableName } = tableName;

export const listStreamsShape = structure('ListStreamsInput', {
  TableName: optionalTableName,
  Limit: integer(1, 100),
  ExclusiveStartStreamArn: streamArn,
});
export type ListStreamsInput = TypeOf<typeof listStreamsShape>;

export const describeStreamShape = structure('DescribeStreamInput', {
  StreamArn: required(streamArn),
  Limit: integer(1, 100),
  ExclusiveStartShardId: shardId,
  ShardFilter: structure('ShardFilter', { Type: oneOf('CHILD_SHARDS'), ShardId: shardId }),
});
export type DescribeStreamInput = TypeOf<typeof describeStreamShape>;

export const getShardIteratorShape = structure('GetShardIteratorInput', {
  StreamArn: required(streamArn),
  ShardId: required(shardId),
  ShardIteratorType: required(oneOf('TRIM_HORIZON', 'LATEST', 'AT_SEQUENCE_NUMBER', 'AFTER_SEQUENCE_NUMBER')),
  SequenceNumber: string({ min: 21, max: 40 }),
});
export type GetShardIteratorInput = TypeOf<typeof getShardIteratorShape>;

export const getRecordsShape = structure('GetRecordsInput', {
  ShardIterator: required(string({ min: 1, max: 2048 })),
  Limit: integer(1, limits.streamRecords),
});
export type GetRecordsInput = TypeOf<typeof getRecordsShape>;

export function validateListStreams(input: ListStreamsInput): void {
  resolveTableArn(input);
  checkConstraints(listStreamsShape, input);
}

export function validateDescribeStream(input: DescribeStreamInput): void {
  checkConstraints(describeStreamShape, input);
  const filter = input.ShardFilter;
  if (filter && (filter.Type == null || filter.ShardId == null)) {
    throw invalid('ShardFilter must have both Type and ShardId');
  }
}

export function validateGetShardIterator(input: GetShardIteratorInput): void {
  checkConstraints(getShardIteratorShape, input);
  const needsSequence = input.ShardIteratorType.endsWith('_SEQUENCE_NUMBER');
  if (needsSequence && input.SequenceNumber == null) {
    throw invalid(`SequenceNumber must be specified when ShardIteratorType is ${input.ShardIteratorType}`);
  }
  if (!needsSequence && input.SequenceNumber != null) {
    throw invalid(
      `SequenceNumber must not be specified when ShardIteratorType is ${input.ShardIteratorType}`,
    );
  }
}

export function validateGetRecords(input: GetRecordsInput): void {
  checkConstraints(getRecordsShape, input);
}
