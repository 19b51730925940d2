import type { Context } from '../context.ts';
import { resourceNotFound, validationError } from '../errors.ts';
import type { Shard } from '../storage/table.ts';
import { parseArn, streamArn } from '../tables/arns.ts';
import { listDroppedStreams, type StreamEntry } from './dropped-streams.ts';
import { findShard } from './names.ts';

type Reader = Pick<Context, 'store' | 'catalog'>;

export function listAllStreams(context: Reader): StreamEntry[] {
  const entries = context.catalog
    .list()
    .flatMap(({ name, keys, streams }) => streams.map(stream => ({ tableName: name, keys, stream })));
  return [...entries, ...listDroppedStreams(context.store)];
}

export function findStream(context: Reader, arn: string): StreamEntry | undefined {
  const resource = parseArn(arn);
  if (!resource?.streamLabel) throw validationError(`Invalid StreamArn: ${arn}`);
  const { tableName, streamLabel: label } = resource;
  const table = context.catalog.find(tableName);
  const stream = table?.streams.find(candidate => candidate.label === label);
  if (table && stream) return { tableName, keys: table.keys, stream };
  return listDroppedStreams(context.store).find(
    entry => entry.tableName === tableName && entry.stream.label === label,
  );
}

export function knownStream(context: Reader, arn: string): StreamEntry {
  const entry = findStream(context, arn);
  if (!entry) throw resourceNotFound(`Requested resource not found: Stream: ${arn} not found`);
  return entry;
}

export function knownShard(context: Context, entry: StreamEntry, name: string): Shard {
  const shard = findShard(entry.stream, name);
  if (shard) return shard;
  const arn = streamArn(context, entry.tableName, entry.stream.label);
  throw resourceNotFound(`Requested resource not found: Shard: ${name} in stream: ${arn} not found`);
}
