import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as limits from '../src/limits.ts';
import { delivery } from '../src/tables.ts';
import { answer, openDestination } from './destination.ts';
import { type Fixture, openWebhooks, until, untilLater } from './webhooks-fixture.ts';

type Listed = { eventId: string; status: string; receivedAt: number };

async function listAll(hooks: Fixture, path: string): Promise<{ events: Listed[]; pages: number }> {
  const events: Listed[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const joined: string = cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
    const page = await hooks.read(joined);
    events.push(...page.data);
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor !== null);
  return { events, pages };
}

describe('the list of events', () => {
  it('says when an event had no connection to go to', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const eventId = await hooks.send(sourceId, '{}');
    const path = `/v1/sources/${sourceId}/events?limit=1`;
    expect((await hooks.read(path)).data).toMatchObject([{ eventId, status: 'filtered', connections: 0 }]);
    await hooks.connect(sourceId, 'https://destination.example/hook');
    await hooks.send(sourceId, '{}');
    expect((await hooks.read(path)).data).toMatchObject([{ connections: 1 }]);
  });

  it('is newest first over all partitions, each event once, for any page size', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const sent: string[] = [];
    for (let n = 0; n < 60; n++) {
      sent.push(await hooks.send(sourceId, JSON.stringify({ n })));
      if (n % 3 === 0) hooks.clock.set(hooks.clock.now() + 1 + (n % 7));
    }
    const expected = sent.toReversed();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 61 }), async limit => {
        const { events } = await listAll(hooks, `/v1/sources/${sourceId}/events?limit=${limit}`);
        expect(events.map(event => event.eventId)).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });

  it('is bounded by time', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const times: number[] = [];
    for (let n = 0; n < 10; n++) {
      times.push(hooks.clock.now());
      await hooks.send(sourceId);
      hooks.clock.set(hooks.clock.now() + 1000);
    }
    const iso = (n: number) => encodeURIComponent(new Date(times[n]!).toISOString());
    const { events } = await listAll(
      hooks,
      `/v1/sources/${sourceId}/events?limit=2&from=${iso(2)}&to=${iso(7)}`,
    );
    expect(events.map(event => event.receivedAt)).toEqual([6, 5, 4, 3, 2].map(n => times[n]));
  });

  it.each([
    ['ends before it begins', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', 0],
    ['began before there was anything', '0001-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 1],
    ['never ends', '2026-01-01T00:00:00Z', '9999-12-31T00:00:00Z', 1],
    ['is over long ago', '0001-01-01T00:00:00Z', '0002-01-01T00:00:00Z', 0],
    ['is far ahead', '9999-12-30T00:00:00Z', '9999-12-31T00:00:00Z', 0],
  ])('accepts a time that %s, as does a job', async (_, from, to, matched) => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    await hooks.send(sourceId);
    const { data } = await hooks.read(`/v1/sources/${sourceId}/events?from=${from}&to=${to}`);
    expect(data).toHaveLength(matched);
    const { jobId } = await hooks.post(`/v1/sources/${sourceId}/jobs`, { from, to });
    const state = async () => (await hooks.read(`/v1/webhook-jobs/${jobId}`)).state;
    await until(async () => (await state()) === 'done');
    expect(await hooks.read(`/v1/webhook-jobs/${jobId}`)).toMatchObject({ matched });
  });

  it('is filtered by status without empty pages or losses', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination((hit, response) => {
      response.writeHead(JSON.parse(hit.body.toString()).n % 5 === 0 ? 400 : 200).end();
    });
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { retryConfig: { maxAttempts: 1 } });
    for (let n = 0; n < 40; n++) {
      await hooks.send(sourceId, JSON.stringify({ n }));
      await until(() => destination.hits.length === n + 1);
    }
    const path = `/v1/sources/${sourceId}/events?limit=3&status=failed`;
    await until(async () => (await listAll(hooks, path)).events.length === 8);
    const { events, pages } = await listAll(hooks, path);
    expect([events.length, pages]).toEqual([8, 3]);
    expect(events.every(event => event.status === 'failed')).toBe(true);
  });

  it('can be searched in headers and bodies, within a budget, with an exact cursor', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const needle = await hooks.send(sourceId, JSON.stringify({ text: 'The Needle' }));
    const inHeader = await hooks.send(sourceId, '{}', { 'X-Trace': 'needle-7' });
    for (let n = 0; n < 36; n++) await hooks.send(sourceId, 'x'.repeat(limits.bodyBytes));
    for (let n = 0; n < 5; n++) await hooks.send(sourceId);
    const { events, pages } = await listAll(hooks, `/v1/sources/${sourceId}/events?q=needle`);
    expect(events.map(event => event.eventId)).toEqual([inHeader, needle]);
    expect(pages).toBeGreaterThan(1); // 36 large bodies are more than one search reads
  });

  it.each(['q=needle', 'where=body.999.text%3Dneedle'])(
    'lets other work run while %s reads large bodies',
    async query => {
      const hooks = await openWebhooks();
      const sourceId = await hooks.source();
      const large = JSON.stringify(Array.from({ length: 9000 }, (_, n) => ({ n, text: 'Nothing' })));
      for (let n = 0; n < 32; n++) await hooks.send(sourceId, large);
      let iterations = 0;
      const count = () => {
        iterations += 1;
        counting = setImmediate(count);
      };
      let counting = setImmediate(count);
      let nowMs = performance.now();
      const slow = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 4));
      onTestFinished(() => slow.mockRestore());
      await hooks.read(`/v1/sources/${sourceId}/events?${query}`);
      clearImmediate(counting);
      expect(iterations).toBeGreaterThanOrEqual(4);
    },
  );

  it('is filtered by type, connection and a value, over several sources', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(200));
    const [first, second] = [await hooks.source(), await hooks.source()];
    const connectionId = await hooks.connect(first, destination.url);
    const paid = await hooks.send(first, JSON.stringify({ type: 'order.paid', customer: { id: 'cus_1' } }));
    const sent = await hooks.send(second, JSON.stringify({ type: 'order.sent', customer: { id: 'cus_1' } }));
    await until(async () => (await hooks.read(`/v1/events/${paid}`)).status === 'delivered');
    const ids = async (query: string) =>
      (await listAll(hooks, `/v1/events?${query}`)).events.map(event => event.eventId);
    expect(await ids('')).toEqual([sent, paid]);
    expect(await ids(`sourceIds=${first}`)).toEqual([paid]);
    expect(await ids('type=order.sent')).toEqual([sent]);
    expect(await ids(`connectionId=${connectionId}`)).toEqual([paid]);
    expect(await ids(`where=${encodeURIComponent('body.customer.id = cus_1')}`)).toEqual([sent, paid]);
    expect(await ids(`where=${encodeURIComponent('body.customer.id = cus_2')}`)).toEqual([]);
    const [row] = (await hooks.read(`/v1/sources/${first}/events`)).data;
    expect(row).toMatchObject({ eventType: 'order.paid', attempts: 1, status: 'delivered' });
    expect((await hooks.call('/v1/events?where=amount')).status).toBe(400);
    // A long one is not even looked at.
    const long = await hooks.call(`/v1/events?where=body.a${'+'.repeat(12_000)}`);
    expect(await long.json()).toMatchObject({ errors: [{ pointer: '#/where', code: 'too_big' }] });
    expect((await hooks.call('/v1/events?sourceIds=src_none')).status).toBe(404);
  });

  it('previews unsaved rules with a stored event', async () => {
    const hooks = await openWebhooks();
    const [sourceId, other] = [await hooks.source(), await hooks.source()];
    const eventId = await hooks.send(sourceId, JSON.stringify({ amount: 5 }));
    const attempt = (of: string, value: number) =>
      hooks.call(`/v1/sources/${of}/try`, {
        method: 'POST',
        send: {
          eventId,
          filters: [{ field: 'body', path: '$.amount', operator: 'gte', value }],
          transform: { type: 'field_map', fields: [{ to: '$.total', from: '$.amount' }] },
        },
      });
    const passed = (await (await attempt(sourceId, 5)).json()) as { body: string; filter: object };
    expect(passed.filter).toMatchObject({ matched: true });
    expect(Buffer.from(passed.body, 'base64').toString()).toBe('{"total":5}');
    const refused = (await (await attempt(sourceId, 6)).json()) as object;
    expect(refused).toMatchObject({ filter: { matched: false, steps: [{ matched: false }] } });
    expect(refused).not.toHaveProperty('body');
    expect((await attempt(other, 5)).status).toBe(404);
  });

  it('refuses a cursor for another list or caller', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    for (let n = 0; n < 3; n++) await hooks.send(sourceId);
    const { next_cursor } = await hooks.read(`/v1/sources/${sourceId}/events?limit=1`);
    const other = await hooks.call(
      `/v1/sources/${sourceId}/events?limit=1&status=failed&cursor=${next_cursor}`,
    );
    expect(other.status).toBe(400);
  });
});

describe('a replay', () => {
  it('of many is a job: by time and status, each event once, even if it is interrupted', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(400));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { retryConfig: { maxAttempts: 1 } });
    const total = limits.jobBatch * 3 + 5;
    for (let n = 0; n < total; n++) {
      await hooks.send(sourceId, JSON.stringify({ n }));
      await until(() => destination.hits.length === n + 1);
      if (n === 8) {
        // ten failures in a row would open the breaker
        destination.answer = (hit, response) =>
          void response.writeHead(JSON.parse(hit.body.toString()).n % 2 ? 200 : 400).end();
      }
    }
    const failed = Math.ceil((total - 9) / 2) + 9;
    await until(
      async () =>
        (await listAll(hooks, `/v1/sources/${sourceId}/events?status=failed`)).events.length >= failed - 1,
    );
    const { events } = await listAll(hooks, `/v1/sources/${sourceId}/events?status=failed`);
    destination.answer = answer(200);
    await hooks.stop();
    const job = await hooks.post(`/v1/sources/${sourceId}/jobs`, { status: 'failed' });
    expect(job.state).toBe('running');
    hooks.restart();
    await untilLater(
      hooks.clock,
      async () => (await hooks.read(`/v1/webhook-jobs/${job.jobId}`)).state === 'done',
    );
    await untilLater(hooks.clock, () => destination.hits.length === total + events.length);
    expect(await hooks.read(`/v1/webhook-jobs/${job.jobId}`)).toMatchObject({
      matched: events.length,
      deliveries: events.length,
    });
    await until(async () => {
      const page = await listAll(hooks, `/v1/sources/${sourceId}/events?status=delivered`);
      return page.events.length === total;
    });
  });

  it('of many uses the filters of the list, and returns how many were expected', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    for (const customer of ['ann', 'bob', 'ann'])
      await hooks.send(sourceId, JSON.stringify({ type: 'order.paid', customer }));
    await hooks.send(sourceId, JSON.stringify({ type: 'order.sent', customer: 'ann' }));
    const replayed = async (filter: object) => {
      const { jobId } = await hooks.post(`/v1/sources/${sourceId}/jobs`, filter);
      const read = () => hooks.read(`/v1/webhook-jobs/${jobId}`);
      await until(async () => (await read()).state === 'done');
      return read();
    };
    const where = 'body.customer = ann';
    expect(await replayed({ type: 'order.paid', where, expected: 2 })).toMatchObject({
      matched: 2,
      expected: 2,
    });
    expect(await replayed({ q: 'BOB' })).toMatchObject({ matched: 1 });
    expect(await replayed({ connectionId: sourceId })).toMatchObject({ matched: 0 });
    expect(await replayed({})).toMatchObject({ matched: 4 });
  });

  it('of a pending delivery does not create a second one', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'retrying');
    destination.answer = answer(200);
    const replayed = await hooks.post(`/v1/events/${eventId}/replay`, {});
    expect(replayed.deliveries).toBe(1);
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'delivered');
    const { attempts, deliveries } = await hooks.read(`/v1/events/${eventId}`);
    expect([attempts.length, deliveries.length]).toEqual([2, 1]);
  });

  it('that is repeated with the same key responds alike and does nothing more', async () => {
    const hooks = await openWebhooks();
    const [bad, good] = [await openDestination(answer(500)), await openDestination()];
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, bad.url);
    await hooks.connect(sourceId, good.url);
    const eventId = await hooks.send(sourceId);
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'retrying');
    await until(() => good.hits.length === 1);
    const replay = (key: string) => hooks.webhooks.operations.replay('usr_ann', eventId, key, 'turn_1');
    expect(await replay('one')).toBe(2); // a new run, and a retry that is made due
    await until(() => good.hits.length === 2 && bad.hits.length === 2);
    expect(await replay('one')).toBe(2);
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'retrying');
    expect([good.hits.length, bad.hits.length]).toEqual([2, 2]);
  });

  it('to another connection counts towards the status from then on', async () => {
    const hooks = await openWebhooks();
    const [bad, good] = [await openDestination(answer(500)), await openDestination()];
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, bad.url, { retryConfig: { delaysS: [10, 10] } });
    const eventId = await hooks.send(sourceId);
    const status = async () => (await hooks.read(`/v1/events/${eventId}`)).status;
    await until(async () => (await status()) === 'retrying');
    const connectionId = await hooks.connect(sourceId, good.url);
    await hooks.post(`/v1/events/${eventId}/replay`, { connectionIds: [connectionId] });
    await until(() => good.hits.length === 1);
    await untilLater(hooks.clock, () => bad.hits.length === 2);
    await untilLater(hooks.clock, () => bad.hits.length === 3);
    await until(async () => (await status()) === 'partial');
  });

  it('reaches a connection that was created later', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const eventId = await hooks.send(sourceId);
    expect((await hooks.read(`/v1/events/${eventId}`)).status).toBe('filtered');
    const connectionId = await hooks.connect(sourceId, destination.url);
    await hooks.post(`/v1/events/${eventId}/replay`, { connectionIds: [connectionId] });
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'delivered');
    expect(destination.hits[0]!.headers['webhook-id']).toBe(eventId);
    const unknown = { method: 'POST', send: { connectionIds: ['conn_0'] } };
    expect((await hooks.call(`/v1/events/${eventId}/replay`, unknown)).status).toBe(404);
    expect((await hooks.call(`/v1/sources/${sourceId}/jobs`, unknown)).status).toBe(404);
  });
});

describe('cancelling', () => {
  it('ends pending deliveries', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'retrying');
    expect((await hooks.post(`/v1/events/${eventId}/cancel`, {})).deliveries).toBe(1);
    expect((await hooks.read(`/v1/events/${eventId}`)).status).toBe('failed');
    hooks.clock.set(hooks.clock.now() + 3_600_000);
    await hooks.clock.advance(2000);
    expect(destination.hits).toHaveLength(1);
  });

  it('cancels a delivery that is claimed at the same time', async () => {
    let touch: (() => Promise<unknown>) | undefined;
    const hooks = await openWebhooks({
      wrap: client => ({
        ...client,
        async transactWrite(input) {
          const touching = touch;
          touch = undefined;
          await touching?.();
          return client.transactWrite(input);
        },
      }),
    });
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const eventId = await hooks.send(sourceId);
    await until(async () => (await hooks.read(`/v1/events/${eventId}`)).status === 'retrying');
    const key = { eventId, connectionId, run: 0 };
    const dueAt = hooks.clock.now() + 60_000;
    touch = () => hooks.store.update(delivery, key, { set: { dueIn: 's0', dueAt } });
    expect((await hooks.post(`/v1/events/${eventId}/cancel`, {})).deliveries).toBe(1);
    expect((await hooks.read(`/v1/events/${eventId}`)).status).toBe('failed');
  });
});
