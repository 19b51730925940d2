import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { seededRandom } from '@stak/kit';
import { awsClient } from '@stak/table/aws';
import { ask, askAgain, make, signUp } from '../crash/server.ts';
import { prepareWebhooks } from '../crash/webhooks.ts';
import { prepareAgents } from './agents-load.ts';
import { type Cluster, credentials, startCluster } from './cluster.ts';
import { openFailingStore } from './failing-store.ts';
import { prepareInbox, prepareTasks } from './load.ts';
import { watchMachine } from './machine.ts';
import { streamsMs } from './promises.ts';

// Three servers on one store that wakes nobody, behind a proxy, under load: servers are killed and restarted, and then
// every promise is checked. docs/guides/run-several-servers.md has the promises.

export type Campaign = {
  command: string; // `stak`, as it is built
  endpoint: string;
  forMs: number; // kills go on for so long
  leastKills: number;
  seed: number;
  note(line: string): void;
  log: Writable; // of what servers print
};
export type Found = {
  violations: string[];
  heardMs: { p50: number; p95: number; most: number; count: number }; // from the answer to the listeners of every server
  stolen: number; // of the processors, by the host, in the whole run
  kills: {
    streams: Judged<number>; // milliseconds until what a killed server read is read by others
    delivery: Judged<number>; // until what it was delivering is delivered by others
    failures: Judged<readonly string[]>; // of requests, while the others were restarted
  }[];
};
// An observation while the store itself was slow, or while the host took the processors away, says little about the
// servers.
export type Judged<T> = { seen: T; wasStoreSlow: boolean; stolen: number };

const servers = 3;
const leaseMs = 3_900; // of a shard, where nobody can tell that its reader is gone
const reportMs = 7_000; // how long a report of a server holds
const calmMs = 10_000; // of load between two kills: servers that have just started are slow
const mostBehind = 100; // events: a slow store delivers fewer in order than it receives
const quietWithinMs = 30_000; // counts that follow the stream have caught up
// A single read takes at most this long. No server can keep a promise about time while its store takes longer, for
// example because the machine is stalled.
const storeAnswersMs = 1_000;

export async function runCampaign(campaign: Campaign): Promise<Found> {
  const { command, endpoint, forMs, leastKills, seed, note, log } = campaign;
  const random = seededRandom(seed);
  const startedMs = Date.now();
  const machine = watchMachine();
  const failing = await openFailingStore(endpoint, seededRandom(seed + 1));
  const cluster = await startCluster(command, failing.endpoint, servers, log).catch(async error => {
    machine.close();
    await failing.close();
    throw error;
  });
  const leases = createLeases(endpoint, note);
  const store = watchStore(endpoint);
  const killed: { atMs: number; victim: 'worker' }[] = [];
  const violations: string[] = [];
  const kills: Found['kills'] = [];
  const wasStoreSlow = (sinceMs: number, untilMs: number) =>
    store.slowestMs(sinceMs, untilMs) > storeAnswersMs;
  const judged = <T>(seen: T, sinceMs: number, untilMs = Date.now()): Judged<T> => ({
    seen,
    wasStoreSlow: wasStoreSlow(sinceMs, untilMs),
    stolen: machine.stolen(sinceMs, untilMs),
  });
  try {
    note(`${servers} servers are ready`);
    const token = await signUp(cluster);
    const webhooks = await prepareWebhooks({ ...cluster, killed }, random, {
      token,
      pauseMs: 400,
      mostBehind,
      wasStoreSlow,
    });
    const inbox = await prepareInbox(cluster, token, random);
    const tasks = await prepareTasks(cluster, token);
    const works = [inbox, tasks, await prepareAgents(cluster, token, () => killed.length)];
    const slow = await openSlowDestination(cluster, token);
    note('there are webhooks, an inbox, tasks, listeners and an agent');
    let isOver = false;
    const sending = Promise.all([webhooks, ...works].map(work => work.send(() => isOver)));
    sending.catch(() => {}); // it is waited for below
    note(`they read ${(await untilSpread(cluster)).join(', ')} shards of streams`);

    for (const endsMs = Date.now() + forMs; killed.length < leastKills || Date.now() < endsMs; ) {
      await sleep(calmMs);
      const node = Math.floor(random() * servers);
      await slow.hold(node);
      const atMs = Date.now();
      killed.push({ atMs, victim: 'worker' });
      const [streams, delivery] = [
        leases.untilTaken(atMs, () => cluster.kill(node)),
        slow.untilRepeated(atMs),
      ];
      const streamsAfterMs = await streams;
      const ofStreams = judged(streamsAfterMs, atMs);
      await cluster.start(node);
      const before = cluster.failures().length;
      const restartMs = Date.now();
      for (let other = 1; other < servers; other++) await cluster.restart((node + other) % servers);
      const failures = judged(cluster.failures().slice(before), restartMs);
      const deliveryAfterMs = await delivery;
      const ofDelivery = judged(deliveryAfterMs, atMs, atMs + deliveryAfterMs);
      kills.push({ streams: ofStreams, delivery: ofDelivery, failures });
      note(
        `killed server ${node}: its streams after ${streamsAfterMs} ms, its delivery after ${deliveryAfterMs} ms; restarted the others${store.describe(atMs)}${machine.describe(atMs)}`,
      );
    }

    isOver = true;
    await sending;
    const { lostAnswers, lostRequests, throttled } = failing.counts;
    note(`the store lost ${lostAnswers} answers and ${lostRequests} requests, and throttled ${throttled}`);
    failing.heal();
    const { violations: broken, summary } = await webhooks.verify();
    note(summary);
    violations.push(...broken);
    for (const work of works) violations.push(...(await untilQuiet(() => work.check())));
    violations.push(...(await untilQuiet(() => checkCounts(cluster, token))));
    violations.push(...(await checkHealth(cluster)));
    const latencies = tasks.latenciesMs().toSorted((a, b) => a - b);
    const quantile = (share: number) =>
      Math.round(latencies[Math.floor(share * (latencies.length - 1))] ?? 0);
    tasks.close();
    await webhooks.close();
    slow.close();
    const heardMs = { p50: quantile(0.5), p95: quantile(0.95), most: quantile(1), count: latencies.length };
    return { violations, heardMs, stolen: machine.stolen(startedMs, Date.now()), kills };
  } finally {
    leases.close();
    await store.close();
    await cluster.stop();
    await failing.close();
    machine.close();
  }
}

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

async function untilQuiet(check: () => Promise<string[]>): Promise<string[]> {
  let wrong = await check();
  for (
    const endsMs = Date.now() + quietWithinMs;
    wrong.length > 0 && Date.now() < endsMs;
    wrong = await check()
  )
    await sleep(250);
  return wrong;
}

// Usage and the counts of days are what is stored, to the last event.
async function checkCounts(cluster: Cluster, token: string): Promise<string[]> {
  const { json: usage } = await askAgain(cluster, '/v1/usage', { token });
  const { json: analytics } = await askAgain(cluster, '/v1/webhook-analytics', { token });
  const { data: sources } = (await askAgain(cluster, '/v1/sources', { token })).json as {
    data: { sourceId: string }[];
  };
  let stored = 0;
  const statuses: Record<string, number> = {};
  for (const { sourceId } of sources)
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/v1/sources/${sourceId}/events?limit=100${after}`;
      const { json } = await askAgain(cluster, path, { token });
      for (const { status } of json.data as { status: string }[]) {
        stored += 1;
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      cursor = json.next_cursor as string | null;
    }
  const wrong: string[] = [];
  if (usage.usageThisMonth !== stored) wrong.push(`usage is ${usage.usageThisMonth} of ${stored} events`);
  if (analytics.received !== stored)
    wrong.push(`${analytics.received} of ${stored} events are counted by day`);
  const counted = analytics.statuses as Record<string, number>;
  for (const status of Object.keys(counted))
    if (counted[status] !== (statuses[status] ?? 0))
      wrong.push(`${counted[status]} events are counted as ${status}, ${statuses[status] ?? 0} are`);
  return wrong;
}

async function checkHealth({ nodes }: Cluster): Promise<string[]> {
  const wrong: string[] = [];
  for (const url of nodes) {
    const ready = await ask({ url }, '/readyz');
    if (ready?.status !== 200) wrong.push(`${url} is not ready: ${JSON.stringify(ready)}`);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    wrong.push(...metrics.split('\n').filter(line => line.startsWith('stak_stream_dead_letters{')));
  }
  return wrong;
}

// How many shards each server reads, once no server reads them all. How even it is depends on chance where a table has
// one shard, as in DynamoDB Local: plan.test.ts has the promise for tables with several.
async function untilSpread({ nodes }: Cluster): Promise<number[]> {
  for (const endsMs = Date.now() + quietWithinMs; ; await sleep(200)) {
    const counts = await Promise.all(nodes.map(countShards));
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (all > 0 && counts.every(count => count < all)) return counts;
    if (Date.now() > endsMs) throw new Error(`the shards of streams are not spread: ${counts.join(', ')}`);
  }
}

async function countShards(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return [...metrics.matchAll(/^stak_stream_shards\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

// Who reads which shard, by what consumers write about it. Their table also has a marker of every event, so it is not
// scanned: that would slow the store down, more with every minute.
function createLeases(endpoint: string, note: Campaign['note']) {
  const client = awsClient({ region: 'us-east-1', endpoint, credentials });
  type Held = { work?: string; owner?: string; node?: string; lease_until?: number; alive_until?: number };

  async function query(pk: string, sk = ''): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = [];
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    do {
      const page = await client.query({
        TableName: 'stak-streams',
        ConsistentRead: true,
        KeyConditionExpression: `pk = :pk${sk && ' AND begins_with(sk, :sk)'}`,
        ExpressionAttributeValues: { ':pk': pk, ...(sk && { ':sk': sk }) },
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      });
      items.push(...(page.Items ?? []));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return items;
  }

  async function read(kind: 'work' | 'member'): Promise<Held[]> {
    const consumers = await query('consumers');
    const found = await Promise.all(consumers.map(({ sk }) => query(`consumer#${sk}`, `${kind}#`)));
    return found.flat().filter(({ finished_at }) => finished_at === undefined);
  }

  // Printed so that the cause can be found in the log.
  async function describe(late: readonly Held[], killedAtMs: number): Promise<void> {
    const sinceKill = (ms: number | undefined) => (ms === undefined ? 'never' : `${ms - killedAtMs} ms`);
    for (const { work, owner, lease_until } of late)
      note(`nobody has taken over ${work} of ${owner}; its lease ends after ${sinceKill(lease_until)}`);
    for (const { owner, node, alive_until } of await read('member'))
      note(`the report of ${owner} on ${node} ends after ${sinceKill(alive_until)}`);
  }

  return {
    // A lease that was written after the kill is one of somebody who lives.
    async untilTaken(killedAtMs: number, kill: () => Promise<void>): Promise<number> {
      await kill();
      let isDescribed = false;
      for (const endsMs = Date.now() + quietWithinMs; ; await sleep(50)) {
        const held = await read('work');
        const tookMs = Date.now() - killedAtMs;
        // A server that lives has reported since: its shards may have leases from before.
        const living = (await query('servers'))
          .filter(({ alive_until }) => Number(alive_until) > killedAtMs + reportMs)
          .map(({ sk }) => String(sk));
        const isHeld = ({ owner = '', lease_until = 0 }: Held) =>
          owner.includes('@')
            ? living.includes(owner.slice(owner.lastIndexOf('@') + 1))
            : lease_until > killedAtMs + leaseMs;
        const late = held.filter(one => !isHeld(one));
        if (late.length === 0) return tookMs;
        if (tookMs > streamsMs && !isDescribed) {
          isDescribed = true;
          await describe(late, killedAtMs);
        }
        if (Date.now() > endsMs) throw new Error(`leases were not taken over: ${JSON.stringify(held)}`);
      }
    },
    close: () => client.close(),
  };
}

// How long the store takes to answer a read, by itself.
function watchStore(endpoint: string) {
  const client = awsClient({ region: 'us-east-1', endpoint, credentials, answerMs: quietWithinMs });
  const slow: { endedMs: number; tookMs: number }[] = [];
  let startedMs = Date.now();
  let isReading = false;
  let isOpen = true;
  const latest = () => ({ endedMs: Date.now(), tookMs: Date.now() - startedMs });
  const watching = (async () => {
    for (; isOpen; await sleep(200)) {
      startedMs = Date.now();
      isReading = true;
      await client.scan({ TableName: 'stak-streams', Limit: 1 }).catch(() => {}); // refused, or away: late is late
      isReading = false;
      if (Date.now() - startedMs > storeAnswersMs) slow.push(latest());
    }
  })();
  const slowestMs = (sinceMs: number, untilMs: number): number => {
    const known = isReading ? [...slow, latest()] : slow;
    const between = known.filter(({ endedMs, tookMs }) => endedMs > sinceMs && endedMs - tookMs < untilMs);
    return Math.max(0, ...between.map(({ tookMs }) => tookMs));
  };
  return {
    slowestMs,
    describe(sinceMs: number): string {
      const tookMs = slowestMs(sinceMs, Date.now());
      return tookMs > storeAnswersMs ? `; the store took ${tookMs} ms for one read` : '';
    },
    async close() {
      isOpen = false;
      await watching;
      client.close();
    },
  };
}

// A destination that keeps each event waiting the first time it comes, and takes it the second time.
async function openSlowDestination(cluster: Cluster, token: string) {
  const arrivals = new Map<string, { hungUp: boolean; repeatedMs?: number }>();
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    const first = arrivals.get(id);
    if (first) {
      first.repeatedMs ??= Date.now();
      response.end();
      return;
    }
    const arrival = { hungUp: false };
    arrivals.set(id, arrival);
    request.socket.on('close', () => (arrival.hungUp = true));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const destinationUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { sourceId } = await make(cluster, '/v1/sources', { send: { name: 'Slow' }, token });
  await make(cluster, `/v1/sources/${sourceId}/connections`, {
    send: { name: 'slow', destinationUrl },
    token,
  });
  let held = '';
  return {
    // The server that receives an event delivers it.
    async hold(node: number): Promise<void> {
      const answer = await askAgain({ ...cluster, url: cluster.nodes[node]! }, `/in/${sourceId}`, {
        body: '{}',
      });
      held = String(answer.json.eventId);
      while (!arrivals.has(held)) await sleep(20);
    },
    async untilRepeated(killedAtMs: number): Promise<number> {
      const arrival = arrivals.get(held)!;
      for (const endsMs = Date.now() + quietWithinMs; ; await sleep(20)) {
        if (arrival.repeatedMs !== undefined) return arrival.repeatedMs - killedAtMs;
        if (Date.now() > endsMs)
          throw new Error(
            `an event was not delivered again, connection ${arrival.hungUp ? 'closed' : 'open'}`,
          );
      }
    },
    close: () => server.close().closeAllConnections(),
  };
}
