import type { AnyEndpoint } from '@stak/http';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as limits from '../src/limits.ts';
import { createTestServer, hello, main, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  await server.ask('PUT', 'main', { send: main });
});
afterEach(() => server.close());

const uids = ['u1'];
const items = async () => (await server.engine.client.scan({ TableName: 'stak-inbox' })).Count;

describe('bad input is a clear problem, and nothing is written', () => {
  it.each<readonly [string, object, number, string]>([
    ['a # in a uid', { ...hello, uids: ['u#1'] }, 400, 'http.request_invalid'],
    ['an empty uid', { ...hello, uids: [''] }, 400, 'http.request_invalid'],
    ['everyone as a uid', { ...hello, uids: ['$public'] }, 400, 'http.request_invalid'],
    ['no uids', { ...hello, uids: [] }, 400, 'http.request_invalid'],
    ['duplicate uids', { ...hello, uids: ['u1', 'u1'] }, 400, 'http.request_invalid'],
    [
      '10,001 uids',
      { ...hello, uids: Array.from({ length: 10_001 }, (_, i) => `u${i}`) },
      400,
      'http.request_invalid',
    ],
    ['a # in a category', { ...hello, uids, taxonomy: { category: 'a#b' } }, 400, 'http.request_invalid'],
    ['the category *', { ...hello, uids, taxonomy: { category: '*' } }, 400, 'http.request_invalid'],
    ['an unknown field', { ...hello, uids, titel: 'x' }, 400, 'http.request_invalid'],
    [
      'a field without a name',
      { message: { title: 'x', body: [{ '': 1 }] }, uids },
      400,
      'http.request_invalid',
    ],
    [
      'a name of 64 KB',
      { message: { title: 'x', body: { ['€'.repeat(22_000)]: 1 } }, uids },
      400,
      'http.request_invalid',
    ],
    ['a duration of 731 days', { ...hello, uids, ttl: '731d' }, 400, 'http.request_invalid'],
    ['a duration of nothing', { ...hello, uids, ttl: '0s' }, 400, 'http.request_invalid'],
    ['an expiry in the past', { ...hello, uids, expiredat: 1000 }, 400, 'inbox.expiry_invalid'],
    ['a time in the past', { ...hello, uids, send_at: 1000 }, 400, 'inbox.schedule_invalid'],
    [
      'a link that is code',
      { message: { title: 'x', body: 'y', cta_uri: 'javascript:alert(1)' }, uids },
      400,
      'http.request_invalid',
    ],
    ...['file:///etc/passwd', 'ms-msdt:/id', 'intent://x#Intent;end', 'tel:+491', 'MS-Word:ofe|u|x'].map(
      cta_uri =>
        [
          `a link to ${cta_uri}`,
          { message: { title: 'x', body: 'y', cta_uri }, uids },
          400,
          'inbox.cta_uri_refused',
        ] as const,
    ),
    ...[
      'java\nscript:alert(1)',
      ' https://a.example',
      'https://a.example/\u0000',
      'data:text/html,x',
      '//a',
    ].map(
      cta_uri =>
        [
          `the link ${JSON.stringify(cta_uri)}`,
          { message: { title: 'x', body: 'y', cta_uri }, uids },
          400,
          'http.request_invalid',
        ] as const,
    ),
    [
      'a number that no table holds',
      { message: { title: 'x', body: { sizes: [1e21] } }, uids },
      400,
      'http.request_invalid',
    ],
    ['no title', { message: { body: 'y' }, uids }, 400, 'http.request_invalid'],
    [
      'a body of 300 KB',
      { message: { title: 'x', body: 'y'.repeat(300_000) }, uids },
      413,
      'inbox.message_too_large',
    ],
  ])('%s', async (_, send, status, code) => {
    const before = await items();
    const answer = await server.ask('POST', 'main/messages', { send });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await items()).toBe(before);
  });

  it('a link, except with the schemes that the inbox allows', async () => {
    const statusOf = async (cta_uri: string) => {
      const send = { message: { title: 'x', body: 'y', cta_uri }, uids };
      return (await server.ask('POST', 'main/messages', { send })).status;
    };
    for (const uri of ['https://a.example', 'http://a.example', 'MAILTO:ann@a.example'])
      expect(await statusOf(uri)).toBe(201);
    expect(await statusOf('acme-app://orders/7')).toBe(400);
    const allowed = { ...main, cta_schemes: ['acme-app'] };
    expect((await server.ask('PUT', 'main', { send: allowed })).body).toMatchObject(allowed);
    expect(await statusOf('ACME-app://orders/7')).toBe(201);
    expect(await statusOf('file:///etc/passwd')).toBe(400);
    for (const scheme of ['javascript', 'data', 'https:', 'Tel', ''])
      expect((await server.ask('PUT', 'main', { send: { ...main, cta_schemes: [scheme] } })).status).toBe(
        400,
      );
  });

  it('a link with an overlong host, before it is parsed', async () => {
    const parse = vi.spyOn(URL, 'canParse');
    onTestFinished(() => parse.mockRestore());
    const host = '\u4e00\u4e01\u4e02'.repeat(600);
    for (const cta_uri of [`https://${host}.example`, `https://${host.repeat(50)}.example`]) {
      const send = { message: { title: 'x', body: 'y', cta_uri }, uids };
      expect((await server.ask('POST', 'main/messages', { send })).status).toBe(400);
    }
    expect(parse.mock.calls.filter(([text]) => String(text).length > 1000)).toEqual([]);
  });

  it('a body that does not fit the schema', async () => {
    const schema = { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } };
    await server.ask('PUT', 'main', { send: { ...main, schema } });
    const before = await items();
    const send = { message: { title: 'x', body: { amount: 'much' } }, uids };
    const answer = await server.ask('POST', 'main/messages', { send });
    expect([answer.status, answer.body.code]).toEqual([400, 'inbox.body_invalid']);
    expect(answer.body.errors[0]!.pointer).toBe('#/message/body/amount');
    expect(await items()).toBe(before);
    const good = { message: { title: 'x', body: { amount: 5 } }, uids };
    expect((await server.ask('POST', 'main/messages', { send: good })).status).toBe(201);
  });

  it('a broadcast of 300 KB, before it is read', async () => {
    const send = { message: { title: 'x', body: 'y'.repeat(400_000) } };
    expect((await server.ask('POST', 'main/broadcasts', { send })).status).toBe(413);
  });

  it('unknown inboxes, for the host and for users', async () => {
    const before = await items();
    expect((await server.ask('POST', 'nowhere/messages', { send: { ...hello, uids } })).body.code).toBe(
      'inbox.not_found',
    );
    for (const path of ['messages', 'counts', 'stream'])
      expect((await server.ask('GET', `nowhere/users/u1/${path}`)).body.code).toBe('inbox.not_found');
    expect(await items()).toBe(before);
  });

  it('malformed and foreign cursors', async () => {
    for (let i = 0; i < 3; i++) await server.ask('POST', 'main/messages', { send: { ...hello, uids } });
    const { next_cursor } = (await server.ask('GET', 'main/users/u1/messages?limit=1')).body;
    for (const path of [
      'main/users/u1/messages?cursor=nonsense',
      `main/users/u2/messages?limit=1&cursor=${next_cursor}`,
      `main/users/u1/messages?limit=1&read=true&cursor=${next_cursor}`,
    ])
      expect((await server.ask('GET', path)).body.code).toBe('http.cursor_refused');
    const path = `main/users/u1/messages?limit=1&cursor=${next_cursor}`;
    expect((await server.ask('GET', path, { as: 'acme-u1' })).body.code).toBe('http.cursor_refused');
  });

  it('more categories than an inbox may have', async () => {
    for (let i = 0; i < 40; i++)
      await server.ask('POST', 'main/broadcasts', { send: { ...hello, taxonomy: { category: `c${i}` } } });
    const send = { ...hello, taxonomy: { category: 'one-more' } };
    expect((await server.ask('POST', 'main/broadcasts', { send })).body.code).toBe(
      'inbox.too_many_categories',
    );
  });
});

describe('access to the data of others', () => {
  it("another account's tenant is not found", async () => {
    for (const [method, path, send] of [
      ['GET', 'main', undefined],
      ['PUT', 'main', main],
      ['POST', 'main/messages', { ...hello, uids }],
      ['GET', 'main/users/u1/messages', undefined],
    ] as const) {
      const answer = await server.ask(method, path, { as: 'bob', send });
      expect([answer.status, answer.body.code]).toEqual([404, 'tenants.not_found']);
    }
  });

  it('an end user can act only as themselves', async () => {
    await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1', 'u2'] } });
    const statusOf = async (path: string, as: string) => (await server.ask('GET', path, { as })).status;
    expect(await statusOf('main/users/u1/messages', 'acme-u1')).toBe(200);
    expect(await statusOf('main/users/me/messages', 'acme-u1')).toBe(200);
    expect(await statusOf('main/users/u2/messages', 'acme-u1')).toBe(404);
    expect(await statusOf('main/users/u1/messages', 'bolt-u1')).toBe(404);
    expect(await statusOf('main/users/me/messages', 'ann')).toBe(404);
    expect(await statusOf('main/sends', 'acme-u1')).toBe(403);
    const send = { ...hello, uids };
    expect((await server.ask('POST', 'main/messages', { as: 'acme-u1', send })).status).toBe(403);
  });

  it("another user's message cannot be read or marked", async () => {
    const { id } = (await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u2'] } })).body;
    for (const [method, path] of [
      ['GET', `main/users/me/messages/${id}`],
      ['PUT', `main/users/me/messages/${id}/read`],
      ['PUT', `main/users/me/messages/${id}/archive`],
    ] as const)
      expect((await server.ask(method, path, { as: 'acme-u1' })).status).toBe(404);
  });

  it('a read-only key cannot publish', async () => {
    const answer = await server.ask('POST', 'main/messages', { as: 'reader', send: { ...hello, uids } });
    expect(answer.status).toBe(403);
  });
});

it('refuses inboxes beyond the limit, however many are created at once', async () => {
  for (let i = 3; i < limits.inboxes; i++) await server.ask('PUT', `inbox-${i}`, { send: main });
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map(key => server.ask('PUT', key, { send: main })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(answers.filter(({ body }) => body.code === 'inbox.too_many_inboxes')).toHaveLength(3);
});

it('every route says that its inbox may be busy', () => {
  expect(server.inbox.api.length).toBeGreaterThan(20);
  for (const { route } of server.inbox.api as readonly AnyEndpoint[])
    expect(route.problems, route.operationId).toContain('inbox.busy');
});
