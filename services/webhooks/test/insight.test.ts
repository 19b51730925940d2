import { createLogger, manualClock, seededRandom } from '@stak/kit';
import { createConsumer, engineSource, streamsTable } from '@stak/streams';
import { createTables } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as limits from '../src/limits.ts';
import { type Alert, source } from '../src/main-table.ts';
import { answer, type Hit, openDestination } from './destination.ts';
import { type Fixture, openWebhooks, startWebhooks, until, untilLater } from './webhooks-fixture.ts';

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
  it('shows events as they arrive, and resumes where it was disconnected', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    await hooks.send(sourceId, 'before');
    await hooks.clock.advance(1000);
    const first = await follow(hooks, `/v1/sources/${sourceId}/tail?payload=true`);
    const seen = [await hooks.send(sourceId, 'one'), await hooks.send(sourceId, 'two')];
    await until(() => first.events.length === 2);
    expect(first.events.map(event => event.id)).toEqual(seen);
    expect(first.events[0]!.data).toMatchObject({
      eventId: seen[0],
      body: Buffer.from('one').toString('base64'),
    });
    await first.close();

    await hooks.clock.advance(limits.tailOverlapMs + 1);
    const missed = await Promise.all(Array.from({ length: 30 }, () => hooks.send(sourceId, 'missed')));
    const second = await follow(hooks, `/v1/sources/${sourceId}/tail`, seen[1]);
    await until(() => missed.every(id => second.events.some(event => event.id === id)));
    expect(second.events.length).toBeLessThanOrEqual(missed.length + 3); // the last seconds come again
    await second.close();
  });

  it('resumes where it was disconnected, however long ago', async () => {
    const hooks = await openWebhooks();
    const sourceId = await hooks.source();
    const last = await hooks.send(sourceId, 'seen');
    await hooks.clock.advance(limits.tailOverlapMs + 1);
    const missed = await hooks.send(sourceId, 'missed');
    hooks.clock.set(hooks.clock.now() + 3 * 86_400_000);
    const tail = await follow(hooks, `/v1/sources/${sourceId}/tail`, last);
    await until(() => tail.events.some(event => event.id === missed));
    const next = await hooks.send(sourceId, 'next');
    await until(() => tail.events.some(event => event.id === next));
    expect(tail.events.map(event => event.id)).toEqual([last, missed, next]);
    await tail.close();
  });

  it('shows what another process received', async () => {
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

async function consumeAlerts(hooks: Fixture) {
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
  return consumer;
}

describe('when processes are killed', () => {
  it('usage and statuses stay exact, and no event stays received', async () => {
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

  it('counts what was delivered while a process was stopping', async () => {
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

describe('when responses are lost', () => {
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
    const deliveries = async () => (await hooks.read(`/v1/connections/${connectionId}`)).deliveryCount;
    const hasCounted = async () => {
      const { attempts, statuses } = await analytics();
      return attempts >= 40 && statuses.delivered === 40 && (await deliveries()) >= 40;
    };
    // In small steps: the retries of a write take real time, and must not run out of patience.
    await untilLater(hooks.clock, hasCounted, 20);
    await hooks.clock.advance(2 * limits.flushMs);
    expect(destination.hits).toHaveLength(40);
    expect(await analytics()).toMatchObject({
      received: 40,
      attempts: 40,
      statuses: { delivered: 40, received: 0 },
    });
    expect(await hooks.usage('usr_ann')).toBe(40);
    expect(await hooks.read(`/v1/sources/${sourceId}`)).toMatchObject({ eventCount: 40 });
    expect(await deliveries()).toBe(40);
  });
});

describe('alerts', () => {
  it('go to the owner and to the source’s address, once an hour', async () => {
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

  it('are signed as Standard Webhooks, with both secrets during a rotation', async () => {
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

  it('of a source that is older than their signatures are signed with a lasting secret', async () => {
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

  // Only its owner can correct the address, so operators get no alarm.
  it('that their address refuses are no dead letters', async () => {
    const hooks = await openWebhooks();
    const [destination, pager] = [await openDestination(answer(400)), await openDestination()];
    await pager.close();
    const consumer = await consumeAlerts(hooks);
    const sourceId = await hooks.source({ alertUrl: pager.url });
    await hooks.connect(sourceId, destination.url, { retryConfig: { maxAttempts: 1 } });
    await hooks.send(sourceId);
    await until(() => consumer.counters().retries > 0);
    await until(async () => (await consumer.status()).shards.every(({ behind }) => behind?.records === 0));
    expect(consumer.counters()).toMatchObject({ retries: limits.alertAttempts - 1, deadLetters: 0 });
  });

  it('of one customer do not wait for another’s address that hangs', async () => {
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
  it('removes all data of an account, and none of another', async () => {
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
    const others = /^(USAGE#|COUNTED$|CREATION#.*usr_bob$)/;
    const left = items
      .flat()
      .filter(item => item.userId !== 'usr_bob' && item.sourceId !== bobs && !others.test(item.PK));
    expect(left.map(item => [item.PK, item.SK])).toEqual([]);
    expect((await hooks.read(`/v1/sources/${bobs}/events`, { as: 'bob' })).data).toHaveLength(1);
    expect(await hooks.webhooks.eraser.eraseAccount('usr_ann')).toBe('done');
  });
});
