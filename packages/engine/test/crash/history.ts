import type { Engine, Item, NativeItem } from '../../src/index.ts';
import { unmarshalItem } from '../../src/values/marshal.ts';
import { type Key, tableName } from './workload.ts';

// Reads what the table says of itself: its items, and the changes that led to them.

export type Change = {
  sequence: bigint;
  key: Key;
  before?: NativeItem;
  after?: NativeItem;
  byService: boolean;
};

export const keyText = ({ pk, sk }: Key | NativeItem): string => `${pk}/${sk}`;

export async function readItems(engine: Engine, index?: string): Promise<Map<string, NativeItem>> {
  const items = new Map<string, NativeItem>();
  let ExclusiveStartKey: NativeItem | undefined;
  do {
    const page = await engine.client.scan({
      TableName: tableName,
      ...(index && { IndexName: index }),
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    for (const item of page.Items ?? []) items.set(keyText(item), item);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

type WireRecord = {
  dynamodb: { SequenceNumber: string; Keys: Item; OldImage?: Item; NewImage?: Item };
  userIdentity?: object;
};

export async function readChanges(engine: Engine): Promise<Change[]> {
  const { Table } = (await engine.execute('DescribeTable', { TableName: tableName })) as {
    Table: { LatestStreamArn: string };
  };
  const stream = { StreamArn: Table.LatestStreamArn };
  const { StreamDescription } = (await engine.execute('DescribeStream', stream)) as {
    StreamDescription: { Shards: { ShardId: string }[] };
  };
  const changes: Change[] = [];
  for (const { ShardId } of StreamDescription.Shards) {
    const from = { ...stream, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
    let { ShardIterator } = (await engine.execute('GetShardIterator', from)) as { ShardIterator?: string };
    while (ShardIterator) {
      const page = (await engine.execute('GetRecords', { ShardIterator })) as {
        Records: WireRecord[];
        NextShardIterator?: string;
      };
      if (page.Records.length === 0) break;
      changes.push(...page.Records.map(presentChange));
      ShardIterator = page.NextShardIterator;
    }
  }
  return changes;
}

const presentChange = ({ dynamodb, userIdentity }: WireRecord): Change => ({
  sequence: BigInt(dynamodb.SequenceNumber),
  key: unmarshalItem(dynamodb.Keys) as Key,
  before: dynamodb.OldImage && unmarshalItem(dynamodb.OldImage),
  after: dynamodb.NewImage && unmarshalItem(dynamodb.NewImage),
  byService: userIdentity !== undefined,
});
