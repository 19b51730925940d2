import { secondsOf } from './change.ts';
import { clockSkewMs, iteratorAttempts } from './limits.ts';
import type { Shard } from './shards.ts';
import { isExpiredIterator, isGone, isTrimmed, type StreamRecord, type StreamSource } from './source.ts';

export type Start = {
  // The last record that was handled. Without one: the oldest there is.
  after?: string;
  // An iterator made beforehand, good for one use.
  iterator?: string;
  // Without either of them, records older than this are passed over: how a consumer that began with the newest
  // finds its place again.
  notBeforeMs?: number;
};

export type Page = {
  records: StreamRecord[];
  // Of the last record read, wanted or not; undefined if there was none.
  last: string | undefined;
  isFull: boolean;
  // No record will follow; the shard's children come next.
  ended: boolean;
};

export type Mishap = 'expired' | 'trimmed' | 'gone';

// Passes over what is older than the start, in a shard that is read from its beginning.
export function createTimeFilter({ after, iterator, notBeforeMs }: Start) {
  // Times of records are DynamoDB's, and the clock here may be ahead: rather some records too many than one lost.
  const notBefore = ((notBeforeMs ?? 0) - clockSkewMs) / 1000;
  let isSearching = notBeforeMs !== undefined && after === undefined && iterator === undefined;

  function isWanted({ dynamodb }: StreamRecord): boolean {
    isSearching &&= secondsOf(dynamodb?.ApproximateCreationDateTime) < notBefore;
    return !isSearching;
  }
  function restart(): void {
    isSearching = notBeforeMs !== undefined;
  }
  return Object.assign(isWanted, { restart });
}

// Reads a shard from its start to its end, whatever happens to iterators on the way.
export function createShardReader(
  source: StreamSource,
  { streamArn, shardId }: Pick<Shard, 'streamArn' | 'shardId'>,
  start: Start,
  onMishap: (mishap: Mishap, after: string | undefined) => void,
) {
  let { after, iterator } = start;
  const isWanted = createTimeFilter(start);

  async function openIterator(): Promise<string> {
    if (after === undefined) isWanted.restart();
    const { ShardIterator } = await source.getShardIterator({
      StreamArn: streamArn,
      ShardId: shardId,
      ...(after === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after }),
    });
    if (!ShardIterator) throw new Error(`no iterator for ${shardId}`);
    return ShardIterator;
  }

  async function readOnce(limit: number): Promise<Page> {
    iterator ??= await openIterator();
    const { Records = [], NextShardIterator } = await source.getRecords({
      ShardIterator: iterator,
      Limit: limit,
    });
    iterator = NextShardIterator ?? undefined;
    const last = Records.at(-1)?.dynamodb?.SequenceNumber;
    after = last ?? after;
    const isFull = Records.length >= limit;
    return { records: Records.filter(isWanted), last, isFull, ended: iterator === undefined };
  }

  async function read(limit: number): Promise<Page> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await readOnce(limit);
      } catch (error) {
        iterator = undefined;
        if (isGone(error)) {
          onMishap('gone', after);
          return { records: [], last: undefined, isFull: false, ended: true };
        }
        const isKnown = isExpiredIterator(error) || isTrimmed(error);
        if (!isKnown || attempt === iteratorAttempts) throw error;
        onMishap(isTrimmed(error) ? 'trimmed' : 'expired', after);
        if (isTrimmed(error)) after = undefined; // what is left begins at the horizon
      }
    }
  }

  return { read };
}
