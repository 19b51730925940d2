import { setImmediate } from 'node:timers/promises';
import { manualClock } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Call, everyItem, type Fixture, openFixture, openProcess, targets } from './tenants-fixture.ts';

const hour = 60 * 60 * 1000;

describe.each(Object.entries(targets))('access, %s', (_, make) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(make);
    await fixture.call('POST', '/v1/tenants', {
      send: { tenant_id: 'acme', name: 'Acme', status: 'active' },
    });
  });
  afterAll(() => fixture.target.close());

  const at = (path: string) => `/v1/tenants/acme/${path}`;

  describe('invitations', () => {
    const invite = (email: string, more: object = {}) =>
      fixture.call('POST', at('invitations'), { send: { email, ...more } });
    const accept = (token: string) =>
      fixture.call('POST', '/v1/invitations/accept', { as: '', send: { token, display_name: 'New' } });

    it('create the intended user, once', async () => {
      const { status, body } = await invite('new@example.com', { role: 'admin', user_id: 'newcomer' });
      expect(status).toBe(201);
      const items = JSON.stringify(await everyItem(fixture.target));
      expect(items).not.toContain(body.token.split('.')[2]);
      const listed = await fixture.call('GET', at('invitations'));
      expect(listed.body.data).toHaveLength(1);
      expect(JSON.stringify(listed.body)).not.toMatch(/token/);

      const answers = await Promise.all(Array.from({ length: 6 }, () => accept(body.token)));
      expect(answers.map(answer => answer.status).sort()).toEqual([201, 404, 404, 404, 404, 404]);
      const { body: user } = await fixture.call('GET', at('users/newcomer'));
      expect(user).toMatchObject({ email: 'new@example.com', role: 'admin', display_name: 'New' });
      expect((await fixture.call('GET', at('invitations'))).body.data).toEqual([]);
      expect(fixture.audited.at(-1)).toMatchObject({
        accountId: 'usr_ann',
        via: 'invitation',
        action: 'tenants.acceptInvitation',
      });
    });

    it('are for unused addresses', async () => {
      const { body } = await invite('taken@example.com');
      const send = { display_name: 'X', email: 'TAKEN@example.com' };
      await fixture.call('POST', at('users'), { send });
      expect(await accept(body.token)).toMatchObject({ status: 409, body: { code: 'tenants.email_taken' } });
      expect((await invite('taken@example.com')).status).toBe(409);
    });

    it('can be revoked, and expire', async () => {
      const { body: revoked } = await invite('revoked@example.com');
      const path = at(`invitations/${revoked.invitation_id}`);
      expect((await fixture.call('DELETE', path)).status).toBe(204);
      expect((await fixture.call('DELETE', path)).status).toBe(404);
      expect((await accept(revoked.token)).status).toBe(404);

      const { body: late } = await invite('late@example.com', { ttl_days: 1 });
      await fixture.clock.advance(24 * hour);
      expect((await accept(late.token)).status).toBe(404);
    });

    it('are replaced by the next one to the same address', async () => {
      const first = (await invite('twice@example.com')).body;
      const second = (await invite('TWICE@example.com')).body;
      expect((await accept(first.token)).status).toBe(404);
      expect((await accept(second.token)).status).toBe(201);
    });

    it('cannot be guessed', async () => {
      const { body } = await invite('guess@example.com');
      const [tenant, id, secret] = body.token.split('.');
      const wrong = `${secret.startsWith('A') ? 'B' : 'A'}${secret.slice(1)}`;
      for (const token of [`${tenant}.${id}.${wrong}`, `other.${id}.${secret}`, 'x', '..', `${body.token}x`])
        expect(await accept(token)).toMatchObject({
          status: 404,
          body: { code: 'tenants.invitation_not_found' },
        });
      await fixture.clock.advance(60_000);
      expect((await accept(body.token)).status).toBe(201);
    });
  });

  describe('tokens', () => {
    const mint = async (send: object, call: Call = {}) => {
      const answer = await fixture.call('POST', at('tokens'), { send, ...call });
      return { ...answer, token: answer.body.token as string };
    };
    const revoke = (send: object, from = fixture) => from.call('POST', at('tokens/revoke'), { send });
    const read = (as: string, uid: string) => fixture.call('GET', at(`users/${uid}`), { as });

    beforeAll(async () => {
      for (const [user_id, role] of [
        ['eve', 'member'],
        ['max', 'admin'],
      ])
        await fixture.call('POST', at('users'), { send: { user_id, display_name: 'X', role } });
    });

    it('admit an end user to their own tenant', async () => {
      const { status, body, token } = await mint({ sub: 'eve', scope: 'profile:read', ttl_seconds: 60 });
      expect(status).toBe(201);
      expect(body).toMatchObject({ tenant: 'acme', sub: 'eve', scope: 'profile:read' });
      expect((await read(token, 'eve')).body.user_id).toBe('eve');
      expect(await read(token, 'max')).toMatchObject({
        status: 404,
        body: { code: 'tenants.user_not_found' },
      });
      expect((await fixture.call('GET', at('users'), { as: token })).status).toBe(403);
      await fixture.clock.advance(60_000);
      expect((await read(token, 'eve')).status).toBe(401);
    });

    it('are for any uid, with the requested scopes and no others', async () => {
      const scopeOf = async (send: object) => (await mint({ sub: 'not-a-user|1', ...send })).body.scope;
      expect(await scopeOf({})).toBe('inbox:read inbox:write');
      expect(await scopeOf({ scope: 'tasks:read agents:chat tasks:read' })).toBe('tasks:read agents:chat');
      for (const send of [
        { scope: 'write' },
        { scope: '' },
        { scope: 'inbox:read  inbox:write' },
        { scope: 'inbox:admin' },
        { scope: 'inbox:read,inbox:write' },
        { sub: 'a#b' },
        { ttl_seconds: 1 },
        { ttl_seconds: 90_000 },
      ])
        expect((await mint({ sub: 'a', ...send })).status).toBe(400);
      expect((await mint({ sub: 'a' }, { as: 'ann-read' })).status).toBe(403);
      const { token } = await mint({ sub: 'eve' });
      expect(await read(token, 'eve')).toMatchObject({ status: 403, body: { code: 'http.scope_missing' } });
    });

    it('are void at once when they are revoked, for one user or all', async () => {
      const mintFor = async (sub: string) => (await mint({ sub, scope: 'profile:read' })).token;
      const [eve, max] = [await mintFor('eve'), await mintFor('max')];
      expect([(await read(eve, 'eve')).status, (await read(max, 'max')).status]).toEqual([200, 200]);
      expect((await revoke({ sub: 'eve' })).status).toBe(200);
      expect([(await read(eve, 'eve')).status, (await read(max, 'max')).status]).toEqual([401, 200]);
      await revoke({});
      expect((await read(max, 'max')).status).toBe(401);

      // What is minted in the second of a revocation waits for the next one.
      const minting = mintFor('eve');
      while (fixture.clock.sleepers() === 0) await setImmediate();
      await fixture.clock.advance(1000);
      expect((await read(await minting, 'eve')).status).toBe(200);
    });

    it('are void when their user is no longer an admin', async () => {
      const { etag } = await fixture.call('POST', at('users'), {
        send: { user_id: 'boss', display_name: 'Boss', role: 'admin' },
      });
      const { token } = await mint({ sub: 'boss', scope: 'profile:read' });
      const change = (send: object, ifMatch: string) =>
        fixture.call('PATCH', at('users/boss'), { send, ifMatch });
      const renamed = await change({ display_name: 'Chief' }, etag);
      expect((await read(token, 'boss')).status).toBe(200);
      await change({ role: 'member' }, renamed.etag);
      expect((await read(token, 'boss')).status).toBe(401);
    });

    it('do not wait for a clock that is far ahead', async () => {
      const { clock } = fixture;
      const ahead = openProcess(fixture.target, { clock: manualClock(clock.now() + 30_000) });
      await revoke({ sub: 'fast' }, ahead);
      const refused = await mint({ sub: 'fast' });
      expect(refused).toMatchObject({ status: 503, body: { code: 'tenants.just_revoked' } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(25);
    });

    it('are verified with few reads', async () => {
      let reads = 0;
      const client = { ...fixture.target.client };
      client.get = input => {
        reads += 1;
        return fixture.target.client.get(input);
      };
      const { tenants } = openProcess(fixture.target, { clock: fixture.clock, client });
      const token = { tenant: 'acme', sub: 'eve', issuedAt: fixture.clock.now() / 1000 };
      await Promise.all(Array.from({ length: 50 }, () => tenants.isTokenRevoked(token)));
      for (let i = 0; i < 50; i++) expect(await tenants.isTokenRevoked({ ...token, sub: 'max' })).toBe(false);
      expect(reads).toBe(3);
    });

    it('are void within seconds when another process revokes them', async () => {
      const { token } = await mint({ sub: 'eve', scope: 'profile:read' });
      expect((await read(token, 'eve')).status).toBe(200);
      await revoke({ sub: 'eve' }, openProcess(fixture.target, { clock: fixture.clock }));
      await fixture.clock.advance(3_000);
      expect((await read(token, 'eve')).status).toBe(401);
    });

    it('end with the user', async () => {
      const { token } = await mint({ sub: 'eve' });
      await fixture.call('DELETE', at('users/eve'));
      expect((await read(token, 'eve')).status).toBe(401);
    });

    it('are refused by a suspended or deleted tenant', async () => {
      const { token } = await mint({ sub: 'max', scope: 'profile:read' });
      await fixture.call('PATCH', '/v1/tenants/acme', { send: { status: 'suspended' } });
      expect(await read(token, 'max')).toMatchObject({ status: 403, body: { code: 'tenants.suspended' } });
      expect((await mint({ sub: 'max' })).status).toBe(403);
      await fixture.call('DELETE', '/v1/tenants/acme');
      expect((await read(token, 'max')).status).toBe(401);
    });
  });
});
