import { is, isRefused, or, type Store } from '@stak/table';
import * as limits from '../limits.ts';
import { tenantDay, userDay } from '../main-table.ts';

type DayKey = { tenant_id: string; date: string; user_id?: string };
type Waiter = { most: number; resolve(isCounted: boolean): void; reject(error: unknown): void };

// Returns whether there was room for one more message.
export type CountMessage = (key: DayKey, ttl: number, most: number) => Promise<boolean>;

// Counts messages of a tenant's or a user's day by additions, which the table layer makes once even if the answer is
// lost. Messages that arrive during a write are counted by the next one, together, so that the throughput of one item
// does not limit a tenant.
export function createMessageCounter({ store }: { store: Store }): CountMessage {
  const waiting = new Map<string, Waiter[]>(); // by day, while it is being written

  async function work(name: string, key: DayKey, ttl: number): Promise<void> {
    const waiters = waiting.get(name)!;
    while (waiters.length > 0) {
      const together = waiters.splice(0, limits.countedTogether);
      try {
        const counted = await add(key, together.length, ttl, together.at(-1)!.most);
        together.forEach(({ resolve }, i) => void resolve(i < counted));
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    waiting.delete(name);
  }

  // Returns how many of them there was room for.
  async function add(key: DayKey, wanted: number, ttl: number, most: number): Promise<number> {
    let count = Math.min(wanted, most);
    while (count > 0)
      try {
        const hasRoom = or({ messages: is.absent }, { messages: is.atMost(most - count) });
        const change = { set: { ttl }, add: { messages: count } };
        await store.update(entityOf(key), key, change, {
          upsert: true,
          if: hasRoom,
          pattern: 'count a message',
        });
        return count;
      } catch (error) {
        if (!isRefused(error)) throw error;
        // Each refusal leaves room for fewer, so this ends.
        count = Math.min(count - 1, Math.max(0, most - (await read(key))));
      }
    return 0;
  }

  const read = async (key: DayKey): Promise<number> => {
    const item = await store.get(entityOf(key), key, { consistent: true, pattern: 'read a count' });
    return item?.messages ?? 0;
  };

  return (key, ttl, most) =>
    new Promise((resolve, reject) => {
      const { tenant_id, date, user_id = '' } = key;
      const name = JSON.stringify([tenant_id, date, user_id]);
      const waiter = { most, resolve, reject };
      const waiters = waiting.get(name);
      if (waiters) return void waiters.push(waiter);
      waiting.set(name, [waiter]);
      void work(name, key, ttl);
    });
}

// Both have the same attributes; their keys differ.
const entityOf = ({ user_id }: DayKey) => (user_id === undefined ? tenantDay : userDay) as typeof tenantDay;
