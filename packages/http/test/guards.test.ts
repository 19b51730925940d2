import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { empty, endpoint, isPermitted, json, type RouteSpec, route } from '../src/index.ts';
import { openShelf, shelfRoutes } from './shelf-service.ts';

const authorization = (value: string) => ({ headers: { Authorization: value } });

describe('who may call', () => {
  it('is required by every route that is not public', async () => {
    const { api, call } = openShelf();
    const guarded = api.routes.filter(one => one.auth !== 'public');
    expect(guarded.length).toBeGreaterThan(5);
    for (const one of guarded) {
      const path = one.path.replaceAll(/\{\w+\}/g, 'b1');
      const response = await call(path, { method: one.method.toUpperCase() });
      expect([one.path, response.status]).toEqual([one.path, 401]);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="stak"/);
    }
  });

  it.each([
    'Bearer',
    'Bearer ',
    'Bearer wrong',
    'Basic YW5uOmFubg==',
    'Bearer ann, Bearer bob',
    'Bearer ann bob',
    'bearer\tann',
    `Bearer ${'a'.repeat(9000)}`,
  ])('is refused with "%s"', async value => {
    const response = await openShelf().call('/v1/me', authorization(value));
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="stak", error="invalid_token"');
  });

  it('accepts the scheme in any case', async () => {
    expect((await openShelf().call('/v1/me', authorization('bearer ann'))).status).toBe(200);
  });

  it('depends on the scope', async () => {
    const { call } = openShelf();
    expect((await call('/v1/books', { as: 'reader' })).status).toBe(200);
    const response = await call('/v1/books', { as: 'reader', method: 'POST', send: { title: 'A' } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: 'http.scope_missing' });
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="write"');
  });

  it.each([
    ['shelf:read', 200],
    ['inbox:read shelf:read', 200],
    ['read', 200], // of before scopes had a service
    ['inbox:read', 403],
    ['shelf:write', 403],
    ['shelf:read2 myshelf:read', 403],
    ['', 403],
  ])('depends on the service for an end user with the scope "%s"', async (scope, status) => {
    const endUser = { kind: 'endUser', tenantId: 't1', userId: 'u1', scope } as const;
    const response = await openShelf({ authenticate: () => endUser }).call('/v1/me', { as: 'endUser' });
    expect(response.status).toBe(status);
    if (status === 403)
      expect(response.headers.get('www-authenticate')).toContain(
        'error="insufficient_scope", scope="shelf:read"',
      );
  });

  it('depends on the role in the account, where a route names one', () => {
    const person = {
      kind: 'account',
      accountId: 'org_1',
      scope: 'admin',
      via: 'session',
      credentialId: 'ses_1',
      userId: 'usr_ann',
    } as const;
    const needs = { auth: 'session', scope: 'admin', role: 'owner' } as const;
    expect(isPermitted({ ...person, role: 'owner' }, needs)).toBe(true);
    expect(isPermitted({ ...person, role: 'admin' }, needs)).toBe(false);
    expect(isPermitted(person, needs)).toBe(false);
  });

  it('depends on the kind of caller', async () => {
    const { call, books } = openShelf();
    books.set('b1', { id: 'b1', title: 'A', version: 1, owner: 'usr_ann' });
    const refused = [
      await call('/v1/books', { as: 'endUser' }),
      await call('/v1/books/b1', { as: 'annkey', method: 'DELETE' }),
    ];
    for (const response of refused) {
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ code: 'http.principal_refused' });
    }
    expect(await (await call('/v1/me', { as: 'endUser' })).json()).toEqual({ kind: 'endUser' });
    expect((await call('/v1/books/b1', { as: 'ann', method: 'DELETE' })).status).toBe(204);
  });

  it('gets the same response for missing resources and for those of others', async () => {
    const { call, books } = openShelf();
    books.set('b1', { id: 'b1', title: 'A', version: 1, owner: 'usr_ann' });
    const answer = async (id: string) => {
      const response = await call(`/v1/books/${id}`, {
        as: 'bob',
        headers: { 'X-Request-Id': 'same-for-both' },
      });
      return [response.status, await response.text()];
    };
    expect(await answer('b1')).toEqual(await answer('b2'));
    expect((await answer('b1'))[0]).toBe(404);
  });

  it('is proven by a signature over the bytes', async () => {
    const { call } = openShelf();
    const send = (signature: string) =>
      call('/hooks/src_1', { method: 'POST', body: '{not json', headers: { 'X-Signature': signature } });
    expect(await (await send('signed 9')).json()).toEqual({ bytes: 9, subject: 'src_1' });
    expect((await send('signed 8')).status).toBe(401);
  });

  it('is passed to the authenticator once, with the address', async () => {
    const seen: object[] = [];
    const { call } = openShelf({
      trustedProxyHops: 1,
      authenticate: async request => void seen.push(request) as undefined,
    });
    await call('/v1/me', {
      as: 'ann',
      headers: { 'X-Forwarded-For': '6.6.6.6, 198.51.100.9', 'X-Request-Id': 'abcdefgh' },
    });
    expect(seen).toEqual([{ token: 'ann', requestId: 'abcdefgh', address: '198.51.100.9' }]);
  });
});

describe('a route', () => {
  const base = {
    method: 'get',
    path: '/x',
    auth: 'public',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    summary: '',
    responses: { 204: empty() },
  } as const;
  const params = z.strictObject({ id: z.string() });
  const inAccount = { ...base, auth: 'account', scope: 'read' } as const;
  const tenantPath = {
    path: '/x/{tenant_id}',
    request: { params: z.strictObject({ tenant_id: z.string() }) },
  } as const;

  it.each<[string, object, RegExp]>([
    ['no guard', { ...base, auth: undefined }, /whom it is for/],
    ['no scope', { ...base, auth: 'account' }, /which scope/],
    ['no word on what it reaches', { ...base, reaches: undefined }, /what it reaches/],
    ['no word on the audit trail', { ...base, audit: undefined }, /whether it is audited/],
    ['no word on what it stores', { ...base, stores: undefined }, /what it stores/],
    ['storage of nobody', { ...base, method: 'post', stores: 'body' }, /has no caller/],
    [
      'an audited read that stores nothing',
      { ...base, auth: 'account', scope: 'read', operationId: 'x', audit: true },
      /stores a line/,
    ],
    ['no word on its tenant', { ...base, tenant: undefined }, /which tenant/],
    ['a tenant that is not in the path', { ...inAccount, tenant: 'path' }, /no tenant in the path/],
    ['a tenant that is not entered', { ...inAccount, ...tenantPath }, /is not entered/],
    ['a tenant that anybody enters', { ...base, ...tenantPath, tenant: 'path' }, /who may enter/],
    ['the tenant of an account', { ...inAccount, tenant: 'caller' }, /is in no tenant/],
    ['no word on MCP', { ...base, mcp: undefined }, /an MCP tool/],
    ['a tool without a name', { ...base, mcp: 'reads' }, /a tool needs a name/],
    ['a line without a caller', { ...base, operationId: 'x', audit: true }, /a name, and a caller/],
    ['an unknown word for what it reaches', { ...base, reaches: 'everything' }, /what it reaches/],
    ['a field that reaches and is not in the body', { ...base, reachesWith: ['url'] }, /no field "url"/],
    ['a field that nothing reads', { ...base, rate: { limit: 1 } }, /"rate" has no meaning/],
    ['a limit that nothing reads', { ...base, limits: { bytes: 1 } }, /"limits.bytes" has no meaning/],
    ['a part that nothing reads', { ...base, request: { cookies: 1 } }, /"request.cookies" has no meaning/],
    ['no scope of end users', { ...base, auth: 'user', scope: 'read' }, /an end user needs/],
    ['a GET with a key', { ...base, idempotent: true }, /only a POST/],
    ['a public POST with a key', { ...base, method: 'post', idempotent: true }, /a caller to belong to/],
    ['If-Match on a GET', { ...base, conditional: 'required' }, /edited/],
    [
      'If-Match on a POST that creates',
      { ...base, method: 'post', auth: 'account', scope: 'write', idempotent: true, conditional: 'required' },
      /edited/,
    ],
    ['a GET with a body', { ...base, request: { body: json(z.int()) } }, /no body/],
    ['an undeclared parameter', { ...base, path: '/x/{id}' }, /parameters differ/],
    ['a parameter that is not in the path', { ...base, request: { params } }, /parameters differ/],
    [
      'a body that drops fields',
      { ...base, method: 'post', request: { body: json(z.object({})) } },
      /unknown fields pass at #/,
    ],
    [
      'a body that drops fields inside',
      {
        ...base,
        method: 'put',
        request: { body: json(z.strictObject({ a: z.array(z.object({ b: z.int() })).optional() })) },
      },
      /pass at #\/a\/\*/,
    ],
  ])('with %s is refused when it is declared', (_, spec, message) => {
    expect(() => route(spec as RouteSpec)).toThrow(message);
  });

  it('that leaves an answer out does not compile', () => {
    const whole = { ...base, responses: {} } as const;
    const { auth: _auth, ...nobody } = whole;
    const { reaches: _reaches, ...unreaching } = whole;
    const { audit: _audit, ...unaudited } = whole;
    const { stores: _stores, ...unstored } = whole;
    const { tenant: _tenant, ...untenanted } = whole;
    const { mcp: _mcp, ...untooled } = whole;
    // @ts-expect-error nothing says whom it is for
    expect(() => route(nobody)).toThrow();
    // @ts-expect-error an account route needs a scope
    expect(() => route({ ...nobody, auth: 'account' })).toThrow();
    // @ts-expect-error nothing says what it reaches
    expect(() => route(unreaching)).toThrow();
    // @ts-expect-error nothing says whether it is audited
    expect(() => route(unaudited)).toThrow();
    // @ts-expect-error nothing says what it stores
    expect(() => route(unstored)).toThrow();
    // @ts-expect-error nothing says which tenant it is about
    expect(() => route(untenanted)).toThrow();
    // @ts-expect-error nothing says whether it is a tool
    expect(() => route(untooled)).toThrow();
    const known = whole;
    const rate = { name: 'x', limit: 1, windowMs: 1 };
    // @ts-expect-error a limit belongs into `limits`
    expect(() => route({ ...known, rate })).toThrow();
    // @ts-expect-error there is no such limit
    expect(() => route({ ...known, limits: { rates: rate } })).toThrow();
    // @ts-expect-error somebody has to prove the signature
    expect(() => endpoint(shelfRoutes.hook, c => c.json({ bytes: 1, subject: '' }, 200))).toThrow();
    // @ts-expect-error the answer is not the one the route declares
    endpoint(shelfRoutes.mine, c => c.json({ kind: 5 }, 200));
  });

  it('that accepts idempotency keys needs a store for them', () => {
    expect(() => openShelf({ idempotency: undefined })).toThrow(/POST \/v1\/books: there is no store/);
  });
});
