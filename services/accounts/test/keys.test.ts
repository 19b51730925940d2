import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../src/deps.ts';
import { unknownKeyReloadMs } from '../src/limits.ts';
import { apiKey, apiKeyHash } from '../src/main-table.ts';
import { type Engine, openEmbedded, publicUrl, type Serving, serve, type Tokens } from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
beforeEach(async () => {
  engine = await openEmbedded();
  fixture = serve(engine);
});
afterEach(async () => {
  await fixture.settle();
  await engine.close();
});

const statusOf = async (as: string, path = '/v1/me') => (await fixture.call('GET', path, { as })).status;
const authenticate = (token: string) =>
  fixture.authenticate({ token, requestId: 'req_12345678', address: undefined });
const kidsOf = async (server = fixture) => {
  const answer = await server.call('GET', '/.well-known/jwks.json');
  return ((await answer.json()) as { keys: { kid: string; d?: string }[] }).keys;
};

describe('API keys', () => {
  const create = async (as: string, permissions = 'read') => {
    const answer = await fixture.call('POST', '/v1/api-keys', { as, send: { name: 'k', permissions } });
    return (await answer.json()) as { key: string; keyId: string };
  };

  it('are shown once, have scopes, and are refused as soon as they are deleted', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { key, keyId } = await create(as);
    expect(await statusOf(key)).toBe(200);
    const list = await (await fixture.call('GET', '/v1/api-keys', { as: key })).text();
    expect(list).toContain(keyId);
    expect(list).not.toContain(key);
    expect(list).not.toContain('keyHash');
    // A reader edits nothing, and no key of whatever scope makes keys.
    expect(
      await fixture.codeOf(await fixture.call('PATCH', '/v1/me', { as: key, send: { name: 'x' } })),
    ).toBe('http.scope_missing');
    const admin = await create(as, 'admin');
    const send = { name: 'more', permissions: 'admin' };
    expect(await fixture.codeOf(await fixture.call('POST', '/v1/api-keys', { as: admin.key, send }))).toBe(
      'http.principal_refused',
    );
    expect(await statusOf(key)).toBe(200);
    expect((await fixture.call('DELETE', `/v1/api-keys/${keyId}`, { as })).status).toBe(204);
    expect(await statusOf(key)).toBe(401);
    expect((await fixture.call('DELETE', `/v1/api-keys/${keyId}`, { as })).status).toBe(404);
  });

  it('with the older prefix keep working, and new ones start with stak_', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { userId } = (await (await fixture.call('GET', '/v1/me', { as })).json()) as { userId: string };
    const old = `fh_live_${'A'.repeat(40)}`;
    const [keyId, keyHash] = ['key_old', sha256(old)];
    const shared = { keyId, userId, keyHash, permissions: 'read' as const };
    await fixture.store.put(apiKey, {
      ...shared,
      name: 'old',
      keyPrefix: old.slice(0, 14),
      createdAt: '2025',
    });
    await fixture.store.put(apiKeyHash, shared);
    expect(await statusOf(old)).toBe(200);
    expect((await create(as)).key).toMatch(/^stak_/);
  });

  it('expire, with everything that was made with them', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const make = (send: object) =>
      fixture.call('POST', '/v1/api-keys', { as, send: { name: 'k', permissions: 'read', ...send } });
    const inAnHour = new Date(fixture.clock.now() + 3_600_000).toISOString();
    const { key, keyId, expiresAt } = (await (await make({ expiresAt: inAnHour })).json()) as Record<
      string,
      string
    >;
    expect(expiresAt).toBe(inAnHour);
    const { accountId } = (await authenticate(key!)) as { accountId: string };
    const minted = await fixture.mintEndUserToken({
      tenant: 't',
      sub: accountId,
      scope: 'read',
      credentialId: keyId,
    });
    expect(await statusOf(key!)).toBe(200);
    await fixture.clock.advance(3_599_000);
    expect(await statusOf(key!)).toBe(200);
    expect(await authenticate(minted.token)).toBeDefined();
    await fixture.clock.advance(1_000);
    expect(await statusOf(key!)).toBe(401);
    expect(await authenticate(minted.token)).toBeUndefined();
    // It is listed for a while, so that its owner sees why.
    const { access_token: later } = (await (await fixture.logIn('ann@example.com')).json()) as Tokens;
    const list = async (token: string) => (await fixture.call('GET', '/v1/api-keys', { as: token })).text();
    expect(await list(later)).toContain(keyId);
    const past = await fixture.call('POST', '/v1/api-keys', {
      as: later,
      send: { name: 'k', permissions: 'read', expiresAt: inAnHour },
    });
    expect(await past.json()).toMatchObject({
      code: 'accounts.key_expiry_past',
      errors: [{ pointer: '#/expiresAt' }],
    });
  });

  it('work only from their networks', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const send = {
      name: 'k',
      permissions: 'read',
      addresses: ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7'],
    };
    const made = await fixture.call('POST', '/v1/api-keys', { as, send });
    const { key } = (await made.json()) as { key: string };
    const from = async (address: string) =>
      (await fixture.call('GET', '/v1/me', { as: key, address })).status;
    expect(
      await Promise.all(['192.0.2.9', '2001:db8:9::1', '198.51.100.7', '::ffff:192.0.2.8'].map(from)),
    ).toEqual([200, 200, 200, 200]);
    expect(await Promise.all(['192.0.3.9', '2001:db9::1', '198.51.100.8'].map(from))).toEqual([
      403, 403, 403,
    ]);
    const refused = await fixture.call('GET', '/v1/me', { as: key, address: '203.0.113.1' });
    expect(await fixture.codeOf(refused)).toBe('accounts.key_address_refused');
    for (const bad of ['192.0.2.0/33', '192.0.2', 'home', '2001:db8::/129', '192.0.2.0/24/1', '']) {
      const answer = await fixture.call('POST', '/v1/api-keys', { as, send: { ...send, addresses: [bad] } });
      expect([bad, answer.status]).toEqual([bad, 400]);
    }
  });

  it('identify their account, like any token', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { key, keyId } = await create(as);
    const { token } = await fixture.mintEndUserToken({ tenant: 't1', sub: 'u1', scope: 'write' });
    const whoAmI = async (whose: string) => (await fixture.call('GET', '/v1/whoami', { as: whose })).json();
    const account = { kind: 'account', accountId: expect.stringMatching(/^usr_/) };
    const userId = account.accountId;
    expect(await whoAmI(key)).toEqual({
      ...account,
      userId,
      scope: 'read',
      via: 'api_key',
      credentialId: keyId,
    });
    expect(await whoAmI(as)).toMatchObject({ ...account, scope: 'admin', via: 'session' });
    expect(await whoAmI(token)).toEqual({ kind: 'endUser', tenantId: 't1', userId: 'u1', scope: 'write' });
  });

  it('are not accepted because of a read that was under way during their deletion', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    for (let i = 0; i < 10; i++) {
      const { key, keyId } = await create(as);
      await Promise.all([
        ...Array.from({ length: 5 }, () => authenticate(key)),
        fixture.call('DELETE', `/v1/api-keys/${keyId}`, { as }),
        ...Array.from({ length: 5 }, () => authenticate(key)),
      ]);
      expect(await authenticate(key)).toBeUndefined();
    }
  });

  it('show when they were last used', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { key } = await create(as);
    for (let i = 0; i < 5; i++) await statusOf(key);
    await fixture.settle();
    const list = await (await fixture.call('GET', '/v1/api-keys', { as })).json();
    expect(list).toMatchObject({ data: [{ lastUsedAt: new Date(fixture.clock.now()).toISOString() }] });
  });

  it('are limited to a hundred', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    for (let i = 0; i < 100; i++) await create(as);
    const send = { name: 'k', permissions: 'read' };
    expect(await fixture.codeOf(await fixture.call('POST', '/v1/api-keys', { as, send }))).toBe(
      'accounts.too_many_keys',
    );
  });
});

describe('tokens', () => {
  it('of end users work for end users only, and expire', async () => {
    const grant = { tenant: 't1', sub: 'user|42', scope: 'write', ttlSeconds: 60 } as const;
    const { token, expiresIn } = await fixture.mintEndUserToken(grant);
    expect(expiresIn).toBe(60);
    expect(await authenticate(token)).toEqual({
      kind: 'endUser',
      tenantId: 't1',
      userId: 'user|42',
      scope: 'write',
    });
    expect(await fixture.codeOf(await fixture.call('GET', '/v1/me', { as: token }))).toBe(
      'http.principal_refused',
    );
    await fixture.clock.advance(60_000);
    expect(await authenticate(token)).toBeUndefined();
    for (const bad of [
      { ttlSeconds: 0 },
      { ttlSeconds: 86_401 },
      { tenant: '' },
      { scope: 'root' as 'read' },
    ])
      await expect(async () => fixture.mintEndUserToken({ ...grant, ...bad })).rejects.toThrow();
  });

  it('of end users are checked, so that a tenant can revoke them', async () => {
    let epoch = 3;
    const requests = serve(engine, {
      checkEndUser: claims => claims.tenant === 't1' && claims.epoch === epoch,
    });
    const { token } = await requests.mintEndUserToken({ tenant: 't1', sub: 'u', scope: 'read', epoch });
    const ask = () => requests.authenticate({ token, requestId: 'req_12345678', address: undefined });
    expect(await ask()).toMatchObject({ kind: 'endUser' });
    epoch += 1;
    expect(await ask()).toBeUndefined();
  });

  it('of a session expire after fifteen minutes, even if they were just verified', async () => {
    const { access_token } = await fixture.signUp('ann@example.com');
    await fixture.clock.advance(899_000);
    expect(await statusOf(access_token)).toBe(200);
    await fixture.clock.advance(1_000);
    expect(await statusOf(access_token)).toBe(401);
  });

  it('are refused if they were changed, or signed by another key', async () => {
    const { access_token } = await fixture.signUp('ann@example.com');
    const claims = decodeJwt(access_token);
    const { kid } = decodeProtectedHeader(access_token);
    const { privateKey } = await generateKeyPair('ES256');
    const signed = (header: { alg: string; kid?: string }, payload: object = claims) =>
      new SignJWT({ ...payload }).setProtectedHeader(header).sign(privateKey);
    const [head, body, signature] = access_token.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const hs256 = new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(new TextEncoder().encode('x'.repeat(32)));
    for (const forged of [
      await signed({ alg: 'ES256', kid }),
      await signed({ alg: 'ES256', kid: 'unknown' }),
      await signed({ alg: 'ES256' }),
      await hs256,
      `${none}.${body}.`,
      `${head}.${body}.${signature?.slice(0, -4)}AAAA`,
      `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'usr_other' })).toString('base64url')}.${signature}`,
      'a.b.c',
      'fh_live_',
      'fh_live_0000000000000000000000000000000000000000',
    ])
      expect(await authenticate(forged)).toBeUndefined();
    expect(await authenticate(access_token)).toMatchObject({ kind: 'account' });
  });

  it('of another issuer are refused, even under the same keys', async () => {
    const elsewhere = serve(engine, { publicUrl: 'https://other.example' });
    const { token } = await elsewhere.mintEndUserToken({ tenant: 't1', sub: 'u', scope: 'read' });
    expect(decodeJwt(token).iss).not.toBe(publicUrl);
    expect(await authenticate(token)).toBeUndefined();
  });

  it('of a server on this machine stay valid when it restarts on another port', async () => {
    const at = (url: string) => serve(engine, { publicUrl: url });
    const grant = { tenant: 't1', sub: 'u', scope: 'read' } as const;
    const { token } = await at('http://127.0.0.1:4001').mintEndUserToken(grant);
    const verify = (by: Serving) => by.authenticate({ token, requestId: 'r', address: undefined });
    expect(await verify(at('http://127.0.0.1:4002'))).toMatchObject({ kind: 'endUser', userId: 'u' });
    expect(await verify(at('http://localhost:4002'))).toMatchObject({ kind: 'endUser', userId: 'u' });
    expect(await verify(fixture), 'elsewhere').toBeUndefined();
    const { token: foreign } = await fixture.mintEndUserToken(grant);
    const local = at('http://127.0.0.1:4001');
    expect(await local.authenticate({ token: foreign, requestId: 'r', address: undefined })).toBeUndefined();
  });
});

describe('signing keys', () => {
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;
  const grant = { tenant: 't1', sub: 'u', scope: 'read', ttlSeconds: 86_400 } as const;
  const day = 24 * 60 * 60 * 1000;

  it('are two, and only their public half is shown', async () => {
    const keys = await kidsOf();
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    expect(JSON.stringify(keys)).not.toContain('"d"');
    const { headers } = await fixture.call('GET', '/.well-known/jwks.json');
    expect(headers.get('cache-control')).toBe('public, max-age=300');
  });

  it('succeed each other, each published before and after it signs', async () => {
    const [first, second] = await kidsOf();
    const { token } = await fixture.mintEndUserToken(grant);
    expect(kidOf(token)).toBe(first?.kid);
    await fixture.clock.advance(30 * day - 1000);
    const last = await fixture.mintEndUserToken(grant);
    expect(kidOf(last.token)).toBe(first?.kid);
    await fixture.clock.advance(1000);
    const next = await fixture.mintEndUserToken(grant);
    expect(kidOf(next.token)).toBe(second?.kid);
    await fixture.clock.advance(day - 2000);
    expect(await authenticate(last.token)).toMatchObject({ kind: 'endUser' });
    await fixture.clock.advance(15 * 60 * 1000);
    const kids = (await kidsOf()).map(one => one.kid);
    expect(kids).not.toContain(first?.kid);
    expect(kids).toHaveLength(2);
    expect(kids[0]).toBe(second?.kid);
  });

  it('are rotated on demand without rejecting valid tokens', async () => {
    const other = serve(engine);
    const before = await fixture.mintEndUserToken(grant);
    await kidsOf(other);
    await fixture.rotateSigningKeys();
    const after = await fixture.mintEndUserToken(grant);
    expect(kidOf(after.token)).not.toBe(kidOf(before.token));
    for (const { token } of [before, after]) expect(await authenticate(token)).toBeDefined();
    expect(await kidsOf()).toHaveLength(3);
    // The other server has not noticed yet; it knew this key as the next one.
    const request = { token: after.token, requestId: 'req_12345678', address: undefined };
    expect(await other.authenticate(request)).toBeDefined();
  });

  it('can be revoked with everything they signed', async () => {
    const before = await fixture.mintEndUserToken(grant);
    expect(await authenticate(before.token)).toBeDefined();
    await fixture.rotateSigningKeys({ revoke: true });
    expect(await authenticate(before.token)).toBeUndefined();
    expect(await authenticate((await fixture.mintEndUserToken(grant)).token)).toBeDefined();
  });

  it('survive concurrent rotations', async () => {
    const servers = [fixture, serve(engine), serve(engine)];
    await Promise.all(servers.map(server => server.rotateSigningKeys()));
    await fixture.clock.advance(unknownKeyReloadMs); // whose turn came last has signed with a key that is new to others
    for (const server of servers) {
      const { token } = await server.mintEndUserToken(grant);
      expect(await authenticate(token)).toBeDefined();
    }
  });
});
