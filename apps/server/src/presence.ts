import type { Clock, Logger, Worker } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { defineQuery, entity, type Store } from '@stak/table';
import { z } from 'zod';

// Servers on one store that have different public addresses refuse each other's tokens, which are signed in the name of
// the address. Nobody would find that by looking at one of them, so each tells its own and looks at the others'.

const beatMs = 30_000;
const aliveMs = 3 * beatMs; // two beats may fail

const time = z.number().int();

export const servedAddress = entity(streamsTable, {
  name: 'served address',
  description:
    'The public address that servers on this store have now: one, unless they are set up differently.',
  schema: z.object({ public_url: z.string(), alive_until: time, expires_at: time }),
  key: { partition: 'servers', sort: '{public_url}' },
  examples: [{ public_url: 'https://stak.example.com', alive_until: 1767225690000, expires_at: 1767225690 }],
});
const servedAddresses = defineQuery('addresses that are served', { of: servedAddress, consistent: true });

export type Presence = { worker: Worker; check(): Promise<'degraded' | undefined> };

type Deps = { store: Store; clock: Clock; log: Logger; publicUrl: string };

export function createPresence({ store, clock, log, publicUrl: public_url }: Deps): Presence {
  let others: readonly string[] = [];

  async function beat(): Promise<void> {
    const alive_until = clock.now() + aliveMs;
    await store.put(servedAddress, { public_url, alive_until, expires_at: Math.ceil(alive_until / 1000) });
    const { items } = await store.query(servedAddresses, {}, {});
    const found = items
      .filter(one => one.public_url !== public_url && one.alive_until > clock.now())
      .map(one => one.public_url);
    const isNew = found.some(one => !others.includes(one));
    others = found;
    if (isNew)
      log.warn(
        { public_url, others },
        'servers on this store have different public addresses, and refuse each other’s tokens: set the same STAK_PUBLIC_URL on all of them',
      );
  }

  return {
    check: async () => (others.length > 0 ? 'degraded' : undefined),
    worker: {
      name: 'server presence',
      async run(signal) {
        while (!signal.aborted) {
          await beat();
          await clock.sleep(beatMs, signal).catch(() => {});
        }
        // Another server may have the same one: it says so again within half a minute.
        await store.delete(servedAddress, { public_url });
      },
    },
  };
}
