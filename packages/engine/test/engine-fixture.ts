import { createEngine, type Engine, type EngineOptions } from '../src/engine.ts';
import type { actions } from '../src/operations.ts';
import type { StreamRecord } from '../src/streams/records.ts';

// An engine whose time is a number the test sets, and which sweeps only when told to.
export type TestClock = { ms: number; now(): number };

export const testClock = (ms = Date.UTC(2026, 0, 1)): TestClock => ({
  ms,
  now() {
    return this.ms;
  },
});

export const openEngine = (options: Partial<EngineOptions> = {}): Promise<Engine> =>
  createEngine({ path: ':memory:', sweepIntervalMs: 0, ...options });

type Operation = keyof typeof actions;
type Answer<O extends Operation> = Awaited<ReturnType<(typeof actions)[O]>>;

// Two engines with the same table, whose contents and answers are compared.
export async function openTwins(table: object): Promise<[Engine, Engine]> {
  const clock = { now: () => Date.UTC(2030, 0, 1) };
  const twins: [Engine, Engine] = [await openEngine({ clock }), await openEngine({ clock })];
  for (const one of twins) await one.execute('CreateTable', table);
  return twins;
}

export const call = <O extends Operation>(engine: Engine, operation: O, input: object = {}) =>
  engine.execute(operation, input) as Promise<Answer<O>>;

export const hashTable = (name: string, more: object = {}) => ({
  TableName: name,
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
  ...more,
});

export const streaming = (viewType = 'NEW_AND_OLD_IMAGES') => ({
  StreamSpecification: { StreamEnabled: true, StreamViewType: viewType },
});

export const newIndex = (name: string, attribute: string, type = 'S', projection = 'ALL') => ({
  AttributeDefinitions: [{ AttributeName: attribute, AttributeType: type }],
  GlobalSecondaryIndexUpdates: [
    {
      Create: {
        IndexName: name,
        KeySchema: [{ AttributeName: attribute, KeyType: 'HASH' }],
        Projection: { ProjectionType: projection },
      },
    },
  ],
});

export const streamOf = async (engine: Engine, tableName: string): Promise<string> =>
  (await call(engine, 'DescribeTable', { TableName: tableName })).Table.LatestStreamArn!;

export const shardsOf = async (engine: Engine, streamArn: string) =>
  (await call(engine, 'DescribeStream', { StreamArn: streamArn })).StreamDescription.Shards;

export async function iteratorOf(
  engine: Engine,
  streamArn: string,
  shardId: string,
  type = 'TRIM_HORIZON',
  sequence?: string,
): Promise<string> {
  const input = { StreamArn: streamArn, ShardId: shardId, ShardIteratorType: type };
  const answer = await call(engine, 'GetShardIterator', {
    ...input,
    ...(sequence && { SequenceNumber: sequence }),
  });
  return answer.ShardIterator;
}

// Every record of a stream, shard by shard.
export async function readStream(engine: Engine, streamArn: string): Promise<StreamRecord[]> {
  const records: StreamRecord[] = [];
  for (const { ShardId } of await shardsOf(engine, streamArn)) {
    let iterator: string | null = await iteratorOf(engine, streamArn, ShardId);
    while (iterator) {
      const page: Answer<'GetRecords'> = await call(engine, 'GetRecords', { ShardIterator: iterator });
      records.push(...page.Records);
      iterator = page.Records.length > 0 ? page.NextShardIterator : null;
    }
  }
  return records;
}
