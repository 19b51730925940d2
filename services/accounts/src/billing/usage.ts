import assert from 'node:assert';
import { type Random, systemRandom } from '@stak/kit';
import { ref, type WriteStep, write } from '@stak/table';
import { type Base, inSeconds } from '../deps.ts';
import * as limits from '../limits.ts';
import { usageCount, usageOfShard } from '../main-table.ts';
import type { MonthlyUsage } from '../users/users.ts';
import { type BillingPeriod, usagePeriodStart } from './period.ts';

export type Usage = {
  add(userId: string, count: number): Promise<void>;
  // The same, as a step of a transaction that counts each event once.
  addStep(userId: string, count: number): Promise<WriteStep>;
  read(userId: string): Promise<MonthlyUsage>;
  none(): MonthlyUsage;
  erase(userId: string): Promise<void>;
};

const shards = Array.from({ length: limits.usageShards }, (_, shard) => shard);

type UsageDeps = Base & {
  random?: Random;
  // Returns the billing period of the user's subscription, if known.
  billingPeriodOf?(userId: string): Promise<BillingPeriod | undefined>;
};

// A month's usage is the sum of several counters, so concurrent additions rarely conflict. A new month starts at zero
// because it has no counters yet. Months follow the subscription, or the calendar for users without one.
export function createUsage({ store, clock, random = systemRandom, billingPeriodOf }: UsageDeps): Usage {
  const calendarMonth = () => new Date(clock.now()).toISOString().slice(0, 7);
  const firstOf = (aMonth: string): string => (aMonth.length === 7 ? `${aMonth}-01` : aMonth.slice(0, 10));
  const none = (): MonthlyUsage => ({ usageThisMonth: 0, usagePeriodStart: firstOf(calendarMonth()) });

  // The current month, and another one whose count belongs to it.
  const monthsOf = async (userId: string): Promise<[month: string, ...carried: string[]]> => {
    const period = await billingPeriodOf?.(userId);
    if (!period) return [calendarMonth()];
    const month = new Date(usagePeriodStart(period, clock.now())).toISOString();
    return period.carried?.to === month ? [month, period.carried.from] : [month];
  };

  const readMonths = async (userId: string, shard: number) => {
    const keys: { userId: string; shard: number; month: string }[] = [];
    for await (const counter of store.all(usageOfShard, { userId, shard }))
      keys.push({ userId, shard, month: counter.month });
    return keys;
  };

  const addition = async (userId: string, count: number) => {
    assert(Number.isSafeInteger(count) && count > 0, 'usage is counted in whole events');
    const shard = Math.floor(random() * limits.usageShards);
    const expiresAt = inSeconds(clock.now()) + limits.usageMonthsS;
    const [month] = await monthsOf(userId);
    const key = { userId, shard, month };
    return [usageCount, key, { add: { events: count }, set: { expiresAt } }, { upsert: true }] as const;
  };

  return {
    none,
    add: async (userId, count) => void (await store.update(...(await addition(userId, count)))),
    addStep: async (userId, count) => write.update(...(await addition(userId, count))),
    async read(userId) {
      // Determined once: the month may end while its counters are read.
      const months = await monthsOf(userId);
      const counts = await store.batchGet(
        months.flatMap(month => shards.map(shard => ref(usageCount, { userId, shard, month }))),
        { consistent: true, pattern: 'usage of a month' },
      );
      const usageThisMonth = counts.reduce((sum, count) => sum + (count?.events ?? 0), 0);
      return { usageThisMonth, usagePeriodStart: firstOf(months[0]) };
    },
    async erase(userId) {
      const months = shards.map(shard => readMonths(userId, shard));
      const steps = (await Promise.all(months)).flat().map(key => write.delete(usageCount, key));
      if (steps.length > 0) await store.batchWrite(steps, { pattern: 'erase usage' });
    },
  };
}
