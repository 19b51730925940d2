import type { Clock } from '@stak/kit';
import { type Store, write } from '@stak/table';
import { letterSteps } from './dead-letters.ts';
import { batchRecordsMost } from './limits.ts';
import { requestRedrive } from './redrive.ts';
import { createShardReader } from './shard-reader.ts';
import { listShards, type Shard } from './shards.ts';
import type { StreamRecord, StreamSource } from './source.ts';
import { beginning, letter, letterPart, lettersOfConsumer, work } from './state-table.ts';
import { readState, type Work } from './work.ts';

/** What `handOver` takes: both stores, and where the consumer begins in the new one. */
export type HandOver = {
  from: { store: Store; source: StreamSource };
  to: Store;
  // Of the table in the other store: each shard, and the last of its records that the consumer must not see.
  shards: readonly { shard: Shard; sequence: string }[];
  // What a shard of this store is called there.
  nameOf(shardId: string): string;
  withLetters?: boolean; // false: what it has not handled is left behind
  clock: Clock;
};

const handedOver = 0; // attempts: a letter that was only handed over has none yet

/**
 * Lets a consumer continue in another store, to which its table was copied, while nobody writes to either. What it has not
 * handled becomes letters there, which are redriven; in the new streams it begins after the copy. Returns how many
 * changes those are. It can be repeated.
 *
 *     await handOver({ from, to, shards, nameOf: shardId => shardId, clock }, 'inbox-realtime');
 */
export async function handOver(options: HandOver, consumer: string): Promise<number> {
  const { from, to, shards, nameOf, withLetters = true, clock } = options;
  const begun = await from.store.get(beginning, { consumer }, { consistent: true });
  if (!begun) return 0;
  const { table } = begun;
  await dropEarlier(to, consumer);
  const { works } = await readState(from.store, consumer, clock.now());
  const since = begun.position === 'LATEST' ? begun.started_at : undefined;
  let count = 0;
  for (const shard of withLetters ? await listShards(from.source, table) : [])
    for await (const records of readUnhandled(from.source, shard, works.get(shard.key), since)) {
      const about = {
        consumer,
        work: shard.key,
        shardId: nameOf(shard.shardId),
        error: 'it was not handled when the store moved',
        attempts: handedOver,
        failedAt: clock.now(),
      };
      const steps = records.flatMap(record => letterSteps(about, record).map(([, step]) => step));
      await to.batchWrite(steps, { pattern: 'hand over letters' });
      count += records.length;
    }
  await to.batchWrite(
    [
      write.put(beginning, { consumer, table, position: 'TRIM_HORIZON', started_at: clock.now() }),
      ...shards.map(({ shard: { key, streamArn, shardId }, sequence }) =>
        write.put(work, {
          consumer,
          work: key,
          stream_arn: streamArn,
          shard_id: shardId,
          fence: 0,
          sequence,
        }),
      ),
    ],
    { pattern: 'hand over positions' },
  );
  if (count > 0) await requestRedrive(to, clock, consumer);
  return count;
}

// Of a hand-over that was given up: the consumer has handled these meanwhile.
async function dropEarlier(to: Store, consumer: string): Promise<void> {
  const steps = [];
  for await (const { work, sequence, attempts, more_parts } of to.all(lettersOfConsumer, { consumer })) {
    if (attempts !== handedOver) continue;
    steps.push(write.delete(letter, { consumer, work, sequence }));
    for (let part = 0; part < more_parts; part++)
      steps.push(write.delete(letterPart, { consumer, work, sequence, part }));
  }
  if (steps.length > 0) await to.batchWrite(steps, { pattern: 'hand over letters' });
}

async function* readUnhandled(
  source: StreamSource,
  shard: Shard,
  known: Work | undefined,
  since: number | undefined,
): AsyncGenerator<StreamRecord[]> {
  if (known?.finishedAt !== undefined) return;
  const start =
    known?.sequence !== undefined
      ? { after: known.sequence }
      : since === undefined
        ? {}
        : { notBeforeMs: since };
  const reader = createShardReader(source, shard, start, () => {});
  for (;;) {
    const page = await reader.read(batchRecordsMost);
    if (page.records.length > 0) yield page.records;
    if (page.ended || page.last === undefined) return;
  }
}
