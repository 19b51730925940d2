import { createCatchUp, engineSource, type StreamSource, type UnknownChange } from '@stak/streams';
import { describe, expect, it } from 'vitest';
import { percentile } from '../src/analytics/analytics.ts';
import { beginCounting } from '../src/analytics/event-counts.ts';
import * as limits from '../src/limits.ts';
import { ferryhookEvents, latencyBuckets } from '../src/tables.ts';
import { openDestination } from './destination.ts';
import { openWebhooks, until, untilLater } from './webhooks-fixture.ts';

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
    await until(async () => {
      const { received, attempts } = await hooks.read('/v1/webhook-analytics');
      return received === 13 && attempts === 12;
    });
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

  // DynamoDB gives the time of a change in whole seconds, DynamoDB Local in whole minutes.
  it('start with the first event, however coarse the times of changes are', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    await hooks.clock.advance(20_000);
    await hooks.send(sourceId); // counted by an earlier version
    await hooks.clock.advance(20_000);
    await beginCounting(hooks);
    await hooks.send(sourceId);
    const changes: UnknownChange[] = [];
    const stream = { source: engineSource(hooks.engine), table: ferryhookEvents.name };
    const toMinute = (at: Date) => new Date(Math.floor(at.getTime() / 60_000) * 60_000);
    await createCatchUp(stream, new Map()).read(change =>
      changes.push(Object.defineProperty(change, 'at', { value: toMinute(change.at) })),
    );
    const { handleBatch, name } = hooks.webhooks.subscriptions.find(
      subscription => subscription.name === 'webhooks-counts',
    )!;
    const { signal } = new AbortController();
    await handleBatch!(changes, { consumer: name, shardId: 'one', attempt: 1, signal });
    expect(await hooks.read('/v1/webhook-analytics')).toMatchObject({ received: 1 });
  });

  it('count a change once that a stream repeats, in a page or in the next one', async () => {
    const hooks = await openWebhooks();
    await beginCounting(hooks);
    const sourceId = await hooks.source();
    for (let n = 0; n < 6; n++) await hooks.send(sourceId, JSON.stringify({ n }));
    const changes: UnknownChange[] = [];
    const source = engineSource(hooks.engine);
    const repeating: StreamSource = {
      ...source,
      isExact: false,
      async getRecords(input) {
        const { Records = [], NextShardIterator } = await source.getRecords(input);
        return { Records: [...Records, ...Records.slice(3), ...Records], NextShardIterator };
      },
    };
    const stream = { source: repeating, table: ferryhookEvents.name };
    await createCatchUp(stream, new Map()).read(change => void changes.push(change));
    const { handleBatch, name } = hooks.webhooks.subscriptions.find(
      subscription => subscription.name === 'webhooks-counts',
    )!;
    const { signal } = new AbortController();
    for (const page of [changes.slice(0, 9), changes.slice(3), changes])
      await handleBatch!(page, { consumer: name, shardId: 'one', attempt: 1, signal });
    expect(await hooks.read('/v1/webhook-analytics')).toMatchObject({ received: 6 });
    expect(await hooks.read(`/v1/sources/${sourceId}`)).toMatchObject({ eventCount: 6 });
  });

  it('of an account are spread over partitions, by source', async () => {
    const hooks = await openWebhooks({ counts: true });
    // So many that chance puts half of them into one of the eight partitions once in 400 million runs.
    const sources = await Promise.all(Array.from({ length: 48 }, () => hooks.source()));
    for (const sourceId of sources) await hooks.send(sourceId);
    await untilLater(
      hooks.clock,
      async () => (await hooks.read('/v1/webhook-analytics')).received === sources.length,
    );
    const { Items = [] } = await hooks.engine.client.scan({ TableName: 'ferryhook-events' });
    const partitions = Items.map(item => String(item.PK)).filter(key => /^(?:STATS|COUNTS)#/.test(key));
    const most = Math.max(
      ...[...new Set(partitions)].map(key => partitions.filter(partition => partition === key).length),
    );
    expect(partitions.length).toBeGreaterThanOrEqual(2 * sources.length);
    expect(most).toBeLessThan(partitions.length / 2);
  });

  it('compute percentiles from buckets', () => {
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
