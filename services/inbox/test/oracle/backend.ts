import { createEngine, createHttpServer, type Engine } from '@stak/engine';
import { engineSource, type LambdaEvent, streamsTable } from '@stak/streams';
import { createTables, type DynamoClient } from '@stak/table';
import { awsClient } from '@stak/table/aws';
import { inboxTable } from '../../src/index.ts';

// The embedded engine, the same behind a client that fails in every way that passes, the same over HTTP and the AWS SDK,
// or whatever listens at an address.
export type EngineKind = 'embedded' | 'adversary' | 'sdk' | `http${string}`;
export type StreamRecords = LambdaEvent['Records'];

export type Backend = {
  client: DynamoClient;
  // Removes what has expired by then, as DynamoDB would: at some time, and perhaps not all of it.
  sweep(nowMs: number): Promise<void>;
  // All stream records since the last time. None where there is no stream to read.
  readRecords(): Promise<StreamRecords>;
  close(): Promise<void>;
};

const region = 'us-east-1';
// Most take any.
const credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? 'any',
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? 'any',
};

export async function openBackend(kind: EngineKind, startMs: number): Promise<Backend> {
  if (kind.startsWith('http')) return openAddress(kind);
  let sweptMs = startMs;
  const engine = await createEngine({ path: ':memory:', clock: { now: () => sweptMs }, sweepIntervalMs: 0 });
  await createTables(engine, [inboxTable, streamsTable]);
  const ofEngine = {
    async sweep(nowMs: number) {
      sweptMs = Math.max(sweptMs, nowMs);
      await engine.sweep();
    },
    readRecords: recordReader(engine),
  };
  if (kind !== 'sdk') return { client: engine.client, ...ofEngine, close: () => engine.close() };
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  const client = awsClient({ region, endpoint: url, credentials });
  const close = async () => {
    client.close();
    await server.close();
    await engine.close();
  };
  return { client, ...ofEngine, close };
}

// A table that stays: every history is a tenant of its own. Expired items are removed by hand.
async function openAddress(endpoint: string): Promise<Backend> {
  const client = awsClient({ region, endpoint, credentials });
  await createTables(client, [inboxTable, streamsTable]);
  return {
    client,
    async sweep(nowMs) {
      const { Items = [] } = await client.scan({ TableName: inboxTable.name });
      for (const { pk, sk, expiredat } of Items)
        if (typeof expiredat === 'number' && expiredat * 1000 <= nowMs)
          await client.delete({ TableName: inboxTable.name, Key: { pk, sk } });
    },
    readRecords: async () => [],
    close: async () => client.close(),
  };
}

// Returns the changes of the table's stream since the last call.
export function recordReader(engine: Engine): Backend['readRecords'] {
  const source = engineSource(engine);
  const last = new Map<string, string>();
  return async () => {
    const { Streams = [] } = await source.listStreams({ TableName: inboxTable.name });
    const StreamArn = Streams[0]!.StreamArn!;
    const { StreamDescription } = await source.describeStream({ StreamArn });
    const found: StreamRecords = [];
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      const after = last.get(ShardId!);
      const { ShardIterator } = await source.getShardIterator({
        StreamArn,
        ShardId: ShardId!,
        ShardIteratorType: after === undefined ? 'TRIM_HORIZON' : 'AFTER_SEQUENCE_NUMBER',
        SequenceNumber: after,
      });
      for (let iterator: string | null | undefined = ShardIterator; iterator; ) {
        const { Records = [], NextShardIterator } = await source.getRecords({ ShardIterator: iterator });
        found.push(...Records);
        iterator = Records.length > 0 ? NextShardIterator : undefined;
      }
      const newest = found.at(-1)?.dynamodb?.SequenceNumber;
      if (newest) last.set(ShardId!, newest);
    }
    return found;
  };
}
