import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Engine,
  openEmbedded,
  password,
  publicUrl,
  type Serving,
  serve,
  type Tokens,
} from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
beforeEach(async () => {
  engine = await openEmbedded();
  fixture = serve(engine);
});
afterEach(async () => {
  await fixture.settle();
  await engine.close();
});

const credentials = { email: 'ann@example.com', password };

describe('the refresh cookie', () => {
  const logIn = (headers: Record<string, string> = {}) =>
    fixture.call('POST', '/v1/auth/login', { send: credentials, headers });
  const refresh = (cookie: string, headers: Record<string, string> = {}) =>
    fixture.call('POST', '/v1/auth/refresh', { send: {}, headers: { cookie, ...headers } });
  const cookieOf = (answer: Response) => answer.headers.get('set-cookie')!.split(';')[0]!;

  it('is hidden from scripts and other sites, and not in the body', async () => {
    await fixture.signUp('ann@example.com');
    const answer = await logIn();
    expect(answer.headers.get('set-cookie')).toMatch(
      /^stak_refresh=fhr_[^;]+; Max-Age=2592000; Path=\/v1\/auth; HttpOnly; SameSite=Strict$/,
    );
    expect(await answer.json()).not.toHaveProperty('refresh_token');
    const next = await refresh(`theme=dark; ${cookieOf(answer)}`);
    expect(next.status).toBe(200);
    expect(cookieOf(next)).not.toBe(cookieOf(answer));
    expect(await next.json()).not.toHaveProperty('refresh_token');
  });

  it('is secure if we are reached by https', async () => {
    const safe = serve(engine, { publicUrl: 'https://stak.example' });
    await safe.signUp('ann@example.com');
    const answer = await safe.call('POST', '/v1/auth/login', { send: credentials });
    expect(answer.headers.get('set-cookie')).toMatch(/^__Secure-stak_refresh=.*; Secure$/);
    await safe.settle();
  });

  it('works from our own pages and not from others', async () => {
    await fixture.signUp('ann@example.com');
    const cookie = cookieOf(await logIn({ origin: publicUrl }));
    for (const origin of [
      'https://evil.example',
      'null',
      'http://stak.example',
      `${publicUrl}.evil.example`,
    ]) {
      expect(await fixture.codeOf(await refresh(cookie, { origin }))).toBe('accounts.origin_refused');
      expect(await fixture.codeOf(await logIn({ origin }))).toBe('accounts.origin_refused');
    }
    // The name the server was called by is its own, too.
    const local = { origin: 'http://127.0.0.1:8080', host: '127.0.0.1:8080' };
    const next = await refresh(cookie, local);
    expect(next.status).toBe(200);
    // A form cannot send JSON.
    const form = await fixture.call('POST', '/v1/auth/refresh', {
      body: '{}',
      headers: { cookie: cookieOf(next), 'content-type': 'text/plain' },
    });
    expect(form.status).toBe(415);
  });

  it('is cleared when the session ends', async () => {
    const { access_token } = await fixture.signUp('ann@example.com');
    const answer = await fixture.call('POST', '/v1/auth/logout', { as: access_token });
    expect(answer.headers.get('set-cookie')).toMatch(/^stak_refresh=; Max-Age=0;/);
  });
});

describe('signing in', () => {
  it('responds alike to a wrong password, an unknown address and an account without a password', async () => {
    await fixture.signUp('ann@example.com');
    await fixture.users.create({ email: 'oauth@example.com', name: 'O', githubId: '1' });
    const bodies = new Set<string>();
    for (const email of ['ann@example.com', 'none@example.com', 'oauth@example.com']) {
      const answer = await fixture.logIn(email, 'wrong horse battery');
      expect(answer.status).toBe(401);
      const { request_id: _, ...body } = (await answer.json()) as Record<string, unknown>;
      bodies.add(JSON.stringify(body));
    }
    expect(bodies.size).toBe(1);
  });

  it('reveals that an address is taken, within a rate limit', async () => {
    await fixture.signUp('ann@example.com');
    const taken = () => fixture.call('POST', '/v1/auth/signup', { send: { ...credentials, name: 'Eve' } });
    for (let i = 0; i < 20; i++) expect(await fixture.codeOf(await taken())).toBe('accounts.email_taken');
    expect((await taken()).status).toBe(429);
  });

  it('is throttled by account, from any address', async () => {
    await fixture.signUp('ann@example.com');
    const other = serve(engine);
    const guess = (i: number) =>
      (i % 2 ? fixture : other).logIn('ann@example.com', `guess number ${i}`, { address: `192.0.2.${i}` });
    const statuses = await Promise.all(Array.from({ length: 40 }, async (_, i) => (await guess(i)).status));
    expect(statuses.filter(status => status === 401)).toHaveLength(20);
    expect(statuses.filter(status => status === 429)).toHaveLength(20);
    const refused = await fixture.logIn('ann@example.com', password, { address: '192.0.2.99' });
    expect(await fixture.codeOf(refused)).toBe('accounts.too_many_attempts');
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(900);
    await fixture.clock.advance(900_000);
    expect((await fixture.logIn('ann@example.com')).status).toBe(200);
    await other.settle();
  });

  it('is not blocked by strangers for a person on a known network', async () => {
    await fixture.signUp('ann@example.com');
    const home = { address: '2001:db8:1:2::5' };
    expect((await fixture.logIn('ann@example.com', password, home)).status).toBe(200);
    await fixture.settle();
    const guess = (address: string) => fixture.logIn('ann@example.com', 'a wrong guess', { address });
    for (let i = 0; i <= 20; i++) await guess(`192.0.2.${i}`);
    expect((await guess('192.0.2.99')).status).toBe(429);
    // Another address of the same network.
    const nearby = { address: '2001:db8:1:2:ffff::9' };
    expect((await fixture.logIn('ann@example.com', password, nearby)).status).toBe(200);
    // Being known opens nothing to those who guess from there.
    for (let i = 0; i < 20; i++) expect((await guess(home.address)).status).toBe(401);
    expect((await fixture.logIn('ann@example.com', password, home)).status).toBe(429);
  });

  it('is throttled by address, for any account', async () => {
    for (let i = 0; i < 60; i++) expect((await fixture.logIn(`u${i}@example.com`)).status).toBe(401);
    expect((await fixture.logIn('u60@example.com')).status).toBe(429);
    expect((await fixture.logIn('u60@example.com', password, { address: '192.0.2.1' })).status).toBe(401);
  });

  it('does not count successful attempts', async () => {
    await fixture.signUp('ann@example.com');
    for (let i = 0; i < 30; i++) {
      expect((await fixture.logIn('ann@example.com')).status).toBe(200);
      await fixture.settle();
    }
  });

  it('replaces a hash of an older cost', async () => {
    await fixture.signUp('ann@example.com');
    const before = await fixture.users.getByEmail('ann@example.com');
    const costlier = serve(engine, { passwordCost: { logN: 5, r: 8, p: 1 } });
    expect((await costlier.logIn('ann@example.com')).status).toBe(200);
    const after = await fixture.users.getByEmail('ann@example.com');
    expect(before?.passwordHash).toMatch(/^\$scrypt\$ln=4,/);
    expect(after?.passwordHash).toMatch(/^\$scrypt\$ln=5,/);
    expect((await costlier.logIn('ann@example.com')).status).toBe(200);
    await costlier.settle();
  });

  it('keeps fifty sessions, and ends the least recently used', async () => {
    const first = await fixture.signUp('ann@example.com');
    const second = (await (await fixture.logIn('ann@example.com')).json()) as Tokens;
    await fixture.clock.advance(1000);
    await fixture.refresh(first.refresh_token);
    for (let i = 0; i < 49; i++) {
      expect((await fixture.logIn('ann@example.com')).status).toBe(200);
      await fixture.settle();
    }
    expect((await fixture.call('GET', '/v1/me', { as: second.access_token })).status).toBe(401);
    const list = await fixture.call('GET', '/v1/sessions', { as: first.access_token });
    expect(((await list.json()) as { data: unknown[] }).data).toHaveLength(50);
  });
});

describe('the account', () => {
  it('is edited under its ETag', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const etag = (await fixture.call('GET', '/v1/me', { as })).headers.get('etag')!;
    const edit = (headers: Record<string, string>) =>
      fixture.call('PATCH', '/v1/me', { as, send: { name: 'Anne' }, headers });
    expect(await (await edit({ 'If-Match': etag })).json()).toMatchObject({ name: 'Anne' });
    for (const old of [etag, '"v1a"', '"v99999999999999999999"', '"other"'])
      expect((await edit({ 'If-Match': old })).status).toBe(412);
    expect((await edit({})).status).toBe(200);
  });

  it('shows its usage and its limits', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { userId } = (await (await fixture.call('GET', '/v1/me', { as })).json()) as { userId: string };
    await fixture.users.incrementUsage(userId, 7);
    expect(await (await fixture.call('GET', '/v1/usage', { as })).json()).toEqual({
      usagePeriodStart: '2026-01-01',
      usageThisMonth: 7,
      plan: 'free',
      eventsPerMonth: 5000,
      tenants: { used: null, limit: null },
      storage: { usedBytes: 0, limitBytes: 250_000_000, isComplete: true, services: [] },
    });
    const { data } = (await (await fixture.call('GET', '/v1/plans')).json()) as { data: { plan: string }[] };
    expect(data.map(one => one.plan)).toEqual(['free', 'starter', 'pro', 'team']);
  });

  it('has an audit trail of who did what, when and from where', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    await fixture.logIn('ann@example.com', 'wrong horse battery', { address: '192.0.2.66' });
    await fixture.settle();
    const made = await fixture.call('POST', '/v1/api-keys', {
      as,
      send: { name: 'CI', permissions: 'admin' },
    });
    const { key, keyId } = (await made.json()) as { key: string; keyId: string };
    const page = (as: string, query: string) => fixture.call('GET', `/v1/audit?${query}`, { as });
    const first = (await (await page(key, 'limit=2')).json()) as { data: object[]; next_cursor: string };
    expect(first.data).toMatchObject([
      { action: 'key.created', target: keyId, via: 'session', address: '203.0.113.7', detail: 'CI (admin)' },
      { action: 'session.refused', via: 'password', address: '192.0.2.66' },
    ]);
    expect(JSON.stringify(first)).not.toContain(key);
    const rest = await page(as, `limit=9&cursor=${first.next_cursor}`);
    expect(await rest.json()).toMatchObject({
      data: [{ action: 'session.started' }, { action: 'account.created' }],
      next_cursor: null,
    });
    const actions = async (query: string) =>
      ((await (await page(as, query)).json()) as { data: { action: string }[] }).data.map(one => one.action);
    expect(await actions('action=session&limit=1')).toEqual(['session.refused']);
    expect(await actions('action=account.created&limit=1')).toEqual(['account.created']); // pages further on
    expect(await actions('by=nobody')).toEqual([]);
    expect(await actions('from=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await actions('to=2000-01-01T00:00:00%2B02:00')).toEqual([]);
    expect(await actions('from=2000-01-01T00:00:00Z')).toHaveLength(4);
    // Nobody goes on where somebody else stopped.
    const bob = await fixture.signUp('bobby@example.com');
    expect((await page(bob.access_token, `cursor=${first.next_cursor}`)).status).toBe(400);
  });
});
