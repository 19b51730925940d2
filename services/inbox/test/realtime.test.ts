import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { readEvents, startConsumers } from './consumers.ts';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

let server: TestServer;
let consumers: ReturnType<typeof startConsumers>;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
  consumers = startConsumers(server);
});
afterEach(async () => {
  server.api.stop();
  await consumers.stop();
  await server.close();
});

const as = 'acme-u1';
const open = async (lastEventId?: string) =>
  readEvents(
    await server.call('GET', 'main/users/me/stream', {
      as,
      headers: lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId },
    }),
  );
const publish = async (more: object = {}) =>
  (await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], ...more } })).body.id;
const broadcast = async (more: object = {}) =>
  (await server.ask('POST', 'main/broadcasts', { send: { ...hello, ...more } })).body.id;

describe('the event stream', () => {
  it('sends counts, new messages and redactions as they happen', async () => {
    const events = await open();
    expect(await events.next()).toMatchObject({ event: 'counts', data: { total: 0 } });
    const own = await publish();
    expect(await events.take(2)).toMatchObject([
      { event: 'message', data: { id: own, read: false } },
      { event: 'counts', data: { total: 1, unread: 1 } },
    ]);
    const toEveryone = await broadcast();
    expect(await events.take(2)).toMatchObject([
      { event: 'message', data: { id: toEveryone } },
      { event: 'counts', data: { total: 2 } },
    ]);
    await server.ask('DELETE', `main/messages/${toEveryone}`);
    expect(await events.take(2)).toMatchObject([
      { event: 'redaction', data: { id: toEveryone } },
      { event: 'counts', data: { total: 1 } },
    ]);
    await server.ask('DELETE', `main/messages/${own}`);
    expect(await events.take(2)).toMatchObject([
      { event: 'redaction', data: { id: own } },
      { event: 'counts', data: { total: 0 } },
    ]);
    await events.close();
  });

  it('requests a reload when a category is deleted, also from a client that reconnects', async () => {
    const taxonomy = { category: 'offer' };
    await publish({ taxonomy });
    await publish();
    const events = await open();
    const { id } = await events.next();
    await broadcast({ taxonomy });
    await events.take(2);
    await server.ask('DELETE', 'main/categories/offer?messages=delete');
    expect(await events.take(2)).toMatchObject([
      { event: 'reset' },
      { event: 'counts', data: { total: 1, categories: {} } },
    ]);
    await events.close();
    const back = await open(id);
    expect(await back.next()).toMatchObject({ event: 'reset' });
    await back.close();
  });

  it('misses nothing for a client that disconnects between two simultaneous events', async () => {
    const first = await open();
    const { id } = await first.next();
    await first.close();
    const missed = [await publish(), await publish(), await publish()];
    const second = await open(id);
    const seen = [await second.next()];
    await second.close();
    const third = await open(seen[0]!.id);
    for (;;) {
      const one = await third.next();
      if (one.event === 'counts') break;
      seen.push(one);
    }
    expect(new Set(seen.map(one => one.data.id))).toEqual(new Set(missed));
    await third.close();
  });

  it('requests a reload from a client that missed very many broadcasts', async () => {
    const first = await open();
    const { id } = await first.next();
    await first.close();
    for (let n = 0; n < limits.resumedMessages; n++) await broadcast();
    const second = await open(id);
    expect(new Set((await second.take(limits.resumedMessages)).map(one => one.event))).toEqual(
      new Set(['message']),
    );
    await second.close();
    await broadcast();
    const third = await open(id);
    expect(await third.next()).toMatchObject({ event: 'reset' });
    await third.close();
  });

  it('resumes after the client’s last event', async () => {
    const first = await open();
    const { id } = await first.next();
    await first.close();
    const missed = [await publish(), await broadcast(), await publish()];
    const second = await open(id);
    const events = await second.take(4);
    expect(
      events
        .slice(0, 3)
        .map(event => event.data.id)
        .toSorted(),
    ).toEqual(missed.toSorted());
    expect(events[3]).toMatchObject({ event: 'counts', data: { total: 3 } });
    await second.close();
    const third = await open(events[3]!.id);
    expect(await third.next()).toMatchObject({ event: 'counts', data: { total: 3 } });
    await third.close();
  });

  it('requests a reload if it cannot determine what was missed', async () => {
    const stranger = await open('not ours');
    expect(await stranger.next()).toMatchObject({ event: 'reset' });
    const { id } = await stranger.next();
    await stranger.close();
    const gone = await publish();
    await server.ask('DELETE', `main/messages/${gone}`);
    const back = await open(id);
    expect(await back.next()).toMatchObject({ event: 'reset' });
    await back.close();
  });

  it('reports an expiry at its second', async () => {
    await publish({ ttl: '5s' });
    const events = await open();
    expect(await events.next()).toMatchObject({ event: 'counts', data: { total: 1 } });
    const next = events.next();
    while (server.clock.sleepers() < 2) await new Promise(resolve => setImmediate(resolve));
    await server.clock.advance(5000);
    expect(await next).toMatchObject({ event: 'counts', data: { total: 0 } });
    await events.close();
  });

  it('hides messages from other users', async () => {
    const events = await open();
    await events.next();
    await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u2'] } });
    const own = await publish();
    expect(await events.next()).toMatchObject({ event: 'message', data: { id: own } });
    await events.close();
  });
});
