import { listingPages } from '../limits.ts';
import { isGone, type StreamSource } from './source.ts';

/** A shard as a consumer sees it. `parents` must be finished before its first record is read. */
export type Shard = {
  key: string; // unique among all streams of the table
  streamArn: string;
  shardId: string;
  parents: readonly string[];
  isOpen: boolean;
};

const shardKey = (streamArn: string, shardId: string): string => `${labelOf(streamArn)}/${shardId}`;

// The last part of the ARN: the moment the stream was enabled.
export const labelOf = (streamArn: string): string => streamArn.slice(streamArn.lastIndexOf('/') + 1);

/**
 * Lists every shard of every stream of the table, parents before children. Disabling and enabling a stream creates a
 * new one that starts where the old one ends, so its first shards have all shards of the old one as parents.
 */
export async function listShards(source: StreamSource, tableName: string): Promise<Shard[]> {
  const shards: Shard[] = [];
  let older: string[] = [];
  for (const streamArn of await listStreamArns(source, tableName)) {
    const found = await describeShards(source, streamArn);
    const listed = new Set(found.map(shard => shard.ShardId));
    for (const { ShardId, ParentShardId, SequenceNumberRange } of found) {
      shards.push({
        key: shardKey(streamArn, ShardId!),
        streamArn,
        shardId: ShardId!,
        parents: [
          ...(ParentShardId ? [shardKey(streamArn, ParentShardId)] : []),
          ...(ParentShardId && listed.has(ParentShardId) ? [] : older),
        ],
        isOpen: SequenceNumberRange?.EndingSequenceNumber === undefined,
      });
    }
    if (found.length > 0) older = found.map(({ ShardId }) => shardKey(streamArn, ShardId!));
  }
  return shards;
}

async function listStreamArns(source: StreamSource, TableName: string): Promise<string[]> {
  const arns: string[] = [];
  let ExclusiveStartStreamArn: string | undefined;
  for (let page = 0; page < listingPages; page++) {
    const answer = await source.listStreams({
      TableName,
      ...(ExclusiveStartStreamArn && { ExclusiveStartStreamArn }),
    });
    for (const { StreamArn } of answer.Streams ?? []) arns.push(StreamArn!);
    ExclusiveStartStreamArn = answer.LastEvaluatedStreamArn;
    if (!ExclusiveStartStreamArn) break;
  }
  return arns.sort((a, b) => (labelOf(a) < labelOf(b) ? -1 : 1));
}

async function describeShards(source: StreamSource, StreamArn: string) {
  const shards = [];
  let ExclusiveStartShardId: string | undefined;
  for (let page = 0; page < listingPages; page++) {
    const input = { StreamArn, ...(ExclusiveStartShardId && { ExclusiveStartShardId }) };
    const { StreamDescription } = await source.describeStream(input).catch(error => {
      if (isGone(error)) return { StreamDescription: undefined }; // removed since it was listed
      throw error;
    });
    for (const shard of StreamDescription?.Shards ?? []) shards.push(shard);
    ExclusiveStartShardId = StreamDescription?.LastEvaluatedShardId;
    if (!ExclusiveStartShardId) break;
  }
  return shards;
}

// An iterator at the end of an open shard; undefined if the shard was removed since it was listed.
export async function newestIterator(
  source: StreamSource,
  { streamArn, shardId }: Shard,
): Promise<string | undefined> {
  const position = { StreamArn: streamArn, ShardId: shardId, ShardIteratorType: 'LATEST' as const };
  const { ShardIterator } = await source.getShardIterator(position).catch(error => {
    if (isGone(error)) return { ShardIterator: undefined };
    throw error;
  });
  return ShardIterator;
}
