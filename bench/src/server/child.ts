import { plans } from '@stak/accounts';
import { createLogger } from '@stak/kit';
import { readServerConfig, startServer } from '@stak/server';

// The real server with one more route: a constant response by Hono alone on the same socket. What a request costs
// beyond that is ours.

const constant = JSON.stringify({ status: 'ok' });
const headers = { 'Content-Type': 'application/json' };

// So high that no plan stops the load: a month's events pass in a minute.
Object.assign(plans.free, { eventsPerMinute: 1e9, eventsPerMonth: 1e12 });

const server = await startServer(readServerConfig({ port: 0 }), {
  log: createLogger({ level: 'warn' }),
  passwordCost: { logN: 10, r: 8, p: 1 }, // cheap hashing: signing up is not measured
  extend: ({ mount }) =>
    mount({ method: 'all', path: '/constant', unguarded: 'it is constant' }, c =>
      c.body(constant, 200, headers),
    ),
});

export type Usage = { cpuUs: number };

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!({ cpuUs: user + system } satisfies Usage);
});
process.once('disconnect', () => void server.stop());
process.send!(server.url);
