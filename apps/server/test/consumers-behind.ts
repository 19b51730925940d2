import { systemClock } from '@stak/kit';
import { listConsumers, readStatus } from '@stak/streams';
import { createStore } from '@stak/table';
import { openDatabase } from '../src/database.ts';

// Which consumers have something to do.
export async function consumersBehind(path: string): Promise<string[]> {
  const { client, source, close } = await openDatabase({ kind: 'embedded', path }, { isSecondary: true });
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
