import type { RouteSpec } from '@stak/http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, openEmbedded, type Serving, serve, type Tokens } from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
let ann: Tokens;
let readKey: string;
let endUser: string;
let expired: string;

beforeAll(async () => {
  engine = await openEmbedded();
  const none = { attempts: 1_000_000, windowS: 900 };
  fixture = serve(engine, { throttles: { account: none, address: none, signUp: none } });
  expired = (await fixture.signUp('ann@example.com')).access_token;
  await fixture.clock.advance(16 * 60_000);
  ann = (await (await fixture.logIn('ann@example.com')).json()) as Tokens;
  const send = { name: 'reader', permissions: 'read' };
  const made = await fixture.call('POST', '/v1/api-keys', { as: ann.access_token, send });
  readKey = ((await made.json()) as { key: string }).key;
  endUser = (await fixture.mintEndUserToken({ tenant: 't1', sub: 'u1', scope: 'admin' })).token;
});
afterAll(async () => {
  await fixture.settle();
  await engine.close();
});

const routes = (): RouteSpec[] => fixture.routes.filter(route => route.tags?.includes('accounts'));
const guarded = () => routes().filter(route => route.auth !== 'public' && route.auth !== 'provider');
// Routes that take JSON.
const withBody = () =>
  routes().filter(({ request }) => request?.body && 'application/json' in request.body.content);

// A path whose parameters look right and name nothing of the caller's.
const pathOf = ({ path }: RouteSpec, value?: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (value !== undefined) return encodeURIComponent(value);
    return name === 'provider' ? 'github' : `${name === 'keyId' ? 'key' : 'ses'}_0000000000`;
  });
const send = (route: RouteSpec, init: Parameters<Serving['call']>[2] = {}, value?: string) =>
  fixture.call(route.method.toUpperCase(), pathOf(route, value), init);

describe('every route', () => {
  it('is in this list', () => {
    expect(routes().length).toBeGreaterThan(20);
    expect(guarded().length).toBeGreaterThan(12);
  });

  it('requires a currently valid token', async () => {
    for (const route of guarded())
      for (const as of [undefined, 'nonsense', expired, `fh_live_${'0'.repeat(40)}`, ann.refresh_token]) {
        const answer = await send(route, { as });
        expect([route.path, await fixture.codeOf(answer)]).toEqual([route.path, 'http.unauthenticated']);
      }
  });

  it('refuses end users, unless it is meant for them', async () => {
    for (const route of guarded().filter(({ auth }) => auth !== 'user')) {
      const answer = await send(route, { as: endUser });
      expect([route.path, await fixture.codeOf(answer)]).toEqual([route.path, 'http.principal_refused']);
    }
  });

  it('changes nothing for a read-only key', async () => {
    for (const route of guarded().filter(one => one.method !== 'get')) {
      const code = await fixture.codeOf(await send(route, { as: readKey, send: {} }));
      expect([route.path, code]).toEqual([
        route.path,
        expect.stringMatching(/^http\.(scope_missing|principal_refused)$/),
      ]);
    }
  });

  it('refuses unknown fields, oversized bodies and invalid JSON', async () => {
    for (const route of withBody()) {
      const as = route.auth === 'public' ? undefined : ann.access_token;
      const headers = { 'content-type': 'application/json' };
      const answers = {
        unknown: await send(route, { as, send: { isAdmin: true } }),
        oversize: await send(route, { as, send: { name: 'x'.repeat(300_000) } }),
        broken: await send(route, { as, headers, body: '{"email":' }),
        list: await send(route, { as, send: [] }),
        form: await send(route, { as, body: 'a=b', headers: { 'content-type': 'text/plain' } }),
      };
      const codes = Object.entries(answers).map(async ([name, answer]) => [name, answer.status]);
      expect([route.path, Object.fromEntries(await Promise.all(codes))]).toEqual([
        route.path,
        { unknown: 400, oversize: 413, broken: 400, list: 400, form: 415 },
      ]);
    }
  });
});

const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    '#',
    'USER#x',
    '__proto__',
    '../../etc/passwd',
    '\u0000',
    '\ud800',
    '%00',
    "' OR 1=1 --",
    '<script>',
    '\u202eabc',
    'a'.repeat(2000),
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const hostileValue = fc.oneof(
  hostileText,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(hostileText, { maxLength: 3 }),
);

describe('no input', () => {
  const isTaken = async (route: RouteSpec, init: Parameters<Serving['call']>[2], value?: string) => {
    const answer = await send(route, init, value);
    const text = await answer.text();
    if (answer.ok) return answer.ok;
    // A provider or Stripe that is not configured says so with 501.
    expect([400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 501]).toContain(answer.status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(text).not.toMatch(/at .+\.ts:\d/);
    return answer.ok;
  };

  it('in a body causes anything but a response or a problem', async () => {
    const bodies = withBody().filter(route => route.path !== '/v1/me');
    const fields = [
      'email',
      'password',
      'name',
      'refresh_token',
      'currentPassword',
      'newPassword',
      'permissions',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bodies),
        fc.dictionary(fc.constantFrom(...fields, 'plan', 'return_to'), hostileValue, { maxKeys: 4 }),
        async (route, body) => {
          const as = route.auth === 'public' ? undefined : ann.access_token;
          await isTaken(route, { as, send: body });
        },
      ),
      { numRuns: 100 },
    );
  });

  it('in a sign-in causes anything but a refusal', async () => {
    const login = withBody().find(route => route.path === '/v1/auth/login')!;
    const refresh = withBody().find(route => route.path === '/v1/auth/refresh')!;
    await fc.assert(
      fc.asyncProperty(hostileText, hostileText, async (one, other) => {
        expect(await isTaken(login, { send: { email: one, password: other } })).toBe(false);
        expect(await isTaken(login, { send: { email: 'ann@example.com', password: other } })).toBe(false);
        expect(await isTaken(refresh, { send: { refresh_token: one } })).toBe(false);
        expect(
          await isTaken(refresh, {
            send: {},
            headers: { cookie: `stak_refresh=${encodeURIComponent(other.toWellFormed())}` },
          }),
        ).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('in a path reaches anything', async () => {
    const paths = guarded().filter(route => route.path.includes('{'));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), hostileText, async (route, text) => {
        if (text === '' || text === '.' || text === '..' || !text.isWellFormed()) return;
        expect(await isTaken(route, { as: ann.access_token, send: route.request?.body && {} }, text)).toBe(
          false,
        );
      }),
      { numRuns: 100 },
    );
  });
});
