import type { Clock } from '@stak/kit';
import type { Store } from '@stak/table';
import { streamErrors } from '../errors.ts';
import { peekRecords } from '../limits.ts';
import { secondsOf } from '../source/change.ts';
import { createShardReader } from '../source/shard-reader.ts';
import { listShards, type Shard } from '../source/shards.ts';
import type { StreamSource } from '../source/source.ts';
import { redriveKey } from '../work/redrive.ts';
import { isFree, readyShards } from '../work/shard-plan.ts';
import { allConsumers, beginning, lettersOfConsumer } from '../work/state-table.ts';
import { readState, type Work } from '../work/work-store.ts';

/** How far a consumer is with one shard. */
export type ShardStatus = {
  shardId: string;
  state: 'waiting' | 'unowned' | 'owned' | 'finished';
  owner?: string;
  // The last record handled, and when it was written.
  sequence?: string;
  changedAt?: string;
  // Records that are not read yet, and the newest of them; `atLeast` if there are more than were counted.
  behind?: { records: number; atLeast: boolean; newest?: string; oldestAt?: string };
};

/** How far a consumer is, shard by shard. */
export type ConsumerStatus = {
  consumer: string;
  table: string;
  startedAt: string;
  members: number;
  shards: ShardStatus[];
  deadLetters: number;
  redriving: boolean;
  elsewhere: boolean; // a Lambda function reads the stream, so its progress is not known here
};

export type StatusDeps = { store: Store; source: StreamSource; clock: Clock };

/** The names of all consumers that have ever run on the store. */
export async function listConsumers(store: Store): Promise<string[]> {
  const names: string[] = [];
  for await (const { consumer } of store.all(allConsumers, {})) names.push(consumer);
  return names;
}

/** How far a consumer is: who owns its shards, how many records wait, how many dead letters there are. */
export async function readStatus(deps: StatusDeps, consumer: string): Promise<ConsumerStatus> {
  const { store, source, clock } = deps;
  const begun = await store.get(beginning, { consumer }, { consistent: true });
  if (!begun)
    throw streamErrors.create('streams.consumer_unknown', `no consumer ${consumer} has ever run`, {
      consumer,
    });
  const { members, works } = await readState(store, consumer, clock.now());
  const { elsewhere = false } = begun;
  const shards = elsewhere ? [] : await listShards(source, begun.table);
  const ready = new Set(readyShards({ shards, works }).map(({ key }) => key));
  const since = begun.position === 'LATEST' ? begun.started_at : undefined;
  const redrive = works.get(redriveKey);
  return {
    consumer,
    table: begun.table,
    startedAt: new Date(begun.started_at).toISOString(),
    members: members.size,
    shards: await Promise.all(
      shards.map(shard => statusOf(deps, shard, works.get(shard.key), ready.has(shard.key), since)),
    ),
    deadLetters: await countLetters(store, consumer),
    redriving: redrive !== undefined && redrive.finishedAt === undefined,
    elsewhere,
  };
}

async function statusOf(
  { source, clock }: StatusDeps,
  shard: Shard,
  work: Work | undefined,
  isReady: boolean,
  since: number | undefined,
): Promise<ShardStatus> {
  const { shardId } = shard;
  const isFinished = work?.finishedAt !== undefined;
  const owner = isFree(work, clock.now()) ? undefined : work?.owner;
  return {
    shardId,
    state: isFinished ? 'finished' : !isReady ? 'waiting' : owner === undefined ? 'unowned' : 'owned',
    ...(owner !== undefined && { owner }),
    ...(work?.sequence !== undefined && { sequence: work.sequence }),
    ...(work?.changedAt !== undefined && { changedAt: new Date(work.changedAt).toISOString() }),
    ...(!isFinished && { behind: await peek(source, shard, work?.sequence, since) }),
  };
}

// DynamoDB does not give the length of a shard, so the records after the checkpoint are counted, up to a page.
async function peek(
  source: StreamSource,
  shard: Shard,
  after: string | undefined,
  since: number | undefined,
) {
  const start = { ...(after === undefined ? { notBeforeMs: since } : { after }) };
  const { records, last, isFull } = await createShardReader(source, shard, start, () => {}).read(peekRecords);
  const oldest = records[0]?.dynamodb?.ApproximateCreationDateTime;
  return {
    records: records.length,
    atLeast: isFull,
    ...(last !== undefined && { newest: last }),
    ...(oldest !== undefined && { oldestAt: new Date(secondsOf(oldest) * 1000).toISOString() }),
  };
}

async function countLetters(store: Store, consumer: string): Promise<number> {
  let count = 0;
  for await (const _ of store.all(lettersOfConsumer, { consumer })) count += 1;
  return count;
}
