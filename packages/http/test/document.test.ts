import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ApiDocument } from '../src/serving/openapi.ts';
import { openShelf } from './shelf-service.ts';

type Operation = {
  operationId: string;
  security: object[];
  parameters?: { name: string; in: string; required?: boolean }[];
  responses: Record<string, { description: string; content?: object }>;
};

const readDocument = async (shelf = openShelf()) => {
  const response = await shelf.call('/openapi.json');
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as {
    openapi: string;
    paths: Record<string, Record<string, Operation>>;
    components: { securitySchemes: object; schemas: Record<string, unknown> };
  };
};

describe('the document', () => {
  it('is compressed for those who can read that', async () => {
    const shelf = openShelf();
    const zipped = await shelf.call('/openapi.json', { headers: { 'Accept-Encoding': 'gzip, br' } });
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(zipped.headers.get('vary')).toContain('Accept-Encoding');
    const text = gunzipSync(await zipped.arrayBuffer()).toString();
    const plain = await shelf.call('/openapi.json');
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(text);
  });

  it('has every route of the table, with its guard', async () => {
    const shelf = openShelf();
    const { openapi, paths, components } = await readDocument(shelf);
    expect(openapi).toBe('3.1.0');
    for (const { method, path, auth } of shelf.api.routes)
      expect([path, paths[path]?.[method]]).toMatchObject([path, { 'x-auth': auth }]);
    expect(paths['/v1/books']?.post?.security).toEqual([{ account: ['write'] }]);
    expect(paths['/v1/me']?.get?.security).toEqual([{ account: ['read'] }, { endUser: ['shelf:read'] }]);
    expect(paths['/healthz']?.get?.security).toEqual([]);
    expect(components.securitySchemes).toMatchObject({
      account: { scheme: 'bearer' },
      endUser: { scheme: 'bearer' },
    });
  });

  it('lists the problems that follow from the route’s definition', async () => {
    const { paths, components } = await readDocument();
    const statuses = (path: string, method: string) =>
      Object.keys(paths[path]?.[method]?.responses ?? {}).map(Number);
    expect(statuses('/v1/books', 'post')).toEqual([
      201, 400, 401, 403, 408, 409, 413, 415, 422, 429, 431, 500, 503,
    ]);
    expect(statuses('/v1/books/{id}', 'put')).toEqual([
      200, 400, 401, 403, 404, 408, 412, 413, 415, 428, 429, 431, 500, 503,
    ]);
    expect(statuses('/healthz', 'get')).toEqual([200, 304, 431, 500]);
    expect(paths['/v1/books']?.post?.responses[409]).toEqual({
      description: '`http.request_in_flight`, `http.answer_not_kept`, `shelf.full`, `table.condition_failed`',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    });
    expect(components.schemas).toMatchObject({ Problem: { type: 'object', additionalProperties: false } });
  });

  it('names the headers of the conventions and forbids unknown fields', async () => {
    const { paths } = await readDocument();
    expect(paths['/v1/books']?.post?.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header' }]);
    expect(paths['/v1/books/{id}']?.put?.parameters).toContainEqual(
      expect.objectContaining({ name: 'If-Match', in: 'header', required: true }),
    );
    expect(JSON.stringify(paths['/v1/books']?.post)).toContain('"additionalProperties":false');
  });

  it('documents every status it responds with', async () => {
    const shelf = openShelf();
    const { paths } = await readDocument(shelf);
    for (const as of [undefined, 'ann', 'reader', 'endUser'])
      for (const { method, path } of shelf.api.routes) {
        const response = await shelf.call(path.replaceAll(/\{\w+\}/g, 'closed'), {
          method: method.toUpperCase(),
          ...(as ? { as } : {}),
        });
        if (path !== '/v1/fail/{how}')
          expect([path, Object.keys(paths[path]?.[method]?.responses ?? {})]).toEqual([
            path,
            expect.arrayContaining([String(response.status)]),
          ]);
      }
  });
});

it('is built while requests are served, and is the same as if built at once', async () => {
  const shelf = openShelf();
  let iterations = 0;
  let counting = setImmediate(function count() {
    iterations += 1;
    counting = setImmediate(count);
  });
  const [first, second] = await Promise.all([readDocument(shelf), readDocument(shelf)]);
  clearImmediate(counting);
  expect(iterations).toBeGreaterThanOrEqual(shelf.api.routes.length);
  expect(first).toEqual(JSON.parse(JSON.stringify(shelf.api.document())));
  expect(second).toEqual(first);
});

it('lets its composer describe what routes do not', async () => {
  const rename = (raw: ApiDocument) => ({ ...raw, info: { ...raw.info, title: 'Shelf, described' } });
  const answer = await openShelf({ describe: rename }).call('/openapi.json');
  expect(((await answer.json()) as ApiDocument).info.title).toBe('Shelf, described');
});

describe('the probes', () => {
  it('distinguish liveness from readiness', async () => {
    let isDown = false;
    const { call, api, clock, lines } = openShelf({
      checks: {
        engine: async () => {
          if (isDown) throw new Error('secret wiring');
        },
      },
      eventLoop: () => ({ p50Ms: 0.5, p99Ms: 12, maxMs: 240 }),
    });
    const event_loop = { p50_ms: 0.5, p99_ms: 12, max_ms: 240 };
    expect(await (await call('/readyz')).json()).toEqual({
      status: 'ready',
      checks: { engine: 'ok' },
      event_loop,
    });
    isDown = true;
    const notReady = await call('/readyz');
    expect([notReady.status, await notReady.json()]).toEqual([
      503,
      { status: 'not_ready', checks: { engine: 'failed' }, event_loop },
    ]);
    expect(lines.join('')).toContain('secret wiring');
    api.stop();
    expect([(await call('/readyz')).status, (await call('/healthz')).status]).toEqual([503, 200]);
    expect(clock.sleepers()).toBe(0);
  });

  it('stay ready without optional dependencies', async () => {
    const warnings = {
      lake: async () => 'degraded',
      letters: async () => {
        throw new Error('no answer');
      },
      backup: () => new Promise(() => {}),
      address: async () => {},
    };
    const { call, clock } = openShelf({ checks: { store: async () => {} }, warnings });
    const answer = call('/readyz');
    while (clock.sleepers() === 0) await new Promise(setImmediate);
    await clock.advance(2000);
    const response = await answer;
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        status: 'ready',
        checks: { store: 'ok', lake: 'degraded', letters: 'degraded', backup: 'degraded', address: 'ok' },
      },
    ]);
  });

  it('do not wait for a check that hangs', async () => {
    const { call, clock } = openShelf({ checks: { engine: () => new Promise(() => {}) } });
    const response = call('/readyz');
    while (clock.sleepers() === 0) await new Promise(setImmediate);
    await clock.advance(2000);
    expect((await response).status).toBe(503);
  });

  it('serve metrics if there are any, to permitted callers', async () => {
    expect((await openShelf().call('/metrics')).status).toBe(404);
    const metrics = { contentType: 'text/plain; version=0.0.4', read: async () => 'up 1\n', token: 'scrape' };
    const { call } = openShelf({ metrics });
    expect([(await call('/metrics')).status, (await call('/metrics', { as: 'ann' })).status]).toEqual([
      401, 401,
    ]);
    const response = await call('/metrics', { as: 'scrape' });
    expect([response.headers.get('content-type'), await response.text()]).toEqual([
      metrics.contentType,
      'up 1\n',
    ]);
  });
});
