import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { boundedFetch } from '../src/people/oauth/provider-client.ts';
import type { Mood } from './loopback-stub.ts';
import { openService, problemOf } from './service-stub.ts';
import { openSocial, type Social } from './social-stub.ts';

const moods: Mood[] = ['down', 'silent', 'garbage', 'endless', 'failing'];
const timeoutMs = 1_000;
const mostMs = 15_000; // a sign-in makes three requests; the rest is for a busy machine

let social: Social;
beforeAll(async () => {
  social = await openSocial({ timeoutMs });
});
afterEach(() => {
  social.github.mood = 'well';
  social.google.mood = 'well';
});
afterAll(() => social.close());

describe.each(['github', 'google'] as const)('a provider like %s', provider => {
  it.each(moods)('that is %s causes a problem, in bounded time', async mood => {
    const email = `${mood}@${provider}.example`;
    const person = social.meet[provider](email);
    const browser = social.browserOf(person);
    const callback = await browser.goToCallback(`/v1/auth/${provider}/start`);
    social[provider].mood = mood;
    const startedMs = performance.now();
    expect(await problemOf(await browser.open(callback))).toEqual([502, 'accounts.provider_failed']);
    expect(performance.now() - startedMs).toBeLessThan(mostMs);
    expect(await social.users.getByEmail(email)).toBeNull();

    social[provider].mood = 'well';
    expect((await social.signIn(provider, person)).status).toBe(302);
  });
});

it.each(moods)('a discovery that is %s fails, and the next sign-in tries again', async mood => {
  const google = { ...social.google.client, issuer: social.google.url, timeoutMs };
  const fresh = await openService({ google });
  social.google.mood = mood;
  expect(await problemOf(await fresh.request('/v1/auth/google/start'))).toEqual([
    502,
    'accounts.provider_failed',
  ]);
  social.google.mood = 'well';
  expect((await fresh.request('/v1/auth/google/start')).status).toBe(302);
  await fresh.close();
});

it('limits the size of a response', async () => {
  social.github.mood = 'endless';
  const options = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;
  await expect(boundedFetch(social.github.url, options)).rejects.toThrow('answers more than');
});

describe('a server without providers', () => {
  it('reports it, and starts without any', async () => {
    const bare = await openService();
    expect(await (await bare.request('/v1/auth/providers')).json()).toEqual({ data: [] });
    for (const path of ['/v1/auth/github/start', '/v1/auth/google/callback?state=a&code=b'])
      expect(await problemOf(await bare.request(path))).toEqual([501, 'accounts.provider_not_configured']);
    const { userId } = await bare.addUser('bare@example.com', 'right enough');
    const linked = await bare.call(await bare.tokenOf(userId), 'POST', '/v1/auth/google/link', {});
    expect(await problemOf(linked)).toEqual([501, 'accounts.provider_not_configured']);
    expect((await bare.request('/v1/auth/gitlab/start')).status).toBe(400);
    await bare.close();
  });

  it('lists the configured ones', async () => {
    expect(await (await social.request('/v1/auth/providers')).json()).toEqual({ data: ['github', 'google'] });
  });
});

describe('bad input', () => {
  it.each([`state=${'x'.repeat(3000)}`, 'state=a&state=b', 'code=a&code=b&state=c'])(
    '%s is a bad request',
    async query => {
      expect((await social.request(`/v1/auth/github/callback?${query}`)).status).toBe(400);
    },
  );

  it('survives hostile cookies', async () => {
    for (const cookie of ['__Host-stak-sign-in', '__Host-stak-sign-in=\u00e9', ';;;=', 'x'.repeat(5000)]) {
      const response = await social.request('/v1/auth/google/callback?state=a&code=b', {
        headers: { cookie },
      });
      expect(await problemOf(response)).toEqual([400, 'accounts.sign_in_expired']);
    }
  });
});
