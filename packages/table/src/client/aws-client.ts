import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTablesCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  SearchVectorsCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import * as limits from '../limits.ts';
import type { ControlOperation, ControlPlane, RemoteClient, VectorClient } from './client.ts';
import { withDeadline } from './deadline.ts';

// The port over the AWS SDK. No other file loads it, and the package's index does not load this one.

/** The region, and for tests or other stores an endpoint. */
export type AwsClientOptions = {
  region: string;
  endpoint?: string;
  // Without credentials, the SDK uses its default provider chain.
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  connectMs?: number;
  answerMs?: number; // for one request, from its first byte to the last byte of the response
};

type Send = (command: object, options: { abortSignal: AbortSignal }) => Promise<never>;

const controlCommands = {
  CreateTable: CreateTableCommand,
  DescribeTable: DescribeTableCommand,
  UpdateTable: UpdateTableCommand,
  DeleteTable: DeleteTableCommand,
  ListTables: ListTablesCommand,
  DescribeTimeToLive: DescribeTimeToLiveCommand,
  DescribeContinuousBackups: DescribeContinuousBackupsCommand,
  UpdateContinuousBackups: UpdateContinuousBackupsCommand,
  UpdateTimeToLive: UpdateTimeToLiveCommand,
} as unknown as Record<ControlOperation, new (input: object) => object>;

/**
 * A client of DynamoDB on AWS, or of a compatible server at `endpoint`.
 *
 *     const store = createStore({ client: awsClient({ region: 'eu-central-1' }) });
 */
export function awsClient({
  connectMs = limits.connectMs,
  answerMs = limits.answerMs,
  ...options
}: AwsClientOptions): RemoteClient & VectorClient & ControlPlane & { close(): void } {
  const agent = { maxSockets: limits.sockets, keepAlive: true };
  const requestHandler = { connectionTimeout: connectMs, httpAgent: agent, httpsAgent: agent };
  // The store retries, not the SDK: only the store knows which writes must not be made twice.
  const base = new DynamoDBClient({ ...options, requestHandler, maxAttempts: 1 });
  const control = new DynamoDBClient({ ...options, requestHandler });
  const documents = DynamoDBDocumentClient.from(base, {
    // Zod sets absent optional attributes to undefined. The SDK takes an object with a field called `constructor` for
    // an instance of a class.
    marshallOptions: { removeUndefinedValues: true, convertClassInstanceToMap: true },
  });
  const within = (ms: number, send: Send) => (command: object) =>
    withDeadline(ms, abortSignal => send(command, { abortSignal }));
  const send = within(answerMs, documents.send.bind(documents) as unknown as Send);
  // Retried by the SDK.
  const sendControl = within(
    answerMs * limits.controlAttempts,
    control.send.bind(control) as unknown as Send,
  );
  return {
    mayLoseAnswers: true,
    get: input => send(new GetCommand(input)),
    put: input => send(new PutCommand(input)),
    update: input => send(new UpdateCommand(input)),
    delete: input => send(new DeleteCommand(input)),
    query: input => send(new QueryCommand(input)),
    scan: input => send(new ScanCommand(input)),
    searchVectors: input => send(new SearchVectorsCommand(input)),
    batchGet: input => send(new BatchGetCommand(input)),
    batchWrite: input => send(new BatchWriteCommand(input as never)),
    transactGet: input => send(new TransactGetCommand(input)),
    transactWrite: input => send(new TransactWriteCommand(input)),
    execute: (operation, input) => sendControl(new controlCommands[operation](input)),
    close() {
      base.destroy();
      control.destroy();
    },
  };
}
