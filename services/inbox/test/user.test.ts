import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

const mine = 'main/users/u1';
const as = 'acme-u1';
const feed = async (query = '') => (await server.ask('GET', `${mine}/messages${query}`, { as })).body;
const counts = async () => (await server.ask('GET', `${mine}/counts`, { as })).body;
const publish = async (more: object = {}) => {
  await server.clock.advance(1000);
  return (await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], ...more } })).body.id;
};
const broadcast = async (more: object = {}) => {
  await server.clock.advance(1000);
  return (await server.ask('POST', 'main/broadcasts', { send: { ...hello, ...more } })).body.id;
};
const nowS = () => Math.floor(server.clock.now() / 1000);

describe('the feed', () => {
  it('merges own messages and broadcasts, newest first', async () => {
    const ids = [await publish(), await broadcast(), await publish(), await broadcast()];
    const { data } = await feed();
    expect(data.map(one => one.id)).toEqual(ids.toReversed());
    expect(data[0]).toMatchObject({ audiences: { kind: 'everyone' }, read: false, message: hello.message });
  });

  it('continues after a page, whatever arrives, expires or is redacted meanwhile', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(i % 3 ? await publish() : await broadcast());
    const first = await feed('?limit=4');
    await publish();
    await broadcast();
    await server.ask('DELETE', `main/messages/${ids[6]}`);
    const second = await feed(`?limit=4&cursor=${first.next_cursor}`);
    const third = await feed(`?limit=4&cursor=${second.next_cursor}`);
    const read = [first, second, third].flatMap(page => page.data.map(one => one.id));
    expect(read).toEqual(ids.filter(id => id !== ids[6]).toReversed());
    expect(third.next_cursor).toBeNull();
  });

  it('fills a page despite receipts between the messages', async () => {
    const read: string[] = [];
    for (let i = 0; i < 30; i++) read.push(await broadcast());
    await server.ask('POST', `${mine}/read`, { as, send: { ids: read } });
    for (const id of read.slice(0, 25)) await server.ask('DELETE', `main/messages/${id}`);
    const own = await publish();
    expect((await feed('?limit=10')).data.map(one => one.id)).toEqual([own, ...read.slice(25).toReversed()]);
  });

  it('filters by category, read state and archive', async () => {
    const offer = await publish({ taxonomy: { category: 'offer' } });
    const news = await broadcast({ taxonomy: { category: 'news' } });
    const plain = await publish();
    await server.ask('PUT', `${mine}/messages/${plain}/read`, { as });
    await server.ask('PUT', `${mine}/messages/${news}/archive`, { as });
    const ids = async (query: string) => (await feed(query)).data.map(one => one.id);
    expect(await ids('')).toEqual([plain, offer]);
    expect(await ids('?category=offer')).toEqual([offer]);
    expect(await ids('?read=true')).toEqual([plain]);
    expect(await ids('?read=false')).toEqual([offer]);
    expect(await ids('?archived=true')).toEqual([news]);
    expect((await counts()) as object).toMatchObject({
      total: 2,
      unread: 1,
      unseen: 1,
      categories: { offer: { total: 1, unread: 1, unseen: 1 } },
    });
  });

  it('answers 304 while nothing has changed', async () => {
    const id = await publish();
    for (const path of ['messages', 'counts', `messages/${id}`]) {
      const etag = (await server.call('GET', `${mine}/${path}`, { as })).headers.get('etag')!;
      const headers = { 'If-None-Match': etag };
      expect((await server.call('GET', `${mine}/${path}`, { as, headers })).status).toBe(304);
      await server.ask('PUT', `${mine}/messages/${id}/${path === 'messages' ? 'read' : 'archive'}`, { as });
      expect((await server.call('GET', `${mine}/${path}`, { as, headers })).status).toBe(200);
      await server.ask('DELETE', `${mine}/messages/${id}/read`, { as });
      await server.ask('DELETE', `${mine}/messages/${id}/archive`, { as });
    }
  });

  it('reads two items for the counts, and two queries at most for a page', async () => {
    for (let i = 0; i < 40; i++) await (i % 4 ? publish() : broadcast());
    await feed('?limit=30');
    server.ledger.clear();
    await counts();
    expect(server.ledger.entries().map(({ pattern, calls }) => [pattern, calls])).toEqual([
      ['open a mailbox', 2],
    ]);
    const callsOf = async (query: string) => {
      server.ledger.clear();
      await feed(query);
      return Object.fromEntries(server.ledger.entries().map(one => [one.pattern, one.calls]));
    };
    expect(await callsOf('?limit=29')).toEqual({ 'open a mailbox': 2, 'messages of a user': 1 });
    expect(await callsOf('?limit=29')).toEqual({ 'open a mailbox': 2 });
  });

  it('sends a cached page only while it is unchanged', async () => {
    const ids = async () => (await feed('?limit=2')).data.map(one => one.id);
    const first = await publish();
    const second = await publish({ ttl: '1h' });
    expect(await ids()).toEqual([second, first]);
    const all = await broadcast({ ttl: '2h' });
    expect(await ids()).toEqual([all, second]);
    await server.ask('PUT', `${mine}/messages/${second}/read`, { as });
    expect((await feed('?limit=2')).data[1]).toMatchObject({ id: second, read: true });
    await server.clock.advance(3600_000);
    expect(await ids()).toEqual([all, first]);
    await server.clock.advance(3600_000);
    expect(await ids()).toEqual([first]);
    const other = (await server.ask('GET', 'main/users/u2/messages?limit=2')).body.data;
    expect(other).toEqual([]);
  });
});

describe('marks', () => {
  it('marks one message, and undoes it', async () => {
    for (const id of [await publish(), await broadcast()]) {
      const read = await server.ask('PUT', `${mine}/messages/${id}/read`, { as });
      expect(read.body).toMatchObject({ id, read: true, seen: true, readat: nowS() });
      await server.clock.advance(5000);
      const again = await server.ask('PUT', `${mine}/messages/${id}/read`, { as });
      expect(again.body.readat).toBe(nowS() - 5);
      const unread = await server.ask('DELETE', `${mine}/messages/${id}/read`, { as });
      expect(unread.body).toMatchObject({ read: false, seen: true, readat: null });
    }
  });

  it('marks up to a hundred, and reports missing ones', async () => {
    const ids = [];
    for (let i = 0; i < 45; i++) ids.push(await (i % 2 ? publish() : broadcast()));
    const missing = `${ids[0]!.slice(0, 23)}0`;
    const send = { ids: [...ids, missing] };
    const { body } = await server.ask('POST', `${mine}/read`, { as, send });
    expect(body).toEqual({ changed: 45, not_found: [missing] });
    expect(await counts()).toMatchObject({ total: 45, unread: 0, unseen: 0 });
    expect((await server.ask('POST', `${mine}/unread`, { as, send })).body).toMatchObject({ changed: 45 });
    expect(await counts()).toMatchObject({ total: 45, unread: 45, unseen: 0 });
  });

  it('marks everything read up to a time, or in a category', async () => {
    const early = [await publish({ taxonomy: { category: 'offer' } }), await broadcast()];
    const as_of = nowS();
    const late = [await publish(), await broadcast({ taxonomy: { category: 'offer' } })];
    expect((await server.ask('POST', `${mine}/read`, { as, send: { as_of } })).body).toMatchObject({
      changed: 2,
    });
    expect((await feed('?read=true')).data.map(one => one.id)).toEqual(early.toReversed());
    expect(await counts()).toMatchObject({ total: 4, unread: 2 });
    await server.ask('POST', `${mine}/read`, { as, send: { category: 'offer' } });
    expect(await counts()).toMatchObject({ unread: 1, categories: { offer: { total: 2, unread: 0 } } });
    expect((await feed('?read=false')).data.map(one => one.id)).toEqual([late[0]]);
    await server.ask('DELETE', `${mine}/messages/${early[0]}/read`, { as });
    expect(await counts()).toMatchObject({ unread: 2 });
    await server.ask('POST', `${mine}/read`, { as, send: {} });
    expect(await counts()).toMatchObject({ unread: 0 });
    expect((await feed()).data.every(one => one.readat !== null)).toBe(true);
    expect(late).toHaveLength(2);
  });

  it('marks messages sent since a time', async () => {
    const old = await publish();
    await server.clock.advance(10_000);
    const since = nowS();
    await publish();
    await broadcast();
    await server.ask('POST', `${mine}/read`, { as, send: { since } });
    expect((await feed('?read=false')).data.map(one => one.id)).toEqual([old]);
  });

  it('marks all as seen without marking them as read', async () => {
    await publish();
    await broadcast();
    expect(await counts()).toMatchObject({ unread: 2, unseen: 2 });
    await server.ask('POST', `${mine}/seen`, { as, send: {} });
    expect(await counts()).toMatchObject({ unread: 2, unseen: 0 });
    await publish();
    expect(await counts()).toMatchObject({ unread: 3, unseen: 1 });
  });

  it('stores many ranges, and writes the oldest to its messages if there are too many', async () => {
    const ids = [];
    for (let i = 0; i < 40; i++) ids.push(await publish());
    const first = nowS() - 39;
    // Each range is one second; none goes over another.
    for (let i = 0; i < 40; i += 2) {
      const send = { since: first + i, as_of: first + i };
      await server.ask('POST', `${mine}/read`, { as, send });
    }
    expect(await counts()).toMatchObject({ total: 40, unread: 20 });
    const { data } = await feed('?limit=100&read=true');
    expect(data.map(one => one.id)).toEqual(ids.filter((_, i) => i % 2 === 0).toReversed());
  });

  it('snoozes until a time, and then shows the message as unread', async () => {
    for (const id of [await publish(), await broadcast()]) {
      await server.ask('PUT', `${mine}/messages/${id}/read`, { as });
      const until = nowS() + 60;
      const { body } = await server.ask('PUT', `${mine}/messages/${id}/snooze`, { as, send: { until } });
      expect(body).toMatchObject({ snoozed_until: until, read: false });
      expect((await feed('?snoozed=true')).data.map(one => one.id)).toEqual([id]);
      await server.ask('POST', `${mine}/read`, { as, send: {} });
      const before = await counts();
      await server.clock.advance(until * 1000 - 1 - server.clock.now());
      expect(await counts()).toEqual(before);
      await server.clock.advance(1);
      expect((await feed('?read=false')).data.map(one => one.id)).toEqual([id]);
      expect(await counts()).toMatchObject({ unread: 1 });
      await server.ask('POST', `${mine}/read`, { as, send: {} });
      expect(await counts()).toMatchObject({ unread: 0 });
    }
  });

  it('refuses to snooze into the past, or past the expiry', async () => {
    const id = await publish({ ttl: '60s' });
    for (const until of [nowS(), nowS() + 60])
      expect(
        (await server.ask('PUT', `${mine}/messages/${id}/snooze`, { as, send: { until } })).body.code,
      ).toBe('inbox.snooze_invalid');
  });
});

describe('expiry', () => {
  it('removes messages from feed and counts at their second, before they are swept', async () => {
    const own = await publish({ ttl: '60s' });
    await broadcast({ ttl: '59s' });
    await server.ask('PUT', `${mine}/messages/${own}/read`, { as });
    await server.clock.advance(58_999);
    expect(await counts()).toMatchObject({ total: 2, unread: 1 });
    await server.clock.advance(1);
    expect(await counts()).toMatchObject({ total: 0, unread: 0, unseen: 0 });
    expect((await feed()).data).toEqual([]);
    expect((await server.ask('GET', `${mine}/messages/${own}`, { as })).status).toBe(404);
    expect((await server.ask('PUT', `${mine}/messages/${own}/read`, { as })).status).toBe(404);
  });

  it('counts correctly if the message was swept before it was read', async () => {
    for (let i = 0; i < 50; i++) await publish({ ttl: '100s', taxonomy: { category: 'offer' } });
    await publish({ ttl: '500s' });
    await server.clock.advance(200_000);
    await server.engine.sweep();
    expect(await counts()).toEqual({ total: 1, unread: 1, unseen: 1, categories: {} });
  });
});

describe('late joiners', () => {
  it.each([
    ['all', 3],
    ['none', 0],
    [{ last: 2 }, 2],
  ])('see, by the policy %j, %i of three earlier messages', async (late_joiners, seen) => {
    await server.ask('PUT', 'main', { send: { ...main, late_joiners } });
    for (let i = 0; i < 3; i++) await broadcast();
    expect(await counts()).toMatchObject({ total: seen, unread: seen });
    await server.ask('PUT', mine, { as });
    expect(await counts()).toMatchObject({ total: seen, unread: seen });
    await broadcast();
    expect((await feed()).data).toHaveLength(seen + 1);
  });

  it('see the last few messages while only reading, and join with the first mark', async () => {
    await server.ask('PUT', 'main', { send: { ...main, late_joiners: { last: 1 } } });
    const [first, second] = [await broadcast(), await broadcast()];
    expect((await feed()).data.map(one => one.id)).toEqual([second]);
    expect((await server.ask('PUT', `${mine}/messages/${first}/read`, { as })).status).toBe(404);
    const third = await broadcast();
    expect((await feed()).data.map(one => one.id)).toEqual([third]);
    await server.ask('PUT', `${mine}/messages/${third}/read`, { as });
    const fourth = await broadcast();
    expect((await feed()).data.map(one => one.id)).toEqual([fourth, third]);
    expect(await counts()).toMatchObject({ total: 2, unread: 1 });
  });
});
