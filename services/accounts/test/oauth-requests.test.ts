import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callback, challengeOf, createApps, errorOf, form, type Query, resource } from './apps-fixture.ts';
import { type Engine, openEmbedded, publicUrl, type Serving, serve } from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
let apps: ReturnType<typeof createApps>;
beforeEach(async () => {
  engine = await openEmbedded();
  fixture = serve(engine, { defaultPlan: 'selfhosted' });
  apps = createApps(fixture);
});
afterEach(async () => {
  await fixture.settle();
  await engine.close();
});

describe('requesting access', () => {
  const complete = async (change: Query = {}): Promise<Query> => ({
    client_id: await apps.register(),
    redirect_uri: callback,
    response_type: 'code',
    code_challenge: challengeOf('a'.repeat(43)),
    code_challenge_method: 'S256',
    state: 'a state',
    ...change,
  });

  it('never redirects to an address that the app has not registered', async () => {
    const query = await complete();
    for (const redirect_uri of [
      'https://evil.example/callback',
      'https://app.example/callback/../../evil',
      'https://app.example/callback#x',
      'https://app.example@evil.example/callback',
      'http://127.0.0.1:9000/callback',
      'javascript:alert(1)',
      '',
    ])
      expect(await apps.authorize({ ...query, redirect_uri })).toBe('accounts.app_redirect_refused');
    for (const client_id of ['app_none', `app_${'A'.repeat(22)}`, '', 'CLIENT#x'])
      expect(await apps.authorize({ ...query, client_id })).toBe('accounts.app_unknown');
    const twice = await fixture.call(
      'GET',
      `/v1/oauth/authorize?${new URLSearchParams(query)}&redirect_uri=https%3A%2F%2Fevil.example`,
    );
    expect([twice.status, twice.headers.get('location')]).toEqual([400, null]);
  });

  it('shows what is wrong on a page with a link back to the app, and does not redirect', async () => {
    for (const [change, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge: '' }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge_method: '' }, 'invalid_request'],
      [{ code_challenge: 'short' }, 'invalid_request'],
      [{ scope: 'admin' }, 'invalid_scope'],
      [{ scope: 'read write admin' }, 'invalid_scope'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
      [{ resource: publicUrl }, 'invalid_target'],
      [{ nonce: 'x'.repeat(2000) }, 'invalid_request'],
      [{ scope: 'admin', state: '"><b>' }, 'invalid_scope'],
    ] as [Query, string][]) {
      const query = await complete(change);
      const answer = await fixture.call('GET', `/v1/oauth/authorize?${new URLSearchParams(query)}`);
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(answer.headers.get('content-type')).toContain('text/html');
      const page = await answer.text();
      expect(page).toContain('<b>app.example</b>');
      expect(page).not.toContain('"><b>');
      const [, link] = /<a href="([^"]+)"/.exec(page)!;
      const back = new URL(link!.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code)));
      expect(back.origin + back.pathname).toBe(callback);
      expect(Object.fromEntries(back.searchParams)).toMatchObject({
        error,
        state: query.state,
        iss: publicUrl,
      });
      expect(back.searchParams.get('code')).toBeNull();
    }
  });

  it('shows a page without scripts and resources, and without the app’s own text', async () => {
    const odd = await complete({ '<script>alert(1)</script>': 'x'.repeat(2000) });
    const answer = await fixture.call('GET', `/v1/oauth/authorize?${new URLSearchParams(odd)}`);
    const page = await answer.text();
    expect(page).not.toContain('alert');
    expect(page).not.toContain('Assistant'); // as the app calls itself
    const [, style] = /<style>([^<]*)<\/style>/.exec(page)!;
    const hash = createHash('sha256').update(style!).digest('base64');
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
  });

  it('accepts any port of a loopback address', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const clientId = await apps.register(['http://127.0.0.1/callback']);
    const redirect_uri = 'http://127.0.0.1:49152/callback';
    const asked = await apps.ask({ client_id: clientId, redirect_uri });
    const back = await apps.approve(ann, asked.request);
    expect(back.origin + back.pathname).toBe(redirect_uri);
    const code = back.searchParams.get('code')!;
    expect(
      (await apps.redeeming(asked, code, { redirect_uri: 'http://127.0.0.1:49153/callback' })).status,
    ).toBe(400);
    expect((await apps.redeeming(asked, code, { redirect_uri })).status).toBe(200);
  });
});

describe('the decision', () => {
  it('is made by a signed-in person, on our own page', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const { request } = await apps.ask();
    const nobody = { as: '', accountId: ann.accountId };
    expect((await apps.deciding(nobody, request)).status).toBe(401);
    for (const origin of ['https://app.example', 'https://evil.example', 'null'])
      expect(await fixture.codeOf(await apps.deciding(ann, request, {}, { origin }))).toBe(
        'accounts.origin_refused',
      );
    // Neither a key nor another app decides for a person.
    const made = await fixture.call('POST', '/v1/api-keys', {
      as: ann.as,
      send: { name: 'k', permissions: 'admin' },
    });
    const { key } = (await made.json()) as { key: string };
    expect((await apps.deciding({ ...ann, as: key }, request)).status).toBe(403);
    const app = await apps.connect(ann);
    expect((await apps.deciding({ ...ann, as: app.access_token }, request)).status).toBe(401);
    expect((await apps.deciding(ann, request, {}, { origin: publicUrl })).status).toBe(200);
  });

  it('applies only to the request that was shown', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const { request } = await apps.ask();
    for (const other of ['nothing', `${request}x`, request.slice(0, -4), request.replace('s1.', 's2.')])
      expect(await fixture.codeOf(await apps.deciding(ann, other))).toBe('accounts.app_request_expired');
    expect(await fixture.codeOf(await apps.deciding(ann, request, { accountId: 'usr_other' }))).toBe(
      'accounts.changed',
    );
    expect((await apps.deciding(ann, request, { scope: 'admin' })).status).toBe(400);
    const refused = await apps.approve(ann, request, { approved: false });
    expect(refused.origin + refused.pathname).toBe(callback);
    expect(Object.fromEntries(refused.searchParams)).toEqual({
      error: 'access_denied',
      state: 'a state',
      iss: publicUrl,
    });
    await fixture.clock.advance(10 * 60_000);
    expect(await fixture.codeOf(await apps.deciding(ann, request))).toBe('accounts.app_request_expired');
  });
});

describe('registration', () => {
  it('returns a public client, and ignores unknown metadata', async () => {
    const answer = await apps.registering({
      redirect_uris: [callback, 'http://localhost/callback'],
      client_name: '  Evil\u202e\u0000\nname ',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
      software_id: 'x',
    });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({
      client_id: expect.stringMatching(/^app_/),
      client_id_issued_at: expect.any(Number),
      client_name: 'Evil name',
      redirect_uris: [callback, 'http://localhost/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  it('is refused if it could not work or would be unsafe', async () => {
    for (const [metadata, error] of [
      [{}, 'invalid_redirect_uri'],
      [{ redirect_uris: [] }, 'invalid_redirect_uri'],
      [{ redirect_uris: ['http://app.example/cb'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [callback, 'javascript:alert(1)'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: Array.from({ length: 11 }, (_, i) => `${callback}${i}`) }, 'invalid_redirect_uri'],
      [{ redirect_uris: callback }, 'invalid_redirect_uri'],
      [{ redirect_uris: [callback], client_name: 7 }, 'invalid_client_metadata'],
      [{ redirect_uris: [callback], grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
      [{ redirect_uris: [callback], response_types: ['token'] }, 'invalid_client_metadata'],
      ['no object', 'invalid_client_metadata'],
    ])
      expect(await errorOf(await apps.registering(metadata)), JSON.stringify(metadata)).toEqual([400, error]);
    const large = await apps.registering({ redirect_uris: [callback], client_name: 'x'.repeat(20_000) });
    expect(large.status).toBe(413);
  });

  it('is allowed thirty times an hour from one address', async () => {
    const metadata = { redirect_uris: [callback] };
    for (let i = 0; i < 30; i++) expect((await apps.registering(metadata, '192.0.2.1')).status).toBe(201);
    const refused = await apps.registering(metadata, '192.0.2.1');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await apps.registering(metadata, '192.0.2.2')).status).toBe(201);
  });

  it('expires after a day without an approval, and is kept with one', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const [used, unused] = [await apps.register(), await apps.register()];
    const { request } = await apps.ask({ client_id: used });
    await apps.approve(ann, request);
    await fixture.clock.advance(24 * 3600_000);
    const query = { redirect_uri: callback, response_type: 'token' };
    expect(await apps.authorize({ ...query, client_id: unused })).toBe('accounts.app_unknown');
    await apps.ask({ client_id: used });
  });
});

it('is described as the standards require', async () => {
  const read = async (path: string) => (await fixture.call('GET', path)).json();
  expect(await read('/.well-known/oauth-protected-resource/mcp')).toMatchObject({
    resource,
    authorization_servers: [publicUrl],
    scopes_supported: ['read', 'write'],
  });
  expect(await read('/.well-known/oauth-authorization-server')).toMatchObject({
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/v1/oauth/authorize`,
    token_endpoint: `${publicUrl}/v1/oauth/token`,
    registration_endpoint: `${publicUrl}/v1/oauth/register`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  });
});

it('forms have each field once, and the content type of a form', async () => {
  const post = (body: string, headers: Record<string, string>) =>
    fixture.call('POST', '/v1/oauth/token', { body, headers });
  for (const answer of [
    await post('client_id=a&client_id=b&grant_type=refresh_token', form),
    await post('{"client_id": "a"}', { 'content-type': 'application/json' }),
    await post('', form),
  ])
    expect(await errorOf(answer)).toEqual([400, 'invalid_request']);
});
