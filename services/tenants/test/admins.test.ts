import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manageScope } from '../src/index.ts';
import { openTwo, type Step, stepsOf, walk } from './route-walk.ts';
import { everyItem, type Fixture } from './tenants-fixture.ts';

// An admin of one of two tenants, who have everything; a member; and what each of them tries.

let two: Awaited<ReturnType<typeof openTwo>>;
let fixture: Fixture;
let call: Fixture['call'];
beforeAll(async () => {
  two = await openTwo();
  fixture = two.fixture;
  call = fixture.call;
  await call('POST', '/v1/tenants/anns/users', {
    send: { user_id: 'boss', display_name: 'Boss', role: 'admin' },
  });
  await call('POST', '/v1/tenants/bobs/users', {
    as: 'bob',
    send: { user_id: 'boss', display_name: 'Boss', role: 'admin' },
  });
});
afterAll(() => fixture.target.close());

const mint = async (tenant: string, sub: string, scope: string, as = 'ann'): Promise<string> =>
  (await call('POST', `/v1/tenants/${tenant}/tokens`, { as, send: { sub, scope } })).body.token;
const steps = (): Step[] => stepsOf(fixture, two.ids).filter(({ route }) => route.auth !== 'public');
const managed = (): Step[] => steps().filter(({ route }) => route.endUserScope === manageScope);
const personal = new Set(['any', 'profile:read', 'profile:write']);

describe('an admin of a tenant', () => {
  it('has no route that a key with the scope write lacks', () => {
    expect(managed().length).toBeGreaterThan(10);
    for (const { id, route } of managed())
      expect([id, ['read', 'write']]).toEqual([id, expect.arrayContaining([route.scope])]);
  });

  it('manages their tenant, as recorded in the account’s audit trail', async () => {
    const boss = await mint('anns', 'boss', manageScope);
    fixture.audited.length = 0;
    const made = await call('POST', '/v1/tenants/anns/users', {
      as: boss,
      send: { display_name: 'New', email: 'new@example.com' },
    });
    expect(made.status).toBe(201);
    const path = `/v1/tenants/anns/users/${made.body.user_id}`;
    const changed = await call('PATCH', path, { as: boss, ifMatch: made.etag, send: { role: 'admin' } });
    expect(changed.body).toMatchObject({ role: 'admin', email: 'new@example.com' });
    expect((await call('DELETE', path, { as: boss })).status).toBe(204);
    const by = { accountId: 'usr_ann', via: 'end_user', credentialId: 'anns/boss' };
    expect(fixture.audited).toMatchObject([
      { ...by, action: 'tenants.createUser' },
      { ...by, action: 'tenants.updateUser' },
      { ...by, action: 'tenants.deleteUser' },
    ]);
    const listed = await call('GET', '/v1/tenants/anns/users', { as: boss });
    expect(listed.body.data.length).toBeGreaterThan(1);
    const invited = await call('POST', '/v1/tenants/anns/invitations', {
      as: boss,
      send: { email: 'guest@example.com' },
    });
    // Who can read mail to the address gets the token, and nobody else.
    expect([invited.status, invited.body.token]).toEqual([201, '']);
    expect(fixture.mails.at(-1)).toMatchObject({ kind: 'tenant.invited', to: 'guest@example.com' });
  });

  it('can neither read nor change another tenant', async () => {
    const boss = await mint('bobs', 'boss', `${manageScope} profile:read profile:write`, 'bob');
    const before = await everyItem(fixture.target);
    for (const step of steps().filter(({ path }) => path.includes('anns'))) {
      const { status, body } = await walk(fixture, step, boss);
      const isOpen = personal.has(step.route.endUserScope ?? '') || step.route.endUserScope === manageScope;
      expect([step.id, status, body.code]).toEqual([
        step.id,
        isOpen ? 404 : 403,
        isOpen ? 'tenants.not_found' : 'http.principal_refused',
      ]);
    }
    expect(await everyItem(fixture.target)).toEqual(before);
  });

  it('cannot do what only the account may, in their own tenant', async () => {
    const boss = await mint('anns', 'boss', manageScope);
    const before = await everyItem(fixture.target);
    for (const step of steps().filter(({ route }) => route.auth === 'account')) {
      const { status, body } = await walk(fixture, step, boss);
      expect([step.id, status, body.code]).toEqual([step.id, 403, 'http.principal_refused']);
    }
    expect(await everyItem(fixture.target)).toEqual(before);
  });

  it('cannot become another user by an id, an address or an identity', async () => {
    const boss = await mint('anns', 'boss', manageScope);
    const etag = (await call('GET', '/v1/tenants/anns/users/u2')).etag;
    const tries: [method: string, path: string, send: object][] = [
      ['POST', '/v1/tenants/anns/users', { user_id: 'u9', display_name: 'X' }],
      ['POST', '/v1/tenants/anns/users', { display_name: 'X', channel_identities: { slack: 'U9' } }],
      ['PATCH', '/v1/tenants/anns/users/u2', { email: 'boss@example.com' }],
      ['PATCH', '/v1/tenants/anns/users/u2', { channel_identities: { slack: 'U9' } }],
      ['POST', '/v1/tenants/anns/invitations', { email: 'x@example.com', user_id: 'u2' }],
    ];
    for (const [method, path, send] of tries) {
      const { status, body } = await call(method, path, { as: boss, send, ifMatch: etag });
      expect([path, send, status, body.code]).toEqual([path, send, 403, 'tenants.admin_refused']);
      expect(body.errors[0].pointer).toMatch(/^#\/(user_id|email|channel_identities)$/);
    }
  });

  it('changes how the agent and the portal behave, but neither limits nor sign-in', async () => {
    const boss = await mint('anns', 'boss', manageScope);
    const patch = async (send: object) =>
      call('PATCH', '/v1/tenants/anns/settings', { as: boss, ifMatch: '*', send });
    expect((await patch({ portal_name: 'Anns', portal_color: '#0f766e' })).body).toMatchObject({
      portal_name: 'Anns',
      portal_color: '#0f766e',
    });
    for (const send of [
      { messages_per_day: 1_000_000 },
      { ai_model: 'dear' },
      { max_tokens_per_message: 1 },
      { portal_sign_in: 'mail' },
      { portal_frame_ancestors: ['https://elsewhere.example'] },
      { spend_per_day_usd: 1000 },
      { enabled_skills: ['webhook_health'] },
      { custom_skills: ['webhook_health'] },
      { skill_approvals: { webhook_health: 'never' } },
    ]) {
      const { status, body } = await patch(send);
      expect([send, status, body.code]).toEqual([send, 403, 'tenants.admin_refused']);
    }
    expect((await patch({ enabled_skills: ['inbox_summary'] })).status).toBe(200);
  });

  it('cannot read what an agent remembers about others', async () => {
    const { client } = fixture.target;
    await client.update({
      TableName: 'tenants',
      Key: { pk: 'TENANT#anns', sk: 'USER#u2' },
      UpdateExpression: 'SET memory_summary = :m',
      ExpressionAttributeValues: { ':m': 'likes tea' },
    });
    const boss = await mint('anns', 'boss', manageScope);
    const listed = await call('GET', '/v1/tenants/anns/users', { as: boss });
    expect(JSON.stringify(listed.body)).not.toContain('likes tea');
    expect(JSON.stringify((await call('GET', '/v1/tenants/anns/users')).body)).toContain('likes tea');
  });
});

describe('other users', () => {
  const refusedOf = async (token: string) => {
    const answers = [];
    for (const step of managed()) {
      const { status, body } = await walk(fixture, step, token);
      answers.push(`${status} ${body.code}`);
    }
    return [...new Set(answers)];
  };

  it('cannot manage: members, unknown uids, and tokens without the scope', async () => {
    const before = await everyItem(fixture.target);
    expect(await refusedOf(await mint('anns', 'u2', manageScope))).toEqual(['403 tenants.admin_only']);
    expect(await refusedOf(await mint('anns', 'nobody', manageScope))).toEqual(['403 tenants.admin_only']);
    const narrow = await mint('anns', 'boss', 'inbox:read inbox:write tasks:write agents:chat profile:write');
    expect(await refusedOf(narrow)).toEqual(['403 http.scope_missing']);
    expect(await everyItem(fixture.target)).toEqual(before);
  });

  it('cannot make themselves an admin', async () => {
    const member = await mint('anns', 'u2', 'profile:read profile:write');
    const renamed = await call('PATCH', '/v1/portal/anns/me', {
      as: member,
      send: { display_name: 'X', role: 'admin' },
    });
    expect(renamed.status).toBe(400);
    const invited = await call('POST', '/v1/tenants/anns/invitations', {
      as: await mint('anns', 'u2', manageScope),
      send: { email: 'u2@example.com', role: 'admin' },
    });
    expect(invited.status).toBe(403);
  });

  it('lose access when they are demoted, even with tokens minted before', async () => {
    const created = await call('POST', '/v1/tenants/anns/users', {
      send: { user_id: 'was', display_name: 'Was', role: 'admin' },
    });
    const token = await mint('anns', 'was', manageScope);
    expect((await call('GET', '/v1/tenants/anns/users', { as: token })).status).toBe(200);
    await call('PATCH', '/v1/tenants/anns/users/was', { ifMatch: created.etag, send: { role: 'member' } });
    expect((await call('GET', '/v1/tenants/anns/users', { as: token })).status).toBe(401);
    await fixture.clock.advance(2_000);
    const again = await mint('anns', 'was', manageScope);
    expect((await call('GET', '/v1/tenants/anns/users', { as: again })).status).toBe(403);
  });

  it('does not come back by an invitation to another address, sent before the demotion', async () => {
    const invite = async (as: string, email: string): Promise<string> => {
      const send = { email, role: 'admin', mail: true };
      expect((await call('POST', '/v1/tenants/anns/invitations', { as, send })).status).toBe(201);
      return (fixture.mails.at(-1) as { token: string }).token;
    };
    const accept = (token: string) =>
      call('POST', '/v1/invitations/accept', { as: '', send: { token, display_name: 'Other' } });
    const made = { user_id: 'brief', display_name: 'Brief', role: 'admin' };
    const { etag } = await call('POST', '/v1/tenants/anns/users', { send: made });
    const token = await mint('anns', 'brief', manageScope);
    const [used, kept] = [await invite(token, 'one@example.com'), await invite(token, 'two@example.com')];
    const ofAccount = await invite('ann', 'three@example.com');
    expect((await accept(used)).status).toBe(201);
    await call('PATCH', '/v1/tenants/anns/users/brief', { ifMatch: etag, send: { role: 'member' } });
    expect(await accept(kept)).toMatchObject({ status: 404, body: { code: 'tenants.invitation_not_found' } });
    expect((await accept(ofAccount)).status).toBe(201);
  });
});
