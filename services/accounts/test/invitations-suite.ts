import { seededRandom } from '@stak/kit';
import { createStore } from '@stak/table';
import { createAdversary } from '@stak/table/adversary';
import { beforeEach, describe, expect, it } from 'vitest';
import { invitation, member, organisation } from '../src/access/tables.ts';
import { invitationsPending } from '../src/organisations/limits.ts';
import { type Engine, loseAnswer, overtake, type Serving, serve, tokenIn } from './open-accounts.ts';
import { type Person, useOrganisation } from './organisations-fixture.ts';

const times = (count: number) => Array.from({ length: count }, (_, i) => i);
const week = 7 * 24 * 60 * 60_000;

type Pending = { invitationId: string; email: string };

export function testInvitations(name: string, open: () => Promise<Engine>): void {
  describe(`invitations over ${name}`, () => {
    const {
      at,
      signUp,
      logIn,
      invite,
      invited,
      accept,
      switched,
      join,
      userOf,
      members,
      change,
      remove,
      statusOf,
    } = useOrganisation(open);
    let engine: Engine;
    let fixture: Serving;
    let ann: Person;
    beforeEach(() => {
      ({ engine, fixture, ann } = at);
    });

    it('invites by mail, and admits the user who signs in with that address', async () => {
      const token = await invited('bob@example.com', 'viewer');
      const look = await fixture.call('POST', '/v1/auth/invitation', { send: { token } });
      expect(await look.json()).toMatchObject({ name: 'ann', email: 'bob@example.com', role: 'viewer' });
      const bob = await signUp('bob@example.com');
      const answer = await accept(bob, token);
      expect(await answer.json()).toEqual({ accountId: ann.account_id, role: 'viewer' });
      expect(await members()).toEqual({ 'ann@example.com': 'owner', 'bob@example.com': 'viewer' });

      const there = await switched(bob);
      expect(there.account_id).toBe(ann.account_id);
      expect(await statusOf(bob)).toBe(401); // the session that asked is over
      const me = await fixture.call('GET', '/v1/me', { as: there.access_token });
      expect(await me.json()).toMatchObject({ email: 'bob@example.com', emailVerified: true });
      const mine = await fixture.call('GET', '/v1/organisations', { as: there.access_token });
      expect(((await mine.json()) as { data: unknown[] }).data).toEqual([
        expect.objectContaining({ role: 'owner', isCurrent: false }),
        { accountId: ann.account_id, name: 'ann', role: 'viewer', isCurrent: true },
      ]);
      expect((await invite(there, 'eve@example.com')).status).toBe(403);

      // Refreshing stays there, and so does the next sign-in.
      const refreshed = (await (await fixture.refresh(there.refresh_token)).json()) as Person;
      expect(refreshed.account_id).toBe(ann.account_id);
      expect((await logIn('bob@example.com')).account_id).toBe(ann.account_id);
    });

    it('invites once for a repeated request whose first answer was lost', async () => {
      const client = loseAnswer(engine.client, 'invitation.sent');
      const losing = serve({ client, clock: engine.clock }, { defaultPlan: 'selfhosted' });
      const ask = () =>
        losing.call('POST', '/v1/invitations', {
          as: ann.access_token,
          send: { email: 'bob@example.com', role: 'member' },
          headers: { 'Idempotency-Key': 'k' },
        });
      expect((await ask()).status).toBe(500);
      expect((await ask()).status).toBe(201);
      const mails = await losing.mailsTo('bob@example.com');
      expect(mails).toHaveLength(1);
      const bob = await signUp('bob@example.com');
      expect((await accept(bob, tokenIn(mails[0]))).status).toBe(200);
      await losing.settle();
    });

    // A server that is about to admit somebody when something else happens.
    const admittingAfter = (act: () => Promise<unknown>) =>
      serve(
        { client: overtake(engine.client, 'member.joined', act), clock: engine.clock },
        { defaultPlan: 'selfhosted' },
      );

    it('admits nobody whose inviter loses the right to invite in the same moment', async () => {
      const cid = await join('cid@example.com', 'admin');
      expect((await invite(cid, 'bob@example.com')).status).toBe(201);
      const mails = await fixture.mailsTo('bob@example.com');
      const bob = await signUp('bob@example.com');
      const cidId = await userOf(cid);
      const server = admittingAfter(() => remove(ann, cidId));
      expect((await accept(bob, tokenIn(mails[0]), server)).status).not.toBe(200);
      expect(Object.keys(await members())).toEqual(['ann@example.com']);
      await server.settle();
    });

    it('admits nobody who takes another address in the same moment', async () => {
      const token = await invited('bob@example.com');
      const bob = await signUp('bob@example.com');
      const bobId = await userOf(bob);
      const server = admittingAfter(() => fixture.users.update(bobId, { email: 'other@example.com' }));
      expect(await fixture.codeOf(await accept(bob, token, server))).toBe('accounts.invitation_elsewhere');
      expect(Object.keys(await members())).toEqual(['ann@example.com']);
      await server.settle();
    });

    it('lets nobody back in by an invitation to their address from before they joined', async () => {
      const token = await invited('bob@example.com', 'admin');
      const bob = await join('other@example.com', 'member');
      const bobId = await userOf(bob);
      await fixture.users.update(bobId, { email: 'bob@example.com', emailVerified: true });
      expect((await remove(ann, bobId)).status).toBe(204);
      const again = await logIn('bob@example.com');
      expect(await fixture.codeOf(await accept(again, token))).toBe('accounts.token_refused');
      expect(Object.keys(await members())).toEqual(['ann@example.com']);
    });

    it('counts owners when somebody becomes one while their role is changed', async () => {
      const bobId = await userOf(await join('bob@example.com', 'viewer'));
      const { account_id: accountId } = ann;
      const client = overtake(engine.client, 'member.changed', () => change(ann, bobId, 'owner'));
      const server = serve({ client, clock: engine.clock }, { defaultPlan: 'selfhosted' });
      const path = `/v1/members/${bobId}`;
      await server.call('PATCH', path, { as: ann.access_token, send: { role: 'member' } });
      const owners = Object.values(await members()).filter(role => role === 'owner').length;
      const stored = await fixture.store.get(organisation, { accountId }, { consistent: true });
      expect(stored?.owners).toBe(owners);
      await server.settle();
    });

    it('accepts an invitation once, from its own address, until it expires or is withdrawn', async () => {
      const token = await invited('bob@example.com');
      const eve = await signUp('eve@example.com');
      expect(await fixture.codeOf(await accept(eve, token))).toBe('accounts.invitation_elsewhere');
      const bob = await signUp('bob@example.com');
      const forged = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
      expect(await fixture.codeOf(await accept(bob, forged))).toBe('accounts.token_refused');
      expect((await accept(bob, token)).status).toBe(200);
      expect((await accept(bob, token)).status).toBe(200); // the answer may have got lost
      expect((await fixture.store.get(organisation, { accountId: ann.account_id }))?.members).toBe(2);
      expect((await remove(ann, await userOf(bob))).status).toBe(204);
      expect(await fixture.codeOf(await accept(bob, token))).toBe('accounts.token_refused');

      const late = await invited('carl@example.com');
      const carl = await signUp('carl@example.com');
      const withdrawn = await invited('dora@example.com');
      const dora = await signUp('dora@example.com');
      const list = await fixture.call('GET', '/v1/invitations', { as: ann.access_token });
      const { data } = (await list.json()) as { data: { invitationId: string; email: string }[] };
      expect(data.map(one => one.email).sort()).toEqual(['carl@example.com', 'dora@example.com']);
      const idOf = (email: string) => data.find(one => one.email === email)!.invitationId;
      const act = (method: string, path: string) =>
        fixture.call(method, `/v1/invitations/${path}`, { as: ann.access_token });
      expect((await act('DELETE', idOf('dora@example.com'))).status).toBe(204);
      expect((await act('DELETE', idOf('dora@example.com'))).status).toBe(404);
      expect(await fixture.codeOf(await accept(dora, withdrawn))).toBe('accounts.token_refused');

      expect((await act('POST', `${idOf('carl@example.com')}/resend`)).status).toBe(200);
      const newer = tokenIn(
        (await fixture.mailsTo('carl@example.com')).findLast(one => /Join/.test(one.subject)),
      );
      expect(await fixture.codeOf(await accept(carl, late))).toBe('accounts.token_refused');
      await engine.clock.advance(week);
      const again = await logIn('carl@example.com');
      expect(await fixture.codeOf(await accept(again, newer))).toBe('accounts.token_refused');
    });

    it('refuses invitations from members who may no longer invite', async () => {
      const bob = await join('bob@example.com', 'admin');
      const bobId = await userOf(bob);
      const send = async (email: string, role: string) => {
        expect((await invite(bob, email, role)).status).toBe(201);
        return tokenIn((await fixture.mailsTo(email)).findLast(one => one.subject.startsWith('Join')));
      };
      const [token, other] = [
        await send('eve@example.com', 'admin'),
        await send('fay@example.com', 'viewer'),
      ];
      const eve = await signUp('eve@example.com');
      const fay = await signUp('fay@example.com');
      const look = () => fixture.call('POST', '/v1/auth/invitation', { send: { token } });
      const pending = async () => {
        const answer = await fixture.call('GET', '/v1/invitations', { as: ann.access_token });
        return ((await answer.json()) as { data: Pending[] }).data;
      };
      expect((await look()).status).toBe(200);
      const { invitationId } = (await pending()).find(one => one.email === 'eve@example.com')!;
      expect((await change(ann, bobId, 'member')).status).toBe(204);
      expect(await pending()).toEqual([]);
      expect(await fixture.codeOf(await look())).toBe('accounts.token_refused');
      expect((await remove(ann, bobId)).status).toBe(204);
      for (const [by, given] of [
        [eve, token],
        [fay, other],
      ] as const)
        expect(await fixture.codeOf(await accept(by, given))).toBe('accounts.token_refused');

      // Another one who may takes it over by sending it again.
      const resent = await fixture.call('POST', `/v1/invitations/${invitationId}/resend`, {
        as: ann.access_token,
      });
      expect(resent.status).toBe(200);
      const newer = tokenIn(
        (await fixture.mailsTo('eve@example.com')).findLast(one => one.subject.startsWith('Join')),
      );
      expect((await accept(eve, newer)).status).toBe(200);
      expect(await members()).toEqual({ 'ann@example.com': 'owner', 'eve@example.com': 'admin' });
    });

    it('admits as many as there are seats, however many accept at once', async () => {
      const small = [serve(engine, { defaultPlan: 'free' }), serve(engine, { defaultPlan: 'free' })];
      const invitees = times(6).map(i => `invitee${i}@example.com`);
      const tokens = await Promise.all(invitees.map(email => invited(email)));
      const people: Person[] = [];
      for (const email of invitees) people.push(await signUp(email));
      const answers = await Promise.all(people.map((one, i) => accept(one, tokens[i]!, small[i % 2])));
      const codes = await Promise.all(
        answers.map(async one => (one.status === 200 ? 'in' : fixture.codeOf(one))),
      );
      expect(codes.filter(one => one === 'in').length).toBeLessThanOrEqual(2);
      // A caller that hit so many conflicts that the store gave up tries again.
      for (const [i, code] of codes.entries())
        if (code === 'table.busy')
          codes[i] = (await accept(people[i]!, tokens[i]!, small[0])).ok ? 'in' : 'no';
      expect(codes.filter(one => one === 'in')).toHaveLength(2);
      expect(Object.keys(await members())).toHaveLength(3);
      expect((await fixture.store.get(organisation, { accountId: ann.account_id }))?.members).toBe(3);
      expect(await fixture.codeOf(await invite(ann, 'more@example.com', 'member', small[0]))).toBe(
        'accounts.seats_taken',
      );
    });

    it('limits pending invitations, even with concurrent calls and lost responses', async () => {
      const waiting = {
        accountId: ann.account_id,
        role: 'member' as const,
        tokenHash: 'none',
        invitedBy: ann.account_id,
        createdAt: 'then',
        sentAt: 'then',
        expiresAt: Math.floor(engine.clock.now() / 1000) + 60,
      };
      const near = createStore({ client: engine.near, clock: engine.clock });
      for (const i of times(invitationsPending - 3)) {
        const invitationId = `inv_${String(i).padStart(24, '0')}`;
        await near.put(invitation, { ...waiting, invitationId, email: `waits${i}@example.com` });
      }
      const flaky = (seed: number) => {
        const client = createAdversary(engine.client, { lostAnswers: 0.3, random: seededRandom(seed) });
        return serve({ ...engine, client }, { defaultPlan: 'selfhosted' });
      };
      const servers = [flaky(3), flaky(4)];
      const send = async (i: number): Promise<string> => {
        for (;;) {
          const answer = await invite(ann, `invitee${i}@example.com`, 'member', servers[i % 2]);
          if (answer.status < 500) return answer.ok ? 'sent' : fixture.codeOf(answer);
        }
      };
      const sent = await Promise.all(times(9).map(send));
      expect(sent.toSorted()).toEqual([
        ...times(6).map(() => 'accounts.too_many_invitations'),
        ...times(3).map(() => 'sent'),
      ]);
      const list = await fixture.call('GET', '/v1/invitations', { as: ann.access_token });
      expect(((await list.json()) as { data: unknown[] }).data).toHaveLength(invitationsPending);
      // One that waits already is replaced, and one that expires makes room.
      const again = sent.indexOf('sent');
      expect((await invite(ann, `invitee${again}@example.com`, 'viewer')).status).toBe(201);
      await engine.clock.advance(60_000);
      expect((await invite(ann, 'more@example.com')).status).toBe(201);
    });

    it('joins once, even if responses are lost', async () => {
      const client = createAdversary(engine.client, { lostAnswers: 0.3, random: seededRandom(11) });
      const flaky = serve({ ...engine, client }, { defaultPlan: 'selfhosted' });
      for (const i of times(6)) {
        const email = `invitee${i}@example.com`;
        const token = await invited(email);
        const invitee = await signUp(email);
        const userId = await userOf(invitee);
        let answer = await accept(invitee, token, flaky);
        for (let again = 0; again < 20 && answer.status >= 500; again++)
          answer = await accept(invitee, token, flaky);
        expect(answer.status, await answer.clone().text()).toBe(200);
        const joined = await fixture.store.get(member, { accountId: ann.account_id, userId });
        expect(joined?.role).toBe('member');
      }
      expect((await fixture.store.get(organisation, { accountId: ann.account_id }))?.members).toBe(7);
    });
  });
}
