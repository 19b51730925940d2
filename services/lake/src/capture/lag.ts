import type { Clock } from '@stak/kit';
import { listShards, readStatus, type Shard, type StreamSource, streamErrors } from '@stak/streams';
import type { Store } from '@stak/table';
import type { State } from '../storage/manifest-state.ts';
import { compareSequences, isCaptured } from '../storage/shard-mark.ts';
import { needsBackfill } from './backfill.ts';
import { subscriptionName } from './capture.ts';

export type LagDeps = { store: Store; source: StreamSource; clock: Clock };
export type Lag = { as_of: string; lag_ms: number; caught_up: boolean };

// How far the lake is behind its table. During a backfill, anything newer than the last complete one may be missing,
// and everything if there has never been one.
export async function readLag(deps: LagDeps, table: string, state: State): Promise<Lag> {
  const wholeUntil = needsBackfill(state) ? state.backfilledAt : undefined;
  const lag = await readStreamLag(deps, table, state);
  if (wholeUntil === undefined || wholeUntil > Date.parse(lag.as_of)) return lag;
  return lagSince(deps.clock.now(), wholeUntil);
}

// The age of the oldest change that is in the stream but not in the lake.
export async function readStreamLag(deps: LagDeps, table: string, state: State): Promise<Lag> {
  const nowMs = deps.clock.now();
  return lagSince(nowMs, await oldestMissing(deps, table, state));
}

function lagSince(nowMs: number, oldest: number | undefined): Lag {
  const lag_ms = oldest === undefined ? 0 : Math.max(0, nowMs - oldest);
  return { as_of: new Date(nowMs - lag_ms).toISOString(), lag_ms, caught_up: oldest === undefined };
}

async function oldestMissing(deps: LagDeps, table: string, state: State): Promise<number | undefined> {
  const status = await readStatus(deps, subscriptionName(table)).catch(error => {
    if (streamErrors.includes(error)) return undefined;
    throw error;
  });
  let listing: Promise<Shard[]> | undefined;
  const shards = () => (listing ??= listShards(deps.source, table));
  if (!status) return oldestOf(deps.source, await shards()); // nothing was captured yet: the whole stream is missing
  const missing = await Promise.all(
    status.shards.map(async ({ shardId, behind }) => {
      if (behind?.newest === undefined || behind.oldestAt === undefined) return undefined;
      const mark = state.shards[shardId];
      if (!mark || !isCaptured(mark, behind.newest)) return Date.parse(behind.oldestAt);
      // Captured, although the checkpoint is behind. There may be more records after it.
      const sequence = compareSequences(mark.through, behind.newest) > 0 ? mark.through : behind.newest;
      const same = (await shards()).filter(shard => shard.shardId === shardId);
      return oldestOf(deps.source, same, sequence);
    }),
  );
  const known = missing.filter(at => at !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

// The time of the oldest record in some shards, or of the oldest one after a sequence number.
async function oldestOf(
  source: StreamSource,
  shards: readonly Shard[],
  after?: string,
): Promise<number | undefined> {
  for (const { streamArn: StreamArn, shardId: ShardId } of shards) {
    const { ShardIterator = '' } = await source.getShardIterator({
      StreamArn,
      ShardId,
      ...(after === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after }),
    });
    const { Records: [oldest] = [] } = await source.getRecords({ ShardIterator, Limit: 1 });
    const at = oldest?.dynamodb?.ApproximateCreationDateTime;
    if (at !== undefined) return at instanceof Date ? at.getTime() : at * 1000;
  }
  return undefined;
}
