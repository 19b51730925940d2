import { createIds, createLogger, manualClock } from '@stak/kit';
import { createStore, write } from '@stak/table';
import { describe, expect, it } from 'vitest';
import { openTables } from '../test/webhooks-fixture.ts';
import { holdDelivery } from './deliveries.ts';
import { dueShards } from './due.ts';
import { scanDue } from './due-scan.ts';
import { delivery } from './events-table.ts';
import type { DeliveryRef } from './intake.ts';
import * as limits from './limits.ts';

const dueIn = dueShards[0]!;

// A shard of the due index with more of one connection than a look at it takes in, and one of another behind that.
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
    ...{ store, clock, ids: createIds({ clock }), log: createLogger({ level: 'silent' }), random: () => 0 },
    dispatcher: {
      offer({ connectionId }: DeliveryRef) {
        if (connectionId === 'busy') return 'full' as const;
        taken.push(connectionId);
        return 'taken' as const;
      },
      isSlow: () => false,
    },
    setAside: async (ref: DeliveryRef) => void (await holdDelivery(store, ref, clock.now())),
    runLane: () => {},
    runJob: () => {},
  };
  return { clock, taken, look: () => scanDue(deps) };
}

describe('a look at what is due', () => {
  it('gets past what a connection has too much of, if the connection does not', async () => {
    const { clock, taken, look } = await openShard();
    await look();
    expect(taken).toEqual([]);
    await clock.advance(limits.soonMs + 1000);
    await look();
    await look();
    expect(taken).toEqual(['other']);
  });
});
