import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  type DynamoDBStreamsClientConfig,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { StreamRecord, StreamSource } from './source.ts';

export type AwsSourceSettings = Pick<DynamoDBStreamsClientConfig, 'region' | 'endpoint' | 'credentials'>;

// The only file that loads the SDK. `close` ends its sockets.
export function awsSource(settings: AwsSourceSettings): StreamSource & { close(): void } {
  const client = new DynamoDBStreamsClient(settings);
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
