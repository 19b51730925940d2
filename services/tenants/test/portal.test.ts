import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { cookieOf, createPortalCalls, invent, openAcme } from './portal-fixture.ts';
import { everyItem, type Fixture, openFixture, openProcess, targets } from './tenants-fixture.ts';

describe.each(Object.entries(targets))('the portal, %s', (name, make) => {
  let fixture: Fixture;
  const closers: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
  });

  beforeEach(async () => {
    fixture = await openFixture(make);
    closers.push(fixture.target.close);
    await openAcme(fixture);
  });

  const { post, deliver, ask, signIn, refresh, me } = createPortalCalls(() => fixture);

  it('signs in with a mailed code, in the browser that requested it, once', async () => {
    const attempt = await ask('ANN@example.com');
    const { code, mail } = (await deliver())!;
    expect(mail).toMatchObject({
      kind: 'tenant.sign_in',
      to: 'Ann@example.com',
      details: { tenant: 'Acme' },
    });
    const other = await ask();
    expect((await post('/session', { attempt: other, code })).body.code).toBe('tenants.sign_in_refused');
    const { status, body, headers } = await post('/session', {
      attempt,
      code: `${code.slice(0, 4)} ${code.slice(4)}`,
    });
    expect(status).toBe(201);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Secure-stak_portal=\S+; Max-Age=1209600; Path=\/v1\/portal\/acme; HttpOnly; SameSite=Strict; Secure$/,
      ),
    ]);
    expect((await me(body.access_token)).body).toMatchObject({
      user_id: 'ann',
      user: { display_name: 'Ann', role: 'admin' },
      scope: expect.stringMatching(/agents:chat.* tenant:manage$/),
      inboxes: [{ inbox_key: 'main', title: 'Main' }],
    });
    expect((await post('/session', { attempt, code })).status).toBe(403);
  });

  it('signs in with the mailed link, in any browser, once, even with concurrent uses', async () => {
    await ask();
    const { token } = (await deliver())!;
    const both = await Promise.all([post('/session', { token }), post('/session', { token })]);
    expect(both.map(one => one.status).sort()).toEqual([201, 403]);
    expect((await post('/session', { token })).status).toBe(403);
  });

  it('accepts at most five wrong codes, and no expired one', async () => {
    const attempt = await ask();
    const { code, token } = (await deliver())!;
    const wrong = code === '00000000' ? '00000001' : '00000000';
    await Promise.all(Array.from({ length: 8 }, () => post('/session', { attempt, code: wrong })));
    expect((await post('/session', { attempt, code })).status).toBe(403);
    // Who guesses at a code does not take the link from the person who has the mail.
    expect((await post('/session', { token })).status).toBe(201);
    const late = await ask();
    const mailed = (await deliver())!;
    await fixture.clock.advance(15 * 60_000 + 1_000);
    expect((await post('/session', { attempt: late, code: mailed.code })).status).toBe(403);
    expect((await post('/session', { token: mailed.token })).status).toBe(403);
  });

  it('rotates the cookie, repeats a lost response, and ends a copied session', async () => {
    const first = (await signIn()).cookie;
    const second = await refresh(first);
    expect(second.status).toBe(200);
    const next = cookieOf(second.headers);
    expect(next).not.toBe(first);
    expect(cookieOf((await refresh(first)).headers)).toBe(next);
    await fixture.clock.advance(61_000);
    const third = await refresh(next);
    expect(third.status).toBe(200);
    await fixture.clock.advance(61_000);
    expect((await refresh(next)).status).toBe(401);
    expect((await refresh(cookieOf(third.headers))).status).toBe(401);
    expect((await me(third.body.access_token)).status).toBe(401);
  });

  it('signs in the user who accepts an invitation, in its tenant, once', async () => {
    const invite = async () =>
      (
        await fixture.call('POST', '/v1/tenants/acme/invitations', {
          send: { email: 'bo@example.com', mail: true },
        })
      ).body;
    const { token } = await invite();
    expect(fixture.mails.at(-1)).toMatchObject({ kind: 'tenant.invited', to: 'bo@example.com', token });
    const body = { token, display_name: 'Bo' };
    await fixture.call('POST', '/v1/tenants', {
      send: { tenant_id: 'other', name: 'Other', status: 'active' },
    });
    await fixture.call('PATCH', '/v1/tenants/other/settings', {
      ifMatch: '*',
      send: { portal_sign_in: 'mail' },
    });
    const elsewhere = await fixture.call('POST', '/v1/portal/other/join', { as: '', send: body });
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'tenants.invitation_not_found']);
    const joined = await Promise.all([post('/join', body), post('/join', body)]);
    expect(joined.map(one => one.status).sort()).toEqual([201, 404]);
    const { body: session, headers } = joined.find(one => one.status === 201)!;
    expect((await me(session.access_token)).body).toMatchObject({
      user: { display_name: 'Bo', role: 'member' },
    });
    expect((await me(session.access_token)).body.scope).not.toContain('tenant:manage');
    expect((await refresh(cookieOf(headers))).status).toBe(200);
  });

  if (name !== 'embedded') return; // what follows asks nothing more of a store

  it('responds alike for every address, and mails only users', async () => {
    const known = await post('/sign-in', { email: 'ann@example.com' });
    const unknown = await post('/sign-in', { email: 'nobody@example.com' });
    expect(Object.keys(unknown.body)).toEqual(Object.keys(known.body));
    expect([unknown.status, unknown.body.attempt.length]).toEqual([known.status, known.body.attempt.length]);
    expect(await deliver()).toBeUndefined();
    expect(fixture.mailTried).toEqual([
      { email: 'ann@example.com', address: '203.0.113.7', account: expect.any(String) },
      { email: 'nobody@example.com', address: '203.0.113.7', account: expect.any(String) },
    ]);
    const wrong = { attempt: unknown.body.attempt, code: '12345678' };
    const refused = await post('/session', wrong);
    await deliver();
    const alsoRefused = await post('/session', { attempt: known.body.attempt, code: 'x' });
    expect([refused.status, refused.body.detail]).toEqual([alsoRefused.status, alsoRefused.body.detail]);
  });

  it('mails in the server’s name for an unverified account', async () => {
    await ask();
    fixture.unnamed.add(fixture.mailTried[0]!.account);
    const { mail } = (await deliver())!;
    expect(mail.details).toEqual({ tenant_id: 'acme' });
    await fixture.call('POST', '/v1/tenants/acme/invitations', {
      send: { email: 'new@example.com', role: 'member', mail: true },
    });
    expect(fixture.mails.at(-1)).toMatchObject({ kind: 'tenant.invited', details: { tenant_id: 'acme' } });
    expect(fixture.mails.at(-1)?.details).not.toHaveProperty('tenant');
  });

  it('refuses a mailed sign-in for an address that is no longer the user’s', async () => {
    await ask();
    const { token } = (await deliver())!;
    const { etag } = await fixture.call('GET', '/v1/tenants/acme/users/ann');
    const send = { email: 'other@example.com' };
    await fixture.call('PATCH', '/v1/tenants/acme/users/ann', { ifMatch: etag, send });
    expect((await post('/session', { token })).status).toBe(403);
  });

  it('ends sessions when the address, or the identity, by which they began is no longer the user’s', async () => {
    const patch = (send: object) =>
      fixture.call('PATCH', '/v1/tenants/acme/users/ann', { send, ifMatch: '*' });
    const { cookie, token } = await signIn();
    for (const send of [{ display_name: 'Anna' }, { email: 'ANN@example.com' }]) {
      expect((await patch(send)).status).toBe(200);
      expect((await me(token)).status).toBe(200);
    }
    expect((await patch({ email: 'other@example.com' })).status).toBe(200);
    expect((await me(token)).status).toBe(401);
    expect((await refresh(cookie)).status).toBe(401);

    expect((await patch({ email: 'ann@example.com', channel_identities: { openid: 'x' } })).status).toBe(200);
    const again = await signIn();
    expect((await patch({ channel_identities: { slack: 'U1' } })).status).toBe(200);
    expect((await me(again.token)).status).toBe(200);
    expect((await patch({ channel_identities: { openid: null } })).status).toBe(200);
    expect((await me(again.token)).status).toBe(401);
  });

  it('stores no usable code, link or cookie', async () => {
    const attempt = await ask();
    const { code, token } = (await deliver())!;
    const { cookie } = await signIn();
    const stored = JSON.stringify(await everyItem(fixture.target));
    for (const secret of [code, token.split('.')[1]!, attempt.split('.')[1]!, cookie.split('.')[3]!])
      expect(stored).not.toContain(secret);
  });

  it('responds as for a missing tenant if the tenant has no sign-in', async () => {
    const plain = ({ request_id: _, ...rest }: { request_id: string }) => rest;
    const none = await fixture.call('GET', '/v1/portal/nobodys', { as: '' });
    expect(none.status).toBe(404);
    expect((await fixture.call('GET', '/v1/portal/acme', { as: '' })).body).toEqual({
      tenant_id: 'acme',
      name: 'Acme',
      sign_in: true,
      provider: false,
    });
    await fixture.call('PATCH', '/v1/tenants/acme/settings', {
      ifMatch: '*',
      send: { portal_sign_in: null },
    });
    expect(plain((await fixture.call('GET', '/v1/portal/acme', { as: '' })).body)).toEqual(plain(none.body));
    expect((await post('/sign-in', { email: 'ann@example.com' })).status).toBe(404);
  });

  it('ignores invented cookies, and requests from other sites', async () => {
    const { cookie } = await signIn();
    const [name, value] = cookie.split('=') as [string, string];
    const [user, session, , code] = value.split('.') as [string, string, string, string];
    for (const invented of [
      '',
      'x',
      `${user}.${session}.1.${invent(code)}`,
      `${user}.${session}.0.${code}`,
      `${user}.${session}.9.${code}`,
    ])
      expect((await refresh(`${name}=${invented}`)).status).toBe(401);
    const elsewhere = { cookie, origin: 'https://elsewhere.example' };
    expect((await post('/session/refresh', {}, elsewhere)).body.code).toBe('tenants.origin_refused');
    expect((await refresh(cookie)).status).toBe(200);
  });

  it.each([
    [
      'the host revokes their tokens',
      () => fixture.call('POST', '/v1/tenants/acme/tokens/revoke', { send: { sub: 'ann' } }),
    ],
    [
      'the host revokes all tokens',
      () => fixture.call('POST', '/v1/tenants/acme/tokens/revoke', { send: {} }),
    ],
    ['their user is removed', () => fixture.call('DELETE', '/v1/tenants/acme/users/ann')],
    [
      'they are no admin any more',
      () => fixture.call('PATCH', '/v1/tenants/acme/users/ann', { ifMatch: '*', send: { role: 'member' } }),
    ],
    ['their tenant is deleted', () => fixture.call('DELETE', '/v1/tenants/acme')],
  ])('ends a session and its tokens when %s', async (_what, act) => {
    const { token, cookie } = await signIn();
    expect((await act()).status).toBeLessThan(300);
    expect((await me(token)).status).toBe(401);
    expect((await refresh(cookie)).status).toBe(401);
    await fixture.clock.advance(26 * 60 * 60_000);
    expect((await refresh(cookie)).status).toBe(401);
  });

  it('signs out one browser: here at once, in other processes within a second', async () => {
    const other = openProcess(fixture.target, { clock: fixture.clock });
    const [here, there] = [await signIn(), await signIn()];
    const isRevoked = (session: string) =>
      other.tenants.isTokenRevoked({ tenant: 'acme', sub: 'ann', issuedAt: 9e9, session });
    const session = here.cookie.split('.')[1]!;
    expect(await isRevoked(session)).toBe(false);
    const gone = await fixture.call('DELETE', '/v1/portal/acme/session', {
      as: '',
      headers: { cookie: here.cookie },
    });
    expect([gone.status, gone.headers.getSetCookie()[0]]).toEqual([
      204,
      expect.stringContaining('Max-Age=0'),
    ]);
    expect((await me(here.token)).status).toBe(401);
    expect((await refresh(here.cookie)).status).toBe(401);
    await fixture.clock.advance(1_000);
    expect(await isRevoked(session)).toBe(true);
    expect((await me(there.token)).status).toBe(200);
  });

  it('ends a session unused for two weeks, and any after thirty days', async () => {
    const day = 24 * 60 * 60_000;
    let { cookie } = await signIn();
    for (const _ of [1, 2, 3]) {
      await fixture.clock.advance(9 * day);
      cookie = cookieOf((await refresh(cookie)).headers);
    }
    await fixture.clock.advance(4 * day);
    expect((await refresh(cookie)).status).toBe(401);
    const idle = (await signIn()).cookie;
    await fixture.clock.advance(14 * day + 1_000);
    expect((await refresh(idle)).status).toBe(401);
  });

  it('keeps the twenty most recently used sessions of a user', async () => {
    const first = await signIn();
    for (let i = 0; i < 20; i++) {
      await fixture.clock.advance(1_000);
      await signIn();
    }
    expect((await refresh(first.cookie)).status).toBe(401);
    const items = await everyItem(fixture.target);
    expect(items.filter(item => String(item.sk).startsWith('SESSION#'))).toHaveLength(20);
  });

  it('lets people change their own name, and removes all their data when they are erased', async () => {
    const { token } = await signIn();
    await ask();
    await deliver();
    const renamed = await fixture.call('PATCH', '/v1/portal/acme/me', {
      as: token,
      send: { display_name: 'Anna' },
    });
    expect(renamed.body).toEqual({ display_name: 'Anna', version: 2 });
    expect(await fixture.tenants.eraser.eraseUser('acme', 'ann')).toBe('done');
    const left = (await everyItem(fixture.target)).filter(one =>
      /^(?:SESSION|SIGNIN|USER)#/.test(String(one.sk)),
    );
    expect(left).toEqual([]);
  });
});

describe('branding', () => {
  it('accepts colours, pictures without scripts and exact origins, and nothing else', async () => {
    const fixture = await openFixture();
    await fixture.call('POST', '/v1/tenants', {
      send: { tenant_id: 'acme', name: 'Acme', status: 'active' },
    });
    const patch = async (send: object) =>
      (await fixture.call('PATCH', '/v1/tenants/acme/settings', { ifMatch: '*', send })).status;
    for (const send of [
      { portal_color: '#0F766e' },
      { portal_logo: 'https://cdn.example/logo.svg' },
      { portal_logo: 'data:image/png;base64,iVBORw0KGgo=' },
      { portal_frame_ancestors: ['https://app.example', 'http://localhost:5173'] },
      { portal_logo: '' },
    ])
      expect([send, await patch(send)]).toEqual([send, 200]);
    for (const send of [
      { portal_color: 'red' },
      { portal_color: '#fff; background: url(x)' },
      { portal_logo: 'http://cdn.example/logo.png' },
      { portal_logo: 'https://user:pass@cdn.example/logo.png' },
      { portal_logo: 'data:image/svg+xml;base64,PHN2Zz4=' },
      { portal_logo: 'data:text/html;base64,PHN2Zz4=' },
      { portal_logo: `data:image/png;base64,${'A'.repeat(25_000)}` },
      { portal_logo: 'javascript:alert(1)' },
      { portal_frame_ancestors: ['*'] },
      { portal_frame_ancestors: ['https://*.example'] },
      { portal_frame_ancestors: ['https://a;b'] },
      { portal_logo: "https://a;script-src'none'/x.png" },
      { portal_frame_ancestors: ['http://app.example'] },
      { portal_frame_ancestors: ["https://app.example; script-src 'unsafe-inline'"] },
      { portal_frame_ancestors: ['https://app.example/path'] },
      { portal_sign_in: 'everybody' },
      { portal_name: 'two\nlines' },
    ])
      expect([send, await patch(send)]).toEqual([send, 400]);
    const page = await fixture.tenants.portalPageOf('acme');
    expect(page).toEqual({ frameAncestors: ['https://app.example', 'http://localhost:5173'] });
    expect(await fixture.tenants.portalPageOf('nobodys')).toBeUndefined();
    await fixture.target.close();
  });
});
