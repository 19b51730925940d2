import type { AnyTable } from '@stak/table';
import { type LambdaFunction, stateTable } from './lambda-functions.ts';
import { arnOf, sub } from './references.ts';
import { tableId } from './storage.ts';

// The permissions of a server, and no more. It does not create tables: the stack does. A transaction is covered by the
// permissions of its operations.

const tableActions = [
  'BatchGetItem',
  'BatchWriteItem',
  'ConditionCheckItem',
  'DeleteItem',
  'DescribeContinuousBackups',
  'DescribeTable',
  'DescribeTimeToLive',
  'GetItem',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
] as const;

const streamActions = ['DescribeStream', 'GetRecords', 'GetShardIterator'] as const;

// Stream handlers do not scan tables.
const readActions = ['BatchGetItem', 'GetItem', 'Query'] as const;
const writeActions = [
  ...readActions,
  'BatchWriteItem',
  'ConditionCheckItem',
  'DeleteItem',
  'PutItem',
  'UpdateItem',
] as const;

const allow = (Action: readonly string[], Resource: unknown, rest: object = {}) => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...rest,
});

const dynamodb = (names: readonly string[]) => names.map(name => `dynamodb:${name}`);

export function serverStatements(
  designs: readonly AnyTable[],
  variables: Readonly<Record<string, string>>,
): object[] {
  const tables = designs.map(tableId);
  const indexed = designs.filter(({ indexes }) => Object.keys(indexes).length > 0).map(tableId);
  const followed = designs.filter(({ stream }) => stream !== undefined).map(tableId);
  return [
    allow(dynamodb(tableActions), tables.map(arnOf)),
    allow(
      dynamodb(['Query']),
      indexed.map(id => sub(`<${id}.Arn>/index/*`)),
    ),
    allow(
      dynamodb(streamActions),
      followed.map(id => sub(`<${id}.Arn>/stream/*`)), // an import gives a table a new stream
    ),
    allow(dynamodb(['ListStreams']), '*'), // cannot be restricted to single tables
    allow(['s3:ListBucket'], arnOf('LakeBucket')),
    allow(
      ['s3:GetObject', 's3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload'],
      sub('<LakeBucket.Arn>/*'),
    ),
    useKey(['dynamodb', 's3']),
    ...('STAK_BEDROCK_REGION' in variables ? [models] : []),
  ];
}

// Only through these services.
const useKey = (services: readonly string[]) =>
  allow(
    ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
    arnOf('Key'),
    {
      Condition: {
        StringEquals: {
          'kms:ViaService': services.map(name => sub(`${name}.<AWS::Region>.<AWS::URLSuffix>`)),
        },
      },
    },
  );

// The permissions of a function: read one stream, and use the tables of its consumers.
export function handlerStatements({ table, writes, reads = [] }: LambdaFunction): object[] {
  const touch = (actions: readonly string[], designs: readonly AnyTable[]) => {
    const indexes = designs.filter(({ indexes }) => Object.keys(indexes).length > 0);
    return [
      allow(dynamodb(actions), designs.map(tableId).map(arnOf)),
      ...(indexes.length > 0
        ? [
            allow(
              dynamodb(['Query']),
              indexes.map(table => sub(`<${tableId(table)}.Arn>/index/*`)),
            ),
          ]
        : []),
    ];
  };
  return [
    ...touch(writeActions, [...writes, stateTable]),
    ...(reads.length > 0 ? touch(readActions, reads) : []),
    allow(dynamodb(streamActions), sub(`<${tableId(table)}.Arn>/stream/*`)),
    allow(dynamodb(['ListStreams']), '*'), // cannot be restricted to single tables
    useKey(['dynamodb', 's3']),
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], arnOf('Logs')),
    allow(['s3:PutObject', 's3:ListBucket'], [arnOf('FailedBucket'), sub('<FailedBucket.Arn>/*')]),
  ];
}

const models = allow(
  ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'],
  [
    sub('arn:<AWS::Partition>:bedrock:*::foundation-model/*'),
    sub('arn:<AWS::Partition>:bedrock:*:<AWS::AccountId>:inference-profile/*'),
  ],
);
