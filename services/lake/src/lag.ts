import type { Clock } from '@stak/kit';
import { readStatus, type StreamSource, streamErrors } from '@stak/streams';
import type { Store } from '@stak/table';
import { subscriptionName } from './capture.ts';
import type { State } from './manifest-state.ts';
import { isCaptured } from './shard-mark.ts';

export type LagDeps = { store: Store; source: StreamSource; clock: Clock };
export type Lag = { as_of: string; lag_ms: number; caught_up: boolean };

// How far the lake is behind its table: the age of the oldest change that is in the stream and not in the lake.
export async function readLag(deps: LagDeps, table: string, state: State): Promise<Lag> {
  const nowMs = deps.clock.now();
  const oldest = await oldestMissing(deps, table, state);
  const lag_ms = oldest === undefined ? 0 : Math.max(0, nowMs - oldest);
  return { as_of: new Date(nowMs - lag_ms).toISOString(), lag_ms, caught_up: oldest === undefined };
}

async function oldestMissing(deps: LagDeps, table: string, state: State): Promise<number | undefined> {
  const status = await readStatus(deps, subscriptionName(table)).catch(error => {
    if (streamErrors.includes(error)) return undefined;
    throw error;
  });
  if (!status) return oldestOf(deps.source, table);
  const missing = status.shards.flatMap(({ shardId, behind }) => {
    if (behind?.newest === undefined || behind.oldestAt === undefined) return [];
    return isCaptured(state.shards[shardId], behind.newest) ? [] : [Date.parse(behind.oldestAt)];
  });
  return missing.length > 0 ? Math.min(...missing) : undefined;
}

// Nothing was ever captured: whatever the stream has is missing.
async function oldestOf(source: StreamSource, TableName: string): Promise<number | undefined> {
  const { Streams = [] } = await source.listStreams({ TableName });
  for (const { StreamArn = '' } of Streams) {
    const { StreamDescription } = await source.describeStream({ StreamArn });
    for (const { ShardId = '' } of StreamDescription?.Shards ?? []) {
      const place = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' as const };
      const { ShardIterator = '' } = await source.getShardIterator(place);
      const { Records: [oldest] = [] } = await source.getRecords({ ShardIterator, Limit: 1 });
      const at = oldest?.dynamodb?.ApproximateCreationDateTime;
      if (at !== undefined) return at instanceof Date ? at.getTime() : at * 1000;
    }
  }
  return undefined;
}
