import type { Context } from '../context.ts';
import { validationError } from '../errors.ts';
import { readSequence } from '../storage/committer.ts';
import type { Shard, Stream } from '../storage/table.ts';
import { formatIterator } from '../streams/iterator.ts';
import { parseSequence } from '../streams/names.ts';
import { knownShard, knownStream } from '../streams/stream-lookup.ts';
import { checkNotTrimmed, trimmedUpTo } from '../streams/trim.ts';
import { type GetShardIteratorInput, validateGetShardIterator } from '../validation/streams.ts';

export function getShardIterator(context: Context, input: GetShardIteratorInput): { ShardIterator: string } {
  validateGetShardIterator(input);
  const entry = knownStream(context, input.StreamArn);
  const shard = knownShard(context, entry, input.ShardId);
  const position = startOf(context, entry.stream, shard, input);
  const iterator = {
    streamArn: input.StreamArn,
    shardId: shard.id,
    position,
    createdAt: Math.floor(context.now()),
  };
  return { ShardIterator: formatIterator(iterator) };
}

function startOf(context: Context, stream: Stream, shard: Shard, input: GetShardIteratorInput): number {
  switch (input.ShardIteratorType) {
    case 'TRIM_HORIZON':
      return trimmedUpTo(context.store, stream.id, shard.id) + 1;
    case 'LATEST':
      return readSequence(context.store) + 1;
  }
  const sequence = parseSequence(input.SequenceNumber!);
  if (sequence === undefined || sequence < shard.start || (shard.end !== undefined && sequence > shard.end)) {
    throw validationError(
      `Invalid SequenceNumber: ${input.SequenceNumber} is not in the range of shard ${input.ShardId}`,
    );
  }
  const position = input.ShardIteratorType === 'AT_SEQUENCE_NUMBER' ? sequence : sequence + 1;
  checkNotTrimmed(context.store, stream.id, shard.id, position);
  return position;
}
