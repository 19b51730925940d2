import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines, problemOf } from './service-stub.ts';
import { openSocial, type Social } from './social-stub.ts';

describe.each(engines)('linking, %s', (_, open) => {
  let social: Social;
  beforeAll(async () => {
    social = await openSocial({ open });
  });
  afterAll(() => social.close());

  // Links as the console does: asks for the address with its token, then sends the browser there.
  async function linkAs(
    token: string,
    provider: string,
    person: string,
    password?: string,
  ): Promise<Response> {
    const browser = social.browserOf(person);
    const asked = await browser.open(`/v1/auth/${provider}/link`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ return_to: '/settings', password }),
    });
    if (asked.status !== 200) return asked;
    const { url } = (await asked.json()) as { url: string };
    return browser.open(await browser.goToCallback(url));
  }

  describe('an identity with the verified address of an account', () => {
    it('is linked if the account’s address is verified', async () => {
      expect((await social.signIn('github', social.meet.github('both@example.com'))).status).toBe(302);
      const person = social.meet.google('Both@example.com');
      expect((await social.signIn('google', person)).status).toBe(302);
      const user = (await social.users.getByEmail('both@example.com'))!;
      expect(user).toMatchObject({ googleId: person, githubId: expect.any(String) });
      expect(await social.sessions.list(user.userId)).toHaveLength(2);
      const { items } = await social.audit.list(user.userId, {});
      expect(items).toContainEqual(
        expect.objectContaining({ action: 'identity.linked', via: 'google', target: `google:${person}` }),
      );
    });

    it('is refused if it is not: a stranger may have created the account', async () => {
      const squatter = await social.addUser('squatted@example.com', 'waiting for you');
      const response = await social.signIn('google', social.meet.google('squatted@example.com'));
      expect(await problemOf(response)).toEqual([409, 'accounts.link_refused']);
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await social.users.getById(squatter.userId)).toEqual(squatter);
      expect(await social.sessions.list(squatter.userId)).toEqual([]);
    });

    it('is refused if the account has a second factor: access to the mailbox is not enough', async () => {
      const known = social.meet.github('factor@example.com');
      await social.signIn('github', known);
      const { userId } = (await social.users.getByEmail('factor@example.com'))!;
      await social.users.update(userId, { secondFactor: 'totp' });
      const response = await social.signIn('google', social.meet.google('factor@example.com'));
      expect(await problemOf(response)).toEqual([409, 'accounts.link_refused']);
      expect(response.headers.getSetCookie().join()).not.toContain('stak_refresh');
      expect((await social.users.getById(userId))?.googleId).toBeUndefined();
      expect((await social.signIn('github', known)).status, 'it was linked before').toBe(302);
    });

    it('is refused if the account has another identity of the same provider', async () => {
      await social.signIn('github', social.meet.github('one@example.com'));
      const response = await social.signIn('github', social.meet.github('one@example.com'));
      expect(await problemOf(response)).toEqual([409, 'accounts.link_refused']);
    });

    it('is not linked if its own address is unverified', async () => {
      await social.signIn('github', social.meet.github('careful@example.com'));
      const response = await social.signIn('google', social.meet.google('careful@example.com', false));
      expect(await problemOf(response)).toEqual([403, 'accounts.provider_email_unverified']);
      expect((await social.users.getByEmail('careful@example.com'))?.googleId).toBeUndefined();
    });

    it('leads to one account when both providers return at once', async () => {
      const people = {
        github: social.meet.github('at-once@example.com'),
        google: social.meet.google('at-once@example.com'),
      };
      const ready = await Promise.all(
        (['github', 'google'] as const).map(async provider => {
          const browser = social.browserOf(people[provider]);
          return { browser, callback: await browser.goToCallback(`/v1/auth/${provider}/start`) };
        }),
      );
      const answers = await Promise.all(ready.map(({ browser, callback }) => browser.open(callback)));
      expect(answers.map(one => one.status)).toEqual([302, 302]);
      const user = await social.users.getByEmail('at-once@example.com');
      expect(user).toMatchObject({ googleId: people.google, githubId: people.github.slice(2) });
    });

    it('does not open an account that is being deleted', async () => {
      const person = social.meet.github('leaving@example.com');
      await social.signIn('github', person);
      const { userId } = (await social.users.getByEmail('leaving@example.com'))!;
      await social.markDeleting(userId);
      expect(await problemOf(await social.signIn('github', person))).toEqual([409, 'accounts.being_deleted']);
      const other = await social.signIn('google', social.meet.google('leaving@example.com'));
      expect(await problemOf(other)).toEqual([409, 'accounts.being_deleted']);
    });
  });

  describe('linking while signed in', () => {
    it('requires the password, and accepts an identity with any address', async () => {
      const { userId } = await social.addUser('linker@example.com', 'right enough');
      const token = await social.tokenOf(userId);
      const person = social.meet.google('elsewhere@example.com');
      expect(await problemOf(await linkAs(token, 'google', person, 'wrong'))).toEqual([
        403,
        'accounts.password_wrong',
      ]);
      expect(await problemOf(await linkAs(token, 'google', person))).toEqual([
        403,
        'accounts.password_wrong',
      ]);

      const linked = await linkAs(token, 'google', person, 'right enough');
      expect(linked.headers.get('location')).toBe('https://stak.example/settings');
      expect(linked.headers.getSetCookie().join()).not.toContain('stak_refresh');
      const user = await social.users.getById(userId);
      expect(user).toMatchObject({ googleId: person, email: 'linker@example.com' });
      expect(user?.emailVerified).toBeUndefined();
      expect((await social.signIn('google', person)).status).toBe(302);
      expect(await social.users.getByEmail('elsewhere@example.com')).toBeNull();
      // Again, it changes nothing; another one of the same provider is refused.
      expect((await linkAs(token, 'google', person, 'right enough')).status).toBe(302);
      const second = await linkAs(token, 'google', social.meet.google('third@example.com'), 'right enough');
      expect(await problemOf(second)).toEqual([409, 'accounts.link_refused']);
    });

    it('also requires the second factor, if there is one', async () => {
      const { userId } = await social.addUser('careful-linker@example.com', 'right enough');
      await social.users.update(userId, { passkeys: 1 });
      const token = await social.tokenOf(userId);
      const person = social.meet.google('careful-linker@example.com');
      const linked = await linkAs(token, 'google', person, 'right enough');
      expect(await problemOf(linked)).toEqual([403, 'accounts.step_up_needed']);
      expect((await social.users.getById(userId))?.googleId).toBeUndefined();
    });

    it('verifies the address if it is the same, and verified', async () => {
      const { userId } = await social.addUser('prover@example.com', 'right enough');
      const token = await social.tokenOf(userId);
      await linkAs(token, 'google', social.meet.google('prover@example.com', false), 'right enough');
      expect((await social.users.getById(userId))?.emailVerified).toBeUndefined();
      await linkAs(token, 'github', social.meet.github('Prover@example.com'), 'right enough');
      expect((await social.users.getById(userId))?.emailVerified).toBe(true);
    });

    it('requires a recent sign-in if there is no password', async () => {
      await social.signIn('github', social.meet.github('fresh@example.com'));
      const { userId } = (await social.users.getByEmail('fresh@example.com'))!;
      const token = await social.tokenOf(userId);
      await social.clock.advance(10 * 60_000);
      const stale = await linkAs(token, 'google', social.meet.google('fresh@example.com'));
      expect(await problemOf(stale)).toEqual([403, 'accounts.sign_in_again']);
    });

    it('refuses an identity of another account', async () => {
      const person = social.meet.google('owner@example.com');
      await social.signIn('google', person);
      const { userId } = await social.addUser('taker@example.com', 'right enough');
      const response = await linkAs(await social.tokenOf(userId), 'google', person, 'right enough');
      expect(await problemOf(response)).toEqual([409, 'accounts.identity_taken']);
    });

    it('ends with the session', async () => {
      const { userId } = await social.addUser('gone@example.com', 'right enough');
      const browser = social.browserOf(social.meet.google('gone@example.com'));
      const asked = await browser.open('/v1/auth/google/link', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${await social.tokenOf(userId)}`,
          'Content-Type': 'application/json',
        },
        body: '{"password":"right enough"}',
      });
      const callback = await browser.goToCallback(((await asked.json()) as { url: string }).url);
      await social.sessions.revokeAll(userId);
      expect(await problemOf(await browser.open(callback))).toEqual([400, 'accounts.sign_in_expired']);
      expect((await social.users.getById(userId))?.googleId).toBeUndefined();
    });
  });

  describe('unlinking', () => {
    it('frees the identity and is in the audit trail', async () => {
      const { userId } = await social.addUser('free@example.com', 'right enough');
      const token = await social.tokenOf(userId);
      const person = social.meet.google('free@example.com');
      await linkAs(token, 'google', person, 'right enough');
      expect((await social.call(token, 'DELETE', '/v1/auth/google/link')).status).toBe(204);
      const again = await social.call(token, 'DELETE', '/v1/auth/google/link');
      expect(await problemOf(again)).toEqual([404, 'accounts.provider_not_linked']);
      expect(await social.users.getByUnique('googleId', person)).toBeNull();

      const other = await social.addUser('other@example.com', 'right enough');
      const taken = await linkAs(await social.tokenOf(other.userId), 'google', person, 'right enough');
      expect(taken.status).toBe(302);
      const { items } = await social.audit.list(userId, {});
      expect(items[0]).toMatchObject({
        action: 'identity.unlinked',
        via: 'session',
        target: `google:${person}`,
      });
    });

    it('keeps the last way to sign in, whichever request is faster', async () => {
      await social.signIn('github', social.meet.github('last@example.com'));
      await social.signIn('google', social.meet.google('last@example.com'));
      const { userId } = (await social.users.getByEmail('last@example.com'))!;
      const token = await social.tokenOf(userId);
      const answers = await Promise.all([
        social.call(token, 'DELETE', '/v1/auth/github/link'),
        social.call(token, 'DELETE', '/v1/auth/google/link'),
      ]);
      expect(answers.map(one => one.status).sort()).toEqual([204, 409]);
      const refused = answers.find(one => one.status === 409)!;
      expect(await problemOf(refused)).toEqual([409, 'accounts.last_sign_in']);
    });

    it('is refused to keys', async () => {
      for (const [method, path] of [
        ['DELETE', '/v1/auth/github/link'],
        ['POST', '/v1/auth/github/link'],
      ] as const)
        expect((await social.request(path, { method })).status).toBe(401);
    });
  });
});
