import { defineErrors } from '@stak/kit';
import { tableErrors } from '@stak/table';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { endpoint, json, type Problem, problemSchema, route } from '../src/index.ts';
import { openShelf, shelfErrors } from './shelf-service.ts';

const problemOf = async (response: Response): Promise<Problem> => {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = problemSchema.parse(await response.json());
  expect(problem.status).toBe(response.status);
  expect(problem.request_id).toBe(response.headers.get('x-request-id'));
  return problem;
};

describe('request ids', () => {
  it('are generated, echoed and never taken from an invalid header', async () => {
    const { call } = openShelf();
    const idFor = async (given?: string) =>
      (await call('/healthz', { headers: given ? { 'X-Request-Id': given } : {} })).headers.get(
        'x-request-id',
      );
    expect(await idFor('trace-0123:abc')).toBe('trace-0123:abc');
    const made = [
      await idFor(),
      await idFor('short'),
      await idFor('a b c d e f'),
      await idFor('x'.repeat(101)),
    ];
    for (const id of made) expect(id).toMatch(/^req_[0-9a-z]{24}$/);
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('problems', () => {
  it('have the code, the request and what a catalogue says', async () => {
    const { call } = openShelf();
    const response = await call('/v1/books', { method: 'POST', as: 'ann', send: { title: 'too much' } });
    expect(await problemOf(response)).toMatchObject({
      type: 'urn:stak:problem:shelf.full',
      title: 'Conflict',
      status: 409,
      code: 'shelf.full',
      detail: 'The shelf is full',
      details: { most: 3 },
    });
  });

  it('say when to retry, and reveal no details of a server error', async () => {
    const response = await openShelf().call('/v1/fail/closed', { method: 'POST' });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await problemOf(response)).not.toHaveProperty('details');
  });

  it('reveal nothing about an item that made a write fail', async () => {
    const current = { name: 'somebody else’s' };
    const onAdd = () => Promise.reject(tableErrors.create('table.condition_failed', 'No', { current }));
    const { call } = openShelf({ onAdd });
    const response = await call('/v1/books', { method: 'POST', as: 'ann', send: { title: 'A' } });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 409, code: 'table.condition_failed' });
    expect(problem).not.toHaveProperty('details');
  });

  it('take no headers from the details of a service', async () => {
    const response = await openShelf().call('/v1/fail/cookie', { method: 'POST' });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([409, null]);
    expect((await problemOf(response)).details).toEqual({ headers: { 'Set-Cookie': 'a=b' } });
  });

  it.each(['error', 'text', 'uncatalogued'])('hide an unknown failure (%s) and log it', async how => {
    const { call, lines } = openShelf();
    const response = await call(`/v1/fail/${how}`, { method: 'POST' });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 500, code: 'http.internal' });
    expect(JSON.stringify(problem)).not.toContain('secret wiring');
    expect(response.headers.get('etag')).toBeNull();
    expect(lines.join('')).toContain('secret wiring');
    expect(lines.join('')).toContain(problem.request_id);
  });

  it('are returned for unknown paths and methods', async () => {
    const { call } = openShelf();
    expect(await problemOf(await call('/v1/nothing'))).toMatchObject({ status: 404, code: 'http.not_found' });
    const response = await call('/v1/books/b1', { method: 'POST' });
    expect(await problemOf(response)).toMatchObject({ status: 405, code: 'http.method_not_allowed' });
    expect(response.headers.get('allow')).toBe('DELETE, GET, HEAD, PUT');
    expect((await call('/v1/books', { method: 'OPTIONS' })).status).toBe(405);
    expect((await call('/v1/books/')).status).toBe(404);
  });

  it('refuse two catalogues that disagree', () => {
    const disagree = defineErrors({ 'shelf.full': 400 });
    expect(() => openShelf({ errors: [shelfErrors, tableErrors, disagree] })).toThrow(/shelf.full/);
  });

  it('refuse a route whose problem no catalogue has', () => {
    expect(() => openShelf({ errors: [] })).toThrow(/no catalogue has "shelf/);
  });
});

describe('headers of every answer', () => {
  it('restrict what a browser may do with it', async () => {
    const { call } = openShelf();
    for (const path of ['/healthz', '/v1/nothing', '/v1/books']) {
      const { headers } = await call(path);
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('strict-transport-security')).toBeNull();
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('require https only where there is https', async () => {
    const { headers } = await openShelf({ isHttps: true }).call('/healthz');
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=31536000/);
  });

  it('also reach a response that was not made by the context', async () => {
    const foreign = route({
      method: 'get',
      path: '/foreign',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      auth: 'public',
      summary: 'Foreign',
      responses: { 302: { description: 'Away' } },
    });
    const { call } = openShelf({
      more: [endpoint(foreign, () => Response.redirect('https://elsewhere.example/', 302) as never)],
    });
    const response = await call('/foreign');
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('https://elsewhere.example/');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('ratelimit-remaining')).toBe('299');
  });
});

describe('cross-origin requests', () => {
  const corsOrigins = ['https://console.example'];
  const allowed = async (origin: string, init: RequestInit = {}) => {
    const { call } = openShelf({ corsOrigins });
    return call('/v1/books', {
      ...init,
      headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
    });
  };

  it('are allowed for the exact origins, also on problems', async () => {
    const preflight = await allowed('https://console.example', { method: 'OPTIONS' });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://console.example');
    for (const name of ['Idempotency-Key', 'Mcp-Protocol-Version'])
      expect(preflight.headers.get('access-control-allow-headers')).toContain(name);
    const refused = await allowed('https://console.example');
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://console.example');
    for (const name of ['ETag', 'WWW-Authenticate'])
      expect(refused.headers.get('access-control-expose-headers')).toContain(name);
  });

  it.each(['https://console.example.evil', 'https://evil.example', 'null', 'http://console.example'])(
    'are not for %s',
    async origin => {
      for (const method of ['OPTIONS', 'GET'])
        expect((await allowed(origin, { method })).headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it.each(['*', 'https://a.example/', 'a.example'])('refuse to be configured for "%s"', origin => {
    expect(() => openShelf({ corsOrigins: [origin] })).toThrow('not an origin');
  });
});

describe('what is observed', () => {
  it('has the route, not the path, with its caller', async () => {
    const records: object[] = [];
    const { call } = openShelf({ observe: record => void records.push(record) });
    await call('/v1/books/b1', { as: 'ann' });
    await call('/wp-admin');
    expect(records).toMatchObject([
      {
        route: 'GET /v1/books/{id}',
        status: 404,
        principal: { accountId: 'usr_ann' },
        address: '203.0.113.7',
      },
      { route: 'none', status: 404, principal: undefined },
    ]);
  });
});

it('refuses two routes with one name', () => {
  const twin = endpoint(
    route({
      method: 'get',
      path: '/v1/others',
      auth: 'public',
      summary: '',
      operationId: 'books.list',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      responses: { 200: json(z.int()) },
    }),
    c => c.json(1, 200),
  );
  expect(() => openShelf({ more: [twin] })).toThrow('books.list');
});
