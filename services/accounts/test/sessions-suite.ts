import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, overtake, password, type Serving, serve, type Tokens } from './open-accounts.ts';

type List = { data: { sessionId: string; isCurrent: boolean }[] };

export function testSessions(name: string, open: () => Promise<Engine>): void {
  describe(`sessions over ${name}`, () => {
    let engine: Engine;
    let fixture: Serving;
    beforeEach(async () => {
      engine = await open();
      fixture = serve(engine);
    });
    afterEach(async () => {
      await fixture.settle();
      await engine.close();
    });

    const me = (as: string) => fixture.call('GET', '/v1/me', { as });
    const tokensOf = async (answer: Response) => (await answer.json()) as Tokens;

    it('signs up, in and out', async () => {
      const first = await fixture.signUp('ann@example.com');
      expect(first).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
      const seen = await (await me(first.access_token)).json();
      expect(seen).toMatchObject({ email: 'ann@example.com', hasPassword: true, plan: 'free' });
      expect(JSON.stringify(seen)).not.toContain('scrypt');

      const second = await tokensOf(await fixture.logIn('ANN@example.com'));
      const list = (await (
        await fixture.call('GET', '/v1/sessions', { as: second.access_token })
      ).json()) as List;
      expect(list.data.map(one => one.isCurrent).sort()).toEqual([false, true]);

      expect((await fixture.call('POST', '/v1/auth/logout', { as: second.access_token })).status).toBe(204);
      expect((await me(second.access_token)).status).toBe(401);
      expect((await fixture.refresh(second.refresh_token)).status).toBe(401);
      expect((await me(first.access_token)).status).toBe(200);
    });

    it('accepts an access token until it expires, and of its own address only', async () => {
      const { access_token, expires_in } = await fixture.signUp('ann@example.com');
      expect((await me(access_token)).status).toBe(200);
      const elsewhere = serve(engine, { publicUrl: 'https://other.example' });
      expect((await elsewhere.call('GET', '/v1/me', { as: access_token })).status).toBe(401);
      await engine.clock.advance(expires_in * 1000 - 1000);
      expect((await me(access_token)).status).toBe(200);
      await engine.clock.advance(1000);
      expect((await me(access_token)).status).toBe(401);
      await elsewhere.settle();
    });

    it('ends the session of a refresh token that comes late, after two newer ones', async () => {
      const { refresh_token } = await fixture.signUp('ann@example.com');
      let newest = '';
      const client = overtake(engine.client, 'generation', async () => {
        const second = await tokensOf(await fixture.refresh(refresh_token));
        newest = (await tokensOf(await fixture.refresh(second.refresh_token))).refresh_token;
      });
      const late = serve({ client, clock: engine.clock });
      expect((await late.refresh(refresh_token)).status).toBe(401);
      expect((await fixture.refresh(newest)).status).toBe(401);
      await late.settle();
    });

    it('ends one session, or all of them', async () => {
      const first = await fixture.signUp('ann@example.com');
      const second = await tokensOf(await fixture.logIn('ann@example.com'));
      const third = await tokensOf(await fixture.logIn('ann@example.com'));
      const bob = await fixture.signUp('bobby@example.com');
      const path = `/v1/sessions/${second.session_id}`;
      expect(await fixture.codeOf(await fixture.call('DELETE', path, { as: bob.access_token }))).toBe(
        'accounts.session_not_found',
      );
      expect((await fixture.call('DELETE', path, { as: first.access_token })).status).toBe(204);
      expect((await me(second.access_token)).status).toBe(401);
      expect((await fixture.call('DELETE', '/v1/sessions', { as: first.access_token })).status).toBe(204);
      for (const { access_token } of [first, third]) expect((await me(access_token)).status).toBe(401);
      expect((await me(bob.access_token)).status).toBe(200);
    });

    it('rotates refresh tokens, and ends the session of a reused one', async () => {
      const first = await fixture.signUp('ann@example.com');
      const second = await tokensOf(await fixture.refresh(first.refresh_token));
      const third = await tokensOf(await fixture.refresh(second.refresh_token));
      expect(new Set([first, second, third].map(one => one.refresh_token)).size).toBe(3);
      expect((await me(third.access_token)).status).toBe(200);

      // Two generations old: there is no grace for that.
      expect(await fixture.codeOf(await fixture.refresh(first.refresh_token))).toBe(
        'accounts.refresh_refused',
      );
      expect((await fixture.refresh(third.refresh_token)).status).toBe(401);
      expect((await me(third.access_token)).status).toBe(401);
      const fourth = await tokensOf(await fixture.logIn('ann@example.com'));
      const trail = await (await fixture.call('GET', '/v1/audit', { as: fourth.access_token })).text();
      expect(trail).toContain('session.reused');
    });

    it('repeats a lost response for a minute, and not longer', async () => {
      const first = await fixture.signUp('ann@example.com');
      const second = await tokensOf(await fixture.refresh(first.refresh_token));
      await fixture.clock.advance(60_000);
      const again = await tokensOf(await fixture.refresh(first.refresh_token));
      expect(again.refresh_token).toBe(second.refresh_token);
      await fixture.clock.advance(1);
      expect((await fixture.refresh(first.refresh_token)).status).toBe(401);
      expect((await fixture.refresh(second.refresh_token)).status).toBe(401);
    });

    it('ends no session for an invented token', async () => {
      const first = await fixture.signUp('ann@example.com');
      const [head, session, , code] = first.refresh_token.split('.');
      for (const forged of [
        `${head}.${session}.1.${'A'.repeat(43)}`,
        `${head}.${session}.0.${code}`,
        `${head}.${session}.2.${code}`,
        `${head}.ses_other.1.${code}`,
        'fhr_x',
        '',
      ])
        expect((await fixture.refresh(forged)).status).toBe(401);
      expect((await fixture.refresh(first.refresh_token)).status).toBe(200);
    });

    it('ends sessions unused for thirty days, and all after ninety', async () => {
      const day = 24 * 60 * 60 * 1000;
      let { refresh_token } = await fixture.signUp('ann@example.com');
      for (let elapsed = 0; elapsed < 87; elapsed += 29) {
        await fixture.clock.advance(29 * day);
        refresh_token = (await tokensOf(await fixture.refresh(refresh_token))).refresh_token;
      }
      await fixture.clock.advance(3 * day);
      expect((await fixture.refresh(refresh_token)).status).toBe(401);
      const idle = await tokensOf(await fixture.logIn('ann@example.com'));
      await fixture.clock.advance(30 * day);
      expect((await fixture.refresh(idle.refresh_token)).status).toBe(401);
    });

    it('changes the password and ends every other session', async () => {
      const first = await fixture.signUp('ann@example.com');
      const second = await tokensOf(await fixture.logIn('ann@example.com'));
      const change = (currentPassword: string) =>
        fixture.call('POST', '/v1/me/password', {
          as: second.access_token,
          send: { currentPassword, newPassword: 'battery staple' },
        });
      expect(await fixture.codeOf(await change('wrong horse battery'))).toBe('accounts.password_wrong');
      expect((await change(password)).status).toBe(204);
      expect((await me(first.access_token)).status).toBe(401);
      expect((await fixture.refresh(first.refresh_token)).status).toBe(401);
      expect((await me(second.access_token)).status).toBe(200);
      expect((await fixture.logIn('ann@example.com')).status).toBe(401);
      expect((await fixture.logIn('ann@example.com', 'battery staple')).status).toBe(200);
    });

    it('notices what another server revoked within two seconds', async () => {
      const other = serve(engine);
      const first = await fixture.signUp('ann@example.com');
      expect((await me(first.access_token)).status).toBe(200);
      await other.call('POST', '/v1/auth/logout', { as: first.access_token });
      await fixture.clock.advance(2_000);
      expect((await me(first.access_token)).status).toBe(401);
      await other.settle();
    });
  });
}
