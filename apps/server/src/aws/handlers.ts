import { type LambdaFunction, lambdaFunctions } from './lambda-functions.ts';
import { handlerStatements } from './permissions.ts';
import { arnOf, attribute, ref, sub } from './references.ts';
import { closedBucket, tableId } from './storage.ts';
import type { Resource, Resources } from './template.ts';

type HandlerOptions = {
  prefix: string;
  variables: Readonly<Record<string, string>>;
  secrets: readonly string[];
};

const runtime = 'nodejs22.x';
const timeoutSeconds = 60; // a page of records, with all attempts of a failing one
const memoryMb = 512; // the share of the processor grows with it
const batchRecords = 100;
// Long enough for a store that is unavailable for hours; a record that crashes the function blocks its shard no longer.
const recordAgeSeconds = 6 * 60 * 60;
const failedDays = 14; // as long as a repeated record is recognised

// One function for each table whose consumers can run in Lambda.
export function handlers(options: HandlerOptions): Resources {
  const resources: Resources = { FailedBucket: failedBucket };
  for (const lambdaFunction of lambdaFunctions) {
    const id = handlerId(lambdaFunction);
    resources[`${id}Role`] = role(lambdaFunction);
    resources[id] = handler(lambdaFunction, options);
    resources[`${id}Source`] = source(lambdaFunction);
  }
  return resources;
}

/** The name of a function in the template, like InboxHandler. */
export const handlerId = ({ name }: LambdaFunction): string =>
  `${name[0]!.toUpperCase()}${name.slice(1)}Handler`;

const role = (given: LambdaFunction): Resource => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
      ],
    },
    Policies: [
      {
        PolicyName: 'handler',
        PolicyDocument: { Version: '2012-10-17', Statement: handlerStatements(given) },
      },
    ],
  },
});

function handler(given: LambdaFunction, options: HandlerOptions): Resource {
  const { variables, secrets, prefix } = options;
  const { name, consumers, isConfigured = false } = given;
  // One level for all loggers.
  const { STAK_LOG_LEVEL } = variables;
  const Variables: Record<string, unknown> = {
    STAK_ENV: 'production',
    STAK_PUBLIC_URL: ref('PublicUrl'),
    STAK_STORE: 'aws',
    STAK_AWS_REGION: ref('AWS::Region'),
    ...(prefix !== '' && { STAK_TABLE_PREFIX: prefix }),
    ...(isConfigured ? variables : STAK_LOG_LEVEL !== undefined && { STAK_LOG_LEVEL }),
  };
  if (isConfigured)
    for (const secret of ['STAK_SECRET_KEYS', ...secrets])
      Variables[secret] = sub(`{{resolve:secretsmanager:<VariablesArn>:SecretString:${secret}}}`);
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Description: `Stream consumers of Stak: ${consumers.join(', ')}`,
      Runtime: runtime,
      Architectures: ['arm64'],
      Handler: `index.${name}`,
      Code: { S3Bucket: ref('HandlersBucket'), S3Key: ref('HandlersKey') },
      Role: arnOf(`${handlerId(given)}Role`),
      Timeout: timeoutSeconds,
      MemorySize: memoryMb,
      Environment: { Variables },
      LoggingConfig: { LogGroup: ref('Logs') },
    },
  };
}

const source = (given: LambdaFunction): Resource => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: attribute(tableId(given.table), 'StreamArn'),
    FunctionName: ref(handlerId(given)),
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: batchRecords,
    MaximumBatchingWindowInSeconds: 1,
    ParallelizationFactor: 1, // records of one item stay in order
    BisectBatchOnFunctionError: true,
    MaximumRecordAgeInSeconds: recordAgeSeconds,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    DestinationConfig: { OnFailure: { Destination: arnOf('FailedBucket') } },
  },
});

// Events that a function could not even store as dead letters, to be sent to it again.
const failedBucket: Resource = closedBucket([
  { Id: 'failed-events', Status: 'Enabled', ExpirationInDays: failedDays },
]);
