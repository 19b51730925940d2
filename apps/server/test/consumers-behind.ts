import { systemClock } from '@stak/kit';
import { listConsumers, readStatus } from '@stak/streams';
import { createStore } from '@stak/table';
import type { StoreConfig } from '../src/config/config.ts';
import { openDatabase } from '../src/store/database.ts';

// Lists the consumers that have something to do.
export async function consumersBehind(config: StoreConfig): Promise<string[]> {
  const { client, source, close } = await openDatabase(config, { isSecondary: true });
  try {
    const store = createStore({ client });
    const found = await Promise.all(
      (await listConsumers(store)).map(name => readStatus({ store, source, clock: systemClock }, name)),
    );
    return found
      .filter(({ shards }) => shards.some(({ behind }) => behind?.records))
      .map(({ consumer }) => consumer);
  } finally {
    await close();
  }
}
