// What each target serves. DynamoDB Streams is a service of its own on AWS, with its own target and client.
const dynamodb = 'DynamoDB_20120810';
const streams = 'DynamoDBStreams_20120810';

const operationsByTarget = new Map<string, string>();

for (const operation of [
  'BatchExecuteStatement',
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'DeleteTable',
  'DescribeTable',
  'DescribeTimeToLive',
  'ExecuteStatement',
  'ExecuteTransaction',
  'GetItem',
  'ListTables',
  'ListTagsOfResource',
  'PutItem',
  'Query',
  'Scan',
  'TagResource',
  'TransactGetItems',
  'TransactWriteItems',
  'UntagResource',
  'UpdateItem',
  'UpdateTable',
  'UpdateTimeToLive',
])
  operationsByTarget.set(`${dynamodb}.${operation}`, operation);

for (const operation of ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'])
  operationsByTarget.set(`${streams}.${operation}`, operation);

export const findOperation = (target: string): string | undefined => operationsByTarget.get(target);
