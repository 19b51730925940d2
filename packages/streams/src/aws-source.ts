import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { StreamRecord, StreamSource } from './source.ts';

// The port over the AWS SDK. No other file loads it, and the package's index does not load this one.

export type AwsSourceOptions = {
  region: string;
  endpoint?: string;
  // By default the SDK looks where it always looks.
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
};

// `close` ends its sockets.
export function awsSource(options: AwsSourceOptions): StreamSource & { close(): void } {
  const client = new DynamoDBStreamsClient(options);
  return {
    listStreams: input => client.send(new ListStreamsCommand(input)),
    describeStream: input => client.send(new DescribeStreamCommand(input)),
    getShardIterator: input => client.send(new GetShardIteratorCommand(input)),
    async getRecords(input) {
      const { Records, NextShardIterator } = await client.send(new GetRecordsCommand(input));
      // The SDK's attribute values have one more case, for types it does not know yet.
      return { Records: Records as StreamRecord[] | undefined, NextShardIterator };
    },
    close: () => client.destroy(),
  };
}
