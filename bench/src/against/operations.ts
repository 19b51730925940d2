import { beginConversations } from '../agents/requests.ts';
import { startContestant } from '../contestant-process.ts';
import { summarize } from '../harness.ts';
import { operationsFor, post } from '../inbox/requests.ts';
import type { Customer } from '../server/customer.ts';
import type { LoadSettings, Operation as Requests } from '../server/load.ts';
import { newTask } from '../tasks/tasks.ts';
import type { Destination } from '../webhooks/destination.ts';
import { connect, createSource, eventOf, ingestPath } from '../webhooks/event.ts';
import { inFlight, type Route, sendAtPace, sendFor } from '../webhooks/route.ts';
import type { Service } from './arguments.ts';
import type { Sample } from './comparison.ts';

// The load may use only what the pinned commit has: routes, settings and answers.

type Outcome = { count: number; sample: Sample };
export type Operation = { name: string; run(durationMs: number): Promise<Outcome> };
export type Operations = { operations: readonly Operation[]; close(): Promise<void> };

type Target = { url: string; customer: Customer; destination: Destination };

export const customerCounts = { apiKeys: 32, sessions: 1, endUsers: 32 };
const conversationsEach = 8;

export async function openOperations(target: Target, services: readonly Service[]): Promise<Operations> {
  const requests: Record<string, Requests> = {};
  const operations: Operation[] = [];
  for (const service of services) {
    const { closedLoops, others = [] } = await prepare[service](target);
    Object.assign(requests, closedLoops);
    operations.push(...Object.keys(closedLoops).map(name => ({ name, run: runRequests(name) })), ...others);
  }
  const settings: LoadSettings = { url: target.url, operations: requests };
  const load = await startContestant('load', import.meta.resolve('../server/load.ts'), settings);
  return { operations, close: load.close };

  function runRequests(operation: string) {
    return async (durationMs: number): Promise<Outcome> => {
      const { calls, opsPerSecond, p50Ms, p95Ms, p99Ms } = await load.run({
        operation,
        inFlight,
        durationMs,
      });
      return { count: calls, sample: { perSecond: opsPerSecond, p50Ms, p95Ms, p99Ms } };
    };
  }
}

type PreparedLoad = { closedLoops: Record<string, Requests>; others?: Operation[] };

const prepare: Record<Service, (target: Target) => Promise<PreparedLoad>> = {
  webhooks: async ({ url, customer: { client }, destination }) => {
    const alone = await createSource(client, 'alone');
    const connected = await createSource(client, 'connected');
    await connect(client, connected, `${destination.url}/fast`, { maxConcurrency: 100 });
    const route = { url, path: ingestPath(connected), destination };
    return {
      closedLoops: { ingest: { requests: [eventOf(ingestPath(alone))], status: 200 } },
      others: [
        { name: 'ingest with delivery', run: durationMs => runSaturated(route, durationMs) },
        ...[200, 50].map(perSecond => ({
          name: `${perSecond} events a second`,
          run: (durationMs: number) => runPaced(route, perSecond, durationMs),
        })),
      ],
    };
  },
  inbox: async ({ customer }) => {
    const { client, tenantId } = customer;
    await client.inbox.writeInbox({ tenant_id: tenantId, inbox_key: 'main', body: { title: 'Main' } });
    return { closedLoops: { 'publish to one user': operationsFor(customer).publish } };
  },
  agents: async ({ customer }) => {
    const requests = await beginConversations(customer, conversationsEach);
    return { closedLoops: { 'a turn that a rule answers': { requests, status: 200 } } };
  },
  tasks: async ({ customer: { endUsers } }) => {
    const requests = endUsers.map(({ token }, i) => post('/v1/tasks', token, newTask(i)));
    return { closedLoops: { 'create a task': { requests, status: 201 } } };
  },
};

async function runSaturated(route: Route, durationMs: number): Promise<Outcome> {
  const { accepted, delivered, elapsedMs, latenciesMs } = await sendFor(route, durationMs);
  const { opsPerSecond, p50Ms, p95Ms, p99Ms } = summarize(latenciesMs, elapsedMs);
  return {
    count: accepted,
    sample: {
      perSecond: opsPerSecond,
      deliveredPerSecond: (delivered * 1000) / elapsedMs,
      waitingShare: (accepted - delivered) / accepted,
      p50Ms,
      p95Ms,
      p99Ms,
    },
  };
}

async function runPaced(route: Route, perSecond: number, durationMs: number): Promise<Outcome> {
  const latenciesMs = await sendAtPace(route, { perSecond, durationMs });
  const { p50Ms, p95Ms, p99Ms } = summarize(latenciesMs, durationMs);
  return { count: latenciesMs.length, sample: { p50Ms, p95Ms, p99Ms } };
}
