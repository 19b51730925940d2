import { isUnavailable } from '@stak/table';
import { clockSkewMs, iteratorAttempts, pageBytes } from '../limits.ts';
import { secondsOf } from './change.ts';
import { eachOnceAfter } from './sequence.ts';
import type { Shard } from './shards.ts';
import { isExpiredIterator, isGone, isTrimmed, type StreamRecord, type StreamSource } from './source.ts';

export type Start = {
  // The last record that was handled. Without it, reading starts at the oldest record.
  after?: string;
  // An iterator at the newest record. Until a record was read, nothing else leads back to that position.
  iterator?: string;
  // Without the two above, records older than this are skipped: a consumer that started at the newest record resumes
  // this way.
  notBeforeMs?: number;
  // For live views, which may miss records but must know it: if the position is lost, reading continues at the newest
  // record, not at the oldest.
  newest?: true;
};

export type Page = {
  records: readonly StreamRecord[];
  // The last record read, including skipped ones; undefined if there was none.
  last: string | undefined;
  isFull: boolean; // there may be more
  // The shard has no more records; its children come next.
  ended: boolean;
};

// 'lost': of a position at the newest record, whose iterator has expired. Reading continues by time, or, if `newest` is
// set, with records that are written from now on.
export type Mishap = 'expired' | 'trimmed' | 'gone' | 'lost';

// As far as the store gives the sizes of records.
export const bytesOf = (records: readonly StreamRecord[]): number =>
  records.reduce((sum, { dynamodb }) => sum + (dynamodb?.SizeBytes ?? 0), 0);

const sequenceOf = (record: StreamRecord): string => record.dynamodb!.SequenceNumber!;

// Skips records older than the start, in a shard that is read from its beginning.
export function createTimeFilter({ after, iterator, notBeforeMs }: Start) {
  // Records have DynamoDB's times, and our clock may be ahead: better some records too many than one lost.
  const notBefore = ((notBeforeMs ?? 0) - clockSkewMs) / 1000;
  let isSearching = notBeforeMs !== undefined && after === undefined && iterator === undefined;

  function isWanted({ dynamodb }: StreamRecord): boolean {
    isSearching &&= secondsOf(dynamodb?.ApproximateCreationDateTime) < notBefore;
    return !isSearching;
  }
  return {
    pick: (records: readonly StreamRecord[]): readonly StreamRecord[] =>
      isSearching ? records.filter(isWanted) : records,
    restart(): void {
      isSearching = notBeforeMs !== undefined;
    },
  };
}

// Reads a shard from its start to its end, and replaces iterators that expire. Gives each record once, however often the
// stream gives it.
export function createShardReader(
  source: StreamSource,
  { streamArn, shardId }: Pick<Shard, 'streamArn' | 'shardId'>,
  start: Start,
  onMishap: (mishap: Mishap, after: string | undefined) => void,
) {
  const { newest = false } = start;
  let { after, iterator } = start;
  let isAtNewest = newest || iterator !== undefined; // as long as `after` is not known
  const times = createTimeFilter(start);
  const isLost = (): boolean => isAtNewest && after === undefined && iterator === undefined;

  async function openIterator(): Promise<string> {
    const wasLost = isLost();
    if (wasLost && !newest) {
      isAtNewest = false;
      onMishap('lost', undefined);
    }
    if (after === undefined) times.restart();
    const { ShardIterator } = await source.getShardIterator({
      StreamArn: streamArn,
      ShardId: shardId,
      ...(after === undefined
        ? { ShardIteratorType: isAtNewest ? 'LATEST' : 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after }),
    });
    if (!ShardIterator) throw new Error(`no iterator for ${shardId}`);
    if (wasLost && newest) onMishap('lost', undefined); // not earlier: every later record is read
    return ShardIterator;
  }

  async function readOnce(limit: number): Promise<Page> {
    iterator ??= await openIterator();
    const { Records = [], NextShardIterator } = await source.getRecords({
      ShardIterator: iterator,
      Limit: limit,
    });
    iterator = NextShardIterator ?? undefined;
    const records = source.isExact ? Records : eachOnceAfter(Records, after, sequenceOf);
    const last = records.at(-1)?.dynamodb?.SequenceNumber;
    after = last ?? after;
    const isFull = Records.length >= limit || bytesOf(Records) >= pageBytes;
    return { records: times.pick(records), last, isFull, ended: iterator === undefined };
  }

  async function read(limit: number): Promise<Page> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await readOnce(limit);
      } catch (error) {
        if (isUnavailable(error)) throw error; // the iterator is still valid
        iterator = undefined;
        if (isGone(error)) {
          onMishap('gone', after);
          return { records: [], last: undefined, isFull: false, ended: true };
        }
        const reached = after;
        // The remaining records start at the trim horizon.
        if (isTrimmed(error)) [after, isAtNewest] = [undefined, newest];
        // An iterator at the newest record that fails for any reason is of no more use than one that has expired.
        const isKnown = isExpiredIterator(error) || isTrimmed(error) || isLost();
        if (!isKnown || attempt === iteratorAttempts) throw error;
        if (!isLost()) onMishap(isTrimmed(error) ? 'trimmed' : 'expired', reached);
      }
    }
  }

  return { read };
}
