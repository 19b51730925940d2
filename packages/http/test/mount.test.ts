import { describe, expect, it } from 'vitest';
import {
  type AnyEndpoint,
  empty,
  endpoint,
  type Mounted,
  readsOnly,
  route,
  withProblems,
} from '../src/index.ts';
import { openShelf, shelfRoutes } from './shelf-service.ts';

const page = { method: 'get', path: '/page/*', unguarded: 'everybody may read it' } as const;

describe('what is mounted beside the routes', () => {
  it('is served, and listed with why no guard stands before it', async () => {
    const { api, call } = openShelf();
    api.mount(page, c => c.text('a page'));
    expect(await (await call('/page/one')).text()).toBe('a page');
    expect(api.mounted).toEqual([page]);
  });

  it.each<[string, Partial<Mounted>, RegExp]>([
    ['without a reason', { unguarded: ' ' }, /does not say why/],
    ['as an operation', { path: '/v1/secrets' }, /where the route/],
    ['as an operation of another version', { path: '/v2/books' }, /are routes/],
    ['over a route of any method', { method: 'all', path: '/hooks/:id' }, /POST \/hooks/],
    ['over all routes', { path: '/*' }, /are routes/],
    ['over everything below a name', { path: '/:any/books' }, /are routes/],
  ])('is refused %s', (_, change, message) => {
    const { api } = openShelf();
    expect(() => api.mount({ ...page, ...change }, c => c.text(''))).toThrow(message);
    expect(api.mounted).toEqual([]);
  });

  it('cannot be added past `mount`', () => {
    const { api } = openShelf();
    // @ts-expect-error the app only answers
    expect(() => api.app.get('/late', () => new Response())).not.toThrow(TypeError);
  });
});

describe('an endpoint', () => {
  const spec = {
    ...readsOnly,
    path: '/v1/one',
    operationId: 'shelf.one',
    auth: 'public',
    tenant: 'none',
    mcp: false,
    summary: 'One',
    responses: { 204: empty() },
  } as const;
  const at = (more: object, made: (spec: never) => object = route) =>
    endpoint(made({ ...spec, ...more } as never) as typeof spec, c => c.body(null, 204)) as AnyEndpoint;

  it.each<[string, AnyEndpoint[], RegExp]>([
    ['was not checked by route()', [at({}, own => own)], /GET \/v1\/one: is not made by route/],
    ['is a copy of one that was', [{ ...at({}), route: { ...at({}).route } }], /not made by/],
    ['has the name of another', [at({}), at({ path: '/v1/two' })], /are named shelf.one/],
    ['has the path of another', [at({}), at({ operationId: 'shelf.two' })], /another route has/],
  ])('is not served if its route %s', (_, more, message) => {
    expect(() => openShelf({ more })).toThrow(message);
  });

  it('may have errors added to its route', async () => {
    const { call } = openShelf({ more: withProblems([at({})], ['shelf.busy']) });
    expect((await call('/v1/one')).status).toBe(204);
    const copy = { ...at({}), route: { ...shelfRoutes.mine } };
    expect(() => openShelf({ more: withProblems([copy], ['shelf.busy']) })).toThrow(/not made by/);
  });
});
