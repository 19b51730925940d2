import assert from 'node:assert';
import { type Random, systemRandom } from '@stak/kit';
import { ref, write } from '@stak/table';
import { type Base, inSeconds } from './deps.ts';
import * as limits from './limits.ts';
import { usageCount, usageOfShard } from './table.ts';

export type MonthlyUsage = { usageThisMonth: number; usagePeriodStart: string };

export type Usage = {
  add(userId: string, count: number): Promise<void>;
  read(userId: string): Promise<MonthlyUsage>;
  none(): MonthlyUsage;
  erase(userId: string): Promise<void>;
};

const shards = Array.from({ length: limits.usageShards }, (_, shard) => shard);

// A month's usage is the sum of several counters: adding is one write that reads nothing, and two that come
// together rarely meet. A new month starts at zero because nobody has added to it yet.
export function createUsage({ store, clock, random = systemRandom }: Base & { random?: Random }): Usage {
  const month = () => new Date(clock.now()).toISOString().slice(0, 7);
  const firstOf = (aMonth: string): string => `${aMonth}-01`;
  const none = (): MonthlyUsage => ({ usageThisMonth: 0, usagePeriodStart: firstOf(month()) });

  const readMonths = async (userId: string, shard: number) => {
    const keys: { userId: string; shard: number; month: string }[] = [];
    for await (const one of store.all(usageOfShard, { userId, shard }))
      keys.push({ userId, shard, month: one.month });
    return keys;
  };

  return {
    none,
    async add(userId, count) {
      assert(Number.isSafeInteger(count) && count > 0, 'usage is counted in whole events');
      const shard = Math.floor(random() * limits.usageShards);
      const expiresAt = inSeconds(clock.now()) + limits.usageMonthsS;
      await store.update(
        usageCount,
        { userId, shard, month: month() },
        { add: { events: count }, set: { expiresAt } },
        { upsert: true },
      );
    },
    async read(userId) {
      // The month is looked up once: it may end while its counters are read.
      const asked = month();
      const counts = await store.batchGet(
        shards.map(shard => ref(usageCount, { userId, shard, month: asked })),
        { consistent: true, pattern: 'usage of a month' },
      );
      const usageThisMonth = counts.reduce((sum, count) => sum + (count?.events ?? 0), 0);
      return { usageThisMonth, usagePeriodStart: firstOf(asked) };
    },
    async erase(userId) {
      const months = shards.map(shard => readMonths(userId, shard));
      const steps = (await Promise.all(months)).flat().map(key => write.delete(usageCount, key));
      if (steps.length > 0) await store.batchWrite(steps, { pattern: 'erase usage' });
    },
  };
}
