import type { Clock } from '@stak/kit';
import type { Store } from '@stak/table';
import * as limits from '../limits.ts';
import type { Connection, Source } from '../main-table.ts';
import {
  countPartitionOf,
  countPartitions,
  type DayCount,
  daysOfUser,
  type EventStatus,
  eventStatuses,
  latencyBoundsMs,
  latencyBuckets,
  totalsOfUser,
} from '../tables.ts';
import { dayOf } from './attempt-counts.ts';

export type Analytics = {
  days: {
    day: string;
    received: number;
    statuses: Record<EventStatus, number>;
    attempts: number;
    successes: number;
  }[];
  received: number;
  statuses: Record<EventStatus, number>;
  attempts: number;
  successRate: number | null;
  latency: { p50: number | null; p95: number | null };
  topSources: { sourceId: string; received: number }[];
};

// Reads counters only: the cost depends on the days and sources, not on the events.
export async function analyse(
  store: Store,
  { userId, sourceId, from, to }: { userId: string; sourceId?: string; from: string; to: string },
): Promise<Analytics> {
  const days = new Map<string, DayCount[]>();
  const bySource = new Map<string, number>();
  for (const one of await readDays(store, userId, { from, to, sourceId })) {
    if (sourceId !== undefined && one.sourceId !== sourceId) continue;
    days.set(one.day, [...(days.get(one.day) ?? []), one]);
    bySource.set(one.sourceId, (bySource.get(one.sourceId) ?? 0) + (one.received ?? 0));
  }
  const all = [...days.values()].flat();
  const attempts = sum(all, 'attempts');
  const histogram = Array.from({ length: latencyBuckets }, (_, i) => sum(all, `l_${i}`));
  return {
    days: [...days].map(([day, counts]) => ({
      day,
      received: sum(counts, 'received'),
      statuses: statusesOf(counts),
      attempts: sum(counts, 'attempts'),
      successes: sum(counts, 'successes'),
    })),
    received: sum(all, 'received'),
    statuses: statusesOf(all),
    attempts,
    successRate: attempts === 0 ? null : sum(all, 'successes') / attempts,
    latency: { p50: percentile(histogram, 0.5), p95: percentile(histogram, 0.95) },
    topSources: [...bySource]
      .map(([id, received]) => ({ sourceId: id, received }))
      .sort((a, b) => b.received - a.received)
      .slice(0, limits.topSources),
  };
}

// By day, over all partitions of the account.
async function readDays(
  store: Store,
  userId: string,
  { from, to, sourceId }: { from: string; to: string; sourceId?: string },
): Promise<DayCount[]> {
  const range = { from: { day: from }, to: { day: to } };
  const counts = await Promise.all(
    partitionsOf(sourceId).map(partition => listAll(store.all(daysOfUser, { userId, partition }, range))),
  );
  return counts.flat().sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
}

const partitionsOf = (id: string | undefined): readonly number[] =>
  id === undefined ? countPartitions : [countPartitionOf(id)];

async function listAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const sum = (counts: readonly DayCount[], name: string): number =>
  counts.reduce((total, one) => total + Number((one as Record<string, unknown>)[name] ?? 0), 0);

const statusesOf = (counts: readonly DayCount[]) =>
  Object.fromEntries(
    eventStatuses.map(status => [status, Math.max(0, sum(counts, `s_${status}`))]),
  ) as Record<EventStatus, number>;

// Values are taken as spread evenly over their bucket. Those beyond the last bound are reported as that bound.
export function percentile(histogram: readonly number[], share: number): number | null {
  const total = histogram.reduce((all, count) => all + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [i, count] of histogram.entries()) {
    if (count > 0 && left <= count) {
      const low = i === 0 ? 0 : latencyBoundsMs[i - 1]!;
      const high = latencyBoundsMs[i] ?? low;
      return Math.round(low + (high - low) * (left / count));
    }
    left -= count;
  }
  return latencyBoundsMs.at(-1)!;
}

export type Totals = { count: number; failures: number; lastAt?: number };

// By source id and connection id.
export async function totalsOf(store: Store, userId: string, ofId?: string): Promise<Map<string, Totals>> {
  const totals = new Map<string, Totals>();
  const of = ofId === undefined ? { userId } : { userId, ofId };
  const shards = await Promise.all(
    partitionsOf(ofId).map(partition => listAll(store.all(totalsOfUser, { ...of, partition }))),
  );
  for (const shard of shards.flat()) {
    const total = totals.get(shard.ofId) ?? { count: 0, failures: 0 };
    totals.set(shard.ofId, {
      count: total.count + (shard.count ?? 0),
      failures: total.failures + (shard.failures ?? 0),
      lastAt: Math.max(total.lastAt ?? 0, shard.lastAt ?? 0) || undefined,
    });
  }
  return totals;
}

type HealthDeps = {
  store: Store;
  clock: Clock;
  sources: { listByUser(userId: string): Promise<Source[]> };
  connections: { listBySource(sourceId: string): Promise<Connection[]> };
};

// The last seven days of an account in a few numbers.
export async function readHealth(deps: HealthDeps, userId: string) {
  const { store, clock, sources, connections } = deps;
  const own = await sources.listByUser(userId);
  const nowMs = clock.now();
  const range = { from: dayOf(nowMs - 6 * 86_400_000), to: dayOf(nowMs) };
  const { statuses } = await analyse(store, { userId, ...range });
  const connected = await Promise.all(own.map(({ sourceId }) => connections.listBySource(sourceId)));
  const failing = connected.flat().filter(({ breaker }) => breaker !== 'closed');
  return {
    sources: own.length,
    delivered: statuses.delivered,
    failed: statuses.failed + statuses.partial,
    failing: failing.map(({ name }) => name),
  };
}
