import type { Clock } from '@stak/kit';
import type { Start } from '../source/shard-reader.ts';
import { listShards, newestIterator } from '../source/shards.ts';
import type { StreamSource } from '../source/source.ts';
import type { Subscription } from './subscription.ts';
import type { Lease, WorkStore } from './work-store.ts';

type Settings = {
  subscription: Subscription;
  source: StreamSource;
  works: WorkStore;
  clock: Clock;
  isElsewhere: boolean;
};

// Decides where a consumer starts: once, in the first process that runs it, and then stored.
export async function beginConsumer(settings: Settings): Promise<{ startOf(lease: Lease): Start }> {
  const { works, subscription, clock, isElsewhere } = settings;
  const iterators = new Map<string, string>();
  const startedAt = clock.now();
  let begun = await works.readBeginning();
  if (!begun) {
    const position = subscription.startAt ?? 'TRIM_HORIZON';
    const closed = position === 'LATEST' ? await openNewest(settings, iterators) : [];
    const isFirst = await works.begin({ position, table: subscription.table.name, startedAt }, closed);
    // Another process was first: our iterators start too late.
    if (!isFirst) iterators.clear();
    begun = (await works.readBeginning())!;
  }
  const { position, started_at, elsewhere = false } = begun;
  if (elsewhere !== isElsewhere) await works.setElsewhere(isElsewhere);

  function startOf({ key, sequence }: Lease): Start {
    if (sequence !== undefined) return { after: sequence };
    if (position === 'TRIM_HORIZON') return {};
    // The iterator is lost with the process, and expires. Without it the shard is read from its beginning and records
    // older than the consumer are skipped: slow, but complete.
    const iterator = iterators.get(key);
    return { notBeforeMs: started_at, ...(iterator !== undefined && { iterator }) };
  }
  return { startOf };
}

// Gets iterators at the end of every open shard. Returns the closed shards, which have no new records.
async function openNewest(
  { source, subscription }: Settings,
  iterators: Map<string, string>,
): Promise<string[]> {
  const closed: string[] = [];
  for (const shard of await listShards(source, subscription.table.name)) {
    const { key, isOpen } = shard;
    if (!isOpen) {
      closed.push(key);
      continue;
    }
    const iterator = await newestIterator(source, shard);
    if (iterator !== undefined) iterators.set(key, iterator);
  }
  return closed;
}
