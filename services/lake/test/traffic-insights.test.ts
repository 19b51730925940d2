import { createTables, defineTable, entity } from '@stak/table';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { deliveryInsights, follow, messageInsights } from '../src/index.ts';
import { ann, capture, openBackend, openLake } from './lake-fixture.ts';

const traffic = defineTable({ name: 'Traffic', keys: { partition: 'pk' }, stream: 'NEW_AND_OLD_IMAGES' });
const delivery = entity(traffic, {
  name: 'delivery',
  schema: z.object({ id: z.string(), receivedAt: z.int(), state: z.string(), attempts: z.int() }),
  key: { partition: 'DLV#{id}' },
});
const message = entity(traffic, {
  name: 'user message',
  schema: z.object({
    id: z.string(),
    delivered: z.int(),
    seenat: z.int().nullable(),
    readat: z.int().nullable(),
  }),
  key: { partition: 'MSG#{id}' },
});

test('deliveries by state, and how much is read', async () => {
  const backend = await openBackend();
  await createTables(backend.engine, [traffic], { clock: backend.clock });
  const ownerOf = () => ({ account_id: 'usr_ann' });
  const lake = openLake(backend, {
    tables: [{ table: traffic, entities: [follow(delivery, { ownerOf }), follow(message, { ownerOf })] }],
    insights: [...deliveryInsights(delivery), ...messageInsights(message)],
  });
  const receivedAt = Date.UTC(2026, 0, 1, 12);
  const { store } = backend;
  await store.put(delivery, { id: 'a', receivedAt, state: 'delivered', attempts: 1 });
  await store.put(delivery, { id: 'b', receivedAt, state: 'delivered', attempts: 3 });
  await store.put(delivery, { id: 'c', receivedAt, state: 'failed', attempts: 8 });
  const delivered = receivedAt / 1000;
  await store.put(message, { id: 'a', delivered, seenat: delivered, readat: delivered });
  await store.put(message, { id: 'b', delivered, seenat: delivered, readat: null });
  await capture(backend, lake);
  const day = '2026-01-01';
  expect((await lake.insight(ann, 'deliveries', 30)).data).toEqual([
    { day, state: 'delivered', deliveries: 2, attempts: 4 },
    { day, state: 'failed', deliveries: 1, attempts: 8 },
  ]);
  expect((await lake.insight(ann, 'messages-read', 30)).data).toEqual([
    { day, messages: 2, seen: 2, read: 1, read_rate: 0.5 },
  ]);
});
