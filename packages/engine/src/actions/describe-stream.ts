import type { Context } from '../context.ts';
import type { Shard, Stream, StreamViewType } from '../storage/table.ts';
import { sequenceText, shardName } from '../streams/names.ts';
import { knownShard, knownStream } from '../streams/stream-lookup.ts';
import { keyElements } from '../tables/description.ts';
import { type DescribeStreamInput, validateDescribeStream } from '../validation/streams.ts';

const shardsPerPage = 100;

type ShardDescription = {
  ShardId: string;
  SequenceNumberRange: { StartingSequenceNumber: string; EndingSequenceNumber?: string };
  ParentShardId?: string;
};

export type DescribeStreamOutput = {
  StreamDescription: {
    StreamArn: string;
    StreamLabel: string;
    StreamStatus: 'ENABLED' | 'DISABLED';
    StreamViewType: StreamViewType;
    CreationRequestDateTime: number;
    TableName: string;
    KeySchema: ReturnType<typeof keyElements>;
    Shards: ShardDescription[];
    LastEvaluatedShardId?: string;
  };
};

// Shards are listed in the order of their ids, so a parent is always before its children.
export function describeStream(context: Context, input: DescribeStreamInput): DescribeStreamOutput {
  validateDescribeStream(input);
  const entry = knownStream(context, input.StreamArn);
  const { stream, tableName, keys } = entry;
  const limit = input.Limit ?? shardsPerPage;
  const after = input.ExclusiveStartShardId ? knownShard(context, entry, input.ExclusiveStartShardId).id : -1;
  const parent = input.ShardFilter && knownShard(context, entry, input.ShardFilter.ShardId!).id;
  const shards = stream.shards
    .filter(shard => shard.id > after && (parent === undefined || shard.parent === parent))
    .sort((a, b) => a.id - b.id);
  const page = shards.slice(0, limit).map(shard => describeShard(stream, shard));
  return {
    StreamDescription: {
      StreamArn: input.StreamArn,
      StreamLabel: stream.label,
      StreamStatus: stream.enabled ? 'ENABLED' : 'DISABLED',
      StreamViewType: stream.viewType,
      CreationRequestDateTime: stream.createdAt / 1000,
      TableName: tableName,
      KeySchema: keyElements(keys),
      Shards: page,
      ...(shards.length > limit && { LastEvaluatedShardId: page.at(-1)!.ShardId }),
    },
  };
}

function describeShard(stream: Stream, { id, parent, start, end }: Shard): ShardDescription {
  return {
    ShardId: shardName(stream, id),
    SequenceNumberRange: {
      StartingSequenceNumber: sequenceText(start),
      ...(end !== undefined && { EndingSequenceNumber: sequenceText(end) }),
    },
    ...(parent !== undefined && { ParentShardId: shardName(stream, parent) }),
  };
}
