import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { delivery } from '../src/tables.ts';
import { answer, openDestination } from './destination.ts';
import { type Fixture, generous, leap, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

const statusOf = async (hooks: Fixture, eventId: string): Promise<string> =>
  (await hooks.read(`/v1/events/${eventId}`)).status;
const reach = (hooks: Fixture, eventId: string, status: string) =>
  until(async () => (await statusOf(hooks, eventId)) === status, `${eventId} ${status}`);

describe('an event', () => {
  it('reaches its destination, byte for byte and signed', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const body = new Uint8Array([0, 255, 1, 254, 13, 10]);
    const eventId = await hooks.send(sourceId, body, { 'content-type': 'application/x-odd', 'X-Mine': 'a' });
    await reach(hooks, eventId, 'delivered');
    const [hit] = destination.hits;
    expect(new Uint8Array(hit!.body)).toEqual(body);
    expect(hit!.headers).toMatchObject({
      'content-type': 'application/x-odd',
      'x-mine': 'a',
      'webhook-id': eventId,
      'x-stak-event-id': eventId,
      'x-ferryhook-event-id': eventId,
    });
    const detail = await hooks.read(`/v1/events/${eventId}`);
    expect(detail.attempts).toMatchObject([{ attemptNumber: 1, run: 0, statusCode: 200 }]);
    expect(detail.deliveries).toMatchObject([{ state: 'delivered', attempts: 1, isHeld: false }]);
    const download = await hooks.call(`/v1/events/${eventId}/body`);
    expect(new Uint8Array(await download.arrayBuffer())).toEqual(body);
  });

  it('says how its body is compressed, and asks for a response that is not', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const headers: [string, string][] = [
      ['Content-Encoding', 'gzip'],
      ['Accept-Encoding', 'gzip, br'],
      ['Content-Encoding', 'br'],
    ];
    await hooks.webhooks.events.create({
      sourceId,
      headers,
      body: new Uint8Array([1]),
      retentionSeconds: 60,
    });
    await until(() => destination.hits.length === 1);
    const [hit] = destination.hits;
    expect(hit!.headers).toMatchObject({ 'content-encoding': 'gzip, br' });
    expect(hit!.headers).not.toHaveProperty('accept-encoding');
  });

  it('reaches its destination with the longest accepted query', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, `${destination.url}?key=${'k'.repeat(1_900)}`);
    const query = `q=${'v'.repeat(limits.queryChars - 2)}`;
    const response = await hooks.api.app.request(`/in/${sourceId}?${query}`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(200);
    await until(() => destination.hits.length === 1);
    expect(destination.hits[0]!.url.endsWith(`&${query}`)).toBe(true);
  });

  it('stores the results of as many connections as a source may have, all at once', async () => {
    const hooks = await openWebhooks();
    const waiting: ServerResponse[] = [];
    const all = limits.connectionsPerSource;
    const destination = await openDestination((_, response) => {
      waiting.push(response);
      if (waiting.length === all) for (const one of waiting) one.end();
    });
    const sourceId = await hooks.source();
    for (let i = 0; i < all; i++) await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await reach(hooks, eventId, 'delivered');
    expect(await hooks.webhooks.attempts.listByEvent(eventId)).toHaveLength(all);
    expect(destination.hits).toHaveLength(all);
  });

  it('is retried on the schedule, with the same id and fresh signatures, until it fails for good', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500, {}, 'x'.repeat(5000)));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const startedMs = hooks.clock.now();
    const eventId = await hooks.send(sourceId);
    let expectedMs = startedMs;
    for (const [i, delayMs] of limits.retryDelaysMs.entries()) {
      expectedMs += delayMs;
      if (i > 0) await leap(hooks.clock, delayMs);
      await until(() => destination.hits.length === i + 1, `attempt ${i + 1}`);
      await until(async () => (await hooks.webhooks.attempts.listByEvent(eventId)).length === i + 1);
      if (i < 7) expect(await statusOf(hooks, eventId)).toBe('retrying');
    }
    await reach(hooks, eventId, 'failed');
    await leap(hooks.clock, 48 * 3_600_000);
    expect(destination.hits).toHaveLength(8);
    expect(new Set(destination.hits.map(hit => hit.headers['webhook-id']))).toEqual(new Set([eventId]));
    expect(new Set(destination.hits.map(hit => hit.headers['webhook-signature'])).size).toBe(8);
    const attempts = await hooks.webhooks.attempts.listByEvent(eventId);
    expect(attempts.map(attempt => attempt.attemptNumber)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(attempts[0]!.responseBody).toHaveLength(1000);
    expect(attempts.at(-1)!.attemptedAt).toBeGreaterThanOrEqual(expectedMs);
    expect((await hooks.read('/v1/webhook-alerts')).data).toMatchObject([{ alertKind: 'delivery_failed' }]);
  });

  it('keeps no error of an attempt before the successful one', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await reach(hooks, eventId, 'retrying');
    const deliveryOf = async () => (await hooks.read(`/v1/events/${eventId}`)).deliveries[0];
    expect(await deliveryOf()).toMatchObject({ statusCode: 500, error: 'The destination answered 500' });
    destination.answer = answer(204);
    await leap(hooks.clock, limits.retryDelaysMs[1]!);
    await reach(hooks, eventId, 'delivered');
    expect(await deliveryOf()).toMatchObject({ statusCode: 204, attempts: 2 });
    expect(await deliveryOf()).not.toHaveProperty('error');
    const stored = await hooks.store.get(delivery, { eventId, connectionId, run: 0 });
    expect(stored).not.toHaveProperty('error');
  });

  it('follows the schedule of its connection, and Retry-After within bounds', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(429, { 'Retry-After': '120' }));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { retryConfig: { delaysS: [10, 10] } });
    const eventId = await hooks.send(sourceId);
    await reach(hooks, eventId, 'retrying');
    destination.answer = answer(503, { 'Retry-After': '999999999' });
    const [first] = (await hooks.read(`/v1/events/${eventId}`)).deliveries;
    expect(first.nextAttemptAt - hooks.clock.now()).toBe(120_000);
    await leap(hooks.clock, 120_000);
    await until(() => destination.hits.length === 2);
    await until(async () => (await hooks.webhooks.attempts.listByEvent(eventId)).length === 2);
    const [second] = (await hooks.read(`/v1/events/${eventId}`)).deliveries;
    expect(second.nextAttemptAt - hooks.clock.now()).toBeLessThanOrEqual(limits.retryAfterMostMs);
    await leap(hooks.clock, limits.retryAfterMostMs);
    await reach(hooks, eventId, 'failed');
    expect(destination.hits).toHaveLength(3);
  });

  it('expires after the plan’s retention', async () => {
    const hooks = await openWebhooks({ plan: { ...generous, retentionSeconds: 60 } });
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await reach(hooks, eventId, 'delivered');
    await leap(hooks.clock, 60_000);
    expect((await hooks.call(`/v1/events/${eventId}`)).status).toBe(404);
    expect((await hooks.read(`/v1/sources/${sourceId}/events`)).data).toEqual([]);
  });

  it('has one status for several deliveries', async () => {
    const hooks = await openWebhooks();
    const [good, bad] = [await openDestination(), await openDestination(answer(500))];
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, good.url);
    const failing = await hooks.connect(sourceId, bad.url, { retryConfig: { delaysS: [30] } });
    const filters = [{ field: 'body', path: '$.n', operator: 'equals', value: 2 }];
    await hooks.connect(sourceId, good.url, { filters });
    const eventId = await hooks.send(sourceId);
    await until(async () => {
      const { deliveries } = await hooks.read(`/v1/events/${eventId}`);
      const states = deliveries.map((one: { state: string }) => one.state).sort();
      return states.join() === 'delivered,filtered,retrying';
    });
    expect(await statusOf(hooks, eventId)).toBe('retrying');
    await leap(hooks.clock, 30_000);
    await reach(hooks, eventId, 'partial');
    bad.answer = answer(200);
    await hooks.post(`/v1/events/${eventId}/replay`, { connectionIds: [failing] });
    await reach(hooks, eventId, 'delivered');
    const { attempts } = await hooks.read(`/v1/events/${eventId}`);
    const ofFailing = attempts.filter((one: { connectionId: string }) => one.connectionId === failing);
    expect(
      ofFailing.map((one: { run: number; attemptNumber: number }) => [one.run, one.attemptNumber]),
    ).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
    ]);
    expect(good.hits).toHaveLength(1);
  });

  it('that no filter accepts is filtered', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const filters = [{ field: 'body', path: '$.n', operator: 'gt', value: 5 }];
    await hooks.connect(sourceId, destination.url, { filters });
    for (const body of ['{"n":1}', 'not json', '']) {
      const eventId = await hooks.send(sourceId, body);
      await reach(hooks, eventId, 'filtered');
    }
    expect(destination.hits).toEqual([]);
  });

  it('is transformed before delivery', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const transform = { type: 'field_map', fields: [{ to: '$.number', from: '$.n' }] };
    await hooks.connect(sourceId, destination.url, { transform });
    const eventId = await hooks.send(sourceId, '{"n":7}', { 'content-type': 'application/json' });
    await reach(hooks, eventId, 'delivered');
    expect(JSON.parse(destination.hits[0]!.body.toString())).toEqual({ number: 7 });
  });
});

describe('a destination', () => {
  it.each([
    ['redirects', answer(302, { Location: 'http://127.0.0.1:1/' }), 302],
    ['answers ten megabytes', answer(500, {}, 'x'.repeat(10_000_000)), 500],
    ['resets', ((_, response) => void response.destroy()) as ReturnType<typeof answer>, 0],
  ])('that %s fails, and is retried', async (_, behaviour, statusCode) => {
    const hooks = await openWebhooks();
    const destination = await openDestination(behaviour);
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await reach(hooks, eventId, 'retrying');
    const [attempt] = await hooks.webhooks.attempts.listByEvent(eventId);
    expect(attempt).toMatchObject({ statusCode });
    expect(attempt!.error).toBeTruthy();
  });

  it.each([
    ['hangs', (() => {}) as ReturnType<typeof answer>],
    ['drips', ((_, response) => void response.writeHead(200).write('drip')) as ReturnType<typeof answer>],
  ])('that %s times out after ten seconds', async (_, behaviour) => {
    const hooks = await openWebhooks();
    const destination = await openDestination(behaviour);
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await until(() => destination.hits.length === 1);
    await untilLater(hooks.clock, async () => (await statusOf(hooks, eventId)) === 'retrying');
    const [attempt] = await hooks.webhooks.attempts.listByEvent(eventId);
    expect(attempt!.error).toContain('timeout');
    expect(attempt!.latencyMs).toBeGreaterThanOrEqual(limits.timeoutMs);
  });

  it('that is gone disables its connection; waiting deliveries are made when it is active again', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(410));
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const gone = await hooks.send(sourceId);
    await reach(hooks, gone, 'failed');
    await until(async () => (await hooks.read(`/v1/connections/${connectionId}`)).status === 'disabled');
    const waiting = await hooks.send(sourceId);
    await leap(hooks.clock, 60_000);
    expect(destination.hits).toHaveLength(1);
    destination.answer = answer(200);
    await hooks.read(`/v1/connections/${connectionId}`, { method: 'PATCH', send: { status: 'active' } });
    await untilLater(hooks.clock, async () => (await statusOf(hooks, waiting)) === 'delivered');
  });

  it('in our own network is refused before anything is sent', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    for (const url of ['http://10.0.0.1/', 'http://[::ffff:169.254.169.254]/', 'ftp://a.example/', 'x']) {
      const refused = await hooks.call(`/v1/sources/${sourceId}/connections`, {
        method: 'POST',
        send: { name: 'x', destinationUrl: url },
      });
      expect([url, refused.status]).toEqual([url, 422]);
    }
  });
});
