import { beforeEach, describe, expect, it } from 'vitest';
import { member, organisation, organisationsOf } from '../src/access/tables.ts';
import { authCacheMs } from '../src/limits.ts';
import { session as sessionItem } from '../src/main-table.ts';
import { type Engine, loseAnswer, password, type Serving, serve } from './open-accounts.ts';
import { type Person, useOrganisation } from './organisations-fixture.ts';

const times = (count: number) => Array.from({ length: count }, (_, i) => i);

export function testOrganisations(name: string, open: () => Promise<Engine>): void {
  describe(`organisations over ${name}`, () => {
    const { at, logIn, invite, switchTo, switched, join, userOf, members, change, remove, statusOf } =
      useOrganisation(open);
    let engine: Engine;
    let fixture: Serving;
    let ann: Person;
    beforeEach(() => {
      ({ engine, fixture, ann } = at);
    });

    it('treats an account without items as an organisation of one', async () => {
      expect(await members()).toEqual({ 'ann@example.com': 'owner' });
      const whoAmI = await fixture.call('GET', '/v1/whoami', { as: ann.access_token });
      expect(await whoAmI.json()).toMatchObject({
        accountId: ann.account_id,
        userId: ann.account_id,
        role: 'owner',
        scope: 'admin',
      });
      expect(await fixture.store.get(organisation, { accountId: ann.account_id })).toBeUndefined();
      expect(await fixture.codeOf(await remove(ann, ann.account_id))).toBe('accounts.last_owner');
      expect(await fixture.codeOf(await change(ann, ann.account_id, 'viewer'))).toBe('accounts.last_owner');
    });

    it('creates one organisation for a repeated request whose first answer was lost', async () => {
      await fixture.users.update(ann.account_id, { emailVerified: true });
      const client = loseAnswer(engine.client, 'organisation.created');
      const losing = serve({ client, clock: engine.clock });
      const create = () =>
        losing.call('POST', '/v1/organisations', {
          as: ann.access_token,
          send: { name: 'Acme' },
          headers: { 'Idempotency-Key': 'k' },
        });
      expect((await create()).status).toBe(500);
      const again = await create();
      expect(again.status).toBe(201);
      const { accountId } = (await again.json()) as { accountId: string };
      const owned: string[] = [];
      for await (const one of fixture.store.all(organisationsOf, { userId: ann.account_id }))
        owned.push(one.accountId);
      expect(owned).toEqual([accountId]);
      await losing.settle();
    });

    it('keeps the age of a sign-in when switching organisations', async () => {
      const bob = await join('bob@example.com');
      const [before] = await fixture.sessions.list(await userOf(bob));
      await engine.clock.advance(20 * 60_000);
      const again = (await (await fixture.refresh(bob.refresh_token)).json()) as Person;
      const back = await switched({ ...again, email: bob.email }, await userOf({ ...again, email: '' }));
      const [after] = await fixture.sessions.list(await userOf(back));
      expect(after).toMatchObject({ createdAt: before!.createdAt, endsAt: before!.endsAt });
      expect(after!.accountId).toBeUndefined();
    });

    it('ends sessions and keys of a removed member, in that organisation alone', async () => {
      const bob = await join('bob@example.com', 'admin');
      const bobId = await userOf(bob);
      const own = await switched(await logIn('bob@example.com'), bobId);
      const send = { name: 'deploy', permissions: 'write' };
      const made = await fixture.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const { key } = (await made.json()) as { key: string };
      const other = serve(engine, { defaultPlan: 'selfhosted' });
      const ask = async (as: string) => (await other.call('GET', '/v1/organisation', { as })).status;
      expect([await ask(bob.access_token), await ask(key)]).toEqual([200, 200]);

      expect((await remove(ann, bobId)).status).toBe(204);
      expect(await statusOf(bob)).toBe(401);
      await engine.clock.advance(1000);
      expect([await ask(bob.access_token), await ask(key)]).toEqual([401, 401]);
      expect((await fixture.refresh(bob.refresh_token)).status).toBe(401);
      expect(await statusOf(own)).toBe(200);
      expect((await switchTo(own, ann.account_id)).status).toBe(404);
      expect(await members()).toEqual({ 'ann@example.com': 'owner' });
    });

    it('limits a key by its maker’s role at once, and elsewhere within a second', async () => {
      const elsewhere = serve(engine, { defaultPlan: 'selfhosted' });
      const bob = await join('bobby@example.com', 'admin');
      const bobId = await userOf(bob);
      const send = { name: 'deploy', permissions: 'admin' };
      const made = await fixture.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const { key } = (await made.json()) as { key: string };
      const scopeAt = async (server: Serving) => {
        const answer = await server.call('GET', '/v1/whoami', { as: key });
        return answer.status === 200 ? ((await answer.json()) as { scope: string }).scope : answer.status;
      };
      const scopes = async () => [await scopeAt(fixture), await scopeAt(elsewhere)];
      expect(await scopes()).toEqual(['admin', 'admin']);
      expect((await change(ann, bobId, 'viewer')).status).toBe(204);
      expect(await scopeAt(fixture)).toBe('read');
      await fixture.clock.advance(authCacheMs);
      expect(await scopes()).toEqual(['read', 'read']);
      await fixture.operators.disable(bobId);
      expect(await scopeAt(fixture)).toBe(401);
      await fixture.clock.advance(authCacheMs);
      expect(await scopes()).toEqual([401, 401]);
      await fixture.operators.enable(bobId);
      await fixture.clock.advance(authCacheMs);
      expect(await scopes()).toEqual(['read', 'read']);
      expect((await remove(ann, bobId)).status).toBe(204);
      expect(await scopeAt(fixture)).toBe(401);
      await fixture.clock.advance(authCacheMs);
      expect(await scopes()).toEqual([401, 401]);
      await elsewhere.settle();
    });

    it('ends access of the members of a disabled account at once', async () => {
      const bob = await join('bobby@example.com', 'admin');
      const asked = await fixture.call('GET', '/v1/organisation', { as: bob.access_token });
      expect(asked.status).toBe(200);
      await fixture.operators.disable(ann.account_id);
      const again = await fixture.call('GET', '/v1/organisation', { as: bob.access_token });
      expect(again.status).toBe(401);
    });

    it('has nobody in it while it is disabled, not even its owner: for what was given out', async () => {
      const { account_id } = ann;
      const isIn = (who: string | undefined) => fixture.isMember(account_id, who);
      expect(await Promise.all([account_id, undefined, 'usr_nobody'].map(isIn))).toEqual([true, true, false]);
      await fixture.operators.disable(account_id);
      expect(await Promise.all([account_id, undefined].map(isIn))).toEqual([false, false]);
      await fixture.operators.enable(account_id);
      expect(await Promise.all([account_id, undefined].map(isIn))).toEqual([true, true]);
    });

    it('limits a key by its maker’s role', async () => {
      const bob = await join('bob@example.com', 'admin');
      const send = { name: 'deploy', permissions: 'admin' };
      const made = await fixture.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const { key } = (await made.json()) as { key: string };
      const read = () => fixture.call('GET', '/v1/audit', { as: key });
      expect((await read()).status).toBe(200);
      // It is the organisation's, and says nothing for the person.
      const renamed = await fixture.call('PATCH', '/v1/me', { as: key, send: { name: 'Mallory' } });
      expect(await fixture.codeOf(renamed)).toBe('accounts.session_confined');
      expect((await change(ann, await userOf(bob), 'viewer')).status).toBe(204);
      await engine.clock.advance(1000);
      expect((await read()).status).toBe(403);
      expect((await fixture.call('GET', '/v1/organisation', { as: key })).status).toBe(200);
      expect((await fixture.call('GET', '/v1/audit', { as: bob.access_token })).status).toBe(403);
    });

    it('lets no member manage those above them, and keeps an owner', async () => {
      const bob = await join('bob@example.com', 'admin');
      const carl = await join('carl@example.com', 'member');
      const [bobId, carlId] = [await userOf(bob), await userOf(carl)];
      expect(await fixture.codeOf(await remove(bob, ann.account_id))).toBe('accounts.role_refused');
      expect(await fixture.codeOf(await change(bob, ann.account_id, 'viewer'))).toBe('accounts.role_refused');
      expect(await fixture.codeOf(await change(bob, bobId, 'owner'))).toBe('accounts.role_refused');
      expect((await change(carl, carlId, 'admin')).status).toBe(403);
      expect((await change(bob, carlId, 'viewer')).status).toBe(204);
      const leave = (by: Person) =>
        fixture.call('POST', `/v1/organisations/${ann.account_id}/leave`, { as: by.access_token });
      expect(await fixture.codeOf(await leave(ann))).toBe('accounts.last_owner');
      expect((await leave(carl)).status).toBe(204);
      expect((await remove(ann, carlId)).status).toBe(404);
      expect(await members()).toEqual({ 'ann@example.com': 'owner', 'bob@example.com': 'admin' });
    });

    it('requires a recent second factor to make a member an admin or owner', async () => {
      const bob = await join('bob@example.com');
      const bobId = await userOf(bob);
      await fixture.users.update(ann.account_id, { passkeys: 1 });
      const session = { userId: ann.account_id, sessionId: ann.session_id };
      const refused = 'accounts.step_up_needed';
      expect(await fixture.codeOf(await invite(ann, 'eve@example.com', 'admin'))).toBe(refused);
      for (const role of ['admin', 'owner'])
        expect(await fixture.codeOf(await change(ann, bobId, role))).toBe(refused);
      expect((await invite(ann, 'eve@example.com', 'member')).status).toBe(201);
      expect((await change(ann, bobId, 'viewer')).status).toBe(204);

      const set = { provenAtMs: engine.clock.now() };
      await fixture.store.update(sessionItem, session, { set });
      for (const role of ['admin', 'owner']) expect((await change(ann, bobId, role)).status).toBe(204);
      expect((await invite(ann, 'eve@example.com', 'admin')).status).toBe(201);
      await engine.clock.advance(10 * 60_000);
      expect((await change(ann, bobId, 'admin')).status, 'less than they had').toBe(204);
      expect(await fixture.codeOf(await change(ann, bobId, 'owner'))).toBe(refused);
    });

    it('transfers an organisation to one of two concurrent candidates', async () => {
      const heirs = [await join('bob@example.com', 'admin'), await join('carl@example.com')];
      const ids = await Promise.all(heirs.map(userOf));
      const answers = await Promise.all(
        ids.map(id =>
          fixture.call('POST', `/v1/members/${id}/ownership`, { as: ann.access_token, send: { password } }),
        ),
      );
      expect(answers.map(one => one.status).sort()).toEqual([204, 409]);
      expect(await fixture.codeOf(answers.find(one => !one.ok)!)).toBe('accounts.changed');
      const roles = await members(heirs[0]);
      expect(Object.values(roles).filter(role => role === 'owner')).toHaveLength(1);
      expect(roles['ann@example.com']).toBe('admin');
      const counted = await fixture.store.get(organisation, { accountId: ann.account_id });
      expect(counted).toMatchObject({ members: 3, owners: 1 });
    });

    it('transfers an organisation, and its first owner can leave', async () => {
      const bob = await join('bob@example.com', 'admin');
      const bobId = await userOf(bob);
      const transfer = (by: Person, to: string, tried = password) =>
        fixture.call('POST', `/v1/members/${to}/ownership`, {
          as: by.access_token,
          send: { password: tried },
        });
      expect(await fixture.codeOf(await transfer(bob, bobId))).toBe('http.role_missing');
      expect(await fixture.codeOf(await transfer(ann, bobId, 'wrong'))).toBe('accounts.password_wrong');
      expect((await transfer(ann, bobId)).status).toBe(204);
      expect(await members()).toEqual({ 'ann@example.com': 'admin', 'bob@example.com': 'owner' });
      expect((await remove(bob, ann.account_id)).status).toBe(204);
      expect(await statusOf(ann)).toBe(401);

      // She is somebody still, and gets an organisation of her own.
      const again = await logIn('ann@example.com');
      expect(again.account_id).toMatch(/^org_/);
      expect(await members(again)).toEqual({ 'ann@example.com': 'owner' });
      expect((await switchTo(again, ann.account_id)).status).toBe(404);
      const gone = await fixture.call('POST', '/v1/me/deletion', {
        as: again.access_token,
        send: { password },
      });
      expect(gone.status).toBe(202);
      await engine.clock.advance(61_000);
      await fixture.finishDeletions();
      expect((await fixture.logIn('ann@example.com')).status).toBe(401);
      expect(await members(bob)).toEqual({ 'bob@example.com': 'owner' });
      expect(await fixture.isVerified(ann.account_id)).toBe(true);
      const taken = { email: `${ann.account_id}@organisation.invalid`, password, name: 'Mallory' };
      expect((await fixture.call('POST', '/v1/auth/signup', { send: taken })).status).toBe(400);
      expect(await fixture.users.getById(again.account_id)).toBeNull();
      expect(
        (
          await fixture.call('POST', '/v1/auth/signup', {
            send: { email: 'ann@example.com', password, name: 'Ann', cookie: false },
          })
        ).status,
      ).toBe(201);
    });

    it('deletes a person with more organisations than fit in a transaction', async () => {
      const userId = ann.account_id;
      const joinedAt = new Date(engine.clock.now()).toISOString();
      const ids = times(60).map(i => `org_${String(i).padStart(3, '0')}`);
      for (const accountId of ids) {
        const named = { accountId, name: accountId, createdAt: joinedAt, updatedAt: joinedAt };
        await fixture.store.put(organisation, { ...named, members: 2, owners: 1 });
        await fixture.store.put(member, { accountId, userId, role: 'member', joinedAt });
      }
      const gone = await fixture.call('POST', '/v1/me/deletion', {
        as: ann.access_token,
        send: { password },
      });
      expect(gone.status, await gone.clone().text()).toBe(202);
      for (const accountId of ids) {
        expect(await fixture.store.get(member, { accountId, userId })).toBeUndefined();
        expect((await fixture.store.get(organisation, { accountId }))?.members).toBe(1);
      }
    });

    it('refuses to delete the only owner of an organisation with members', async () => {
      const bob = await join('bob@example.com');
      const delete_ = (by: Person) =>
        fixture.call('POST', '/v1/me/deletion', { as: by.access_token, send: { password } });
      expect(await fixture.codeOf(await delete_(ann))).toBe('accounts.last_owner');
      expect((await delete_(bob)).status).toBe(202);
      expect(await members()).toEqual({ 'ann@example.com': 'owner' });
      expect((await delete_(ann)).status).toBe(202);
    });

    it('keeps one of two owners who leave at once', async () => {
      const bob = await join('bob@example.com', 'admin');
      expect((await change(ann, await userOf(bob), 'owner')).status).toBe(204);
      const leave = (by: Person) =>
        fixture.call('POST', `/v1/organisations/${ann.account_id}/leave`, { as: by.access_token });
      const answers = await Promise.all([leave(ann), leave(bob)]);
      expect(answers.map(one => one.status).sort()).toEqual([204, 409]);
      const left = await fixture.store.get(organisation, { accountId: ann.account_id });
      expect(left).toMatchObject({ members: 1, owners: 1 });
    });

    it('refuses keys of a disabled member, and hides the founder’s personal actions', async () => {
      const bob = await join('bob@example.com', 'admin');
      const trail = await fixture.call('GET', '/v1/audit', { as: bob.access_token });
      const { data } = (await trail.json()) as { data: { action: string; by?: string }[] };
      const sessions = data.filter(one => one.action.startsWith('session.'));
      const bobId = await userOf(bob);
      expect(new Set(sessions.map(one => one.by))).toEqual(new Set([bobId]));
      const send = { name: 'deploy', permissions: 'write' };
      const made = await fixture.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const { key } = (await made.json()) as { key: string };
      await fixture.operators.disable(bobId);
      expect((await fixture.call('GET', '/v1/whoami', { as: key })).status).toBe(401);
    });

    it('names the person in the audit trail, and exports it as lines', async () => {
      const bob = await join('bob@example.com', 'admin');
      const send = { name: 'deploy', permissions: 'write' };
      await fixture.call('POST', '/v1/api-keys', { as: bob.access_token, send });
      const by = await userOf(bob);
      const transfer = { as: ann.access_token, send: { password } };
      expect((await fixture.call('POST', `/v1/members/${by}/ownership`, transfer)).status).toBe(204);
      const answer = await fixture.call('GET', '/v1/audit/export', { as: ann.access_token });
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
      const lines = (await answer.text())
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
      expect(lines).toContainEqual(expect.objectContaining({ action: 'key.created', by }));
      expect(lines).toContainEqual(expect.objectContaining({ action: 'member.joined', by }));
      expect(lines).toContainEqual(
        expect.objectContaining({
          action: 'invitation.sent',
          by: ann.account_id,
          detail: 'bob@example.com as admin',
        }),
      );
      expect(lines).toContainEqual(
        expect.objectContaining({ action: 'ownership.transferred', by: ann.account_id, target: by }),
      );
    });

    // Full rights in somebody's organisation give no rights over that person's account.
    it('applies personal operations to the caller alone', async () => {
      const bob = await join('bob@example.com', 'admin');
      const as = bob.access_token;
      const before = await fixture.users.readProfile(ann.account_id);
      const sessions = await fixture.sessions.list(ann.account_id);
      const own = fixture.routes.filter(one => one.auth === 'person' || one.isOwn);
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
        await fixture.call(method.toUpperCase(), address, { as, send: sent });
      }
      await fixture.call('DELETE', '/v1/sessions', { as });
      expect(await fixture.users.readProfile(ann.account_id)).toEqual(before);
      expect((await fixture.sessions.list(ann.account_id)).length).toBe(sessions.length);
      expect(await statusOf(ann)).toBe(200);
    });
  });
}
