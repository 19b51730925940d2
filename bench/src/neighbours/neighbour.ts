import { setTimeout as sleep } from 'node:timers/promises';
import { messagesPath, question, settings } from '../agents/agents.ts';
import { inboxPath, prepareInbox } from '../inbox/requests.ts';
import { createCaller } from '../server/caller.ts';
import type { Customer } from '../server/customer.ts';
import type { Request } from '../server/load.ts';
import { keepPace, type Pace } from '../server/pace.ts';
import { percentile } from '../statistics.ts';
import type { Destination } from '../webhooks/destination.ts';
import { connect, createSource, eventOf, ingestPath } from '../webhooks/event.ts';

export const requestNames = ['ingest', 'feed', 'turn'] as const;
export type RequestName = (typeof requestNames)[number];
type Latency = { p50Ms: number; p99Ms: number; slowestMs: number };
export type Latencies = Record<RequestName, Latency>;

// An account with typical requests.
export type Neighbour = {
  // Sends at these times, whether or not earlier requests have been answered. `marks` lists the accepted events.
  ask(pace: Pace): Promise<{ latencies: Latencies; marks: string[] }>;
};

const statuses: Record<RequestName, number> = { ingest: 200, feed: 200, turn: 200 };
let runs = 0;

export async function prepareNeighbour(
  url: string,
  customer: Customer,
  destination: Destination,
): Promise<Neighbour> {
  const { client, tenantId, endUsers } = customer;
  await prepareInbox(customer);
  await client.tenants.updateSettings({ tenant_id: tenantId, body: settings }, { ifMatch: '*' });
  const sourceId = await createSource(client, 'neighbour');
  await connect(client, sourceId, `${destination.url}/fast`, { maxConcurrency: 100 });
  const talks: Request[] = [];
  for (const { userId, token } of endUsers) {
    const { data } = await client.agents.createConversation({
      tenant_id: tenantId,
      body: { user_id: userId },
    });
    talks.push({
      method: 'POST',
      path: messagesPath(data.conversation_id, tenantId),
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(question),
    });
  }
  const feeds: Request[] = endUsers.map(({ token }) => ({
    method: 'GET',
    path: `${inboxPath(tenantId)}/users/me/messages?limit=30`,
    headers: { Authorization: `Bearer ${token}` },
  }));

  return {
    async ask(pace) {
      const run = runs++;
      const marks: string[] = [];
      const requestOf: Record<RequestName, (turn: number) => Request> = {
        ingest: turn => {
          marks.push(`${run}-${turn}`);
          return eventOf(ingestPath(sourceId), `${run}-${turn}`);
        },
        feed: turn => feeds[turn % feeds.length]!,
        turn: turn => talks[turn % talks.length]!,
      };
      const caller = createCaller(url);
      const measure = async (name: RequestName): Promise<[RequestName, Latency]> => {
        const latenciesMs: number[] = [];
        await keepPace(pace, async (turn, sentMs) => {
          await caller.call(requestOf[name](turn), statuses[name]);
          latenciesMs.push(performance.now() - sentMs);
        });
        return [name, sumUp(latenciesMs)];
      };
      try {
        const measured = await Promise.all(requestNames.map(measure));
        return { latencies: Object.fromEntries(measured) as Latencies, marks };
      } finally {
        caller.close();
      }
    },
  };
}

function sumUp(latenciesMs: number[]): Latency {
  const sorted = latenciesMs.sort((a, b) => a - b);
  return {
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    slowestMs: sorted.at(-1) ?? Number.NaN,
  };
}

// How many of the events are missing when none has arrived for this long.
export async function countLost(
  destination: Destination,
  marks: readonly string[],
  patienceMs: number,
): Promise<number> {
  const missing = new Set(marks);
  let untilMs = performance.now() + patienceMs;
  while (missing.size > 0 && performance.now() < untilMs) {
    const before = missing.size;
    for (const mark of (await destination.takeArrivals()).keys()) missing.delete(mark);
    if (missing.size < before) untilMs = performance.now() + patienceMs;
    if (missing.size > 0) await sleep(50);
  }
  return missing.size;
}
