import { defineErrors } from '@stak/kit';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AnyEndpoint,
  type AuditLine,
  empty,
  endpoint,
  type Guards,
  json,
  type Principal,
  type RouteSpec,
  route,
  sse,
  tenantOf,
  unguarded,
} from '../src/index.ts';
import { openShelf } from './shelf-service.ts';

const refusals = defineErrors({
  'test.tenant': 404,
  'test.key': 403,
  'test.unverified': 403,
  'test.full': 402,
});
const principals: Record<string, Principal> = {
  ann: {
    kind: 'account',
    accountId: 'usr_ann',
    scope: 'admin',
    via: 'session',
    credentialId: 's',
    userId: 'ann',
  },
  limited: {
    kind: 'account',
    accountId: 'usr_ann',
    scope: 'admin',
    via: 'api_key',
    credentialId: 'k',
    tenants: ['acme'],
  },
  user: { kind: 'endUser', tenantId: 'acme', userId: 'u1', scope: 'shelf:write' },
};

// Guards that note what they are asked, and refuse what `refused` names.
function noting(refused?: keyof typeof refusals.statuses) {
  const seen: string[] = [];
  const lines: AuditLine[] = [];
  const note = (text: string, code: keyof typeof refusals.statuses) => {
    seen.push(text);
    if (refused === code) throw refusals.create(code, 'Refused');
  };
  const guards: Guards = {
    enterTenant: async (principal, tenant_id) => {
      note(`enter ${tenant_id} as ${principal.kind}`, 'test.tenant');
      return { tenant_id, account_id: 'usr_ann' };
    },
    refuseKey: () => refusals.create('test.key', 'Not for this key'),
    payerOf: async tenantId => `payer of ${tenantId}`,
    checks: reach => reach !== 'model',
    checkReach: async (accountId, isOwn) => note(`reach ${accountId} ${isOwn}`, 'test.unverified'),
    storage: {
      admit: async (accountId, bytes, isOwner) => note(`admit ${accountId} ${bytes} ${isOwner}`, 'test.full'),
      admitEdit: async (accountId, bytes) => note(`edit ${accountId} ${bytes}`, 'test.full'),
      admitLine: async accountId => note(`line ${accountId}`, 'test.full'),
      charge: async (accountId, bytes) => void seen.push(`charge ${accountId} ${bytes}`),
    },
    audit: async (accountId, line) => {
      seen.push(`audit ${accountId}`);
      lines.push(line);
    },
    problemsOf: ({ operationId }) =>
      operationId === plain.operationId ? Object.keys(refusals.statuses) : [],
  };
  return { seen, lines, guards };
}

const plain = {
  method: 'post',
  path: '/v1/shelves',
  operationId: 'shelves.change',
  auth: 'user',
  scope: 'write',
  endUserScope: 'shelf:write',
  summary: 'Change a shelf',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  responses: { 204: empty() },
} as const;
const inTenant = {
  path: '/v1/shelves/{tenant_id}',
  tenant: 'path',
  request: { params: z.strictObject({ tenant_id: z.string() }) },
} as const;

type Setup = {
  spec: object;
  refused?: keyof typeof refusals.statuses;
  as?: string;
  path?: string;
  init?: object;
};

async function callRoute({ spec, refused, as = 'ann', path = '/v1/shelves', init = {} }: Setup) {
  const { seen, lines, guards } = noting(refused);
  const shelf = openShelf({
    authenticate: async ({ token }) => principals[token],
    guards,
    errors: [
      refusals,
      {
        statuses: {
          'shelf.full': 402,
          'shelf.busy': 503,
          'shelf.closed': 503,
          'shelf.book_not_found': 404,
          'table.condition_failed': 409,
        },
      },
    ],
    more: [
      endpoint(route({ ...plain, ...spec } as unknown as RouteSpec as typeof plain), c => {
        seen.push(`handle ${c.get('tenant')?.tenant_id}`);
        return c.body(null, 204);
      }) as unknown as AnyEndpoint,
    ],
  });
  const response = await shelf.call(path, { as, method: 'POST', ...init });
  return { status: response.status, seen, lines, shelf };
}

it('a tenant in the path is entered before anything else is done', async () => {
  const spec = { ...inTenant, stores: 'body', audit: true };
  expect((await callRoute({ spec, path: '/v1/shelves/acme' })).seen).toEqual([
    'enter acme as account',
    'admit usr_ann 1000 true',
    'handle acme',
    'audit usr_ann',
  ]);
  const refused = await callRoute({ spec, path: '/v1/shelves/acme', refused: 'test.tenant' });
  expect([refused.status, refused.seen]).toEqual([404, ['enter acme as account']]);
});

it('a caller who is an end user enters their own tenant', async () => {
  const spec = { tenant: 'caller' };
  expect((await callRoute({ spec, as: 'user' })).seen).toEqual(['enter acme as endUser', 'handle acme']);
  expect((await callRoute({ spec })).seen).toEqual(['handle undefined']);
});

it.each([
  ['its tenant', inTenant, '/v1/shelves/acme', 204],
  ['another tenant', inTenant, '/v1/shelves/other', 403],
  ['the account', {}, '/v1/shelves', 403],
  ['what every key may call', { tenant: 'any-key' }, '/v1/shelves', 204],
])('a key that is limited to a tenant is checked for %s', async (_, spec, path, status) => {
  expect((await callRoute({ spec, path, as: 'limited' })).status).toBe(status);
});

it('an account is checked before a request reaches something', async () => {
  const spec = { reaches: 'outside' };
  expect((await callRoute({ spec })).seen).toEqual(['reach usr_ann true', 'handle undefined']);
  expect((await callRoute({ spec, as: 'user' })).seen).toEqual([
    'reach payer of acme false',
    'handle undefined',
  ]);
  const refused = await callRoute({ spec, refused: 'test.unverified' });
  expect([refused.status, refused.seen]).toEqual([403, ['reach usr_ann true']]);
  expect((await callRoute({ spec: { reaches: 'model' } })).seen).toEqual(['handle undefined']);
});

it('the account in a public path answers for it, and so does that of a tenant', async () => {
  const open = {
    auth: 'public',
    scope: undefined,
    endUserScope: undefined,
    reaches: 'mail',
    tenant: 'handler',
  };
  const ofTenant = { ...open, path: inTenant.path, request: inTenant.request };
  expect((await callRoute({ spec: ofTenant, path: '/v1/shelves/acme' })).seen[0]).toBe(
    'reach payer of acme false',
  );
  const ofAccount = {
    ...open,
    path: '/v1/shelves/{accountId}',
    request: { params: z.strictObject({ accountId: z.string() }) },
  };
  expect((await callRoute({ spec: ofAccount, path: '/v1/shelves/usr_bob' })).seen[0]).toBe(
    'reach usr_bob false',
  );
});

it('nothing is reached without the fields that name it', async () => {
  const url = z.string().nullable().optional();
  const body = z.strictObject({ url, other: url });
  const spec = { reaches: 'outside', reachesWith: ['url'], request: { body: json(body) } };
  const send = async (url: string | null) => (await callRoute({ spec, init: { send: { url } } })).seen;
  expect(await send(null)).toEqual(['handle undefined']);
  expect(await send('https://a.example')).toEqual(['reach usr_ann true', 'handle undefined']);
  // One of several is enough.
  const either = { ...spec, reachesWith: ['other', 'url'] };
  const init = { send: { url: 'https://a.example' } };
  expect((await callRoute({ spec: either, init })).seen[0]).toBe('reach usr_ann true');
});

it.each<[string, object, string[]]>([
  ['as much as it sends', { stores: 'body' }, ['admit usr_ann 1015 true']],
  ['no more than before', { stores: 'edit' }, ['edit usr_ann 1015']],
  [
    'no more than before, and a line',
    { stores: 'edit', audit: 'own' },
    ['line usr_ann', 'edit usr_ann 1015'],
  ],
  ['a line', { stores: 'line' }, ['line usr_ann']],
  ['an estimate', { stores: (bytes: number) => bytes * 3 }, ['admit usr_ann 1045 true']],
  ['nothing, by estimate', { stores: () => 0 }, ['edit usr_ann 1015']],
  ['less', { stores: 'deletes' }, []],
  ['what an account needs', { stores: 'access' }, []],
])('storage is asked for %s', async (_, spec, expected) => {
  const request = { body: json(z.strictObject({ title: z.string() })) };
  const init = { send: { title: 'Hen' } }; // 15 bytes
  expect((await callRoute({ spec: { ...spec, request }, init })).seen).toEqual([
    ...expected,
    'handle undefined',
  ]);
  const isRefused = expected.length > 0;
  const full = await callRoute({ spec: { ...spec, request }, init, refused: 'test.full' });
  expect([full.status, full.seen.includes('handle undefined')]).toEqual(
    isRefused ? [402, false] : [204, true],
  );
});

it('an answer that is kept for a key is charged once, and a repeated request passes no guard', async () => {
  const spec = { stores: 'body', idempotent: true, audit: true };
  const headers = { 'Idempotency-Key': 'once' };
  const { seen, shelf } = await callRoute({ spec, init: { headers } });
  const all = ['admit usr_ann 1000 true', 'handle undefined', 'charge usr_ann 0', 'audit usr_ann'];
  expect(seen).toEqual(all);
  const again = await shelf.call('/v1/shelves', { as: 'ann', method: 'POST', headers });
  expect([again.status, again.headers.get('idempotency-replayed'), seen]).toEqual([204, 'true', all]);
});

it('a line names the caller and what was changed', async () => {
  const { lines } = await callRoute({ spec: { audit: true, stores: 'body' }, as: 'user' });
  expect(lines).toEqual([
    {
      action: 'shelves.change',
      target: '/v1/shelves',
      via: 'end_user',
      credentialId: 'acme/u1',
      address: '203.0.113.7',
      requestId: expect.any(String),
    },
  ]);
});

it('a change stays if the trail cannot be written, and the log has the line', async () => {
  const failing = async () => Promise.reject(new Error('no disk'));
  const changed = route({ ...plain, audit: true, stores: 'body' });
  const { call, lines } = openShelf({
    guards: { ...unguarded, audit: failing },
    more: [endpoint(changed, c => c.body(null, 204))],
  });
  expect((await call('/v1/shelves', { as: 'ann', method: 'POST' })).status).toBe(204);
  expect(lines.join()).toContain('the audit trail could not be written');
});

it('a stream enters its tenant again with every heartbeat', async () => {
  let isOpen = true;
  const guards: Guards = {
    ...unguarded,
    enterTenant: async (_, tenant_id) => {
      if (!isOpen) throw refusals.create('test.tenant', 'Closed');
      return { tenant_id, account_id: 'usr_ann' };
    },
  };
  const stream = route({
    ...plain,
    ...inTenant,
    method: 'get',
    scope: 'read',
    responses: { 200: { description: 'Events', content: { 'text/event-stream': { schema: z.string() } } } },
  });
  const { call, clock } = openShelf({
    guards,
    more: [
      endpoint(stream, c => {
        const { tenant_id } = tenantOf(c);
        return sse(c, {
          heartbeatMs: 1000,
          subscribe: (_, sink) => {
            sink.send({ event: 'entered', data: tenant_id });
            return new Promise(resolve => sink.signal.addEventListener('abort', () => resolve()));
          },
        }) as never;
      }),
    ],
  });
  const response = await call('/v1/shelves/acme', { as: 'ann' });
  const source = response.body!.getReader();
  const next = async () => new TextDecoder().decode((await source.read()).value);
  expect(await next()).toContain('retry');
  expect(await next()).toContain('data: acme');
  isOpen = false;
  await clock.advance(1000);
  expect(await next()).toContain('refused');
});

it('errors of guards are in the document, where they apply', () => {
  const { guards } = noting();
  const spec = route({ ...plain, ...inTenant });
  const { api } = openShelf({
    guards,
    errors: [
      refusals,
      {
        statuses: {
          'shelf.full': 402,
          'shelf.busy': 503,
          'shelf.closed': 503,
          'shelf.book_not_found': 404,
          'table.condition_failed': 409,
        },
      },
    ],
    more: [endpoint(spec, c => c.body(null, 204))],
  });
  const described = JSON.stringify(api.document().paths?.['/v1/shelves/{tenant_id}']);
  expect(described).toContain('test.tenant');
  expect(JSON.stringify(api.document().paths?.['/v1/books'])).not.toContain('test.tenant');
});
