import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { member, organisation } from '../src/access/tables.ts';
import { mailedToken } from '../src/people/credentials/tables.ts';
import {
  type Engine,
  loseAnswer,
  password,
  type Serving,
  serve,
  type Tokens,
  tokenIn,
} from './open-accounts.ts';

const fresh = 'seven green umbrellas';

// A forgotten password, a proven address and a changed one, from the request to the mail and back.
export function testRecovery(name: string, open: () => Promise<Engine>): void {
  describe(`recovery over ${name}`, () => {
    let engine: Engine;
    let fixture: Serving;
    let ann: Tokens;
    beforeEach(async () => {
      engine = await open();
      fixture = serve(engine);
      ann = await fixture.signUp('ann@example.com');
    });
    afterEach(async () => {
      await fixture.settle();
      await engine.close();
    });

    const forgot = (email: string, address = '192.0.2.1') =>
      fixture.call('POST', '/v1/auth/password-reset', { send: { email }, address });
    const reset = (token: string, newPassword = fresh, by: Serving = fixture) =>
      by.call('POST', '/v1/auth/password-reset/finish', { send: { token, newPassword } });
    const resetToken = async (email = 'ann@example.com') => {
      await forgot(email);
      const mails = await fixture.mailsTo(email);
      return tokenIn(mails.find(({ subject }) => subject.startsWith('Reset')));
    };
    const me = async (as: string) =>
      (await (await fixture.call('GET', '/v1/me', { as })).json()) as Record<string, unknown>;
    const verifyToken = async (email: string) =>
      tokenIn((await fixture.mailsTo(email)).find(({ subject }) => subject.startsWith('Verify')));
    const verify = (as: string, token: string) =>
      fixture.call('POST', '/v1/me/verification/finish', { as, send: { token } });

    it('resets a forgotten password, ends every session, and notifies the owner', async () => {
      const { access_token: old } = ann;
      await verify(old, await verifyToken('ann@example.com'));
      const token = await resetToken();
      expect((await reset(token)).status).toBe(204);
      expect((await fixture.call('GET', '/v1/me', { as: old })).status).toBe(401);
      expect((await fixture.refresh(ann.refresh_token)).status).toBe(401);
      expect((await fixture.logIn('ann@example.com')).status).toBe(401);
      const again = (await (await fixture.logIn('ann@example.com', fresh)).json()) as Tokens;
      expect(await me(again.access_token)).toMatchObject({ emailVerified: true });
      const [notice] = await fixture.mailsTo('ann@example.com');
      expect(notice?.subject).toBe('Your Stak password was changed');
      const trail = await (await fixture.call('GET', '/v1/audit', { as: again.access_token })).text();
      expect(trail).toContain('password.reset_requested');
      expect(trail).toContain('"password.reset"');
    });

    it('does not verify an address with a token that an operator handed over', async () => {
      const { userId } = await me(ann.access_token);
      expect((await reset(await fixture.operators.issueReset(userId as string))).status).toBe(204);
      const again = (await (await fixture.logIn('ann@example.com', fresh)).json()) as Tokens;
      expect(await me(again.access_token)).toMatchObject({ emailVerified: false });
      const trail = await fixture.call('GET', '/v1/audit', { as: again.access_token });
      const { data } = (await trail.json()) as { data: { action: string; via: string }[] };
      expect(data.find(one => one.action === 'password.reset')).toMatchObject({ via: 'operator' });

      // A proven address stays proven.
      await fixture.users.update(userId as string, { emailVerified: true });
      await reset(await fixture.operators.issueReset(userId as string), 'eleven blue lampposts');
      expect(await fixture.users.getByEmail('ann@example.com')).toMatchObject({ emailVerified: true });
    });

    // The person who created the account may have left more than keys.
    it('ends all access with a token of an operator, unless the address was verified', async () => {
      const ended: string[] = [];
      const endAccess = async (...ids: string[]) => void ended.push(ids.join());
      const by = serve(engine, { endAccess });
      const userId = (await me(ann.access_token)).userId as string;
      await reset(await fixture.operators.issueReset(userId), fresh, by);
      expect(new Set(ended)).toEqual(new Set([`${userId},${userId}`]));
      ended.length = 0;
      await fixture.users.update(userId, { emailVerified: true });
      await reset(await fixture.operators.issueReset(userId), 'eleven blue lampposts', by);
      expect(ended).toEqual([]);
    });

    it('accepts a token once, for an hour, and only the latest one', async () => {
      const first = await resetToken();
      const second = await resetToken();
      expect(second).not.toBe(first);
      expect(await fixture.codeOf(await reset(first))).toBe('accounts.token_refused');
      expect((await reset(second)).status).toBe(204);
      expect(await fixture.codeOf(await reset(second, 'eleven blue lampposts'))).toBe(
        'accounts.token_refused',
      );
      const late = await resetToken();
      await fixture.clock.advance(3_600_000);
      expect(await fixture.codeOf(await reset(late))).toBe('accounts.token_refused');
      expect((await fixture.logIn('ann@example.com', fresh)).status).toBe(200);
    });

    it('accepts a token once when two servers get it at once', async () => {
      const other = serve(engine);
      const token = await resetToken();
      const choices = [
        'seven green umbrellas',
        'eleven blue lampposts',
        'nine red bicycles',
        'two grey doves',
      ];
      const answers = await Promise.all(choices.map((one, i) => reset(token, one, i % 2 ? other : fixture)));
      const won = answers.flatMap(({ status }, i) => (status === 204 ? [choices[i]!] : []));
      expect(won).toHaveLength(1);
      for (const answer of answers)
        if (answer.status !== 204)
          expect(await fixture.codeOf(answer)).toMatch(/accounts\.token_refused|table\.busy/);
      for (const one of choices)
        expect((await fixture.logIn('ann@example.com', one)).status).toBe(one === won[0] ? 200 : 401);
      await other.settle();
    });

    it('stores a token only in the mail', async () => {
      const token = await resetToken();
      const [userId, secret] = token.split('.') as [string, string];
      const stored = await fixture.store.get(mailedToken, { userId, purpose: 'reset' });
      expect(JSON.stringify(stored)).not.toContain(secret);
      expect(fixture.lines.join()).not.toContain(secret);
    });

    it('refuses a weak password, and keeps the token valid', async () => {
      const token = await resetToken();
      const answer = await reset(token, 'ann@example.com');
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        code: 'accounts.password_weak',
        errors: [{ in: 'body', pointer: '#/newPassword', code: 'password_weak' }],
      });
      expect((await reset(token)).status).toBe(204);
    });

    it('keeps the token valid while a stranger’s keys cannot be ended', async () => {
      const send = { name: 'left behind', permissions: 'admin' };
      const made = await fixture.call('POST', '/v1/api-keys', { as: ann.access_token, send });
      const { key } = (await made.json()) as { key: string };
      const token = await resetToken();
      const transactWrite: typeof engine.client.transactWrite = async (...input) => {
        if (JSON.stringify(input).includes('KEY#')) throw new Error('out of order');
        return engine.client.transactWrite(...input);
      };
      const broken = serve({ ...engine, client: { ...engine.client, transactWrite } });
      expect((await reset(token, fresh, broken)).status).toBe(500);
      expect((await reset(token)).status).toBe(204);
      expect((await fixture.call('GET', '/v1/me', { as: key })).status).toBe(401);
      await broken.settle();
    });

    it('begins anew if the address was never verified, and erases what a stranger left', async () => {
      const { userId: oldId } = (await me(ann.access_token)) as { userId: string };
      await fixture.users.update(oldId, { name: 'Stranger', githubId: 'thief' });
      await fixture.call('PUT', '/v1/saved/sql/Left', { as: ann.access_token, send: { text: 'select 1' } });
      await forgot('ann@example.com');
      const [mail] = (await fixture.mailsTo('ann@example.com')).filter(one =>
        one.subject.startsWith('Reset'),
      );
      expect(mail?.text).toContain('never verified');
      expect((await reset(tokenIn(mail))).status).toBe(204);
      const again = (await (await fixture.logIn('ann@example.com', fresh)).json()) as Tokens;
      const renewed = await me(again.access_token);
      expect(renewed).toMatchObject({ email: 'ann@example.com', emailVerified: true, name: 'ann' });
      expect(renewed.userId).not.toBe(oldId);
      expect(await fixture.users.findProfile('email', 'ann@example.com')).toMatchObject({
        userId: renewed.userId,
      });
      const [notice] = await fixture.mailsTo('ann@example.com');
      expect(notice?.text).toContain('a new, empty one');
      const saved = await fixture.call('GET', '/v1/saved/sql', { as: again.access_token });
      expect(await saved.json()).toMatchObject({ data: [] });

      await fixture.clock.advance(60_000);
      await fixture.finishDeletions();
      const { Items = [] } = await engine.client.scan({ TableName: 'ferryhook-main' });
      expect(Items.filter(item => JSON.stringify(item).includes(oldId))).toEqual([]);
      const login = await fixture.logIn('ann@example.com', fresh);
      const later = ((await login.json()) as Tokens).access_token;
      expect(await me(later)).toMatchObject({ userId: renewed.userId });
    });

    it('begins anew once, at whichever server, and also if the answer was lost', async () => {
      const { userId: oldId } = (await me(ann.access_token)) as { userId: string };
      const token = await resetToken();
      const broken = serve({ ...engine, client: loseAnswer(engine.client, 'by a password reset') });
      await reset(token, fresh, broken);
      expect(await fixture.codeOf(await reset(token))).toBe('accounts.token_refused');
      const answer = await fixture.logIn('ann@example.com', fresh);
      const again = (await answer.json()) as Tokens;
      expect((await me(again.access_token)).userId).not.toBe(oldId);
      await broken.settle();
    });

    it('keeps the old account for others in it, without a way in for the stranger', async () => {
      const { userId: oldId } = (await me(ann.access_token)) as { userId: string };
      const partner = await fixture.signUp('partner@example.com');
      const { userId: partnerId } = (await me(partner.access_token)) as { userId: string };
      const joinedAt = new Date(fixture.clock.now()).toISOString();
      const of = { accountId: oldId, joinedAt };
      const made = { accountId: oldId, name: 'Ours', createdAt: joinedAt, updatedAt: joinedAt };
      await fixture.store.put(organisation, { ...made, members: 2, owners: 1 });
      await fixture.store.put(member, { ...of, userId: oldId, role: 'owner' });
      await fixture.store.put(member, { ...of, userId: partnerId, role: 'admin' });
      expect((await reset(await resetToken())).status).toBe(204);
      expect((await fixture.call('GET', '/v1/me', { as: ann.access_token })).status).toBe(401);
      const again = (await (await fixture.logIn('ann@example.com', fresh)).json()) as Tokens;
      expect((await me(again.access_token)).userId).not.toBe(oldId);
      const send = { accountId: oldId, cookie: false };
      const enter = (as: string) => fixture.call('POST', '/v1/auth/switch', { as, send });
      expect((await enter(again.access_token)).status).toBe(404);
      await fixture.clock.advance(60_000);
      await fixture.finishDeletions();
      const fresher = (await (await fixture.logIn('partner@example.com')).json()) as Tokens;
      expect((await enter(fresher.access_token)).status).toBe(200);
    });

    it('opens nothing for the owner of an account that the operator disabled', async () => {
      const { userId } = (await me(ann.access_token)) as { userId: string };
      const token = await resetToken();
      await fixture.operators.disable(userId);
      expect(await fixture.codeOf(await reset(token))).toBe('accounts.disabled');
      expect((await fixture.logIn('ann@example.com', fresh)).status).toBe(401);
    });

    it('leaves no access to a stranger who signed up with the address', async () => {
      await fixture.users.update((await me(ann.access_token)).userId as string, { githubId: 'thief' });
      const send = { name: 'left behind', permissions: 'admin' };
      const made = await fixture.call('POST', '/v1/api-keys', { as: ann.access_token, send });
      const { key } = (await made.json()) as { key: string };
      await reset(await resetToken());
      expect((await fixture.call('GET', '/v1/me', { as: key })).status).toBe(401);
      expect(await fixture.users.getByUnique('githubId', 'thief')).toBeNull();

      // Once the address is proven, keys are the owner's and stay.
      const again = (await (await fixture.logIn('ann@example.com', fresh)).json()) as Tokens;
      const next = await fixture.call('POST', '/v1/api-keys', { as: again.access_token, send });
      const own = ((await next.json()) as { key: string }).key;
      await reset(await resetToken(), 'eleven blue lampposts');
      expect((await fixture.call('GET', '/v1/me', { as: own })).status).toBe(200);
    });

    it('verifies an address for a user signed in to its account', async () => {
      const bob = await fixture.signUp('bobby@example.com');
      const token = await verifyToken('ann@example.com');
      expect(await me(ann.access_token)).toMatchObject({ emailVerified: false });
      expect(await fixture.codeOf(await verify(bob.access_token, token))).toBe('accounts.token_refused');
      expect((await fixture.call('POST', '/v1/me/verification/finish', { send: { token } })).status).toBe(
        401,
      );
      expect((await verify(ann.access_token, token)).status).toBe(204);
      expect(await me(ann.access_token)).toMatchObject({ emailVerified: true });
      expect(await fixture.codeOf(await verify(ann.access_token, token))).toBe('accounts.token_refused');
      const again = await fixture.call('POST', '/v1/me/verification', { as: ann.access_token });
      expect(await fixture.codeOf(again)).toBe('accounts.already_verified');
    });

    it('mails the owner, whatever strangers have had sent to the address', async () => {
      const [email, address] = ['ann@example.com', '198.51.100.66'];
      const send = { email, password: fresh, name: 'Eve' };
      for (let i = 0; i < 6; i++) {
        await fixture.call('POST', '/v1/auth/signup/request', { send, address });
        await fixture.mail?.tryInvitation({ email, account: 'org_eve' }).catch(() => {});
        await fixture.mail?.tryMail({ email, address, account: 'org_eve' }).catch(() => {});
      }
      await fixture.mail?.tryInvitation({ email, account: 'org_bob' });
      await fixture.mail?.tryMail({ email, address, account: 'org_bob' });
      expect((await forgot(email, address)).status).toBe(202);
      const mails = await fixture.mailsTo(email);
      expect(mails.filter(({ subject }) => subject.startsWith('Reset'))).toHaveLength(1);
    });

    it('lets owners sign in where they reset their password, while strangers guess', async () => {
      const address = '192.0.2.44';
      const logIn = (tried: string, from: string) =>
        fixture.logIn('ann@example.com', tried, { address: from });
      for (let i = 0; i < 21; i++) await logIn('a wrong guess', `198.51.100.${i + 100}`);
      expect((await logIn(password, address)).status, 'as anybody would be refused').toBe(429);
      const send = { token: await resetToken(), newPassword: fresh };
      const reset = await fixture.call('POST', '/v1/auth/password-reset/finish', { send, address });
      expect(reset.status).toBe(204);
      expect((await logIn(fresh, address)).status).toBe(200);
      expect((await logIn(fresh, '192.0.2.45')).status).toBe(429);
    });

    it('limits the mails to an address, however many request them', async () => {
      const invite = (i: number) =>
        fixture.mail!.tryInvitation({ email: 'ann@example.com', account: `org_${i}` });
      for (let i = 0; i < 15; i++) await invite(i);
      await expect(invite(15)).rejects.toMatchObject({ code: 'accounts.too_many_attempts' });
    });

    it('resends a verification, within limits and for 24 hours', async () => {
      const first = await verifyToken('ann@example.com');
      const resend = () => fixture.call('POST', '/v1/me/verification', { as: ann.access_token });
      expect((await resend()).status).toBe(202);
      const second = await verifyToken('ann@example.com');
      expect(await fixture.codeOf(await verify(ann.access_token, first))).toBe('accounts.token_refused');
      for (let i = 0; i < 4; i++) expect((await resend()).status).toBe(202);
      expect(await fixture.codeOf(await resend())).toBe('accounts.too_many_attempts');
      await fixture.clock.advance(24 * 3_600_000);
      const today = (await (await fixture.logIn('ann@example.com')).json()) as Tokens;
      expect(await fixture.codeOf(await verify(today.access_token, second))).toBe('accounts.token_refused');
    });

    it('changes an address when both have confirmed it, and notifies the old one', async () => {
      await verify(ann.access_token, await verifyToken('ann@example.com'));
      const change = (send: object) => fixture.call('POST', '/v1/me/email', { as: ann.access_token, send });
      const confirm = async (token: string) => {
        const answer = await fixture.call('POST', '/v1/me/email/confirm', {
          as: ann.access_token,
          send: { token },
        });
        return answer.status === 200
          ? ((await answer.json()) as { status: string }).status
          : fixture.codeOf(answer);
      };
      const wrong = await change({ email: 'new@example.com', password: 'wrong horse battery' });
      expect(await fixture.codeOf(wrong)).toBe('accounts.password_wrong');
      expect((await change({ email: 'New@Example.com', password })).status).toBe(202);
      const [toNew] = await fixture.mailsTo('new@example.com');
      const [toOld] = await fixture.mailsTo('ann@example.com');
      expect(toOld?.text).toContain('new@example.com');
      expect(await confirm(tokenIn(toOld))).toBe('waiting');
      expect(await confirm(tokenIn(toOld))).toBe('accounts.token_refused');
      expect(await me(ann.access_token)).toMatchObject({ email: 'ann@example.com' });
      expect(await confirm(tokenIn(toNew))).toBe('changed');
      expect(await me(ann.access_token)).toMatchObject({ email: 'new@example.com', emailVerified: true });
      const [notice] = await fixture.mailsTo('ann@example.com');
      expect(notice?.subject).toBe('Your Stak address was changed');
      expect((await fixture.logIn('new@example.com')).status).toBe(200);
      expect((await fixture.logIn('ann@example.com')).status).toBe(401);
      // The old address is free, and no mail of before opens anything.
      expect(await confirm(tokenIn(toNew))).toBe('accounts.token_refused');
      await fixture.signUp('ann@example.com');
    });

    it('changes it once when both confirm at the same time, at two servers', async () => {
      await verify(ann.access_token, await verifyToken('ann@example.com'));
      const other = serve(engine);
      await fixture.call('POST', '/v1/me/email', {
        as: ann.access_token,
        send: { email: 'new@example.com', password },
      });
      const tokens = [
        tokenIn((await fixture.mailsTo('new@example.com'))[0]),
        tokenIn((await fixture.mailsTo('ann@example.com'))[0]),
      ];
      const answers = await Promise.all(
        tokens.map((token, i) =>
          [fixture, other][i]!.call('POST', '/v1/me/email/confirm', {
            as: ann.access_token,
            send: { token },
          }),
        ),
      );
      const outcomes = await Promise.all(
        answers.map(async one => ((await one.json()) as { status: string }).status),
      );
      expect(outcomes.sort()).toEqual(['changed', 'waiting']);
      expect(await me(ann.access_token)).toMatchObject({ email: 'new@example.com' });
      await other.settle();
    });

    it('needs only the new address if the old one was never verified', async () => {
      await fixture.mailsTo('ann@example.com');
      await fixture.call('POST', '/v1/me/email', {
        as: ann.access_token,
        send: { email: 'new@example.com', password },
      });
      expect(await fixture.mailsTo('ann@example.com')).toEqual([]);
      const token = tokenIn((await fixture.mailsTo('new@example.com'))[0]);
      const answer = await fixture.call('POST', '/v1/me/email/confirm', {
        as: ann.access_token,
        send: { token },
      });
      expect(await answer.json()).toEqual({ status: 'changed' });
    });
  });
}
