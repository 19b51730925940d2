import type { Client } from '@stak/client';
import type { Plan } from '../harness.ts';
import type { ServerProcess } from '../server/process.ts';
import { measureServer, type ServerMeasure } from '../server/rounds.ts';
import type { Destination } from './destination.ts';
import { connect, createSource, eventOf, ingestPath } from './event.ts';

export const requestNames = ['constant', 'alone', 'owing', 'delivering'] as const;
export type RequestName = (typeof requestNames)[number];
export type Requests = Record<RequestName, ServerMeasure>;

export const requestTitles: Record<RequestName, string> = {
  constant: 'a constant, by Hono alone',
  alone: 'ingest, no connection',
  owing: 'ingest, and a delivery for later',
  delivering: 'ingest, while delivering',
};

const inFlight = 32;

// The same POST of one kilobyte, to the constant and to sources.
export async function measureRequests(
  server: ServerProcess,
  client: Client,
  destination: Destination,
  plan: Plan,
): Promise<Requests> {
  const alone = await createSource(client, 'alone');
  const owing = await createSource(client, 'owing');
  const paused = await connect(client, owing, `${destination.url}/fast`);
  await client.webhooks.editConnection({ connectionId: paused, body: { status: 'paused' } });
  const delivering = await createSource(client, 'delivering');
  await connect(client, delivering, `${destination.url}/fast`, { maxConcurrency: 100 });

  const to = (path: string) => ({ requests: [eventOf(path)], status: 200 });
  const operations = {
    constant: to('/constant'),
    alone: to(ingestPath(alone)),
    owing: to(ingestPath(owing)),
    delivering: to(ingestPath(delivering)),
  };
  // Deliveries in progress would slow down the next measurement, so this one is last.
  const names = ['constant', 'alone', 'owing'] as const;
  const measures = await measureServer({ server, operations, names, inFlight, plan });
  const last = await measureServer({ server, operations, names: ['delivering'], inFlight, plan });
  return { ...measures, ...last } as Requests;
}
