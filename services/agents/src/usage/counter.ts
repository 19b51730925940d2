import type { Ids } from '@stak/kit';
import { type Condition, type ItemOf, is, isRefused, or, type Store } from '@stak/table';
import * as limits from '../limits.ts';
import { tenantDay, userDay } from '../table.ts';

type DayKey = { tenant_id: string; date: string; user_id?: string };
type Waiter = { most: number; resolve(isCounted: boolean): void; reject(error: unknown): void };
type Day = { key: DayKey; messages?: number; waiting: Waiter[]; isBusy: boolean };

export type MessageCounter = {
  // Returns whether there was room for one more message.
  count(key: DayKey, ttl: number, most: number): Promise<boolean>;
  // The day is counted elsewhere in this process: the number is read before it is written again.
  forget(key: DayKey): void;
};

// Counts messages of a tenant's or a user's day. A number is set on the condition that it is unchanged, with a marker
// of the write: that can be repeated if the response was lost, and costs half of an addition, which needs a transaction
// for that. Messages that arrive during a write are counted by the next one, together, so that the throughput of one
// item does not limit a tenant.
export function createMessageCounter({ store, ids }: { store: Store; ids: Ids }): MessageCounter {
  const days = new Map<string, Day>();

  const nameOf = ({ tenant_id, date, user_id = '' }: DayKey) => `${tenant_id}#${date}#${user_id}`;
  const dayOf = (key: DayKey): Day => {
    const name = nameOf(key);
    const known = days.get(name);
    if (known) return known;
    if (days.size >= limits.countedDays)
      for (const [other, { isBusy }] of days) if (!isBusy) days.delete(other);
    const day: Day = { key, waiting: [], isBusy: false };
    days.set(name, day);
    return day;
  };

  async function work(day: Day, ttl: number): Promise<void> {
    day.isBusy = true;
    try {
      while (day.waiting.length > 0) {
        const together = day.waiting.splice(0, limits.countedTogether);
        try {
          const counted = await write(day, together, ttl);
          together.forEach(({ resolve }, i) => void resolve(i < counted));
        } catch (error) {
          day.messages = undefined;
          for (const { reject } of together) reject(error);
        }
      }
    } finally {
      day.isBusy = false;
    }
  }

  // Returns how many of them there was room for.
  async function write(day: Day, together: readonly Waiter[], ttl: number): Promise<number> {
    const most = together.at(-1)!.most;
    for (let lost = 0; lost < limits.countAttempts; lost++) {
      const isFresh = day.messages === undefined;
      const before = day.messages ?? (await read(day.key));
      const counted = Math.min(together.length, Math.max(0, most - before));
      day.messages = undefined;
      if (counted === 0 && isFresh) return 0;
      if (counted === 0) continue; // refunds in the meantime are seen by reading again
      const set = { messages: before + counted, counted_by: ids.next(), ttl };
      const asRead = before === 0 ? or({ messages: is.absent }, { messages: 0 }) : { messages: before };
      try {
        await update(day.key, { set }, asRead);
        day.messages = before + counted;
        return counted;
      } catch (error) {
        if (!isRefused(error)) throw error; // another process counted
      }
    }
    // Many processes at once: additions, none of which fails.
    const hasRoom = or({ messages: is.absent }, { messages: is.below(most) });
    for (let counted = 0; counted < together.length; counted++)
      try {
        await update(day.key, { set: { ttl }, add: { messages: 1 } }, hasRoom);
      } catch (error) {
        if (isRefused(error)) return counted;
        throw error;
      }
    return together.length;
  }

  // Both have the same attributes; their keys differ.
  const entityOf = ({ user_id }: DayKey) => (user_id === undefined ? tenantDay : userDay) as typeof tenantDay;
  const read = async (key: DayKey): Promise<number> => {
    const item = await store.get(entityOf(key), key, { consistent: true, pattern: 'read a count' });
    return item?.messages ?? 0;
  };
  const update = (key: DayKey, change: object, condition: Condition<ItemOf<typeof tenantDay>>) =>
    store.update(entityOf(key), key, change, { upsert: true, if: condition, pattern: 'count a message' });

  return {
    count: (key, ttl, most) =>
      new Promise((resolve, reject) => {
        const day = dayOf(key);
        day.waiting.push({ most, resolve, reject });
        if (!day.isBusy) void work(day, ttl);
      }),
    forget(key) {
      const day = days.get(nameOf(key));
      if (day && !day.isBusy) day.messages = undefined;
    },
  };
}
