import { createLogger, manualClock } from '@stak/kit';
import { createStore, write } from '@stak/table';
import { describe, expect, it } from 'vitest';
import { openTables } from '../test/webhooks-fixture.ts';
import { createQueueShards } from './delivery/due-shards.ts';
import { type DeliveryRef, holdDelivery } from './delivery/queue.ts';
import * as limits from './limits.ts';
import { type Passes, scanQueue } from './scheduler.ts';
import { delivery } from './tables.ts';

const dueIn = 's0';

// A shard of the queue with more deliveries of one connection than a scan reads, and one of another connection behind.
async function openShard() {
  const clock = manualClock();
  const { client } = await openTables('embedded', clock);
  const store = createStore({ client, clock });
  const due = (connectionId: string, n: number) => {
    const of = { eventId: `evt_${String(n).padStart(5, '0')}`, connectionId, sourceId: 's', userId: 'u' };
    const none = { run: 0, attempts: 0, state: 'pending' as const, receivedAt: 0, expiresAt: 2_000_000_000 };
    return write.put(delivery, { ...of, ...none, dueIn, dueAt: clock.now() + n });
  };
  const many = limits.scanPages * limits.scanItems + 1;
  await store.batchWrite([...Array.from({ length: many }, (_, n) => due('busy', n)), due('other', many)]);
  await clock.advance(many);
  const taken: string[] = [];
  const deps = {
    store,
    clock,
    dueShards: createQueueShards({ store, clock, log: createLogger({ level: 'silent' }) }),
    dispatcher: {
      offer({ connectionId }: DeliveryRef) {
        if (connectionId === 'busy') return 'full' as const;
        taken.push(connectionId);
        return 'taken' as const;
      },
      isSlow: () => false,
    },
    holdDelivery: async (ref: DeliveryRef) => void (await holdDelivery(store, ref, clock.now())),
    runBacklog: () => {},
    runJob: () => {},
  };
  const passes: Passes = new Map();
  return { clock, taken, scan: () => scanQueue(deps, passes), passes };
}

describe('a scan of the queue', () => {
  it('gets past the backlog of a connection that does not keep up', async () => {
    const { clock, taken, scan, passes } = await openShard();
    await clock.advance(limits.overdueMs + 1000);
    await scan();
    expect(taken).toEqual([]);
    passes.clear(); // what was in excess is not in the queue any more
    await scan();
    expect(taken).toEqual(['other']);
  });

  it('continues where the last one ended, and restarts after the end', async () => {
    const { taken, scan } = await openShard();
    expect(await scan()).toEqual({ hasMore: true, isEmpty: false });
    expect(taken).toEqual([]);
    expect(await scan()).toEqual({ hasMore: true, isEmpty: false });
    expect(taken).toEqual(['other']);
    await scan();
    expect(taken).toEqual(['other']);
  });
});
