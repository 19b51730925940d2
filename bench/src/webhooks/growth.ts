import { join } from 'node:path';
import { type ContestantProcess, startContestant } from '../contestant-process.ts';
import { type Measure, measureInterleaved, type Plan } from '../harness.ts';
import { createCaller } from '../server/caller.ts';
import { createCustomer } from '../server/customer.ts';
import type { LoadSettings, Request } from '../server/load.ts';
import { type ServerProcess, startServerProcess } from '../server/process.ts';
import { createSource, eventOf, ingestPath } from './event.ts';
import { copyEvents } from './stored-events.ts';

// `longestGapMs`: the longest time without a response while the lake captures everything that is stored.
export type GrowthRow = { stored: number; measure: Measure; longestGapMs: number };

const inFlight = 32;

// Ingest by servers that already store few and many events of the same source, side by side.
export async function measureGrowth(
  sizes: readonly number[],
  plan: Plan,
  gapsMs: number,
  folder: string,
): Promise<GrowthRow[]> {
  const servers: ServerProcess[] = [];
  const requests: Request[] = [];
  const runners: ContestantProcess[] = [];
  try {
    for (const size of sizes) {
      const home = join(folder, `stored-${size}`);
      const sourceId = await fill(home, size);
      const server = await startServerProcess(home);
      servers.push(server);
      const request = eventOf(ingestPath(sourceId));
      requests.push(request);
      const operations = { ingest: { requests: [request], status: 200 } };
      const settings: LoadSettings = { url: server.url, operations };
      runners.push(await startContestant(String(size), import.meta.resolve('../server/load.ts'), settings));
    }
    const measures = await measureInterleaved(runners, { operation: 'ingest', inFlight }, plan);
    const rows: GrowthRow[] = [];
    for (const [i, stored] of sizes.entries()) {
      const longestGapMs = await measureGap(servers[i]!.url, requests[i]!, gapsMs);
      rows.push({ stored, measure: measures[String(stored)]!, longestGapMs });
    }
    return rows;
  } finally {
    for (const runner of runners) await runner.close();
    for (const server of servers) await server.close();
  }
}

async function measureGap(url: string, request: Request, durationMs: number): Promise<number> {
  const caller = createCaller(url);
  const deadline = performance.now() + durationMs;
  let answeredAt = performance.now();
  let longest = 0;
  const send = async () => {
    while (performance.now() < deadline) {
      await caller.call(request, 200);
      const now = performance.now();
      longest = Math.max(longest, now - answeredAt);
      answeredAt = now;
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, send));
    return longest;
  } finally {
    caller.close();
  }
}

async function fill(home: string, size: number): Promise<string> {
  const server = await startServerProcess(home);
  const caller = createCaller(server.url);
  try {
    const { client } = await createCustomer(server.url, { apiKeys: 0, sessions: 1, endUsers: 0 });
    const sourceId = await createSource(client, 'growing');
    const { body } = await caller.call(eventOf(ingestPath(sourceId)), 200);
    const { eventId } = JSON.parse(String(body)) as { eventId: string };
    caller.close();
    await server.close();
    await copyEvents(join(home, 'data'), { eventIds: [eventId], ofEach: size - 1, dueAt: Date.now() });
    return sourceId;
  } catch (error) {
    await server.close();
    throw error;
  }
}
