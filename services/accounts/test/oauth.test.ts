import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from './service-stub.ts';
import { openSocial, type Social } from './social-stub.ts';

const providers = ['github', 'google'] as const;
let social: Social;
beforeAll(async () => {
  social = await openSocial();
});
afterAll(() => social.close());

const start = (provider: string, returnTo = '/keys') =>
  `/v1/auth/${provider}/start?return_to=${encodeURIComponent(returnTo)}`;

// Returns the address at which a whole sign-in ends.
async function signIn(provider: 'github' | 'google', person: string) {
  const browser = social.browserOf(person);
  const response = await browser.open(await browser.goToCallback(start(provider)));
  return { browser, response };
}

describe.each(providers)('sign-in with %s', provider => {
  const idOf = provider === 'github' ? 'githubId' : 'googleId';

  it('creates an account, and finds it again', async () => {
    const email = `New.${provider}@Example.com`;
    const person = social.meet[provider](email);
    const { browser, response } = await signIn(provider, person);
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('https://stak.example/keys');
    expect([...browser.cookies.keys()]).toEqual(['__Secure-stak_refresh']);

    const user = await social.users.getByEmail(email);
    expect(user).toMatchObject({ email: email.toLowerCase(), emailVerified: true, plan: 'free' });
    expect(user?.[idOf]).toBe(provider === 'github' ? person.slice(2) : person);
    expect(user?.name).toBe(provider === 'github' ? `login-${person.slice(2)}` : 'Ann Example');
    expect(user?.passwordHash).toBeUndefined();

    // The address may have changed at the provider: the account is known by the id.
    if (provider === 'github') social.github.people.get(person)!.emails = [];
    else social.google.people.set(person, {});
    expect((await signIn(provider, person)).response.status).toBe(302);
    const sessions = await social.sessions.list(user!.userId);
    expect(sessions.map(one => one.signedInWith)).toEqual([provider, provider]);
    const actions = (await social.audit.list(user!.userId, {})).items.map(one => `${one.action} ${one.via}`);
    const started = `session.started ${provider}`;
    expect(actions).toEqual([started, started, `account.created ${provider}`]);
  });

  it('refuses a state other than the browser’s', async () => {
    const browser = social.browserOf(social.meet[provider](`state-${provider}@example.com`));
    const callback = new URL(await browser.goToCallback(start(provider)));
    const state = callback.searchParams.get('state');
    for (const wrong of ['', 'x', `${state}x`, undefined]) {
      if (wrong === undefined) callback.searchParams.delete('state');
      else callback.searchParams.set('state', wrong);
      expect(await problemOf(await browser.open(callback.href))).toEqual([400, 'accounts.sign_in_expired']);
    }
    expect(await social.users.getByEmail(`state-${provider}@example.com`)).toBeNull();
  });

  it('refuses a callback in another browser', async () => {
    const person = social.meet[provider](`stolen-${provider}@example.com`);
    const callback = await social.browserOf(person).goToCallback(start(provider));
    const victim = social.browserOf();
    expect(await problemOf(await victim.open(callback))).toEqual([400, 'accounts.sign_in_expired']);
    await victim.open(start(provider)); // also if it has a sign-in of its own under way
    expect(await problemOf(await victim.open(callback))).toEqual([400, 'accounts.sign_in_expired']);
  });

  it('refuses a callback that was used', async () => {
    const browser = social.browserOf(social.meet[provider](`replay-${provider}@example.com`));
    const callback = await browser.goToCallback(start(provider));
    const kept = new Map(browser.cookies);
    const answers = await Promise.all([browser.open(callback), browser.open(callback)]);
    expect(answers.map(one => one.status).sort()).toEqual([302, 400]);
    for (const [name, value] of kept) browser.cookies.set(name, value);
    expect(await problemOf(await browser.open(callback))).toEqual([400, 'accounts.sign_in_expired']);
  });

  it('refuses a callback that comes too late', async () => {
    const browser = social.browserOf(social.meet[provider](`late-${provider}@example.com`));
    const callback = await browser.goToCallback(start(provider));
    await social.clock.advance(10 * 60_000 + 1000);
    expect(await problemOf(await browser.open(callback))).toEqual([400, 'accounts.sign_in_expired']);
  });

  it('cannot redeem the code of another sign-in: its PKCE verifier differs', async () => {
    const browser = social.browserOf(social.meet[provider](`pkce-${provider}@example.com`));
    const mine = new URL(await browser.goToCallback(start(provider)));
    const injected = await social.browserOf('gh0').goToCallback(start(provider));
    mine.searchParams.set('code', new URL(injected).searchParams.get('code')!);
    expect(await problemOf(await browser.open(mine.href))).toEqual([400, 'accounts.sign_in_expired']);
  });

  it('refuses an unverified address', async () => {
    const email = `unverified-${provider}@example.com`;
    const { response } = await signIn(provider, social.meet[provider](email, false));
    expect(await problemOf(response)).toEqual([403, 'accounts.provider_email_unverified']);
    expect(await social.users.getByEmail(email)).toBeNull();
  });

  it('reports that the person declined at the provider', async () => {
    const browser = social.browserOf();
    const response = await browser.open(await browser.goToCallback(start(provider)));
    expect(await problemOf(response)).toEqual([400, 'accounts.sign_in_denied']);
  });

  it('creates one account for concurrent callbacks', async () => {
    const email = `race-${provider}@example.com`;
    const person = social.meet[provider](email);
    const browsers = Array.from({ length: 4 }, () => social.browserOf(person));
    const callbacks = await Promise.all(browsers.map(one => one.goToCallback(start(provider))));
    const answers = await Promise.all(browsers.map((one, i) => one.open(callbacks[i]!)));
    expect(answers.map(one => one.status)).toEqual([302, 302, 302, 302]);
    const user = await social.users.getByEmail(email);
    expect(await social.sessions.list(user!.userId)).toHaveLength(4);
    const { items } = await social.audit.list(user!.userId, {});
    expect(items.filter(one => one.action === 'account.created')).toHaveLength(1);
  });

  it.each(['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)'])(
    'does not lead to %s',
    async returnTo => {
      const response = await social.request(start(provider, returnTo));
      expect(await problemOf(response)).toEqual([400, 'accounts.return_to_refused']);
      expect(response.headers.get('location')).toBeNull();
    },
  );

  it('returns to a configured origin', async () => {
    const browser = social.browserOf(social.meet[provider](`console-${provider}@example.com`));
    const at = start(provider, 'https://console.example/a?b=c');
    const response = await browser.open(await browser.goToCallback(at));
    expect(response.headers.get('location')).toBe('https://console.example/a?b=c');
  });
});

it('stores no token and no secret', async () => {
  const person = social.meet.github('tokens@example.com');
  const browser = social.browserOf(person);
  const callback = new URL(await browser.goToCallback(start('github')));
  const before = JSON.stringify(await social.client.scan({ TableName: 'ferryhook-main' }));
  await browser.open(callback.href);
  const after = JSON.stringify(await social.client.scan({ TableName: 'ferryhook-main' }));
  for (const secret of [callback.searchParams.get('state')!, ...browser.cookies.values(), 'gho_'])
    expect(before + after).not.toContain(secret);
});

it('refuses a callback of another provider', async () => {
  const browser = social.browserOf(social.meet.github('mixed-up@example.com'));
  const callback = await browser.goToCallback(start('github'));
  const mixed = await browser.open(callback.replace('/github/', '/google/'));
  expect(await problemOf(mixed)).toEqual([400, 'accounts.sign_in_expired']);
  expect((await browser.open(callback)).status).toBe(302);
});
