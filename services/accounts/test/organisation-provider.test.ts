import { createOutbound, type Outbound } from '@stak/outbound';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser } from './browser-stub.ts';
import { openGoogle } from './google-stub.ts';
import { openService, origin, problemOf } from './service-stub.ts';

type Service = Awaited<ReturnType<typeof openService>>;

// A real OpenID provider, of an organisation.
describe('the provider of an organisation', () => {
  let outbound: Outbound;
  let service: Service;
  let provider: Awaited<ReturnType<typeof openGoogle>>;
  let owner: { userId: string; token: string };
  let people = 0;
  beforeAll(async () => {
    outbound = createOutbound({ allow: ['127.0.0.0/8'] });
    service = await openService({ outbound });
    owner = await join('owner@acme.example', 'right enough');
    provider = await openGoogle({
      redirectUri: `${origin}/v1/auth/organisations/${owner.userId}/callback`,
    });
    await service.users.update(owner.userId, { plan: 'team', emailVerified: true });
    expect((await configure()).status).toBe(200);
  });
  afterAll(async () => {
    await Promise.all([provider.close(), service.close(), outbound.close()]);
  });

  const join = async (email: string, password?: string) => {
    const { userId } = await service.addUser(email, password);
    return { userId, token: await service.tokenOf(userId) };
  };
  const configure = (change: object = {}, token = owner.token) =>
    service.call(token, 'PUT', '/v1/organisation/provider', {
      issuer: provider.url,
      ...provider.client,
      domains: ['acme.example'],
      defaultRole: 'member',
      ...change,
    });
  // Somebody at the provider, by what the browser's header calls them.
  const meet = (email: string, verified = true): string => {
    const sub = `person${++people}`;
    provider.people.set(sub, { email, email_verified: verified, name: 'Pat Person' });
    return sub;
  };
  const browserOf = (person: string) => createBrowser({ origin, request: service.request }, person);
  const path = (rest: string, accountId = owner.userId) => `/v1/auth/organisations/${accountId}${rest}`;
  const signIn = async (person: string): Promise<Response> => {
    const browser = browserOf(person);
    return browser.open(await browser.goToCallback(path('/start')));
  };
  // Whom a sign-in is for, and a token of its session.
  const enter = async (person: string) => {
    const browser = browserOf(person);
    const answer = await browser.open(await browser.goToCallback(path('/start')));
    expect(answer.status, await answer.clone().text()).toBe(302);
    const refreshed = await browser.open('/v1/auth/refresh', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    const { access_token: token } = (await refreshed.json()) as { access_token: string };
    const who = await (await service.call(token, 'GET', '/v1/whoami')).json();
    return { token, ...(who as { userId: string; accountId: string; role: string }) };
  };

  it('creates people in the organisation, and finds them the next time', async () => {
    const pat = meet('pat@acme.example');
    const first = await enter(pat);
    expect(first).toMatchObject({ accountId: owner.userId, role: 'member' });
    const again = await enter(pat);
    expect(again.userId).toBe(first.userId);
    const me = await (await service.call(first.token, 'GET', '/v1/me')).json();
    expect(me).toMatchObject({
      email: 'pat@acme.example',
      emailVerified: false,
      madeFor: owner.userId,
      name: 'Pat Person',
    });
    // Whom the provider brought has nobody else who could speak for them.
    expect((await service.call(first.token, 'PATCH', '/v1/me', { name: 'Pat' })).status).toBe(200);
    const members = (await (await service.call(owner.token, 'GET', '/v1/members')).json()) as {
      data: { email: string; role: string }[];
    };
    expect(members.data).toContainEqual(expect.objectContaining({ email: 'pat@acme.example' }));
    const { items } = await service.audit.list(owner.userId, {});
    expect(items).toContainEqual(
      expect.objectContaining({ action: 'member.joined', via: 'organisation', by: first.userId }),
    );
  });

  it('matches nobody by the address that it claims, and does not reserve it', async () => {
    const victim = await join('victim@acme.example', 'right enough');
    await service.users.update(victim.userId, { emailVerified: true });
    const came = await enter(meet('victim@acme.example'));
    expect(came.userId).not.toBe(victim.userId);
    expect(await service.sessions.list(victim.userId)).toHaveLength(1);
    await enter(meet('later@acme.example'));
    expect((await service.addUser('later@acme.example', 'right enough')).email).toBe('later@acme.example');
  });

  it('admits the configured domains, with a verified address', async () => {
    for (const person of [
      meet('eve@evil.example'),
      meet('eve@acme.example.evil.example'),
      meet('eve@sub.acme.example'),
      meet('eve@acme.example', false),
      meet('not an address'),
    ])
      expect(await problemOf(await signIn(person))).toEqual([403, 'accounts.domain_refused']);
  });

  it('is linked by a signed-in member, and then signs in as them, for this organisation only', async () => {
    const ann = await join('ann@elsewhere.example', 'right enough');
    const sub = meet('ann@acme.example');
    const link = async (token: string, password: string, person = sub) => {
      const browser = browserOf(person);
      const asked = await browser.open(path('/link'), {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ return_to: '/settings', password }),
      });
      if (asked.status !== 200) return asked;
      const { url } = (await asked.json()) as { url: string };
      return browser.open(await browser.goToCallback(url));
    };
    expect((await link(ann.token, 'right enough')).status).toBe(404); // no member
    expect(await problemOf(await link(owner.token, 'wrong'))).toEqual([403, 'accounts.password_wrong']);
    await service.users.update(owner.userId, { passkeys: 1 });
    expect(await problemOf(await link(owner.token, 'right enough'))).toEqual([
      403,
      'accounts.step_up_needed',
    ]);
    await service.users.update(owner.userId, { passkeys: null });
    expect((await link(owner.token, 'right enough')).status).toBe(302);
    expect((await link(owner.token, 'right enough')).status).toBe(302); // again is as good
    expect(await problemOf(await link(owner.token, 'right enough', meet('b@acme.example')))).toEqual([
      409,
      'accounts.link_refused',
    ]);

    const came = await enter(sub);
    expect(came).toMatchObject({ userId: owner.userId, role: 'owner' });
    // The provider speaks for them here, and nowhere else.
    const made = await service.call(owner.token, 'POST', '/v1/organisations', { name: 'Private' });
    const { accountId: other } = (await made.json()) as { accountId: string };
    for (const answer of [
      await service.call(came.token, 'POST', '/v1/auth/switch', { accountId: other, cookie: false }),
      await service.call(came.token, 'POST', `/v1/organisations/${other}/leave`),
      await service.call(came.token, 'DELETE', path('/link')),
      await service.call(came.token, 'DELETE', '/v1/auth/github/link'),
      await service.call(came.token, 'POST', '/v1/organisations', { name: 'Planted' }),
      await service.call(came.token, 'PATCH', '/v1/me', { name: 'Somebody else' }),
      await service.call(came.token, 'PATCH', '/v1/me', { mails: { limits: false } }),
    ])
      expect(await problemOf(answer)).toEqual([403, 'accounts.session_confined']);
    const theirs = (await (await service.call(came.token, 'GET', '/v1/organisations')).json()) as {
      data: { accountId: string }[];
    };
    expect(theirs.data.map(one => one.accountId)).toEqual([owner.userId]);
    const listed = await service.call(came.token, 'GET', '/v1/sessions');
    const { data: sessions } = (await listed.json()) as { data: { sessionId: string; isCurrent: boolean }[] };
    expect(sessions.map(({ isCurrent }) => isCurrent)).toEqual([true]);
    const all = await service.sessions.list(owner.userId);
    const elsewhere = all.find(one => one.confinedTo === undefined)!;
    const ended = await service.call(came.token, 'DELETE', `/v1/sessions/${elsewhere.sessionId}`);
    expect(await problemOf(ended)).toEqual([404, 'accounts.session_not_found']);
    const again = await enter(sub);
    expect((await service.call(again.token, 'DELETE', '/v1/sessions')).status).toBe(204);
    expect((await service.call(came.token, 'GET', '/v1/whoami')).status).toBe(401);
    expect(await service.sessions.list(owner.userId)).toHaveLength(all.length - 1);
    const mine = await enter(sub);
    await service.users.update(owner.userId, { passwordHash: null });
    expect(
      await problemOf(
        await service.call(mine.token, 'POST', '/v1/me/password', { newPassword: 'eleven blue lampposts' }),
      ),
    ).toEqual([403, 'accounts.sign_in_again']);
    expect((await service.call(owner.token, 'DELETE', path('/link'))).status).toBe(204);
    expect((await enter(sub)).userId).not.toBe(owner.userId);
  });

  it('signs nobody in whose provider is removed while it answers', async () => {
    const sub = meet('late@acme.example');
    await enter(sub);
    const { client } = service;
    const { transactWrite } = client;
    let isRemoved = false;
    Object.assign(client, {
      transactWrite: async (input: Parameters<typeof transactWrite>[0]) => {
        if (!isRemoved && JSON.stringify(input).includes('SESSION#')) {
          isRemoved = true;
          expect((await service.call(owner.token, 'DELETE', '/v1/organisation/provider')).status).toBe(204);
        }
        return transactWrite(input);
      },
    });
    try {
      expect(await problemOf(await signIn(sub))).toEqual([403, 'accounts.not_a_member']);
    } finally {
      Object.assign(client, { transactWrite });
      expect((await configure()).status).toBe(200);
    }
    expect((await signIn(sub)).status).toBe(302);
  });

  it('refuses removed members, and takes no seat beyond the limit', async () => {
    const gone = meet('gone@acme.example');
    const { userId } = await enter(gone);
    expect((await service.call(owner.token, 'DELETE', `/v1/members/${userId}`)).status).toBe(204);
    expect(await problemOf(await signIn(gone))).toEqual([403, 'accounts.not_a_member']);
    const count = async () => {
      const members = await service.call(owner.token, 'GET', '/v1/members');
      return ((await members.json()) as { data: object[] }).data.length;
    };
    const before = await count();
    await service.users.update(owner.userId, { plan: 'pro' }); // of fifteen seats
    const crowd = Array.from({ length: 18 - before }, (_, i) => meet(`crowd${i}@acme.example`));
    const answers = await Promise.all(crowd.map(signIn));
    expect(await count()).toBe(15);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(3);
  });

  it('is configured by owners, keeps its secret, and reaches nothing in our network', async () => {
    const shown = await service.call(owner.token, 'GET', '/v1/organisation/provider');
    expect(await shown.clone().text()).not.toContain(provider.client.clientSecret);
    expect(await shown.json()).toMatchObject({
      issuer: provider.url,
      redirectUri: `${origin}${path('/callback')}`,
      signInUrl: `${origin}/console/sign-in?organisation=${owner.userId}`,
    });
    const { clientSecret: _, ...same } = { ...provider.client };
    expect((await configure({ ...same, clientSecret: undefined })).status).toBe(200);
    const elsewhere = { ...same, clientSecret: undefined, issuer: 'https://login.example.com' };
    expect(await problemOf(await configure(elsewhere))).toEqual([400, 'accounts.provider_refused']);
    const test = () => service.call(owner.token, 'POST', '/v1/organisation/provider/test');
    expect(await (await test()).json()).toMatchObject({ isWorking: true });
    provider.mood = 'garbage';
    expect(await (await test()).json()).toMatchObject({ isWorking: false });
    provider.mood = 'well';
    for (const issuer of [
      'http://acme.example',
      'https://user:pass@acme.example',
      'https://acme.example/?x',
      'ftp://acme.example',
      'acme',
    ])
      expect((await configure({ issuer })).status).toBe(400);
    expect(await problemOf(await configure({ issuer: 'https://169.254.169.254/' }))).toEqual([
      400,
      'accounts.provider_refused',
    ]);
    expect((await configure({ domains: [] })).status).toBe(400);
    expect((await configure({ defaultRole: 'owner' })).status).toBe(400);
    const stranger = await join('stranger@x.example', 'right enough');
    expect((await service.call(stranger.token, 'GET', '/v1/organisation/provider')).status).toBe(404);
    expect((await service.request(path('', stranger.userId))).status).toBe(404);
    expect((await service.request(path('/start', 'org_nobody'))).status).toBe(404);
  });

  it('is refused for another organisation, and for a second use', async () => {
    const other = await join('other@x.example', 'right enough');
    expect((await configure({}, other.token)).status).toBe(200);
    const browser = browserOf(meet('mix@acme.example'));
    const callback = await browser.goToCallback(path('/start'));
    const elsewhere = callback.replace(owner.userId, other.userId);
    expect(await problemOf(await browser.open(elsewhere))).toEqual([400, 'accounts.sign_in_expired']);
    const late = browserOf(meet('late@acme.example'));
    const used = await late.goToCallback(path('/start'));
    await late.open(used);
    expect(await problemOf(await late.open(used))).toEqual([400, 'accounts.sign_in_expired']);
  });

  it('is removed at the organisation’s request, and its people with their account', async () => {
    expect((await service.call(owner.token, 'DELETE', '/v1/organisation/provider')).status).toBe(204);
    expect((await service.request(path('/start'))).status).toBe(404);
    expect((await service.call(owner.token, 'DELETE', '/v1/organisation/provider')).status).toBe(404);
  });
});
