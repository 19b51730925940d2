import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

const feedOf = async (uid: string) => (await server.ask('GET', `main/users/${uid}/messages`)).body.data;
const countsOf = async (uid: string) => (await server.ask('GET', `main/users/${uid}/counts`)).body;

describe('settings', () => {
  it('writes and reads the settings of a tenant', async () => {
    const path = '/v1/tenants/acme/inbox-settings';
    expect((await server.ask('GET', path)).status).toBe(404);
    expect((await server.ask('PUT', path, { send: { title: 'Acme', ttl: '720d' } })).status).toBe(200);
    expect((await server.ask('GET', path)).body).toMatchObject({
      title: 'Acme',
      ttl: '720d',
      uid: 'usr_ann',
    });
    expect((await server.ask('PUT', path, { send: { title: 'Acme', ttl: '721d' } })).status).toBe(400);
  });

  it('edits an inbox without losing concurrent changes', async () => {
    const first = await server.call('GET', 'main');
    const etag = first.headers.get('etag')!;
    const headers = { 'If-Match': etag };
    expect((await server.ask('PUT', 'main', { send: { ...main, title: 'News' }, headers })).status).toBe(200);
    for (const lost of [etag, '"vabc"', `"v${'9'.repeat(400)}"`]) {
      const late = { send: main, headers: { 'If-Match': lost } };
      expect((await server.ask('PUT', 'main', late)).status).toBe(412);
    }
    expect((await server.ask('GET', '/v1/tenants/acme/inboxes')).body.data).toMatchObject([
      { inbox_key: 'main', title: 'News', late_joiners: 'all', unique_host_system_ids: true },
    ]);
  });

  it.each([
    [{ type: 'string', pattern: '(a+)+$' }],
    [{ $ref: 'https://example.com/schema.json' }],
    [{ type: 'array', uniqueItems: true }],
    [{ type: 'nonsense' }],
  ])('refuses the schema %j', async schema => {
    const { status, body } = await server.ask('PUT', 'main', { send: { ...main, schema } });
    expect([status, body.code]).toEqual([422, 'inbox.schema_refused']);
  });

  it('refuses a schema of a field without a name', async () => {
    const schema = { type: 'object', properties: { '': { type: 'string' } } };
    const { status, body } = await server.ask('PUT', 'main', { send: { ...main, schema } });
    expect([status, body.errors]).toMatchObject([400, [{ pointer: '#/schema' }]]);
  });

  it('uses the expiry of the message, its category, the inbox or the tenant, or 30 days', async () => {
    const nowS = server.clock.now() / 1000;
    const ttlOf = async (more: object) =>
      (await server.ask('POST', 'main/broadcasts', { send: { ...hello, ...more } })).body.expiredat - nowS;
    expect(await ttlOf({ ttl: '300m', taxonomy: { category: 'offer' } })).toBe(300 * 60);
    expect(await ttlOf({ expiredat: nowS + 6000 })).toBe(6000);
    expect(await ttlOf({ taxonomy: { category: 'offer' } })).toBe(12 * 3600);
    expect(await ttlOf({ taxonomy: { category: 'other' } })).toBe(30 * 86_400);
    await server.ask('PUT', 'main', { send: { title: 'Main', ttl: {} } });
    expect(await ttlOf({})).toBe(30 * 86_400);
    await server.ask('PUT', '/v1/tenants/acme/inbox-settings', { send: { title: 'Acme', ttl: '90d' } });
    expect(await ttlOf({})).toBe(90 * 86_400);
  });
});

describe('members', () => {
  const items = async () => (await server.engine.client.scan({ TableName: 'stak-inbox' })).Items;
  const deliveredOf = async (id: string) =>
    ((await server.ask('GET', `main/sends/${id}`)).body as unknown as { delivered: number }).delivered;

  it('are not created by reading, with any key', async () => {
    const { id } = (await server.ask('POST', 'main/broadcasts', { send: hello })).body;
    const before = await items();
    for (const as of ['reader', 'ann', 'acme-u1'])
      for (const path of ['counts', 'messages', `messages/${id}`, 'messages?read=false'])
        expect((await server.ask('GET', `main/users/u1/${path}`, { as })).status).toBe(200);
    const stopped = new AbortController();
    const stream = await server.call('GET', 'main/users/u1/stream', { as: 'reader', signal: stopped.signal });
    expect(stream.status).toBe(200);
    stopped.abort();
    await stream.body?.cancel().catch(() => {});
    expect((await server.ask('PUT', 'main/users/u1/messages/0mjuxvy9s00aaaaaaaaaaaaa/read')).status).toBe(
      404,
    );
    expect(await items()).toEqual(before);
    expect(await deliveredOf(id)).toBe(0);
  });

  it('count as recipients of a broadcast if they were members when it was sent', async () => {
    expect((await server.ask('PUT', 'main/users/u1', { as: 'reader' })).status).toBe(403);
    for (let i = 0; i < 2; i++)
      expect((await server.ask('PUT', 'main/users/u1')).body).toEqual({
        uid: 'u1',
        joinedat: server.clock.now() / 1000,
      });
    await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u2'] } });
    const first = await server.ask('POST', 'main/broadcasts', { send: hello });
    const send_at = server.clock.now() / 1000 + 60;
    const later = await server.ask('POST', 'main/broadcasts', { send: { ...hello, send_at } });
    expect(first.body).toMatchObject({ delivered: 2 });
    await server.ask('PUT', `main/users/u3/messages/${first.body.id}/read`);
    await server.clock.advance(60_000);
    await server.inbox.operations.runDue();
    await server.ask('PUT', 'main/users/u4');
    expect([await deliveredOf(first.body.id), await deliveredOf(later.body.id)]).toEqual([2, 3]);
    const { data } = (await server.ask('GET', 'main/sends')).body;
    expect(data.map(one => one.delivered)).toEqual([3, 2, 1]);
  });
});

describe('publishing', () => {
  it('delivers only to the named users', async () => {
    const { status, body } = await server.ask('POST', 'main/messages', {
      send: { ...hello, uids: ['u1', 'u2'] },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'sent', recipients: 2, delivered: 2, read: 0 });
    expect(body.audiences).toEqual({ kind: 'users' });
    expect(await feedOf('u1')).toMatchObject([{ id: body.id, read: false, seen: false }]);
    expect(JSON.stringify(await feedOf('u1'))).not.toContain('u2');
    expect(await feedOf('u3')).toEqual([]);
  });

  it('answers a repeated request, and a repeated host id, with the same send', async () => {
    const send = { ...hello, uids: ['u1'], host_system_id: 'INV/1 #2' };
    const first = await server.ask('POST', 'main/messages', { send });
    const again = await server.ask('POST', 'main/messages', { send });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body.id).toBe(first.body.id);
    expect(await countsOf('u1')).toMatchObject({ total: 1, unread: 1, unseen: 1 });
    const other = await server.ask('POST', 'main/messages', { send: { ...send, uids: ['u2'] } });
    expect([other.status, other.body.code]).toEqual([409, 'inbox.host_system_id_taken']);
  });

  it.each([
    ['one user', ['u1']],
    ['some users', ['u1', 'u2']],
    ['many users', Array.from({ length: 40 }, (_, i) => `u${i + 1}`)],
    ['everyone', undefined],
  ])('accepts a correction under the same host id after a message to %s is redacted', async (_, uids) => {
    const path = uids ? 'main/messages' : 'main/broadcasts';
    const send = { ...hello, ...(uids && { uids }), host_system_id: 'INV-1' };
    const corrected = { ...send, message: { title: 'Hello', body: 'Corrected' } };
    const publish = async (what: object) => {
      const { status, body } = await server.ask('POST', path, { send: what });
      await server.inbox.operations.runDue();
      return { status, id: body.id, code: body.code };
    };
    const bodies = async () => (await feedOf('u1')).map(one => one.message.body);
    const first = await publish(send);
    expect((await publish(corrected)).code).toBe('inbox.host_system_id_taken');
    await server.ask('DELETE', `main/messages/${first.id}`);
    const second = await publish(corrected);
    expect([201, 202]).toContain(second.status);
    expect(await bodies()).toEqual(['Corrected']);
    expect(await publish(corrected)).toMatchObject({ status: 200, id: second.id });
    expect((await publish(send)).code).toBe('inbox.host_system_id_taken');
    // By the host's id it is the correction that is taken back; and the same words may be sent again.
    for (let i = 0; i < 2; i++)
      expect((await server.ask('DELETE', 'main/host-messages/INV-1')).status).toBe(204);
    expect(await bodies()).toEqual([]);
    await publish(corrected);
    expect(await bodies()).toEqual(['Corrected']);
  });

  it('does not send a repeated request again if its message was redacted', async () => {
    const send = { ...hello, uids: ['u1'], host_system_id: 'INV-1' };
    const request = { key: 'k', id: server.deps.ids.next(), isRepeated: false };
    const inboxId = { tenant_key: 'acme', inbox_key: 'main' };
    const { operations } = server.inbox;
    const first = await operations.publish(inboxId, send, { sender: 's', request });
    await operations.redact(inboxId, first.send.id);
    const again = { sender: 's', request: { ...request, isRepeated: true } };
    const repeated = await operations.publish(inboxId, send, again);
    expect([repeated.isNew, repeated.send.id]).toEqual([false, first.send.id]);
    expect(await feedOf('u1')).toEqual([]);
  });

  it('lets host ids repeat if the inbox allows it, and redacts all of them', async () => {
    await server.ask('PUT', 'main', { send: { ...main, unique_host_system_ids: false } });
    for (let i = 0; i < 2; i++)
      await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], host_system_id: 'same' } });
    expect(await countsOf('u1')).toMatchObject({ total: 2 });
    expect((await server.ask('DELETE', 'main/host-messages/same')).status).toBe(204);
    expect(await countsOf('u1')).toMatchObject({ total: 0 });
  });

  it('makes a keyed request once, even if its response was lost', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const send = { ...hello, uids: ['u1'] };
    const first = await server.ask('POST', 'main/messages', { send, headers });
    const replayed = await server.call('POST', 'main/messages', { send, headers });
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(await replayed.json()).toMatchObject({ id: first.body.id });
  });

  it.each(['messages', 'broadcasts', 'bulk'])(
    'makes a keyed request once, even if its first attempt was not answered: %s',
    async kind => {
      const { client } = server.engine;
      const { transactWrite } = client;
      let isLost = true;
      client.transactWrite = async input => {
        const output = await transactWrite(input);
        if (isLost) throw new Error('the connection broke');
        return output;
      };
      const headers = { 'Idempotency-Key': 'once' };
      const one = { ...hello, uids: ['u1'] };
      const send = kind === 'messages' ? one : kind === 'broadcasts' ? hello : { messages: [one, one] };
      expect((await server.ask('POST', `main/${kind}`, { send, headers })).status).toBe(500);
      isLost = false;
      for (let n = 0; n < 2; n++)
        expect((await server.ask('POST', `main/${kind}`, { send, headers })).status).toBeLessThan(300);
      expect(await countsOf('u1')).toMatchObject({ total: kind === 'bulk' ? 2 : 1 });
    },
  );

  it('sends different messages in bulk, each on its own', async () => {
    await server.ask('PUT', 'main', { send: { ...main, schema: { type: 'string' } } });
    const messages = [
      { ...hello, uids: ['u1'] },
      { message: { title: 'No', body: 5 }, uids: ['u1'] },
      { ...hello, uids: ['u2'] },
    ];
    const { status, body } = await server.ask('POST', 'main/bulk', { send: { messages } });
    expect(status).toBe(200);
    expect(body.data.map((one: { ok: boolean; code?: string }) => one.code ?? one.ok)).toEqual([
      true,
      'inbox.body_invalid',
      true,
    ]);
    expect(await countsOf('u1')).toMatchObject({ total: 1 });
  });

  it.each([
    ['one by one', {}, 200],
    ['as a whole, where all of it can be sent again', { 'Idempotency-Key': 'k' }, 503],
  ])('reports for bulk messages that the table was busy %s', async (_, headers, expected) => {
    const { client } = server.engine;
    const write = client.transactWrite;
    client.transactWrite = async input => {
      if (!JSON.stringify(input).includes('u2')) return write(input);
      throw Object.assign(new Error('Slow down'), { name: 'ThrottlingException' });
    };
    const messages = ['u1', 'u2', 'u3'].map(uid => ({ ...hello, uids: [uid] }));
    const request = server.ask('POST', 'main/bulk', { send: { messages }, headers });
    let isOver = false;
    void request.finally(() => (isOver = true));
    while (!isOver) await server.clock.advance(1000);
    const { status, body } = await request;
    expect(status).toBe(expected);
    if (status === 200) expect(body.data.map(one => one.code ?? one.ok)).toEqual([true, 'table.busy', true]);
    expect(await countsOf('u1')).toMatchObject({ total: 1 });
  });

  it('accepts many concurrent messages to one user, and to everyone', async () => {
    const send = { ...hello, uids: ['u1', 'u2'] };
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        i % 3
          ? server.ask('POST', 'main/messages', { send })
          : server.ask('POST', 'main/broadcasts', { send: hello }),
      ),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(await countsOf('u1')).toMatchObject({ total: 60, unread: 60, unseen: 60 });
    expect(await feedOf('u2')).toHaveLength(25);
  });

  it('broadcasts with the same writes for many users as for few', async () => {
    const unitsOf = () => server.ledger.entries().find(entry => entry.pattern === 'publish to everyone')!;
    await server.ask('POST', 'main/broadcasts', { send: hello });
    const few = unitsOf().writeUnits;
    for (let i = 0; i < 40; i++) await countsOf(`u${i}`);
    await server.ask('POST', 'main/broadcasts', { send: hello });
    expect(unitsOf().writeUnits).toBe(2 * few);
    expect(await countsOf('u7')).toMatchObject({ total: 2, unread: 2 });
  });
});
