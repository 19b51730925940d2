import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publicCategoryStats, publicStats, receipt } from '../src/tables.ts';
import { startConsumers } from './consumers.ts';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

const inboxId = { tenant_key: 'acme', inbox_key: 'main' };
const broadcast = async (category: string, ttl: string) =>
  (await server.ask('POST', 'main/broadcasts', { send: { ...hello, taxonomy: { category }, ttl } })).body.id;
const storedOf = async (category: string) =>
  (await server.store.get(publicCategoryStats, { ...inboxId, category }))?.published ?? 0;

describe('the stored count of broadcasts', () => {
  it('drops a message when it expires, even if another was sent before the sweep', async () => {
    await broadcast('flash', '6s');
    await server.clock.advance(7000);
    await broadcast('news', '1h');
    expect([await storedOf('flash'), await storedOf('news')]).toEqual([0, 1]);
  });

  it('follows the sweep if nothing was written since', async () => {
    for (const category of ['flash', 'flash', 'news']) await broadcast(category, '6s');
    await broadcast('long', '1h');
    const consumers = startConsumers(server);
    await server.clock.advance(7000);
    await server.engine.sweep();
    await consumers.until(async () => (await storedOf('flash')) + (await storedOf('news')) === 0);
    await consumers.stop();
    expect(await storedOf('long')).toBe(1);
    expect(await server.store.get(publicStats, inboxId)).toMatchObject({ published: 1, counts: { long: 1 } });
  });

  it('is repaired if it was stored wrong before heads had counts', async () => {
    await broadcast('flash', '6s');
    const { counts: _, kind: __, version, ...head } = (await server.store.get(publicStats, inboxId))!;
    await server.store.put(publicStats, head, { ifVersion: version });
    await server.clock.advance(7000);
    await broadcast('news', '1h');
    expect([await storedOf('flash'), await storedOf('news')]).toEqual([0, 1]);
  });
});

describe('the host', () => {
  it('counts broadcasts as of now', async () => {
    await broadcast('flash', '6s');
    await broadcast('news', '1h');
    await server.ask('POST', 'main/broadcasts', { send: hello });
    await server.ask('PUT', 'main/users/u1');
    const counts = async () => (await server.ask('GET', 'main/public-counts', { as: 'reader' })).body;
    expect(await counts()).toEqual({ published: 3, categories: { flash: 1, news: 1 }, members: 1 });
    await server.clock.advance(6000);
    expect(await counts()).toEqual({ published: 2, categories: { news: 1 }, members: 1 });
    expect((await server.ask('GET', 'main/public-counts', { as: 'acme-u1' })).status).toBe(403);
  });

  const uids = Array.from({ length: 25 }, (_, i) => `u${String(i).padStart(2, '0')}`);
  type Row = { uid: string; read: boolean; readat: number | null };
  const receipts = async (id: string, query = '') => {
    const rows: Row[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const path = `main/sends/${id}/receipts?limit=10${query}${cursor && `&cursor=${cursor}`}`;
      const { status, body } = await server.ask('GET', path, { as: 'reader' });
      expect(status).toBe(200);
      rows.push(...(body.data as unknown as Row[]));
      cursor = body.next_cursor;
    }
    return rows;
  };

  it.each(['everyone', 'users'])(
    'reads who has read a message to %s, page by page and as a file',
    async kind => {
      const own = await server.ask('POST', 'main/messages', { send: { ...hello, uids } });
      await server.inbox.operations.runDue();
      const id = kind === 'users' ? own.body.id : await broadcast('news', '1h');
      const readat = server.clock.now() / 1000;
      await server.ask('PUT', `main/users/u03/messages/${id}/read`);
      await server.ask('POST', 'main/users/u17/read', { send: {} });
      await server.ask('PUT', `main/users/u05/messages/${id}/read`);
      await server.ask('DELETE', `main/users/u05/messages/${id}/read`);
      const expected = uids.map(uid => {
        const read = uid === 'u03' || uid === 'u17';
        return { uid, read, readat: read ? readat : null };
      });
      expect(await receipts(id)).toEqual(expected);
      expect((await receipts(id, '&read=true')).map(one => one.uid)).toEqual(['u03', 'u17']);
      expect(await receipts(id, '&read=false')).toHaveLength(23);

      const file = async (format: string) => {
        const answer = await server.call('GET', `main/sends/${id}/receipts/export?format=${format}`);
        return { type: answer.headers.get('content-type'), text: await answer.text() };
      };
      const ndjson = await file('ndjson');
      expect(ndjson.type).toBe('application/x-ndjson');
      expect(
        ndjson.text
          .trim()
          .split('\n')
          .map(line => JSON.parse(line)),
      ).toEqual(expected);
      const csv = await file('csv');
      expect(csv.text.split('\r\n').slice(0, 5)).toEqual([
        'uid,read,readat',
        'u00,false,',
        'u01,false,',
        'u02,false,',
        `u03,true,${readat}`,
      ]);
      await server.ask('DELETE', `main/messages/${id}`);
      expect(await receipts(id)).toEqual([]);
    },
  );

  it('reads receipts of messages marked together, which are withdrawn with the mark', async () => {
    const ids = [await broadcast('news', '1h'), await broadcast('flash', '1h')];
    const readat = server.clock.now() / 1000;
    const consumers = startConsumers(server);
    await server.ask('POST', 'main/users/u1/read', { send: {} });
    await server.ask('PUT', `main/users/u2/messages/${ids[0]}/read`);
    const readOf = async (uid: string) =>
      Promise.all(
        ids.map(async id => {
          const key = { tenant_key: 'acme', inbox_key: 'main', uid, id };
          return (await server.store.get(receipt, key, { consistent: true }))?.readat;
        }),
      );
    await consumers.until(async () => !(await readOf('u1')).includes(undefined));
    expect(await readOf('u1')).toEqual([readat, readat]);
    expect(await readOf('u2')).toEqual([readat, undefined]);
    await server.clock.advance(60_000);
    await server.ask('DELETE', `main/users/u1/messages/${ids[1]}/read`);
    await server.ask('POST', 'main/users/u1/read', { send: { category: 'news' } });
    await consumers.stop();
    expect(await readOf('u1')).toEqual([readat, undefined]);
    expect((await receipts(ids[0]!)).find(one => one.uid === 'u1')).toMatchObject({ readat });
  });

  it('reads nothing about users who joined too late, or of another tenant', async () => {
    await server.ask('PUT', 'main', { send: { ...main, late_joiners: 'none' } });
    const id = await broadcast('news', '1h');
    await server.ask('PUT', 'main/users/u1');
    expect(await receipts(id)).toEqual([]);
    for (const path of ['receipts', 'receipts/export'])
      expect((await server.ask('GET', `main/sends/${id}/${path}`, { as: 'bob' })).status).toBe(404);
  });
});
