import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { job } from '../src/tables.ts';
import { type Answer, answer, openDestination } from './destination.ts';
import { type Fixture, leap, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

const statusOf = async (hooks: Fixture, eventId: string): Promise<string> =>
  (await hooks.read(`/v1/events/${eventId}`)).status;
const numberIn = (body: Buffer): number => JSON.parse(body.toString()).n;

describe('an idle queue', () => {
  it('is not read, until something is due or another process writes', async () => {
    let reads = 0;
    const hooks = await openWebhooks({
      wrap: client => ({
        ...client,
        query(input) {
          if (input.IndexName === 'GSI2') reads += 1;
          return client.query(input);
        },
      }),
    });
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { retryConfig: { delaysS: [3600] } });
    await leap(hooks.clock, limits.settledMs);
    const eventId = await hooks.send(sourceId);
    const status = async () => (await hooks.read(`/v1/events/${eventId}`)).status;
    await untilLater(hooks.clock, async () => (await status()) === 'retrying');
    await hooks.clock.advance(60_000);
    reads = 0;
    await hooks.clock.advance(600_000);
    expect(reads).toBe(0);
    destination.answer = answer(200);
    await leap(hooks.clock, 3_000_000);
    await untilLater(hooks.clock, async () => (await status()) === 'delivered');

    const { engine, clock } = hooks;
    const other = await startWebhooks({ clock }, engine.client, engine);
    await other.stop(); // what it takes is due, and for others to deliver
    await clock.advance(60_000);
    await other.send(sourceId);
    await untilLater(clock, () => destination.hits.length === 3);
  });
});

describe('a paused source', () => {
  it('holds events and delivers them when it is resumed', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const patch = (send: object) => hooks.read(`/v1/sources/${sourceId}`, { method: 'PATCH', send });
    await patch({ status: 'paused' });
    const held = await hooks.ingest(sourceId);
    expect(held.status).toBe(202);
    const { eventId } = (await held.json()) as { eventId: string };
    await leap(hooks.clock, 3_600_000);
    expect(destination.hits).toEqual([]);
    expect((await hooks.read(`/v1/events/${eventId}`)).deliveries[0].isHeld).toBe(true);
    await patch({ status: 'active' });
    await untilLater(hooks.clock, async () => (await statusOf(hooks, eventId)) === 'delivered');
    await patch({ status: 'paused', whilePaused: 'refuse' });
    const refused = await hooks.ingest(sourceId);
    expect([refused.status, (await refused.json()) as object]).toMatchObject([
      410,
      { code: 'webhooks.source_paused' },
    ]);
  });
});

describe('a paused connection', () => {
  it('keeps everything that was due, over batches, and loses nothing', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const patch = (send: object) => hooks.read(`/v1/connections/${connectionId}`, { method: 'PATCH', send });
    await patch({ status: 'paused' });
    const events = limits.backlogBatch * 2 + 30;
    for (let n = 0; n < events; n++) await hooks.send(sourceId, JSON.stringify({ n }));
    await leap(hooks.clock, 10_000);
    expect(destination.hits).toEqual([]);
    await patch({ status: 'active' });
    await untilLater(hooks.clock, () => destination.hits.length >= events, 250);
    expect(new Set(destination.hits.map(hit => numberIn(hit.body))).size).toBe(events);
    expect(destination.hits).toHaveLength(events);
  });

  it('also holds what waits in memory, and delivers it when it is active again', async () => {
    const hooks = await openWebhooks();
    const pending: (() => void)[] = [];
    const destination = await openDestination((_, response) => {
      pending.push(() => void response.writeHead(200).end());
    });
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const patch = (send: object) => hooks.read(`/v1/connections/${connectionId}`, { method: 'PATCH', send });
    const sent: string[] = [];
    for (let n = 0; n < 4; n++) sent.push(await hooks.send(sourceId)); // a new connection gets one at a time
    await until(() => pending.length === 1);
    await patch({ status: 'paused' });
    pending[0]!();
    for (const eventId of sent.slice(1))
      await until(async () => (await hooks.read(`/v1/events/${eventId}`)).deliveries[0].isHeld);
    expect(destination.hits).toHaveLength(1);
    destination.answer = answer(200);
    await patch({ status: 'active' });
    for (const eventId of sent)
      await untilLater(hooks.clock, async () => (await statusOf(hooks, eventId)) === 'delivered');
    expect(destination.hits).toHaveLength(sent.length);
  });

  it('does not wait for long jobs', async () => {
    let gate: Promise<unknown> | undefined;
    const hooks = await openWebhooks({
      wrap: client => ({
        ...client,
        async query(input) {
          if (JSON.stringify(input).includes('EVT#')) await gate; // as a job asks for events
          return client.query(input);
        },
      }),
    });
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const patch = (send: object) => hooks.read(`/v1/connections/${connectionId}`, { method: 'PATCH', send });
    await patch({ status: 'paused' });
    await hooks.send(sourceId);
    let open = () => {};
    gate = new Promise<void>(resolve => (open = resolve));
    const { backlog, job: jobs } = limits.backgroundRuns;
    for (let n = 0; n < backlog + jobs; n++) {
      const of = { userId: `usr_${n}`, jobId: `job_${n}`, sourceId, action: 'replay' as const };
      const due = { dueIn: 's0', dueAt: hooks.clock.now(), createdAt: hooks.clock.now() };
      const none = { matched: 0, deliveries: 0, failures: 0 };
      await hooks.store.put(job, { ...of, ...due, ...none, state: 'running', expiresAt: 2_000_000_000 });
    }
    await hooks.clock.advance(limits.scanMs);
    await patch({ status: 'active' });
    await untilLater(hooks.clock, () => destination.hits.length === 1);
    open();
  });

  it('that is deleted cancels its deliveries', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const path = `/v1/connections/${connectionId}`;
    await hooks.read(path, { method: 'PATCH', send: { status: 'paused' } });
    const eventId = await hooks.send(sourceId);
    await hooks.read(path, { method: 'DELETE' });
    await untilLater(hooks.clock, async () => (await statusOf(hooks, eventId)) === 'failed');
    expect((await hooks.read(`/v1/events/${eventId}`)).deliveries[0].state).toBe('cancelled');
    expect((await hooks.call(path)).status).toBe(404);
    expect(destination.hits).toEqual([]);
  });
});

describe('a delivery that waits in memory', () => {
  it('is attempted as soon as it can be, even if most of its lease has passed', async () => {
    const hooks = await openWebhooks();
    const pending: (() => void)[] = [];
    const destination = await openDestination((_, response) => {
      pending.push(() => void response.writeHead(200).end());
    });
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url);
    const sent: string[] = [];
    for (let n = 0; n < 4; n++) sent.push(await hooks.send(sourceId));
    await until(() => pending.length === 1);
    hooks.clock.set(hooks.clock.now() + limits.leaseMs - limits.leaseSpareMs);
    destination.answer = answer(200);
    pending[0]!();
    for (const eventId of sent) await until(async () => (await statusOf(hooks, eventId)) === 'delivered');
    expect(destination.hits).toHaveLength(sent.length);
    expect(hooks.lines).toEqual([]);
  });
});

describe('the breaker', () => {
  it('pauses a failing destination, probes it, and resumes it when it recovers', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    const connectionId = await hooks.connect(sourceId, destination.url);
    const breaker = async () => (await hooks.read(`/v1/connections/${connectionId}`)).breaker;
    for (let n = 0; n < limits.breakerFailures; n++) {
      await hooks.send(sourceId, JSON.stringify({ n }));
      await until(() => destination.hits.length === n + 1);
    }
    await until(async () => (await breaker()) === 'open');
    expect((await hooks.read('/v1/webhook-alerts')).data).toMatchObject([
      { alertKind: 'breaker_opened', connectionId },
    ]);
    const waiting = await hooks.send(sourceId, '{"n":99}');
    await leap(hooks.clock, limits.retryDelaysMs[1]!);
    await until(async () => (await hooks.read(`/v1/events/${waiting}`)).deliveries[0].isHeld);
    expect(destination.hits).toHaveLength(limits.breakerFailures);

    await leap(hooks.clock, limits.breakerFirstMs); // the first probe fails
    await untilLater(hooks.clock, () => destination.hits.length === limits.breakerFailures + 1);
    await untilLater(hooks.clock, async () => (await breaker()) === 'open');

    destination.answer = answer(200);
    await leap(hooks.clock, 2 * limits.breakerFirstMs);
    await untilLater(hooks.clock, async () => (await breaker()) === 'closed');
    await untilLater(hooks.clock, async () => (await statusOf(hooks, waiting)) === 'delivered');
    await untilLater(
      hooks.clock,
      async () => {
        const { data } = await hooks.read(`/v1/sources/${sourceId}/events`);
        return data.every((one: { status: string }) => one.status === 'delivered');
      },
      30_000,
    );
    expect((await hooks.read('/v1/webhook-alerts')).data).toHaveLength(1);
  });
});

describe('an ordered connection', () => {
  it('delivers one at a time, and waits for one that fails', async () => {
    const hooks = await openWebhooks();
    let failures = 2;
    let inFlight = 0;
    const behaviour: Answer = (hit, response) => {
      expect(++inFlight).toBe(1);
      const status = numberIn(hit.body) === 1 && failures-- > 0 ? 500 : 200;
      setImmediate(() => {
        inFlight -= 1;
        response.writeHead(status).end();
      });
    };
    const destination = await openDestination(behaviour);
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { ordered: true });
    await Promise.all([0].map(n => hooks.send(sourceId, JSON.stringify({ n }))));
    for (let n = 1; n < 20; n++) await hooks.send(sourceId, JSON.stringify({ n }));
    await untilLater(hooks.clock, () => destination.hits.length === 22);
    const order = destination.hits.map(hit => numberIn(hit.body));
    expect(order).toEqual([0, 1, 1, ...Array.from({ length: 19 }, (_, i) => i + 1)]);
  });

  it('continues when the first in the queue is cancelled', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { ordered: true });
    const first = await hooks.send(sourceId, '{"n":0}');
    await until(async () => (await statusOf(hooks, first)) === 'retrying');
    const second = await hooks.send(sourceId, '{"n":1}');
    await hooks.clock.advance(2000);
    destination.answer = answer(200);
    await hooks.post(`/v1/events/${first}/cancel`, {});
    await untilLater(hooks.clock, async () => (await statusOf(hooks, second)) === 'delivered');
    expect(destination.hits.map(hit => numberIn(hit.body))).toEqual([0, 1]);
  });
});

describe('an ordered connection that fails', () => {
  it('is probed with the first in order, even if others were in its backlog before it', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    const retryConfig = { delaysS: [30, 30, 30, 30, 30, 30] };
    const connectionId = await hooks.connect(sourceId, destination.url, { ordered: true, retryConfig });
    const breaker = async () => (await hooks.read(`/v1/connections/${connectionId}`)).breaker;
    await hooks.send(sourceId, '{"n":0}'); // seven attempts in vain, and ten open the breaker
    const first = await hooks.send(sourceId, '{"n":1}');
    await untilLater(hooks.clock, async () => (await breaker()) === 'open');
    const hits = destination.hits.length;
    destination.answer = answer(200);
    for (let n = 2; n < 12; n++) await hooks.send(sourceId, JSON.stringify({ n }));
    const isHeld = async () => (await hooks.read(`/v1/events/${first}`)).deliveries[0].isHeld;
    await untilLater(hooks.clock, isHeld);
    await leap(hooks.clock, limits.breakerFirstMs);
    const startedMs = hooks.clock.now();
    await untilLater(hooks.clock, () => destination.hits.length === hits + 11, 100);
    expect(hooks.clock.now() - startedMs).toBeLessThan(limits.breakerFirstMs);
    expect(destination.hits.slice(hits).map(hit => numberIn(hit.body))).toEqual(
      Array.from({ length: 11 }, (_, i) => i + 1),
    );
  });

  it('does not attempt the first entry sooner because one far behind was cancelled', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination(answer(500));
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { ordered: true });
    const events: string[] = [];
    for (let n = 0; n < limits.orderItems + 3; n++) events.push(await hooks.send(sourceId));
    await until(async () => (await statusOf(hooks, events[0]!)) === 'retrying');
    await hooks.clock.advance(2000);
    await hooks.post(`/v1/events/${events.at(-1)}/cancel`, {});
    await hooks.clock.advance(2000);
    expect(destination.hits).toHaveLength(1);
  });
});

describe('a script that cannot be run now', () => {
  it('costs its delivery no attempt', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    const transform = { type: 'javascript', code: 'const transform = event => event' };
    const settings = { transform, retryConfig: { maxAttempts: 1 } };
    const connectionId = await hooks.connect(sourceId, destination.url, settings);
    await hooks.webhooks.close(); // its sandbox takes no more work
    const send = { method: 'POST', headers: [], query: '', body: '{}' };
    const tried = await hooks.call(`/v1/connections/${connectionId}/test`, { method: 'POST', send });
    expect([tried.status, tried.headers.get('retry-after')]).toEqual([503, '2']);
    const eventId = await hooks.send(sourceId);
    const delivery = async () => (await hooks.read(`/v1/events/${eventId}`)).deliveries[0];
    await until(async () => (await delivery()).nextAttemptAt === hooks.clock.now() + limits.busyMs);
    expect(await delivery()).toMatchObject({ state: 'pending', attempts: 0 });
  });
});

describe('a connection with a rate', () => {
  it('gets no more than that, whatever is due', async () => {
    const hooks = await openWebhooks();
    const destination = await openDestination();
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, destination.url, { ratePerSecond: 5 });
    for (let n = 0; n < 20; n++) await hooks.send(sourceId, JSON.stringify({ n }));
    await until(() => destination.hits.length === 5);
    const startedMs = hooks.clock.now();
    await untilLater(hooks.clock, () => destination.hits.length === 20, 100);
    expect(hooks.clock.now() - startedMs).toBeGreaterThanOrEqual(2900);
    expect(new Set(destination.hits.map(hit => numberIn(hit.body))).size).toBe(20);
  });
});

describe('slow destinations', () => {
  it('do not delay a fast one', async () => {
    const hooks = await openWebhooks();
    const hanging = await openDestination(() => {});
    const quick = await openDestination();
    const slowSource = await hooks.source();
    for (let i = 0; i < 40; i++) await hooks.connect(slowSource, `${hanging.url}/${i}`);
    const quickSource = await hooks.source();
    await hooks.connect(quickSource, quick.url);
    for (let n = 0; n < 12; n++) await hooks.send(slowSource, JSON.stringify({ n }));
    await until(() => hanging.hits.length >= 40);
    for (let n = 0; n < 20; n++) {
      await hooks.send(quickSource, JSON.stringify({ n }));
      await until(() => quick.hits.length === n + 1); // no time has to pass
    }
  });
});
