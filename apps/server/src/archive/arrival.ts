import { streamsKeys } from '@stak/streams';
import { entity, type Store } from '@stak/table';
import { z } from 'zod';
import { UsageError } from '../errors.ts';

// In the store that a migration writes into, so that no server begins there before everything has arrived.

export const arrival = entity(streamsKeys, {
  name: 'arrival',
  description: 'The migration that fills this store, and whether everything has arrived.',
  schema: z.object({ id: z.string(), begun_at: z.int(), finished_at: z.int().optional() }),
  key: { partition: 'arrival', sort: 'of this store' },
  examples: [{ id: 'mig_0mjuxvy9s00k1g5xq0d8w3ut', begun_at: 1767225600000, finished_at: 1767225900000 }],
});

export const readArrival = (store: Store) => store.get(arrival, {}, { consistent: true });

export async function finishArrival(store: Store, id: string, nowMs: number): Promise<void> {
  const found = await readArrival(store);
  if (found?.id === id && found.finished_at === undefined)
    await store.update(arrival, {}, { set: { finished_at: nowMs } });
}

/** Refuses to serve a store that a migration still writes into. */
export async function requireArrived(store: Store): Promise<void> {
  const found = await readArrival(store).catch(error => {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined; // no tables yet
    throw error;
  });
  if (found && found.finished_at === undefined)
    throw new UsageError('stak migrate is still writing to these tables: start when it has finished');
}
