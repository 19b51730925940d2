import { ferryhookMain } from '@stak/accounts';
import { createEngine } from '@stak/engine';
import { createApi, createMemoryIdempotency, listen } from '@stak/http';
import { createIds, createLogger, createSealer, superviseWorkers, systemClock } from '@stak/kit';
import { createOutbound } from '@stak/outbound';
import { createCursors, createStore, createTables } from '@stak/table';
import { createWebhooks, ferryhookEvents } from '../../src/index.ts';

// The smallest server there is, on disk. The campaign kills it; nothing here may help it to survive that.

const [path = '', secret = ''] = process.argv.slice(2);
const clock = systemClock;
const log = createLogger({ level: 'error' });
const engine = await createEngine({ path });
await createTables(engine, [ferryhookMain, ferryhookEvents]);
const cursors = createCursors(secret);
const webhooks = createWebhooks({
  store: createStore({ client: engine.client, cursors }),
  clock,
  ids: createIds({ clock }),
  log,
  cursors,
  sealer: createSealer({ keys: [{ id: 'crash', secret }] }),
  outbound: createOutbound({ allow: ['127.0.0.0/8'] }),
  planOf: async () => ({
    eventsPerMinute: 10_000_000,
    eventsPerMonth: 1_000_000_000,
    retentionSeconds: 86_400,
  }),
  usageOf: async () => 0,
  countUsage: async () => {},
});
const api = createApi({
  info: { title: 'Webhooks', version: '1' },
  endpoints: webhooks.api,
  errors: [webhooks.errors],
  authenticate: async () => ({
    kind: 'account',
    accountId: 'usr_crash',
    scope: 'admin',
    via: 'session',
    credentialId: 'crash',
  }),
  clock,
  log,
  idempotency: createMemoryIdempotency({ clock }),
});
superviseWorkers(webhooks.workers, { clock, log });
const { port } = await listen(api, { port: 0, clock, log });
process.send?.({ port });
