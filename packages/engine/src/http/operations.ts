import { inputShapes } from './shapes.ts';

// DynamoDB Streams is a service of its own on AWS, with its own target and its own client.
const streams = new Set(['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']);

const operationsByTarget = new Map<string, string>(
  Object.keys(inputShapes).map(operation => [
    `${streams.has(operation) ? 'DynamoDBStreams' : 'DynamoDB'}_20120810.${operation}`,
    operation,
  ]),
);

export const findOperation = (target: string): string | undefined => operationsByTarget.get(target);
