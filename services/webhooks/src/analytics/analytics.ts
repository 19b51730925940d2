import type { Clock } from '@stak/kit';
import type { Store } from '@stak/table';
import type { Connections } from '../connections/connections.ts';
import * as limits from '../limits.ts';
import type { Sources } from '../sources/sources.ts';
import {
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
  for await (const one of store.all(daysOfUser, { userId }, { from: { day: from }, to: { day: to } })) {
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
  for await (const one of store.all(totalsOfUser, ofId === undefined ? { userId } : { userId, ofId })) {
    const known = totals.get(one.ofId) ?? { count: 0, failures: 0 };
    totals.set(one.ofId, {
      count: known.count + (one.count ?? 0),
      failures: known.failures + (one.failures ?? 0),
      lastAt: Math.max(known.lastAt ?? 0, one.lastAt ?? 0) || undefined,
    });
  }
  return totals;
}

type HealthDeps = {
  store: Store;
  clock: Clock;
  sources: Pick<Sources, 'listByUser'>;
  connections: Pick<Connections, 'listBySource'>;
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
