import { createLogger, manualClock, seededRandom } from '@stak/kit';
import { createConsumer, engineSource, streamsTable } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { percentile } from '../src/analytics/analytics.ts';
import * as limits from '../src/limits.ts';
import { type Alert, source } from '../src/main-table.ts';
import { earlierDayCount, earlierTotalCount, latencyBuckets } from '../src/tables.ts';
import { answer, type Hit, openDestination } from './destination.ts';
import { type Fixture, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

describe('analytics', () => {
  it('count events by day and status, deliveries, failures and latency', async () => {
    const hooks = await openWebhooks({ counts: true });
    const destination = await openDestination((hit, response) => {
      response.writeHead(JSON.parse(hit.body.toString()).n % 4 === 0 ? 400 : 200).end();
    });
    const [busy, quiet] = [await hooks.source(), await hooks.source()];
    const connectionId = await hooks.connect(busy, destination.url, { retryConfig: { maxAttempts: 1 } });
    for (let n = 0; n < 12; n++) await hooks.send(busy, JSON.stringify({ n }));
    await hooks.send(quiet);
    await until(() => destination.hits.length === 12);
    const settled = async () => {
      const { data } = await hooks.read(`/v1/sources/${busy}/events`);
      return data.every((one: { status: string }) => one.status !== 'received');
    };
    await until(settled);
    await hooks.clock.advance(limits.flushMs);
    await until(async () => (await hooks.read('/v1/webhook-analytics')).received === 13);
    const all = await hooks.read('/v1/webhook-analytics');
    expect(all).toMatchObject({
      received: 13,
      statuses: { delivered: 9, failed: 3, filtered: 1, received: 0 },
      attempts: 12,
      successRate: 0.75,
      topSources: [
        { sourceId: busy, received: 12 },
        { sourceId: quiet, received: 1 },
      ],
      days: [{ day: '2026-01-01', received: 13, attempts: 12, successes: 9 }],
    });
    expect(all.latency.p50).toBeGreaterThanOrEqual(0);
    const one = await hooks.read(`/v1/webhook-analytics?sourceId=${quiet}`);
    expect(one).toMatchObject({ received: 1, attempts: 0, successRate: null });
    expect(await hooks.read(`/v1/sources/${busy}`)).toMatchObject({ eventCount: 12 });
    expect(await hooks.read(`/v1/connections/${connectionId}`)).toMatchObject({
      deliveryCount: 9,
      failureCount: 3,
    });
    hooks.clock.set(hooks.clock.now() + 86_400_000);
    await hooks.send(quiet);
    await hooks.clock.advance(limits.flushMs);
    const nextDay = () => hooks.read('/v1/webhook-analytics?from=2026-01-02&to=2026-01-02');
    await until(async () => (await nextDay()).days.length === 1);
    expect((await nextDay()).days).toMatchObject([{ day: '2026-01-02', received: 1 }]);
    expect((await hooks.call('/v1/webhook-analytics?from=2025-01-01&to=2026-01-02')).status).toBe(422);
    expect((await hooks.read('/v1/webhook-analytics?to=2026-01-01')).days).toMatchObject([{ received: 13 }]);
    for (const nothing of ['from=2026-01-03', 'from=2026-01-02&to=2026-01-01'])
      expect(await hooks.read(`/v1/webhook-analytics?${nothing}`)).toMatchObject({ days: [], received: 0 });
  });

  it('go on from those that earlier versions kept in one partition', async () => {
    const hooks = await openWebhooks({ counts: true });
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const [userId, day, shard] = ['usr_ann', '2026-01-01', 0];
    const counted = { received: 5, attempts: 5, successes: 5, s_delivered: 5, l_2: 5 };
    const store = createStore({ client: hooks.engine.client, clock: hooks.clock });
    const expiresAt = hooks.clock.now() / 1000 + limits.counterDaysS;
    await store.put(earlierDayCount, { userId, day, sourceId, shard, expiresAt, ...counted });
    await store.put(earlierTotalCount, { userId, ofId: sourceId, shard, count: 5, lastAt: 1 });
    await store.put(earlierTotalCount, { userId, ofId: connectionId, shard, count: 5 });
    await hooks.send(sourceId);
    const analytics = (query = '') => hooks.read(`/v1/webhook-analytics${query}`);
    await untilLater(hooks.clock, async () => (await analytics()).statuses.delivered === 6);
    const sums = { received: 6, attempts: 6, days: [{ day, received: 6 }] };
    expect(await analytics()).toMatchObject(sums);
    expect(await analytics(`?sourceId=${sourceId}`)).toMatchObject(sums);
    expect(await hooks.read(`/v1/sources/${sourceId}`)).toMatchObject({ eventCount: 6 });
    expect(await hooks.read(`/v1/connections/${connectionId}`)).toMatchObject({ deliveryCount: 6 });
  });

  it('of an account are spread over partitions, by source', async () => {
    const hooks = await openWebhooks({ counts: true });
    const sources = await Promise.all(Array.from({ length: 24 }, () => hooks.source()));
    for (const sourceId of sources) await hooks.send(sourceId);
    await untilLater(
      hooks.clock,
      async () => (await hooks.read('/v1/webhook-analytics')).received === sources.length,
    );
    const { Items = [] } = await hooks.engine.client.scan({ TableName: 'ferryhook-events' });
    const partitions = Items.map(item => String(item.PK)).filter(key => /^(?:STATS|COUNTS)#/.test(key));
    const most = Math.max(
      ...[...new Set(partitions)].map(key => partitions.filter(one => one === key).length),
    );
    expect(partitions.length).toBeGreaterThanOrEqual(2 * sources.length);
    expect(most).toBeLessThan(partitions.length / 2);
  });

  it('tell percentiles from buckets', () => {
    const histogram = Array.from({ length: latencyBuckets }, () => 0);
    expect(percentile(histogram, 0.5)).toBeNull();
    histogram[3] = 90; // 5 to 10 ms
    histogram[9] = 10; // 500 to 1,000 ms
    expect(percentile(histogram, 0.5)).toBeGreaterThan(5);
    expect(percentile(histogram, 0.5)).toBeLessThanOrEqual(10);
    expect(percentile(histogram, 0.95)).toBeGreaterThan(500);
    expect(percentile(histogram, 1)).toBe(1000);
  });
});

// Reads a stream of server-sent events until it has enough of them.
async function follow(hooks: Fixture, path: string, lastEventId?: string) {
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
  const response = await hooks.call(path, { headers });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const events: { id: string; data: Record<string, unknown> }[] = [];
  let text = '';
  const reading = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) => block.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1];
        if (field('event') === 'event') events.push({ id: field('id')!, data: JSON.parse(field('data')!) });
      }
    }
  })();
  return {
    events,
    async close() {
      await reader.cancel();
      await reading.catch(() => {});
    },
  };
}

describe('the live view', () => {
  it('shows events as they arrive, and goes on where it was cut off', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    await hooks.send(sourceId, 'before');
    await hooks.clock.advance(1000);
    const first = await follow(hooks, `/v1/sources/${sourceId}/tail?payload=true`);
    const seen = [await hooks.send(sourceId, 'one'), await hooks.send(sourceId, 'two')];
    await until(() => first.events.length === 2);
    expect(first.events.map(one => one.id)).toEqual(seen);
    expect(first.events[0]!.data).toMatchObject({
      eventId: seen[0],
      body: Buffer.from('one').toString('base64'),
    });
    await first.close();

    await hooks.clock.advance(limits.tailOverlapMs + 1);
    const missed = await Promise.all(Array.from({ length: 30 }, () => hooks.send(sourceId, 'missed')));
    const second = await follow(hooks, `/v1/sources/${sourceId}/tail`, seen[1]);
    await until(() => missed.every(id => second.events.some(one => one.id === id)));
    expect(second.events.length).toBeLessThanOrEqual(missed.length + 3); // the last seconds come again
    await second.close();
  });

  it('goes on where it was cut off, however long that is ago', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const last = await hooks.send(sourceId, 'seen');
    await hooks.clock.advance(limits.tailOverlapMs + 1);
    const missed = await hooks.send(sourceId, 'missed');
    hooks.clock.set(hooks.clock.now() + 3 * 86_400_000);
    const tail = await follow(hooks, `/v1/sources/${sourceId}/tail`, last);
    await until(() => tail.events.some(one => one.id === missed));
    const next = await hooks.send(sourceId, 'next');
    await until(() => tail.events.some(one => one.id === next));
    expect(tail.events.map(one => one.id)).toEqual([last, missed, next]);
    await tail.close();
  });

  it('shows what another process took', async () => {
    const hooks = await openWebhooks();
    const other = await startWebhooks({ clock: hooks.clock }, hooks.engine.client, hooks.engine);
    const sourceId = await hooks.source();
    const tail = await follow(hooks, `/v1/sources/${sourceId}/tail`);
    const eventId = await other.send(sourceId);
    await hooks.clock.advance(limits.tailPollMs);
    await until(() => tail.events.length === 1);
    expect(tail.events[0]!.id).toBe(eventId);
    await tail.close();
  });
});

async function consumeAlerts(hooks: Fixture): Promise<void> {
  await createTables(hooks.engine, [streamsTable]);
  const consumer = createConsumer({
    subscription: hooks.webhooks.subscriptions.find(({ name }) => name === 'webhooks-alerts')!,
    source: engineSource(hooks.engine),
    client: hooks.engine.client,
    log: createLogger({ level: 'silent' }),
  });
  const stopping = new AbortController();
  const consuming = consumer.run(stopping.signal).catch(() => {});
  onTestFinished(async () => {
    stopping.abort();
    await consuming;
  });
}

describe('when processes are killed', () => {
  it('usage and statuses are exact all the same, and nothing is left as received', async () => {
    const first = await openWebhooks({ counts: true });
    const destination = await openDestination();
    const sourceId = await first.source();
    await first.connect(sourceId, destination.url);
    const processes = [first];
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 10; n++) await processes.at(-1)!.send(sourceId, JSON.stringify({ round, n }));
      // What it had in memory is lost: it is never stopped, and its clock stands still from here on.
      const clock = manualClock(first.clock.now() + 60_000);
      processes.push(await startWebhooks({ clock, counts: true }, first.engine.client, first.engine));
    }
    const last = processes.at(-1)!;
    const analytics = () => last.read('/v1/webhook-analytics');
    await untilLater(last.clock, async () => (await analytics()).statuses.delivered === 40);
    expect(await analytics()).toMatchObject({ received: 40, statuses: { delivered: 40, received: 0 } });
    expect(await last.usage('usr_ann')).toBe(40);
    expect(await last.read(`/v1/sources/${sourceId}`)).toMatchObject({ eventCount: 40 });
  });

  it('what was delivered while a process was stopping is counted, too', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    await hooks.send(sourceId);
    await until(async () => {
      const { data } = await hooks.read(`/v1/sources/${sourceId}/events`);
      return data[0].status === 'delivered';
    });
    await hooks.webhooks.close();
    expect(await hooks.read(`/v1/connections/${connectionId}`)).toMatchObject({ deliveryCount: 1 });
  });
});

const adversarySeed = Number(process.env.STAK_ADVERSARY_SEED) || 4;

describe('when answers get lost', () => {
  it('events, statuses, attempts and usage are counted once', async () => {
    const hooks = await openWebhooks({
      counts: true,
      wrap: client =>
        createAdversary(client, { ...passingFaults, lostAnswers: 0.15, random: seededRandom(adversarySeed) }),
    });
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    for (let n = 0; n < 40; n++) {
      await hooks.send(sourceId, JSON.stringify({ n }));
      if (n % 10 === 9) await hooks.clock.advance(limits.flushMs);
    }
    await until(async () => {
      const { data } = await hooks.read(`/v1/sources/${sourceId}/events?limit=100`);
      return data.every((one: { status: string }) => one.status === 'delivered');
    });
    const analytics = () => hooks.read('/v1/webhook-analytics');
    await untilLater(hooks.clock, async () => (await analytics()).attempts >= 40);
    await untilLater(hooks.clock, async () => (await analytics()).statuses.delivered === 40);
    await hooks.clock.advance(2 * limits.flushMs);
    expect(destination.hits).toHaveLength(40);
    expect(await analytics()).toMatchObject({
      received: 40,
      attempts: 40,
      statuses: { delivered: 40, received: 0 },
    });
    expect(await hooks.usage('usr_ann')).toBe(40);
    expect(await hooks.read(`/v1/sources/${sourceId}`)).toMatchObject({ eventCount: 40 });
    expect(await hooks.read(`/v1/connections/${connectionId}`)).toMatchObject({ deliveryCount: 40 });
  });
});

describe('alerts', () => {
  it('go to the owner and to the address of the source, once an hour', async () => {
    const raised: Alert[] = [];
    const hooks = await openWebhooks({ raiseAlert: async one => void raised.push(one) });
    const [destination, pager] = [await openDestination(answer(400)), await openDestination()];
    await consumeAlerts(hooks);
    const sourceId = await hooks.source({ alertUrl: pager.url });
    await hooks.connect(sourceId, destination.url, { retryConfig: { maxAttempts: 1 } });
    for (let n = 0; n < 3; n++) await hooks.send(sourceId);
    await until(() => pager.hits.length === 1 && raised.length === 1);
    expect(raised[0]).toMatchObject({ userId: 'usr_ann', alertKind: 'delivery_failed', sourceId });
    expect(JSON.parse(pager.hits[0]!.body.toString())).toMatchObject({ type: 'webhooks.delivery_failed' });
    hooks.clock.set(hooks.clock.now() + 3_600_000);
    await hooks.send(sourceId);
    await until(() => raised.length === 2);
  });

  it('are signed as Standard Webhooks, by both secrets while one is replaced', async () => {
    const hooks = await openWebhooks({ clock: manualClock(Date.now()) });
    const [destination, pager] = [await openDestination(answer(400)), await openDestination()];
    await consumeAlerts(hooks);
    const made = await hooks.post('/v1/sources', { name: 'x', alertUrl: pager.url });
    const path = `/v1/sources/${made.sourceId}`;
    const shown = await hooks.read(path);
    expect(JSON.stringify([shown, await hooks.read('/v1/sources')])).not.toContain('whsec_');
    const raise = async (count: number) => {
      const retryConfig = { maxAttempts: 1 };
      const connectionId = await hooks.connect(made.sourceId, destination.url, { retryConfig });
      await hooks.send(made.sourceId);
      await until(() => pager.hits.length === count);
      await hooks.read(`/v1/connections/${connectionId}`, { method: 'DELETE' });
      return pager.hits[count - 1]!;
    };
    const verify = (secret: string, hit: Hit) =>
      new Webhook(secret).verify(hit.body.toString(), hit.headers as Record<string, string>);
    const first = await raise(1);
    expect(verify(made.alertSecret, first)).toMatchObject({ type: 'webhooks.delivery_failed' });
    const rotated = await hooks.read(`${path}/rotate-alert-secret`, { method: 'POST' });
    const second = await raise(2);
    verify(made.alertSecret, second);
    verify(rotated.alertSecret, second);
    expect(second.headers['webhook-id']).not.toBe(first.headers['webhook-id']);
    hooks.clock.set(hooks.clock.now() + limits.rotationMs);
    const third = await raise(3);
    expect(String(third.headers['webhook-signature']).split(' ')).toHaveLength(1);
    await hooks.read(path, { method: 'PATCH', send: { alertUrl: null } });
    const again = await hooks.read(path, { method: 'PATCH', send: { alertUrl: pager.url } });
    expect(again.alertSecret).toMatch(/^whsec_/);
    expect([made.alertSecret, rotated.alertSecret]).not.toContain(again.alertSecret);
  });

  it('of a source that is older than their signatures are signed with a secret that stays', async () => {
    const hooks = await openWebhooks();
    const [destination, pager] = [await openDestination(answer(400)), await openDestination()];
    await consumeAlerts(hooks);
    const sourceId = await hooks.source({ alertUrl: pager.url });
    await hooks.store.update(source, { userId: 'usr_ann', sourceId }, { remove: ['alertSecret'] });
    const stored = async () => (await hooks.store.get(source, { userId: 'usr_ann', sourceId }))!.alertSecret;
    const retryConfig = { maxAttempts: 1 };
    await hooks.connect(sourceId, destination.url, { retryConfig });
    await hooks.send(sourceId);
    await until(() => pager.hits.length === 1);
    const secret = await stored();
    await hooks.connect(sourceId, destination.url, { retryConfig });
    await hooks.send(sourceId);
    await until(() => pager.hits.length === 2);
    expect(pager.hits.map(hit => hit.headers['webhook-signature'])).toEqual(
      Array(2).fill(expect.stringMatching(/^v1,/)),
    );
    expect(secret).toMatch(/^s1\./);
    expect(await stored()).toBe(secret);
  });

  it('of one customer do not wait for the address of another, which hangs', async () => {
    const hooks = await openWebhooks();
    const [destination, pager] = [await openDestination(answer(400)), await openDestination()];
    const hanging = await openDestination(() => {});
    const alertOf = async (alertUrl: string, connections: number) => {
      const sourceId = await hooks.source({ alertUrl });
      const retryConfig = { maxAttempts: 1 };
      for (let n = 0; n < connections; n++) await hooks.connect(sourceId, destination.url, { retryConfig });
      const eventId = await hooks.send(sourceId);
      await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'failed');
    };
    await alertOf(hanging.url, 10);
    await alertOf(pager.url, 1);
    await consumeAlerts(hooks);
    await until(() => hanging.hits.length === 10 && pager.hits.length === 1);
  });
});

describe('the eraser', () => {
  it('leaves nothing of an account, and everything of another', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(400));
    const bobs = (await hooks.post('/v1/sources', { name: 'x' }, 'bob')).sourceId;
    await hooks.send(bobs);
    const sourceId = await hooks.source({ provider: 'github' });
    await hooks.connect(sourceId, destination.url, { retryConfig: { maxAttempts: 1 } });
    await hooks.connect(sourceId, destination.url, { ordered: true });
    await hooks.connect(sourceId, destination.url, { ratePerSecond: 5 });
    for (let n = 0; n < 5; n++) await hooks.send(sourceId, '{}', { 'x-github-delivery': `d${n}` });
    await hooks.post(`/v1/sources/${sourceId}/jobs`, {});
    await hooks.clock.advance(3000);
    const earlier = { userId: 'usr_ann', shard: 0, count: 1 };
    await createStore({ client: hooks.engine.client }).put(earlierTotalCount, { ...earlier, ofId: sourceId });
    for (let rounds = 0; (await hooks.webhooks.eraser.eraseAccount('usr_ann')) === 'more'; rounds++) {
      expect(rounds).toBeLessThan(20);
      await hooks.clock.advance(limits.eraseGraceMs);
    }
    const items = await Promise.all(
      ['ferryhook-main', 'ferryhook-events'].map(
        async TableName => (await hooks.engine.client.scan({ TableName })).Items!,
      ),
    );
    // Accounts erase the usage. The checkpoint of the counts belongs to no account.
    const others = /^(USAGE#|COUNTED$)/;
    const left = items
      .flat()
      .filter(item => item.userId !== 'usr_bob' && item.sourceId !== bobs && !others.test(item.PK));
    expect(left.map(item => [item.PK, item.SK])).toEqual([]);
    expect((await hooks.read(`/v1/sources/${bobs}/events`, { as: 'bob' })).data).toHaveLength(1);
    expect(await hooks.webhooks.eraser.eraseAccount('usr_ann')).toBe('done');
  });
});
