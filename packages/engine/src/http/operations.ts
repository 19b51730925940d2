import { inputShapes } from '../validation/input-shapes.ts';

// On AWS, DynamoDB Streams is a separate service, with its own target and client.
const streams = new Set(['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']);

const operationsByTarget = new Map<string, string>(
  Object.keys(inputShapes).map(operation => [
    `${streams.has(operation) ? 'DynamoDBStreams' : 'DynamoDB'}_20120810.${operation}`,
    operation,
  ]),
);

export const findOperation = (target: string): string | undefined => operationsByTarget.get(target);
