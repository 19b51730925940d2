import type { Clock } from '@stak/kit';
import { type Store, write } from '@stak/table';
import { readRecordsMost } from '../limits.ts';
import { createShardReader } from '../source/shard-reader.ts';
import { listShards, type Shard } from '../source/shards.ts';
import type { StreamRecord, StreamSource } from '../source/source.ts';
import { letterSteps } from '../work/dead-letters.ts';
import { requestRedrive } from '../work/redrive.ts';
import { beginning, letter, letterPart, lettersOfConsumer, work } from '../work/state-table.ts';
import { readState, type Work } from '../work/work-store.ts';

/** Options of `handOver`: both stores, and where the consumer starts in the new one. */
export type HandOver = {
  from: { store: Store; source: StreamSource };
  to: Store;
  // The shards of the table in the new store, each with the last sequence number that the consumer must skip.
  shards: readonly { shard: Shard; sequence: string }[];
  // The new store's id of a shard of the old one.
  nameOf(shardId: string): string;
  withLetters?: boolean; // false: unhandled changes are dropped
  clock: Clock;
};

const handedOver = 0; // marks a letter that was handed over and never attempted

/**
 * Lets a consumer continue in another store, to which its table was copied. No process may write to either store
 * meanwhile. Changes that the consumer has not handled become dead letters in the new store and are redriven; in the
 * new streams it starts after the copy. Returns the number of those changes. It can be repeated.
 *
 *     await handOver({ from, to, shards, nameOf: shardId => shardId, clock }, 'inbox-reads');
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

// Removes the letters of an abandoned hand-over: the consumer has handled them in the meantime.
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
  previous: Work | undefined,
  since: number | undefined,
): AsyncGenerator<readonly StreamRecord[]> {
  if (previous?.finishedAt !== undefined) return;
  const start =
    previous?.sequence !== undefined
      ? { after: previous.sequence }
      : since === undefined
        ? {}
        : { notBeforeMs: since };
  const reader = createShardReader(source, shard, start, () => {});
  for (;;) {
    const page = await reader.read(readRecordsMost);
    if (page.records.length > 0) yield page.records;
    if (page.ended || page.last === undefined) return;
  }
}
