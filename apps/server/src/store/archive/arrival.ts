import { streamsKeys } from '@stak/streams';
import { entity, type Store } from '@stak/table';
import { z } from 'zod';
import { isMissing, UsageError } from '../../config/errors.ts';
import { archivePrefix } from './format.ts';

// Stored in the target of a migration or an import, so that no server starts there before all data have arrived.

export const arrival = entity(streamsKeys, {
  name: 'arrival',
  description: 'The migration or the archive that fills this store, and whether everything has arrived.',
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

/** Throws unless an import of this archive into this store was interrupted. */
export async function requireUnfinished(store: Store, id: string): Promise<void> {
  const arrival = await readArrival(store).catch(ignoreMissing);
  if (!arrival)
    throw new UsageError('no import of this archive was started here: import it into an empty store');
  if (arrival.id !== id) throw new UsageError('an import of another archive was started here');
  if (arrival.finished_at !== undefined) throw new UsageError('the import of this archive has finished');
}

/** Throws if not all data have arrived in the store. */
export async function requireArrived(store: Store): Promise<void> {
  const arrival = await readArrival(store).catch(ignoreMissing);
  if (!arrival || arrival.finished_at !== undefined) return;
  throw new UsageError(
    arrival.id.startsWith(archivePrefix)
      ? 'an import into this store was cut short: finish it with stak import --continue, or begin with an empty store'
      : 'stak migrate is still writing to these tables: start when it has finished',
  );
}

// Without tables, nothing has started.
export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
