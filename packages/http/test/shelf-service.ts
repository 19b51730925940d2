import {
  type Clock,
  createLogger,
  defineErrors,
  type Logger,
  type ManualClock,
  manualClock,
} from '@stak/kit';
import { tableErrors } from '@stak/table';
import { z } from 'zod';
import {
  type AnyEndpoint,
  type Api,
  type ApiSettings,
  assertOwned,
  bindCursors,
  type CursorCodec,
  createApi,
  createMemoryIdempotency,
  createMemoryRateLimits,
  empty,
  endpoint,
  etagOf,
  expectedVersion,
  json,
  type Principal,
  pageOf,
  pageQuery,
  raw,
  route,
  unguarded,
  versionMismatch,
} from '../src/index.ts';

export const shelfErrors = defineErrors({
  'shelf.book_not_found': 404,
  'shelf.full': 409,
  'shelf.busy': 429,
  'shelf.closed': 503,
});

const newBook = z.strictObject({
  title: z.string().min(1).max(100),
  tags: z.array(z.strictObject({ name: z.string() })).optional(),
});
const book = z.strictObject({ id: z.string(), title: z.string(), version: z.int() });
const params = z.strictObject({ id: z.string().min(1).max(40) });

const routes = {
  list: route({
    method: 'get',
    path: '/v1/books',
    auth: 'account',
    scope: 'read',
    summary: 'List books',
    operationId: 'books.list',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    request: { query: pageQuery().extend({ tag: z.string().optional() }) },
    responses: { 200: json(pageOf(book)) },
  }),
  add: route({
    method: 'post',
    path: '/v1/books',
    auth: 'account',
    scope: 'write',
    idempotent: true,
    summary: 'Add a book',
    operationId: 'books.add',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'any-key',
    mcp: false,
    request: { body: json(newBook) },
    responses: { 201: json(book) },
    problems: ['shelf.full', 'shelf.busy', 'shelf.closed', 'table.condition_failed'],
  }),
  read: route({
    method: 'get',
    path: '/v1/books/{id}',
    auth: 'account',
    scope: 'read',
    summary: 'Read a book',
    operationId: 'books.read',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    request: { params },
    responses: { 200: json(book) },
    problems: ['shelf.book_not_found'],
  }),
  edit: route({
    method: 'put',
    path: '/v1/books/{id}',
    auth: 'account',
    scope: 'write',
    conditional: 'required',
    summary: 'Edit a book',
    operationId: 'books.edit',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    request: { params, body: json(newBook) },
    responses: { 200: json(book) },
    problems: ['shelf.book_not_found'],
  }),
  burn: route({
    method: 'delete',
    path: '/v1/books/{id}',
    auth: 'session',
    scope: 'admin',
    summary: 'Burn a book',
    operationId: 'books.burn',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    request: { params },
    responses: { 204: empty() },
    problems: ['shelf.book_not_found'],
  }),
  mine: route({
    method: 'get',
    path: '/v1/me',
    auth: 'user',
    scope: 'read',
    endUserScope: 'shelf:read',
    summary: 'Who am I',
    operationId: 'me.read',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    responses: { 200: json(z.strictObject({ kind: z.string() })) },
  }),
  hook: route({
    method: 'post',
    path: '/hooks/{id}',
    auth: 'provider',
    summary: 'A signed call',
    operationId: 'hooks.take',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    request: { params, body: raw() },
    responses: { 200: json(z.strictObject({ bytes: z.int(), subject: z.string() })) },
    limits: { bodyBytes: 1000, rate: { name: 'hook', limit: 2, windowMs: 1000 } },
  }),
  fail: route({
    method: 'post',
    path: '/v1/fail/{how}',
    auth: 'public',
    summary: 'Fail',
    operationId: 'failures.make',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    request: { params: z.strictObject({ how: z.string() }) },
    responses: { 204: empty() },
    problems: ['shelf.closed', 'shelf.full'],
    limits: { rate: { name: 'fail', limit: 5, windowMs: 1000 } },
  }),
};

export const shelfRoutes = routes;

type Book = z.infer<typeof book> & { owner: string };

// A service as they all are: operations over a store, routes that call them.
export function createShelf({
  cursors,
  onAdd,
}: {
  cursors: CursorCodec<number>;
  onAdd?: () => Promise<void>;
}) {
  const books = new Map<string, Book>();
  const show = ({ owner: _, ...shown }: Book) => shown;
  const find = (id: string, owner: string) =>
    assertOwned(
      books.get(id),
      one => one.owner === owner,
      () => shelfErrors.create('shelf.book_not_found', 'No such book'),
    );

  const api = [
    endpoint(routes.list, c => {
      const { limit, cursor } = c.req.valid('query');
      const bound = bindCursors(c, cursors);
      const start = bound.open(cursor) ?? 0;
      const own = [...books.values()].filter(one => one.owner === c.get('principal').accountId);
      const next = start + limit < own.length ? start + limit : undefined;
      return c.json({ data: own.slice(start, start + limit).map(show), next_cursor: bound.seal(next) }, 200);
    }),
    endpoint(routes.add, async c => {
      await onAdd?.();
      const { title } = c.req.valid('json');
      if (title === 'too much') throw shelfErrors.create('shelf.full', 'The shelf is full', { most: 3 });
      if (title === 'busy') throw shelfErrors.create('shelf.busy', 'One at a time', { retryAfterS: 3 });
      if (title === 'closed') throw shelfErrors.create('shelf.closed', 'Later', { retryAfterS: 7 });
      if (title === 'crash') throw new Error('secret wiring');
      const added = { id: `b${books.size + 1}`, title, version: 1, owner: c.get('principal').accountId };
      books.set(added.id, added);
      c.header('Location', `/v1/books/${added.id}`);
      return c.json(show(added), 201);
    }),
    endpoint(routes.read, c => {
      const found = find(c.req.valid('param').id, c.get('principal').accountId);
      c.header('ETag', etagOf(found.version));
      return c.json(show(found), 200);
    }),
    endpoint(routes.edit, c => {
      const found = find(c.req.valid('param').id, c.get('principal').accountId);
      const expected = expectedVersion(c);
      if (expected !== undefined && expected !== String(found.version)) throw versionMismatch();
      const edited = { ...found, title: c.req.valid('json').title, version: found.version + 1 };
      books.set(edited.id, edited);
      c.header('ETag', etagOf(edited.version));
      return c.json(show(edited), 200);
    }),
    endpoint(routes.burn, c => {
      books.delete(find(c.req.valid('param').id, c.get('principal').accountId).id);
      return c.body(null, 204);
    }),
    endpoint(routes.mine, c => c.json({ kind: c.get('principal').kind }, 200)),
    endpoint(
      routes.hook,
      c => c.json({ bytes: c.get('body').length, subject: c.get('principal').subject }, 200),
      async c =>
        c.req.header('x-signature') === `signed ${c.get('body').length}`
          ? { kind: 'provider', provider: 'test', subject: c.req.param('id') ?? '' }
          : undefined,
    ),
    endpoint(routes.fail, c => {
      c.header('ETag', '"left over"');
      const { how } = c.req.valid('param');
      if (how === 'closed')
        throw shelfErrors.create('shelf.closed', 'Come back later', { retryAfterS: 7, wire: 'x' });
      if (how === 'cookie')
        throw shelfErrors.create('shelf.full', 'Full', { headers: { 'Set-Cookie': 'a=b' } });
      if (how === 'uncatalogued')
        throw defineErrors({ 'other.thing': 400 }).create('other.thing', 'secret wiring');
      if (how === 'text') throw 'secret wiring';
      throw new Error('secret wiring');
    }),
  ] as const;
  return { api, books };
}

const principals = new Map<string, Principal>(
  Object.entries({
    ann: { kind: 'account', accountId: 'usr_ann', scope: 'admin', via: 'session', credentialId: 's1' },
    bob: { kind: 'account', accountId: 'usr_bob', scope: 'admin', via: 'session', credentialId: 's2' },
    annkey: { kind: 'account', accountId: 'usr_ann', scope: 'admin', via: 'api_key', credentialId: 'k1' },
    reader: { kind: 'account', accountId: 'usr_ann', scope: 'read', via: 'api_key', credentialId: 'k2' },
    limited: {
      kind: 'account',
      accountId: 'usr_ann',
      scope: 'admin',
      via: 'api_key',
      credentialId: 'k3',
      tenants: ['t1'],
    },
    endUser: { kind: 'endUser', tenantId: 't1', userId: 'u1', scope: 'admin' },
  } satisfies Record<string, Principal>),
);

export const plainCursors: CursorCodec<number> = {
  seal: (position, bound) => Buffer.from(JSON.stringify([position, bound])).toString('base64url'),
  open(cursor, bound) {
    const [position, sealed] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (JSON.stringify(sealed) !== JSON.stringify(bound)) throw new Error('not yours');
    return position;
  },
};

export type Shelf = {
  api: Api;
  clock: ManualClock;
  lines: string[];
  books: Map<string, Book>;
  call(path: string, init?: CallInit): Promise<Response>;
};
export type CallInit = RequestInit & { as?: string; send?: unknown; address?: string };

type Change = Partial<ApiSettings> & {
  more?: readonly AnyEndpoint[];
  onAdd?: () => Promise<void>;
};

// The service behind the conventions, called without a socket.
export function openShelf({ more = [], onAdd, ...change }: Change = {}): Shelf {
  const clock = manualClock();
  const { log, lines } = recordingLog(clock);
  const shelf = createShelf({ cursors: plainCursors, onAdd });
  const api = createApi({
    info: { title: 'Shelf', version: '1' },
    endpoints: [...shelf.api, ...more],
    guards: unguarded,
    errors: [shelfErrors, tableErrors],
    authenticate: async ({ token }) => principals.get(token),
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
    rateLimits: { store: createMemoryRateLimits() },
    ...change,
  });
  const call = async (path: string, { as, send, address = '203.0.113.7', ...init }: CallInit = {}) => {
    const headers = new Headers(init.headers);
    if (as) headers.set('Authorization', `Bearer ${as}`);
    if (send !== undefined) headers.set('Content-Type', 'application/json');
    const request = { ...init, headers, ...(send === undefined ? {} : { body: JSON.stringify(send) }) };
    return api.app.request(path, request, { remoteAddress: address });
  };
  return { api, clock, lines, books: shelf.books, call };
}

export function recordingLog(clock: Clock): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  return { log: createLogger({ clock, destination: { write: line => void lines.push(line) } }), lines };
}
