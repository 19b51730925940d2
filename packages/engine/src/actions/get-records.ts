import type { Context } from '../context.ts';
import { resourceNotFound } from '../errors.ts';
import { streamRecords } from '../limits.ts';
import { formatIterator, parseIterator } from '../streams/iterator.ts';
import { type LazyRecord, readRecords, type StreamRecord } from '../streams/records.ts';
import { knownStream } from '../streams/stream-lookup.ts';
import { checkNotTrimmed } from '../streams/trim.ts';
import { type GetRecordsInput, validateGetRecords } from '../validation/streams.ts';

export type GetRecordsOutput<One = StreamRecord> = { Records: One[]; NextShardIterator: string | null };

export function getRecords(context: Context, input: GetRecordsInput): GetRecordsOutput {
  const { Records, NextShardIterator } = readStream(context, input);
  return { Records: Records.map(record => record.toJSON()), NextShardIterator };
}

// The same for a reader in this process: an image is decoded when it is read.
export function readStream(context: Context, input: GetRecordsInput): GetRecordsOutput<LazyRecord> {
  validateGetRecords(input);
  const { streamArn, shardId, position } = parseIterator(context, input.ShardIterator);
  const { stream } = knownStream(context, streamArn);
  const shard = stream.shards.find(({ id }) => id === shardId);
  if (!shard) throw resourceNotFound('Requested resource not found: Shard does not exist');
  checkNotTrimmed(context.store, stream.id, shardId, position);
  const page = readRecords(context, stream, shardId, position, input.Limit ?? streamRecords);
  // A closed shard gets no more records: after the last one, a reader continues with its children.
  const ended = shard.end !== undefined && page.exhausted;
  const next = { streamArn, shardId, position: page.position, createdAt: Math.floor(context.now()) };
  return { Records: page.records, NextShardIterator: ended ? null : formatIterator(next) };
}
