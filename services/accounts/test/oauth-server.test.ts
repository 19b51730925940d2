import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AppTokens,
  callback,
  challengeOf,
  createApps,
  errorOf,
  form,
  type Query,
} from './apps-fixture.ts';
import { type Engine, openEmbedded, password, publicUrl, type Serving, serve } from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
let apps: ReturnType<typeof createApps>;
beforeEach(async () => {
  engine = await openEmbedded();
  fixture = serve(engine, { defaultPlan: 'selfhosted' });
  apps = createApps(fixture);
});
afterEach(async () => {
  await fixture.settle();
  await engine.close();
});

describe('an app that a person approves', () => {
  it('is approved for the organisation that the page shows, or not at all', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const bob = await apps.signedUp('bob@example.com');
    const asked = await apps.ask();
    // The page was opened in one organisation, and its person has switched to another one since.
    const answer = await apps.deciding({ as: ann.as, accountId: bob.accountId }, asked.request);
    expect(await fixture.codeOf(answer)).toBe('accounts.changed');
  });

  it('gets tokens that are valid for /mcp only', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const asked = await apps.ask();
    const shown = await fixture.call('POST', '/v1/apps/requests/read', {
      as: ann.as,
      send: { request: asked.request },
    });
    expect(await shown.json()).toEqual({
      name: 'Assistant',
      redirectHost: 'app.example',
      scope: 'write',
      mostScope: 'write',
      accountId: ann.accountId,
      organisation: 'Ann',
    });
    const back = await apps.approve(ann, asked.request);
    expect(back.origin + back.pathname).toBe(callback);
    expect(back.searchParams.get('state')).toBe('a state');
    expect(back.searchParams.get('iss')).toBe(publicUrl);
    const answer = await apps.redeeming(asked, back.searchParams.get('code')!);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const tokens = (await answer.json()) as AppTokens;
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: 'read write' });

    expect(await apps.bearer(tokens.access_token)).toMatchObject({
      accountId: ann.accountId,
      userId: ann.userId,
      scope: 'write',
      via: 'app',
    });
    expect(await apps.bearer(tokens.access_token, `${publicUrl}/other`)).toBeUndefined();
    expect(await fixture.call('GET', '/v1/whoami', { as: tokens.access_token })).toMatchObject({
      status: 401,
    });
    // Neither is its refresh token a person's.
    expect((await fixture.refresh(tokens.refresh_token)).status).toBe(401);
    expect((await fixture.refresh(tokens.refresh_token.replace('fha_', 'fhr_'))).status).toBe(401);
    expect((await apps.trail(ann.as)).slice(0, 2)).toEqual(['app.connected', 'app.approved']);
    // It is listed among the apps, not among the devices.
    const sessions = await (await fixture.call('GET', '/v1/sessions', { as: ann.as })).json();
    expect((sessions as { data: unknown[] }).data).toHaveLength(1);
  });

  it('stores no code or token in plain text', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const { code, access_token, refresh_token } = await apps.connect(ann);
    const { Items } = await engine.client.scan({ TableName: 'ferryhook-main' });
    const stored = JSON.stringify(Items);
    for (const secret of [code, access_token, refresh_token]) expect(stored).not.toContain(secret);
  });

  it('gets fewer rights if the person chooses so', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const { access_token, refresh_token, clientId, scope } = await apps.connect(ann, {}, { scope: 'read' });
    expect(scope).toBe('read');
    expect(await apps.bearer(access_token)).toMatchObject({ scope: 'read' });
    expect(await errorOf(await apps.refreshing(clientId, refresh_token, { scope: 'write' }))).toEqual([
      400,
      'invalid_scope',
    ]);
    const next = (await (
      await apps.refreshing(clientId, refresh_token, { scope: 'read' })
    ).json()) as AppTokens;
    expect(await apps.bearer(next.access_token)).toMatchObject({ scope: 'read' });
    expect((await apps.connect(ann, { scope: 'read' }, { scope: 'write' })).scope).toBe('read');
    expect((await apps.connect(ann, { scope: '' })).scope).toBe('read');
  });

  it('never has more rights than the person currently has', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const bob = await apps.memberOf(ann, 'bob@example.com', 'viewer');
    const asked = await apps.ask();
    const shown = await fixture.call('POST', '/v1/apps/requests/read', {
      as: bob.as,
      send: { request: asked.request },
    });
    expect(await shown.json()).toMatchObject({ scope: 'write', mostScope: 'read', organisation: 'Ann' });
    const app = await apps.connect(bob);
    expect(app.scope).toBe('read');
    expect(await apps.bearer(app.access_token)).toMatchObject({ accountId: ann.accountId, scope: 'read' });

    const change = (role: string) =>
      fixture.call('PATCH', `/v1/members/${bob.userId}`, { as: ann.as, send: { role } });
    expect((await change('member')).status).toBe(204);
    expect(await apps.bearer(app.access_token)).toMatchObject({ scope: 'read' });
    const wide = await apps.connect(bob);
    expect(await apps.bearer(wide.access_token)).toMatchObject({ scope: 'write' });
    await change('viewer');
    expect(await apps.bearer(wide.access_token)).toMatchObject({ scope: 'read' });
    await fixture.call('DELETE', `/v1/members/${bob.userId}`, { as: ann.as });
    expect(await apps.bearer(wide.access_token)).toBeUndefined();
    expect(await errorOf(await apps.refreshing(wide.clientId, wide.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
  });

  it('is disconnected by the person, by an admin, by itself, and with the password', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const bob = await apps.memberOf(ann, 'bob@example.com', 'member');
    const [own, bobs] = [await apps.connect(ann), await apps.connect(bob)];
    const list = async (as: string) =>
      ((await (await fixture.call('GET', '/v1/apps', { as })).json()) as { data: { userId: string }[] }).data;
    expect((await list(ann.as)).map(({ userId }) => userId).sort()).toEqual([ann.userId, bob.userId].sort());
    const [listed] = (await list(bob.as)) as { userId: string; sessionId: string }[];
    expect(await list(bob.as)).toEqual([
      expect.objectContaining({
        userId: bob.userId,
        name: 'Assistant',
        redirectHost: 'app.example',
        scope: 'write',
      }),
    ]);

    const end = (as: string, userId: string, sessionId: string) =>
      fixture.call('DELETE', `/v1/apps/${userId}/${sessionId}`, { as });
    const anns = ((await list(ann.as)) as { userId: string; sessionId: string }[]).find(
      one => one.userId === ann.userId,
    )!;
    expect((await end(bob.as, ann.userId, anns.sessionId)).status).toBe(404);
    const eve = await apps.signedUp('eve@example.com');
    expect((await end(eve.as, bob.userId, listed!.sessionId)).status).toBe(404);
    expect(await apps.bearer(bobs.access_token)).toBeDefined();
    expect((await end(ann.as, bob.userId, listed!.sessionId)).status).toBe(204);
    expect((await end(ann.as, bob.userId, listed!.sessionId)).status).toBe(404);
    expect(await apps.bearer(bobs.access_token)).toBeUndefined();
    expect(await apps.trail(ann.as)).toContain('app.ended');

    const revoking = (fields: Query) =>
      fixture.call('POST', '/v1/oauth/revoke', { body: String(new URLSearchParams(fields)), headers: form });
    // Another app's request ends nothing.
    expect((await revoking({ token: own.refresh_token, client_id: bobs.clientId })).status).toBe(200);
    expect(await apps.bearer(own.access_token)).toBeDefined();
    expect((await revoking({ token: own.refresh_token, client_id: own.clientId })).status).toBe(200);
    expect(await apps.bearer(own.access_token)).toBeUndefined();
    expect((await revoking({ token: 'nothing', client_id: own.clientId })).status).toBe(200);
    const again = await apps.connect(ann);
    expect((await revoking({ token: again.access_token, client_id: again.clientId })).status).toBe(200);
    expect(await errorOf(await apps.refreshing(again.clientId, again.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);

    const last = await apps.connect(ann);
    await fixture.call('POST', '/v1/me/password', {
      as: ann.as,
      send: { currentPassword: password, newPassword: 'seven green umbrellas' },
    });
    expect(await apps.bearer(last.access_token)).toBeUndefined();
  });
});

describe('a code', () => {
  it('works once: a second use ends everything that was created with it', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const app = await apps.connect(ann);
    const next = (await (await apps.refreshing(app.clientId, app.refresh_token)).json()) as AppTokens;
    expect(await apps.bearer(next.access_token)).toBeDefined();
    expect(await errorOf(await apps.redeeming(app, app.code))).toEqual([400, 'invalid_grant']);
    expect(await apps.bearer(next.access_token)).toBeUndefined();
    expect(await errorOf(await apps.refreshing(app.clientId, next.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect(await apps.trail(ann.as)).toContain('app.reused');
  });

  it('works at most once for concurrent uses, which end what it created', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const asked = await apps.ask();
    const code = (await apps.approve(ann, asked.request)).searchParams.get('code')!;
    const answers = await Promise.all(Array.from({ length: 8 }, () => apps.redeeming(asked, code)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeLessThanOrEqual(1);
    for (const answer of won)
      expect(await apps.bearer(((await answer.json()) as AppTokens).access_token)).toBeUndefined();
  });

  it('is valid for its app, its address, its verifier, its resource and a minute', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const asked = await apps.ask();
    const code = (await apps.approve(ann, asked.request)).searchParams.get('code')!;
    const other = await apps.register();
    for (const [change, error] of [
      [{ client_id: other }, 'invalid_grant'],
      [{ redirect_uri: 'https://app.example/callback/' }, 'invalid_grant'],
      [{ redirect_uri: 'https://evil.example/callback' }, 'invalid_grant'],
      [{ code_verifier: randomBytes(32).toString('base64url') }, 'invalid_grant'],
      [{ code_verifier: challengeOf(asked.verifier) }, 'invalid_grant'],
      [{ code_verifier: '' }, 'invalid_request'],
      [{ redirect_uri: '' }, 'invalid_request'],
      [{ client_id: '' }, 'invalid_request'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
      [{ code: `${code}x` }, 'invalid_grant'],
      [{ grant_type: 'password' }, 'unsupported_grant_type'],
      [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ] as [Query, string][])
      expect(await errorOf(await apps.redeeming(asked, code, change)), JSON.stringify(change)).toEqual([
        400,
        error,
      ]);
    expect((await apps.redeeming(asked, code)).status).toBe(200);

    const late = await apps.ask();
    const lateCode = (await apps.approve(ann, late.request)).searchParams.get('code')!;
    await fixture.clock.advance(60_000);
    expect(await errorOf(await apps.redeeming(late, lateCode))).toEqual([400, 'invalid_grant']);
  });

  it('is useless for a person who has left meanwhile', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const bob = await apps.memberOf(ann, 'bob@example.com', 'member');
    const asked = await apps.ask();
    const code = (await apps.approve(bob, asked.request)).searchParams.get('code')!;
    await fixture.call('DELETE', `/v1/members/${bob.userId}`, { as: ann.as });
    expect(await errorOf(await apps.redeeming(asked, code))).toEqual([400, 'invalid_grant']);
  });
});

describe('a code that waits', () => {
  const waiting = async (person: Parameters<typeof apps.approve>[0]) => {
    const asked = await apps.ask();
    const code = (await apps.approve(person, asked.request)).searchParams.get('code')!;
    return { redeem: () => apps.redeeming(asked, code) };
  };

  it('ends with the session in which it was approved', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const { access_token } = (await (await fixture.logIn('ann@example.com')).json()) as AppTokens;
    const thief = { ...ann, as: access_token };
    const [honest, stolen] = [await waiting(ann), await waiting(thief)];
    const changed = await fixture.call('POST', '/v1/me/password', {
      as: ann.as,
      send: { currentPassword: password, newPassword: 'seven green umbrellas' },
    });
    expect(changed.status).toBe(204);
    expect(await errorOf(await stolen.redeem())).toEqual([400, 'invalid_grant']);
    expect((await honest.redeem()).status).toBe(200);
  });
});

describe('a refresh token of an app', () => {
  it('is exchanged for the next one; an old one ends the app', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const app = await apps.connect(ann);
    const next = (await (await apps.refreshing(app.clientId, app.refresh_token)).json()) as AppTokens;
    // The answer got lost: the same again.
    const again = (await (await apps.refreshing(app.clientId, app.refresh_token)).json()) as AppTokens;
    expect(again.refresh_token).toBe(next.refresh_token);
    await fixture.clock.advance(61_000);
    expect(await errorOf(await apps.refreshing(app.clientId, app.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect(await errorOf(await apps.refreshing(app.clientId, next.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect(await apps.bearer(next.access_token)).toBeUndefined();
    expect(await apps.trail(ann.as)).toContain('app.reused');
  });

  it('is useless to another app, and a person’s is useless to any app', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const app = await apps.connect(ann);
    const other = await apps.register();
    expect(await errorOf(await apps.refreshing(other, app.refresh_token))).toEqual([400, 'invalid_grant']);
    const person = (await (await fixture.logIn('ann@example.com')).json()) as AppTokens;
    for (const token of [person.refresh_token, person.refresh_token.replace('fhr_', 'fha_'), 'nonsense'])
      expect(await errorOf(await apps.refreshing(app.clientId, token))).toEqual([400, 'invalid_grant']);
    expect((await apps.refreshing(app.clientId, app.refresh_token)).status).toBe(200);
    expect((await fixture.refresh(person.refresh_token)).status).toBe(200);
  });

  it('expires after a month without use, and after three in total', async () => {
    const ann = await apps.signedUp('ann@example.com');
    const app = await apps.connect(ann);
    await fixture.clock.advance(31 * 24 * 3600_000);
    expect(await errorOf(await apps.refreshing(app.clientId, app.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
  });
});
