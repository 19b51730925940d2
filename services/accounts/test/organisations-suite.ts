import { seededRandom } from '@stak/kit';
import { createAdversary } from '@stak/table/adversary';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { member, organisation } from '../src/organisations/table.ts';
import { type Engine, password, type Serving, serve, type Tokens, tokenIn } from './open-accounts.ts';

const times = (count: number) => Array.from({ length: count }, (_, i) => i);
const week = 7 * 24 * 60 * 60_000;

type Person = Tokens & { account_id: string; email: string };

export function testOrganisations(name: string, open: () => Promise<Engine>): void {
  describe(`organisations over ${name}`, () => {
    let engine: Engine;
    let house: Serving;
    let ann: Person;
    beforeEach(async () => {
      engine = await open();
      house = serve(engine, { defaultPlan: 'selfhosted' });
      ann = await signUp('ann@example.com');
    });
    afterEach(async () => {
      await house.settle();
      await engine.close();
    });

    let addresses = 0;
    const signUp = async (email: string): Promise<Person> => {
      const send = { email, password, name: email.split('@')[0], cookie: false };
      const address = `198.51.100.${++addresses % 250}`;
      const answer = await house.call('POST', '/v1/auth/signup', { send, address });
      expect(answer.status).toBe(201);
      return { ...((await answer.json()) as Person), email };
    };
    const logIn = async (email: string): Promise<Person> => ({
      ...((await (await house.logIn(email)).json()) as Person),
      email,
    });
    const invite = (by: Person, email: string, role = 'member', server = house) =>
      server.call('POST', '/v1/invitations', {
        as: by.access_token,
        send: { email, role },
        address: `203.0.113.${++addresses % 250}`,
      });
    const invited = async (email: string, role?: string): Promise<string> => {
      const answer = await invite(ann, email, role);
      expect(answer.status, await answer.clone().text()).toBe(201);
      return tokenIn((await house.mailsTo(email)).findLast(one => one.subject.startsWith('Join')));
    };
    const accept = (by: Person, token: string, server = house) =>
      server.call('POST', '/v1/auth/invitation/accept', {
        as: by.access_token,
        send: { token },
        address: `192.0.2.${++addresses % 250}`,
      });
    const switchTo = (by: Person, accountId: string) =>
      house.call('POST', '/v1/auth/switch', { as: by.access_token, send: { accountId, cookie: false } });
    const switched = async (by: Person, accountId = ann.account_id): Promise<Person> => ({
      ...((await (await switchTo(by, accountId)).json()) as Person),
      email: by.email,
    });
    // Somebody who has joined Ann's organisation and works in it.
    const join = async (email: string, role?: string): Promise<Person> => {
      const token = await invited(email, role);
      const person = await signUp(email);
      expect((await accept(person, token)).status).toBe(200);
      return switched(person);
    };
    const userOf = async (person: Person): Promise<string> =>
      ((await (await house.call('GET', '/v1/me', { as: person.access_token })).json()) as { userId: string })
        .userId;
    const members = async (by = ann) => {
      const answer = await house.call('GET', '/v1/members', { as: by.access_token });
      const { data } = (await answer.json()) as { data: { email: string; role: string }[] };
      return Object.fromEntries(data.map(one => [one.email, one.role]));
    };
    const change = (by: Person, userId: string, role: string) =>
      house.call('PATCH', `/v1/members/${userId}`, { as: by.access_token, send: { role } });
    const remove = (by: Person, userId: string) =>
      house.call('DELETE', `/v1/members/${userId}`, { as: by.access_token });
    const statusOf = async (person: Person, path = '/v1/organisation') =>
      (await house.call('GET', path, { as: person.access_token })).status;

    it('finds an account of before to be an organisation of one', async () => {
      expect(await members()).toEqual({ 'ann@example.com': 'owner' });
      const whoAmI = await house.call('GET', '/v1/whoami', { as: ann.access_token });
      expect(await whoAmI.json()).toMatchObject({
        accountId: ann.account_id,
        userId: ann.account_id,
        role: 'owner',
        scope: 'admin',
      });
      expect(await house.store.get(organisation, { accountId: ann.account_id })).toBeUndefined();
      expect(await house.codeOf(await remove(ann, ann.account_id))).toBe('accounts.last_owner');
      expect(await house.codeOf(await change(ann, ann.account_id, 'viewer'))).toBe('accounts.last_owner');
    });

    it('invites by mail, and admits the user who signs in with that address', async () => {
      const token = await invited('bob@example.com', 'viewer');
      const look = await house.call('POST', '/v1/auth/invitation', { send: { token } });
      expect(await look.json()).toMatchObject({ name: 'ann', email: 'bob@example.com', role: 'viewer' });
      const bob = await signUp('bob@example.com');
      const answer = await accept(bob, token);
      expect(await answer.json()).toEqual({ accountId: ann.account_id, role: 'viewer' });
      expect(await members()).toEqual({ 'ann@example.com': 'owner', 'bob@example.com': 'viewer' });

      const there = await switched(bob);
      expect(there.account_id).toBe(ann.account_id);
      expect(await statusOf(bob)).toBe(401); // the session that asked is over
      const me = await house.call('GET', '/v1/me', { as: there.access_token });
      expect(await me.json()).toMatchObject({ email: 'bob@example.com', emailVerified: true });
      const mine = await house.call('GET', '/v1/organisations', { as: there.access_token });
      expect(((await mine.json()) as { data: unknown[] }).data).toEqual([
        expect.objectContaining({ role: 'owner', isCurrent: false }),
        { accountId: ann.account_id, name: 'ann', role: 'viewer', isCurrent: true },
      ]);
      expect((await invite(there, 'eve@example.com')).status).toBe(403);

      // Refreshing stays there, and so does the next sign-in.
      const refreshed = (await (await house.refresh(there.refresh_token)).json()) as Person;
      expect(refreshed.account_id).toBe(ann.account_id);
      expect((await logIn('bob@example.com')).account_id).toBe(ann.account_id);
    });

    it('keeps a sign-in as old as it is, whatever organisation it goes on in', async () => {
      const bob = await join('bob@example.com');
      const [before] = await house.sessions.list(await userOf(bob));
      await engine.clock.advance(20 * 60_000);
      const again = (await (await house.refresh(bob.refresh_token)).json()) as Person;
      const back = await switched({ ...again, email: bob.email }, await userOf({ ...again, email: '' }));
      const [after] = await house.sessions.list(await userOf(back));
      expect(after).toMatchObject({ createdAt: before!.createdAt, endsAt: before!.endsAt });
      expect(after!.accountId).toBeUndefined();
    });

    it('takes an invitation once, from its own address, until it expires or is withdrawn', async () => {
      const token = await invited('bob@example.com');
      const eve = await signUp('eve@example.com');
      expect(await house.codeOf(await accept(eve, token))).toBe('accounts.invitation_elsewhere');
      const bob = await signUp('bob@example.com');
      const forged = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
      expect(await house.codeOf(await accept(bob, forged))).toBe('accounts.token_refused');
      expect((await accept(bob, token)).status).toBe(200);
      expect((await accept(bob, token)).status).toBe(200); // the answer may have got lost
      expect((await house.store.get(organisation, { accountId: ann.account_id }))?.members).toBe(2);
      expect((await remove(ann, await userOf(bob))).status).toBe(204);
      expect(await house.codeOf(await accept(bob, token))).toBe('accounts.token_refused');

      const late = await invited('carl@example.com');
      const carl = await signUp('carl@example.com');
      const withdrawn = await invited('dora@example.com');
      const dora = await signUp('dora@example.com');
      const list = await house.call('GET', '/v1/invitations', { as: ann.access_token });
      const { data } = (await list.json()) as { data: { invitationId: string; email: string }[] };
      expect(data.map(one => one.email).sort()).toEqual(['carl@example.com', 'dora@example.com']);
      const idOf = (email: string) => data.find(one => one.email === email)!.invitationId;
      const act = (method: string, path: string) =>
        house.call(method, `/v1/invitations/${path}`, { as: ann.access_token });
      expect((await act('DELETE', idOf('dora@example.com'))).status).toBe(204);
      expect((await act('DELETE', idOf('dora@example.com'))).status).toBe(404);
      expect(await house.codeOf(await accept(dora, withdrawn))).toBe('accounts.token_refused');

      expect((await act('POST', `${idOf('carl@example.com')}/resend`)).status).toBe(200);
      const newer = tokenIn(
        (await house.mailsTo('carl@example.com')).findLast(one => /Join/.test(one.subject)),
      );
      expect(await house.codeOf(await accept(carl, late))).toBe('accounts.token_refused');
      await engine.clock.advance(week);
      const again = await logIn('carl@example.com');
      expect(await house.codeOf(await accept(again, newer))).toBe('accounts.token_refused');
    });

    it('ends sessions and keys of a member who is removed, in that organisation alone', async () => {
      const bob = await join('bob@example.com', 'admin');
      const bobId = await userOf(bob);
      const own = await switched(await logIn('bob@example.com'), bobId);
      const send = { name: 'deploy', permissions: 'write' };
      const made = await house.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const { key } = (await made.json()) as { key: string };
      const other = serve(engine, { defaultPlan: 'selfhosted' });
      const ask = async (as: string) => (await other.call('GET', '/v1/organisation', { as })).status;
      expect([await ask(bob.access_token), await ask(key)]).toEqual([200, 200]);

      expect((await remove(ann, bobId)).status).toBe(204);
      expect(await statusOf(bob)).toBe(401);
      await engine.clock.advance(1000);
      expect([await ask(bob.access_token), await ask(key)]).toEqual([401, 401]);
      expect((await house.refresh(bob.refresh_token)).status).toBe(401);
      expect(await statusOf(own)).toBe(200);
      expect((await switchTo(own, ann.account_id)).status).toBe(404);
      expect(await members()).toEqual({ 'ann@example.com': 'owner' });
    });

    it('bounds a key by the role of who made it', async () => {
      const bob = await join('bob@example.com', 'admin');
      const send = { name: 'deploy', permissions: 'admin' };
      const made = await house.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const { key } = (await made.json()) as { key: string };
      const read = () => house.call('GET', '/v1/audit', { as: key });
      expect((await read()).status).toBe(200);
      expect((await change(ann, await userOf(bob), 'viewer')).status).toBe(204);
      await engine.clock.advance(1000);
      expect((await read()).status).toBe(403);
      expect((await house.call('GET', '/v1/organisation', { as: key })).status).toBe(200);
      expect((await house.call('GET', '/v1/audit', { as: bob.access_token })).status).toBe(403);
    });

    it('lets nobody manage those above them, and keeps an owner', async () => {
      const bob = await join('bob@example.com', 'admin');
      const carl = await join('carl@example.com', 'member');
      const [bobId, carlId] = [await userOf(bob), await userOf(carl)];
      expect(await house.codeOf(await remove(bob, ann.account_id))).toBe('accounts.role_refused');
      expect(await house.codeOf(await change(bob, ann.account_id, 'viewer'))).toBe('accounts.role_refused');
      expect(await house.codeOf(await change(bob, bobId, 'owner'))).toBe('accounts.role_refused');
      expect((await change(carl, carlId, 'admin')).status).toBe(403);
      expect((await change(bob, carlId, 'viewer')).status).toBe(204);
      const leave = (by: Person) =>
        house.call('POST', `/v1/organisations/${ann.account_id}/leave`, { as: by.access_token });
      expect(await house.codeOf(await leave(ann))).toBe('accounts.last_owner');
      expect((await leave(carl)).status).toBe(204);
      expect((await remove(ann, carlId)).status).toBe(404);
      expect(await members()).toEqual({ 'ann@example.com': 'owner', 'bob@example.com': 'admin' });
    });

    it('hands an organisation over, and its first owner can go', async () => {
      const bob = await join('bob@example.com', 'admin');
      const bobId = await userOf(bob);
      const transfer = (by: Person, to: string, tried = password) =>
        house.call('POST', `/v1/members/${to}/ownership`, { as: by.access_token, send: { password: tried } });
      expect(await house.codeOf(await transfer(bob, bobId))).toBe('http.role_missing');
      expect(await house.codeOf(await transfer(ann, bobId, 'wrong'))).toBe('accounts.password_wrong');
      expect((await transfer(ann, bobId)).status).toBe(204);
      expect(await members()).toEqual({ 'ann@example.com': 'admin', 'bob@example.com': 'owner' });
      expect((await remove(bob, ann.account_id)).status).toBe(204);
      expect(await statusOf(ann)).toBe(401);

      // She is somebody still, and gets an organisation of her own.
      const again = await logIn('ann@example.com');
      expect(again.account_id).toMatch(/^org_/);
      expect(await members(again)).toEqual({ 'ann@example.com': 'owner' });
      expect((await switchTo(again, ann.account_id)).status).toBe(404);
      const gone = await house.call('POST', '/v1/me/deletion', {
        as: again.access_token,
        send: { password },
      });
      expect(gone.status).toBe(202);
      await engine.clock.advance(61_000);
      await house.finishDeletions();
      expect((await house.logIn('ann@example.com')).status).toBe(401);
      expect(await members(bob)).toEqual({ 'bob@example.com': 'owner' });
      expect(await house.isVerified(ann.account_id)).toBe(true);
      const taken = { email: `${ann.account_id}@organisation.invalid`, password, name: 'Mallory' };
      expect((await house.call('POST', '/v1/auth/signup', { send: taken })).status).toBe(400);
      expect(await house.users.getById(again.account_id)).toBeNull();
      expect(
        (
          await house.call('POST', '/v1/auth/signup', {
            send: { email: 'ann@example.com', password, name: 'Ann', cookie: false },
          })
        ).status,
      ).toBe(201);
    });

    it('deletes nobody whose organisation has members and no other owner', async () => {
      const bob = await join('bob@example.com');
      const delete_ = (by: Person) =>
        house.call('POST', '/v1/me/deletion', { as: by.access_token, send: { password } });
      expect(await house.codeOf(await delete_(ann))).toBe('accounts.last_owner');
      expect((await delete_(bob)).status).toBe(202);
      expect(await members()).toEqual({ 'ann@example.com': 'owner' });
      expect((await delete_(ann)).status).toBe(202);
    });

    it('lets in as many as there are seats, however many come at once', async () => {
      const small = [serve(engine, { defaultPlan: 'free' }), serve(engine, { defaultPlan: 'free' })];
      const invitees = times(6).map(i => `invitee${i}@example.com`);
      const tokens = await Promise.all(invitees.map(email => invited(email)));
      const people: Person[] = [];
      for (const email of invitees) people.push(await signUp(email));
      const answers = await Promise.all(people.map((one, i) => accept(one, tokens[i]!, small[i % 2])));
      const codes = await Promise.all(
        answers.map(async one => (one.status === 200 ? 'in' : house.codeOf(one))),
      );
      expect(codes.filter(one => one === 'in').length).toBeLessThanOrEqual(2);
      // A caller that hit so many conflicts that the store gave up tries again.
      for (const [i, code] of codes.entries())
        if (code === 'table.busy')
          codes[i] = (await accept(people[i]!, tokens[i]!, small[0])).ok ? 'in' : 'no';
      expect(codes.filter(one => one === 'in')).toHaveLength(2);
      expect(Object.keys(await members())).toHaveLength(3);
      expect((await house.store.get(organisation, { accountId: ann.account_id }))?.members).toBe(3);
      expect(await house.codeOf(await invite(ann, 'more@example.com', 'member', small[0]))).toBe(
        'accounts.seats_taken',
      );
    });

    it('keeps one of two owners who leave at once', async () => {
      const bob = await join('bob@example.com', 'admin');
      expect((await change(ann, await userOf(bob), 'owner')).status).toBe(204);
      const leave = (by: Person) =>
        house.call('POST', `/v1/organisations/${ann.account_id}/leave`, { as: by.access_token });
      const answers = await Promise.all([leave(ann), leave(bob)]);
      expect(answers.map(one => one.status).sort()).toEqual([204, 409]);
      const left = await house.store.get(organisation, { accountId: ann.account_id });
      expect(left).toMatchObject({ members: 1, owners: 1 });
    });

    it('joins once, whatever answers get lost', async () => {
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
        const joined = await house.store.get(member, { accountId: ann.account_id, userId });
        expect(joined?.role).toBe('member');
      }
      expect((await house.store.get(organisation, { accountId: ann.account_id }))?.members).toBe(7);
    });

    it('refuses keys that somebody made here who is disabled, and hides what the founder does alone', async () => {
      const bob = await join('bob@example.com', 'admin');
      const trail = await house.call('GET', '/v1/audit', { as: bob.access_token });
      const { data } = (await trail.json()) as { data: { action: string; by?: string }[] };
      const sessions = data.filter(one => one.action.startsWith('session.'));
      const bobId = await userOf(bob);
      expect(new Set(sessions.map(one => one.by))).toEqual(new Set([bobId]));
      const send = { name: 'deploy', permissions: 'write' };
      const made = await house.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const { key } = (await made.json()) as { key: string };
      await house.operators.disable(bobId);
      expect((await house.call('GET', '/v1/whoami', { as: key })).status).toBe(401);
    });

    it('names the person in the trail, and gives it out as lines', async () => {
      const bob = await join('bob@example.com', 'admin');
      const send = { name: 'deploy', permissions: 'write' };
      await house.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const answer = await house.call('GET', '/v1/audit/export', { as: ann.access_token });
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
      const lines = (await answer.text())
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
      const by = await userOf(bob);
      expect(lines).toContainEqual(expect.objectContaining({ action: 'key.created', by }));
      expect(lines).toContainEqual(expect.objectContaining({ action: 'member.joined', by }));
      expect(lines).toContainEqual(
        expect.objectContaining({
          action: 'invitation.sent',
          by: ann.account_id,
          detail: 'bob@example.com as admin',
        }),
      );
    });

    // Full rights in somebody's organisation give no rights over that person's account.
    it('does what a person does to themselves to nobody else', async () => {
      const bob = await join('bob@example.com', 'admin');
      const as = bob.access_token;
      const before = await house.users.readProfile(ann.account_id);
      const sessions = await house.sessions.list(ann.account_id);
      const own = house.routes.filter(one => one.auth === 'person' || one.isOwn);
      expect(own.length).toBeGreaterThan(15);
      const bodies: Record<string, object> = {
        'accounts.updateMe': { name: 'Mallory' },
        'accounts.changePassword': { currentPassword: password, newPassword: 'seven green umbrellas' },
        'accounts.changeEmail': { email: 'mallory@example.com', password: 'seven green umbrellas' },
        'accounts.beginAuthenticator': { password: 'seven green umbrellas' },
      };
      const last = [
        'accounts.switchOrganisation',
        'accounts.logOut',
        'accounts.endSessions',
        'accounts.deleteMe',
      ];
      for (const { operationId = '', method, path } of own.filter(one => !last.includes(one.operationId!))) {
        const address = path
          .replace('{sessionId}', sessions[0]!.sessionId)
          .replace('{accountId}', 'usr_nobody')
          .replace('{provider}', 'github');
        const sent =
          method === 'post' || method === 'patch'
            ? (bodies[operationId] ?? { token: 'x', code: '1' })
            : undefined;
        await house.call(method.toUpperCase(), address, { as, send: sent });
      }
      await house.call('DELETE', '/v1/sessions', { as });
      expect(await house.users.readProfile(ann.account_id)).toEqual(before);
      expect((await house.sessions.list(ann.account_id)).length).toBe(sessions.length);
      expect(await statusOf(ann)).toBe(200);
    });
  });
}
