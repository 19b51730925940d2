import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRecentMap, type Random } from '@stak/kit';
import type { Shipping as DemoShipping } from './stage.ts';
import { findConnection, type NewConnection, type Workspace } from './workspace.ts';

// The shop's shipping department: a server on this machine that receives Stripe's events, sometimes fails, and can be
// made to fail. It has no connection if the Stak server may not call this machine: then it receives nothing.
export type Shipping = DemoShipping & {
  // Waits until these events have no deliveries in progress, or it takes too long.
  settle(eventIds: readonly string[]): Promise<void>;
  // Stops the server: what arrives waits for the next run.
  close(): Promise<void>;
};

const slips = 0.06; // six of a hundred deliveries fail once
const rememberedEvents = 500; // that may still be retried
const slowestMs = 60; // a destination that responds at once makes a dull chart
const failingMs = 20_000; // three attempts take four seconds, on a busy machine longer
const settlingMs = 10_000;
const lookMs = 500;

const connectionTo = (destinationUrl: string): NewConnection => ({
  name: 'Paid orders to the shipping desk',
  destinationUrl,
  filters: [{ field: 'body', path: '$.type', operator: 'equals', value: 'checkout.session.completed' }],
  retryConfig: { delaysS: [1, 2], maxAttempts: 3 },
});

export async function openShipping({ client, stripe }: Workspace, random: Random): Promise<Shipping> {
  const { webhooks } = client;
  let isBroken = false;
  const tried = createRecentMap<string, true>(rememberedEvents);
  const server = createServer(async (request, response) => {
    const eventId = String(request.headers['x-stak-event-id']);
    // Only a first attempt fails at random: after a failed last attempt, the delivery would stay failed.
    const maySlip = tried.get(eventId) === undefined;
    tried.set(eventId, true);
    const isFine = !isBroken && !(maySlip && random() < slips);
    request.resume();
    await sleep(5 + random() * slowestMs);
    response.writeHead(isFine ? 200 : 503, { 'Content-Type': 'text/plain' });
    response.end(isFine ? 'packed soon' : 'the printer is on fire');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  server.unref(); // so that the command can always end
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/orders`;
  const connectionId = await findConnection(client, stripe.sourceId, connectionTo(url));

  const deliveriesOf = async (eventIds: readonly string[]) => {
    const events = await Promise.all(
      eventIds.map(async eventId => (await webhooks.readEvent({ eventId })).data),
    );
    return events.flatMap(({ eventId, deliveries }) => {
      const latest = deliveries
        .filter(delivery => delivery.connectionId === connectionId)
        .sort((a, b) => b.run - a.run)[0];
      return latest ? [{ eventId, state: latest.state, isHeld: latest.isHeld }] : [];
    });
  };
  const untilQuiet = async (eventIds: readonly string[], mostMs: number, isQuietWhenHeld: boolean) => {
    const endMs = Date.now() + mostMs;
    let left = eventIds;
    while (left.length > 0 && Date.now() < endMs) {
      const busy = (await deliveriesOf(left)).filter(
        ({ state, isHeld }) => (state === 'pending' || state === 'retrying') && !(isHeld && isQuietWhenHeld),
      );
      left = busy.map(({ eventId }) => eventId);
      if (left.length > 0) await sleep(lookMs);
    }
  };
  const become = (status: 'active' | 'paused') =>
    connectionId === undefined ? undefined : webhooks.editConnection({ connectionId, body: { status } });

  const repair = async (eventIds: readonly string[]) => {
    if (connectionId === undefined) return;
    await untilQuiet(eventIds, failingMs, true);
    isBroken = false;
    // Pausing and resuming closes the circuit breaker, which would otherwise wait for a minute.
    await become('paused');
    await become('active');
    // Held deliveries are attempted now, and those in flight during the repair may still have failed.
    await untilQuiet(eventIds, settlingMs, false);
    const failed = (await deliveriesOf(eventIds)).filter(({ state }) => state === 'failed');
    if (failed.length === 0) return;
    await webhooks.createJob({
      sourceId: stripe.sourceId,
      body: { eventIds: failed.map(({ eventId }) => eventId), connectionIds: [connectionId] },
    });
  };

  return {
    // A success in between would count: the breaker opens after failures in a row.
    async fail(eventIds) {
      await untilQuiet(eventIds, settlingMs, false);
      isBroken = true;
    },
    repair,
    async settle(eventIds) {
      if (isBroken) await repair(eventIds);
      await untilQuiet(eventIds, settlingMs, false);
    },
    async close() {
      await become('paused');
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
