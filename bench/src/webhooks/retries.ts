import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Round, summarize } from '../harness.ts';
import { createCaller } from '../server/caller.ts';
import { createCustomer } from '../server/customer.ts';
import { keepPace } from '../server/pace.ts';
import { startServerProcess } from '../server/process.ts';
import type { Destination } from './destination.ts';
import { connect, createSource, eventOf, ingestPath } from './event.ts';
import { copyEvents } from './stored-events.ts';

export type RetriesSettings = { retries: number; connections: number; perSecond: number; mostMs: number };
// `made`: how many retries were made in `drainedMs`. All of them, unless that took too long.
export type Retries = { retries: number; made: number; drainedMs: number; perSecond: number; ingest: Round };

const preparationMs = 15_000; // opens the store, starts the server, warms it up
const msToCopyOne = 0.4; // if the disk is slower, the server starts with all of it due

// A destination was down, and all failed deliveries are due in the same second while new events arrive.
export async function measureRetries(
  destination: Destination,
  settings: RetriesSettings,
  folder: string,
): Promise<Retries> {
  const { retries, connections, perSecond, mostMs } = settings;
  const { eventIds, other } = await failOnce(destination, connections, folder);
  const dueAt = Date.now() + preparationMs + retries * msToCopyOne;
  await copyEvents(join(folder, 'data'), { eventIds, ofEach: retries / connections, dueAt });
  await destination.heal();
  const before = await destination.received();

  const server = await startServerProcess(folder);
  const caller = createCaller(server.url);
  let latenciesMs: number[] = [];
  const ingestFor = (durationMs: number) =>
    keepPace({ perSecond, durationMs }, async (_, sentMs) => {
      await caller.call(eventOf(ingestPath(other)), 200);
      latenciesMs.push(performance.now() - sentMs);
    });
  try {
    await ingestFor(Math.max(0, dueAt - Date.now())); // warms the server up
    latenciesMs = [];
    const startMs = performance.now();
    let made = 0;
    do {
      await ingestFor(1000);
      made = (await destination.received()) - before;
    } while (made < retries && performance.now() - startMs < mostMs);
    const drainedMs = performance.now() - startMs;
    return {
      retries,
      made: Math.min(made, retries),
      drainedMs,
      perSecond,
      ingest: summarize(latenciesMs, drainedMs),
    };
  } finally {
    caller.close();
    await server.close();
  }
}

// One event for each connection, whose first attempt fails.
async function failOnce(destination: Destination, connections: number, folder: string) {
  const server = await startServerProcess(folder);
  const caller = createCaller(server.url);
  try {
    const { client } = await createCustomer(server.url, { apiKeys: 0, sessions: 1, endUsers: 0 });
    const other = await createSource(client, 'other');
    const eventIds: string[] = [];
    for (let i = 0; i < connections; i++) {
      const sourceId = await createSource(client, `flaky ${i}`);
      const inAnHour = { retryConfig: { delaysS: [3600] } };
      await connect(client, sourceId, `${destination.url}/flaky/${i}`, inAnHour);
      const { body } = await caller.call(eventOf(ingestPath(sourceId)), 200);
      eventIds.push((JSON.parse(String(body)) as { eventId: string }).eventId);
    }
    for (const eventId of eventIds)
      while ((await client.webhooks.readEvent({ eventId })).data.status !== 'retrying') await sleep(20);
    return { eventIds, other };
  } finally {
    caller.close();
    await server.close();
  }
}
