import type { DynamoDBStreamsClientConfig } from '@aws-sdk/client-dynamodb-streams';
import type { StreamRecord, StreamSource } from './source.ts';

export type AwsSourceSettings = Pick<DynamoDBStreamsClientConfig, 'region' | 'endpoint' | 'credentials'>;

// The only file that loads the SDK, and not before the first call. `close` ends its sockets.
export function awsSource(settings: AwsSourceSettings): StreamSource & { close(): Promise<void> } {
  let loading: ReturnType<typeof load> | undefined;
  const sdk = () => {
    loading ??= load(settings);
    return loading;
  };
  return {
    async listStreams(input) {
      const { client, ListStreamsCommand } = await sdk();
      return client.send(new ListStreamsCommand(input));
    },
    async describeStream(input) {
      const { client, DescribeStreamCommand } = await sdk();
      return client.send(new DescribeStreamCommand(input));
    },
    async getShardIterator(input) {
      const { client, GetShardIteratorCommand } = await sdk();
      return client.send(new GetShardIteratorCommand(input));
    },
    async getRecords(input) {
      const { client, GetRecordsCommand } = await sdk();
      const { Records, NextShardIterator } = await client.send(new GetRecordsCommand(input));
      // The SDK's attribute values have one more case, for types it does not know yet.
      return { Records: Records as StreamRecord[] | undefined, NextShardIterator };
    },
    async close() {
      if (loading) (await loading).client.destroy();
    },
  };
}

async function load(settings: AwsSourceSettings) {
  const sdk = await import('@aws-sdk/client-dynamodb-streams');
  return { ...sdk, client: new sdk.DynamoDBStreamsClient(settings) };
}
