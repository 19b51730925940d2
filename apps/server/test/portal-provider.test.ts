import { createBrowser } from '@stak/accounts/browser-stub';
import { openGoogle } from '@stak/accounts/google-stub';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

const tenant_id = 'books';
const password = 'seven green umbrellas';
const origin = 'http://portal.example';

// A whole server, and a real OpenID provider of a tenant.
describe('the provider of a tenant', () => {
  let server: RunningServer;
  let provider: Awaited<ReturnType<typeof openGoogle>>;
  let host: ReturnType<typeof createClient>;
  let people = 0;
  beforeAll(async () => {
    const variables = {
      STAK_PUBLIC_URL: origin,
      STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
      STAK_LAKE: 'off',
    };
    const config = readServerConfig({ port: 0, memory: true, demo: false }, variables);
    server = await startServer(config, {
      log: createLogger({ level: 'silent' }),
      passwordCost: { logN: 4, r: 8, p: 1 },
    });
    provider = await openGoogle({ redirectUri: `${origin}/v1/portal/${tenant_id}/provider/callback` });
    host = await signUp('host@example.com');
    await host.tenants.create({ body: { tenant_id, name: 'Books', status: 'active' } });
  }, 30_000);
  afterAll(async () => {
    await Promise.all([provider.close(), server.stop()]);
  });

  const as = (token?: string) => createClient({ baseUrl: server.localUrl, token });
  async function signUp(email: string) {
    const { data } = await as().accounts.signUp({ body: { email, password, name: 'Host', cookie: false } });
    return as(data.access_token);
  }
  const configure = (change: object = {}, by = host, tenant = tenant_id) => {
    const { clientId: client_id, clientSecret: client_secret } = provider.client;
    const body = { issuer: provider.url, client_id, client_secret, domains: ['books.example'], ...change };
    return by.tenants.putPortalProvider({ tenant_id: tenant, body });
  };
  const meet = (email: string, verified = true): string => {
    const sub = `person${++people}`;
    provider.people.set(sub, { email, email_verified: verified, name: 'Pat Person' });
    return sub;
  };
  const site = {
    origin,
    request: (path: string, init: RequestInit) => fetch(new URL(path, server.localUrl), init),
  };
  const start = `/v1/portal/${tenant_id}/provider/start`;
  // A sign-in ends at a page, as somebody.
  type Entered = {
    refused?: string;
    user_id?: string;
    token?: string;
    display_name?: string;
    email?: string;
    role?: string;
  };
  const enter = async (person: string): Promise<Entered> => {
    const browser = createBrowser(site, person);
    const answer = await browser.open(await browser.goToCallback(start));
    const page = new URL(answer.headers.get('location')!);
    expect([answer.status, page.pathname]).toEqual([302, `/portal/${tenant_id}`]);
    if (page.hash !== '') return { refused: page.hash };
    const refreshed = await browser.open(`/v1/portal/${tenant_id}/session/refresh`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    const { access_token } = (await refreshed.json()) as { access_token: string };
    const { data } = await as(access_token).tenants.getPortalUser({ tenant_id });
    return { user_id: data.user_id, ...data.user, token: access_token };
  };
  const refused = { refused: '#refused=tenants.sign_in_refused' };
  const failing = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: { code: string }) => error.code,
    );

  it('creates people by issuer and subject, as members without an address', async () => {
    await configure({ creates_users: true });
    const pat = meet('pat@books.example');
    const first = await enter(pat);
    expect(first).toMatchObject({ display_name: 'Pat Person', role: 'member' });
    expect(first.email).toBeUndefined();
    expect((await enter(pat)).user_id).toBe(first.user_id);
    const { data: trail } = await host.accounts.listAudit({});
    const entries = trail.data.filter(({ action }) => action === 'tenants.finishPortalSignIn');
    expect(entries).toHaveLength(1);
    expect(entries[0]!.target).toContain(first.user_id);
  });

  it('matches nobody by address, unless the account allows it', async () => {
    await configure({ creates_users: true });
    const made = { user_id: 'vera', display_name: 'Vera', email: 'vera@books.example' };
    await host.tenants.createUser({ tenant_id, body: { ...made, role: 'admin' } });
    expect((await enter(meet('vera@books.example'))).user_id).not.toBe('vera');
    await configure({ matches_addresses: true });
    const vera = meet('VERA@books.example');
    expect(await enter(vera)).toMatchObject({ user_id: 'vera', role: 'admin' });
    expect(await enter(meet('vera@books.example'))).toEqual(refused); // she is somebody else there
    expect(await enter(meet('nobody@books.example'))).toEqual(refused); // nobody is made
    await configure();
    expect(await enter(vera)).toMatchObject({ user_id: 'vera' }); // known by her subject now
  });

  it('keeps its secret from every other issuer', async () => {
    await configure();
    const elsewhere = { issuer: 'https://issuer.evil.example', client_secret: undefined };
    expect(await failing(configure(elsewhere))).toBe('tenants.provider_refused');
    expect(await failing(configure({ client_secret: undefined }))).toBe('done');
    expect(await failing(configure({ ...elsewhere, client_secret: 'its own' }))).toBe('done');
    await configure();
  });

  it('accepts only configured domains, with a verified address', async () => {
    await configure({ creates_users: true, matches_addresses: true });
    for (const person of [
      meet('eve@evil.example'),
      meet('eve@books.example.evil.example'),
      meet('eve@sub.books.example'),
      meet('eve@books.example', false),
      meet('not an address'),
    ])
      expect(await enter(person)).toEqual(refused);
  });

  it('is configured by admins of the tenant, who cannot become other users with it', async () => {
    await configure({ matches_addresses: true });
    await host.tenants.createUser({
      tenant_id,
      body: { user_id: 'ada', display_name: 'Ada', email: 'ada@books.example', role: 'admin' },
    });
    const { token } = await enter(meet('ada@books.example'));
    const ada = as(token);
    expect(await failing(configure({ matches_addresses: true }, ada))).toBe('tenants.admin_refused');
    const { data } = await configure({ creates_users: true }, ada);
    expect(data).toMatchObject({ matches_addresses: false, creates_users: true });
    expect(JSON.stringify(data)).not.toContain(provider.client.clientSecret);
    const { data: kept } = await ada.tenants.putPortalProvider({
      tenant_id,
      body: { issuer: provider.url, client_id: 'google-client', domains: ['books.example'] },
    });
    expect(kept.creates_users).toBe(false);
    expect((await ada.tenants.testPortalProvider({ tenant_id })).data.is_working).toBe(true);

    for (const issuer of [
      'http://books.example',
      'https://a:b@books.example',
      'books',
      'https://169.254.169.254',
    ])
      expect(await failing(configure({ issuer }, ada)), issuer).toBe('tenants.provider_refused');
    const stranger = await signUp('stranger@example.com');
    expect(await failing(configure({}, stranger))).toBe('tenants.not_found');
    await configure({ creates_users: true });
    const mia = await enter(meet('mia@books.example'));
    const asMember = as(mia.token);
    expect(await failing(asMember.tenants.getPortalProvider({ tenant_id }))).toBe('http.scope_missing');
  });

  it('is the only way in, also for who was invited by mail', async () => {
    await configure({ matches_addresses: true });
    const { data: invited } = await host.tenants.createInvitation({
      tenant_id,
      body: { email: 'ivo@books.example' },
    });
    const body = { token: invited.token, display_name: 'Ivo' };
    expect(await failing(as().tenants.joinPortal({ tenant_id, body }))).toBe('tenants.not_found');
    const { data: ivo } = await as().tenants.acceptInvitation({ body });
    expect(await enter(meet('ivo@books.example'))).toMatchObject({ user_id: ivo.user_id });
  });

  it('signs in once, only the browser that started, and only to its tenant', async () => {
    await configure({ creates_users: true });
    await host.tenants.create({ body: { tenant_id: 'other', name: 'Other', status: 'active' } });
    await configure({ creates_users: true }, host, 'other');
    const expired = '#refused=accounts.sign_in_expired';
    const hashOf = (answer: Response) => new URL(answer.headers.get('location')!).hash;
    const browser = createBrowser(site, meet('mix@books.example'));
    const callback = await browser.goToCallback(start);
    expect(hashOf(await createBrowser(site).open(callback))).toBe(expired);
    const elsewhere = callback.replace(`/${tenant_id}/`, '/other/');
    expect(hashOf(await browser.open(elsewhere))).toBe(expired);
    const again = createBrowser(site, meet('again@books.example'));
    const used = await again.goToCallback(start);
    expect(hashOf(await again.open(used))).toBe('');
    expect(hashOf(await again.open(used))).toBe(expired);
  });

  it('is removed at the tenant’s request, and its people by an erasure', async () => {
    await configure({ creates_users: true });
    const gone = meet('gone@books.example');
    const { user_id } = await enter(gone);
    await host.tenants.deleteUser({ tenant_id, user_id: user_id! });
    expect((await enter(gone)).user_id).not.toBe(user_id);
    await host.tenants.deletePortalProvider({ tenant_id });
    expect((await fetch(new URL(start, server.localUrl), { redirect: 'manual' })).status).toBe(404);
    expect(await failing(as().tenants.getPortal({ tenant_id }))).toBe('tenants.not_found');
  });
});
