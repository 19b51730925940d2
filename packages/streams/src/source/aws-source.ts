import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { withDeadline } from '@stak/table';
import { connectMs, streamAnswerMs } from '../limits.ts';
import { shareReads } from './shared-reads.ts';
import type { StreamRecord, StreamSource } from './source.ts';

// The port over the AWS SDK. No other file loads it, and the package's index does not load this one.

/** The region, and for tests or other stores an endpoint. */
export type AwsSourceOptions = {
  region: string;
  endpoint?: string;
  // Without credentials, the SDK uses its default provider chain.
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  answerMs?: number; // for one operation, including the SDK's own retries
};

/**
 * The streams of DynamoDB on AWS. `close` ends its connections.
 *
 *     const source = awsSource({ region: 'eu-central-1' });
 */
// Consumers in one process share the reads of each shard.
export function awsSource({
  answerMs = streamAnswerMs,
  ...options
}: AwsSourceOptions): StreamSource & { close(): void } {
  const client = new DynamoDBStreamsClient({ ...options, requestHandler: { connectionTimeout: connectMs } });
  type Options = { abortSignal: AbortSignal };
  const within = <T>(send: (options: Options) => Promise<T>): Promise<T> =>
    withDeadline(answerMs, abortSignal => send({ abortSignal }));
  return shareReads({
    listStreams: input => within(options => client.send(new ListStreamsCommand(input), options)),
    describeStream: input => within(options => client.send(new DescribeStreamCommand(input), options)),
    getShardIterator: input => within(options => client.send(new GetShardIteratorCommand(input), options)),
    async getRecords(input) {
      const answer = await within(options => client.send(new GetRecordsCommand(input), options));
      const { Records, NextShardIterator } = answer;
      // The SDK's attribute values have one more case, for types it does not know yet.
      return { Records: Records as StreamRecord[] | undefined, NextShardIterator };
    },
    close: () => client.destroy(),
  });
}
