import type { Random } from '@stak/kit';
import * as limits from '../../src/limits.ts';
import { openReceivers } from './receivers.ts';
import { ask, type CrashServer, startServer } from './server.ts';
import { countDuplicates, type Stored, verify } from './verification.ts';

export type CampaignSettings = {
  path: string;
  rounds: number;
  random: Random;
  senders: number;
  log(line: string): void;
};
export type CampaignReport = {
  acknowledged: number;
  deliveries: number;
  duplicates: number;
  violations: string[];
};

const connections = 3;

// Load, kill -9, restart, again and again; then time to catch up, and then every promise is checked.
export async function runCampaign(settings: CampaignSettings): Promise<CampaignReport> {
  const { path, rounds, random, log } = settings;
  const secret = 'a secret of the campaign, long enough';
  const receivers = await openReceivers(connections, random);
  const acknowledged = new Set<string>();
  const kills: number[] = [];
  let server = await startServer(path, secret);
  const sourceId = await prepare(server, receivers.urls);

  for (let round = 0; round < rounds; round++) {
    const lifeMs = 300 + random() * 2000;
    const before = acknowledged.size;
    await load(server, sourceId, settings.senders, Date.now() + lifeMs, acknowledged, async () => {
      kills.push(Date.now());
      await server.kill();
    });
    log(
      `round ${round + 1}: ${acknowledged.size - before} acknowledged, killed after ${Math.round(lifeMs)} ms`,
    );
    server = await startServer(path, secret);
  }
  receivers.state.failureShare = 0;
  log('catching up');
  const unfinished = await catchUp(server, sourceId);
  const stored = await readEvents(server, sourceId);
  await server.kill();
  await receivers.close();
  const violations = [
    ...unfinished,
    ...verify({ acknowledged, stored, arrivals: receivers.arrivals, kills }),
  ];
  const deliveries = receivers.arrivals.flat().filter(one => one.status === 200).length;
  const duplicates = countDuplicates(receivers.arrivals);
  return { acknowledged: acknowledged.size, deliveries, duplicates, violations };
}

async function prepare(server: CrashServer, urls: readonly string[]): Promise<string> {
  const made = await ask(server, '/v1/sources', { send: { name: 'Crash' } });
  const sourceId = String(made?.json.sourceId);
  for (const [i, destinationUrl] of urls.entries())
    await ask(server, `/v1/sources/${sourceId}/connections`, {
      // One of them in order. Retries come quickly, or a round would be over before the first.
      send: {
        name: `${i}`,
        destinationUrl,
        ordered: i === 2,
        retryConfig: { delaysS: [1, 1, 2, 2, 3, 3, 5] },
      },
    });
  return sourceId;
}

async function load(
  server: CrashServer,
  sourceId: string,
  senders: number,
  untilMs: number,
  acknowledged: Set<string>,
  end: () => Promise<void>,
): Promise<void> {
  const sending = Array.from({ length: senders }, async () => {
    for (;;) {
      const answer = await ask(server, `/in/${sourceId}`, { body: '{"hello":"world"}' });
      if (!answer) return;
      if (answer.status === 200) acknowledged.add(String(answer.json.eventId));
    }
  });
  await new Promise(resolve => setTimeout(resolve, Math.max(0, untilMs - Date.now())));
  await end();
  await Promise.all(sending);
}

async function* listEvents(server: CrashServer, sourceId: string, filter = '') {
  let cursor = '';
  for (;;) {
    const page = await ask(server, `/v1/sources/${sourceId}/events?limit=100${filter}${cursor}`);
    if (page?.status !== 200) throw new Error('The list of events could not be read');
    yield* page.json.data as { eventId: string; status: string }[];
    if (page.json.next_cursor === null) return;
    cursor = `&cursor=${encodeURIComponent(String(page.json.next_cursor))}`;
  }
}

// Everything an event owes is settled within the lease of whoever died, and the retries.
async function catchUp(server: CrashServer, sourceId: string): Promise<string[]> {
  const deadlineMs = Date.now() + 4 * limits.leaseMs;
  let open = 0;
  do {
    await new Promise(resolve => setTimeout(resolve, 1000));
    open = 0;
    for (const status of ['received', 'processing', 'retrying'])
      for await (const _ of listEvents(server, sourceId, `&status=${status}`)) open += 1;
    if (open === 0) return [];
  } while (Date.now() < deadlineMs);
  return [`${open} events were not settled in time`];
}

async function readEvents(server: CrashServer, sourceId: string): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>();
  for await (const { eventId } of listEvents(server, sourceId)) {
    const detail = await ask(server, `/v1/events/${eventId}`);
    stored.set(eventId, detail!.json as Stored);
  }
  return stored;
}
