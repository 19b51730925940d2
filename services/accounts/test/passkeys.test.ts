import { createMemoryRateLimits } from '@stak/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { createSoftKey, type SoftKey } from './authenticator-stub.ts';
import {
  type Engine,
  openEmbedded,
  password,
  publicUrl,
  type Serving,
  serve,
  type Tokens,
} from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
let ann: Tokens;
beforeEach(async () => {
  engine = await openEmbedded();
  fixture = serve(engine);
  ann = await fixture.signUp('ann@example.com');
  await fixture.mailsTo('ann@example.com');
});
afterEach(async () => {
  await fixture.settle();
  await engine.close();
});

type Options = { challenge: string; rpId?: string; rp?: { id?: string }; user?: { id: string } };
const post = (path: string, send?: object, as?: string) => fixture.call('POST', path, { as, send });
const optionsOf = async (answer: Response): Promise<Options> =>
  ((await answer.json()) as { options: Options }).options;
const codeOf = (answer: Response) => fixture.codeOf(answer);

async function add(key: SoftKey, who = ann, name = 'Phone') {
  const options = await optionsOf(await post('/v1/me/passkeys/registration', { password }, who.access_token));
  const answer = await post('/v1/me/passkeys', { name, passkey: key.create(options) }, who.access_token);
  expect(answer.status).toBe(201);
  return (await answer.json()) as { passkey: { passkeyId: string }; recoveryCodes?: string[] };
}
const challenge = async () => optionsOf(await post('/v1/auth/passkey'));
const signIn = (passkey: object) => post('/v1/auth/passkey/finish', { passkey, cookie: false });
const logIn = (more: object) =>
  post('/v1/auth/login', { email: 'ann@example.com', password, cookie: false, ...more });
const me = async (as: string) =>
  (await (await fixture.call('GET', '/v1/me', { as })).json()) as { userId: string; passkeys: number };

describe('a passkey', () => {
  it('is enough to sign in, and is named, listed and removed', async () => {
    const key = createSoftKey(publicUrl);
    const { passkey, recoveryCodes } = await add(key);
    expect(recoveryCodes).toHaveLength(10);
    const [mail] = await fixture.mailsTo('ann@example.com');
    expect(mail?.text, 'the address may be a stranger’s').toContain('A passkey was added on');

    const answer = await signIn(key.get(await challenge()));
    expect(answer.status).toBe(200);
    const again = (await answer.json()) as Tokens;
    expect(await me(again.access_token)).toMatchObject({
      email: 'ann@example.com',
      secondFactor: true,
      authenticator: false,
      passkeys: 1,
    });
    const path = `/v1/me/passkeys/${passkey.passkeyId}`;
    const renamed = await fixture.call('PATCH', path, { as: again.access_token, send: { name: 'My phone' } });
    expect(await renamed.json()).toMatchObject({ name: 'My phone', lastUsedAt: expect.any(String) });
    const listed = await fixture.call('GET', '/v1/me/passkeys', { as: again.access_token });
    expect(await listed.json()).toMatchObject({ data: [{ name: 'My phone', isSynced: false }] });
    // A sign-in that was just shown is fresh: an admin key needs no code.
    const made = await post('/v1/api-keys', { name: 'k', permissions: 'admin' }, again.access_token);
    expect(made.status).toBe(201);

    expect((await post(`${path}/removal`, { password }, again.access_token)).status).toBe(204);
    expect(await codeOf(await signIn(key.get(await challenge())))).toBe('accounts.passkey_refused');
    expect((await logIn({})).status).toBe(200);
    const trail = await fixture.call('GET', '/v1/audit', { as: again.access_token });
    const actions = ((await trail.json()) as { data: { action: string }[] }).data.map(one => one.action);
    expect(actions).toEqual(expect.arrayContaining(['factor.changed', 'passkey.renamed', 'session.started']));
  });

  it('is a second factor besides a password, as are the recovery codes that came with it', async () => {
    const key = createSoftKey(publicUrl);
    const { recoveryCodes } = await add(key);
    const refused = await logIn({});
    expect(await refused.json()).toMatchObject({
      code: 'accounts.code_required',
      details: { factors: ['passkey'] },
    });
    expect(await codeOf(await logIn({ code: '000000' }))).toBe('accounts.code_wrong');
    expect((await logIn({ passkey: key.get(await challenge()) })).status).toBe(200);
    expect((await logIn({ code: recoveryCodes![0] })).status).toBe(200);
    const other = await fixture.signUp('bob@example.com');
    const theirs = createSoftKey(publicUrl);
    await add(theirs, other);
    expect(await codeOf(await logIn({ passkey: theirs.get(await challenge()) }))).toBe(
      'accounts.passkey_refused',
    );
  });

  it('counts as a recent code', async () => {
    const key = createSoftKey(publicUrl);
    await add(key);
    await engine.clock.advance(11 * 60_000);
    const adminKey = () => post('/v1/api-keys', { name: 'k', permissions: 'admin' }, ann.access_token);
    const begin = () => post('/v1/me/passkeys/registration', { password }, ann.access_token);
    expect(await codeOf(await adminKey())).toBe('accounts.step_up_needed');
    expect(await codeOf(await begin())).toBe('accounts.step_up_needed');
    // A challenge for signing in is none for this, and neither is one of another session.
    const wrong = { passkey: key.get(await challenge()) };
    expect(await codeOf(await post('/v1/auth/step-up', wrong, ann.access_token))).toBe(
      'accounts.passkey_refused',
    );
    const other = (await (await signIn(key.get(await challenge()))).json()) as Tokens;
    const theirs = await optionsOf(await post('/v1/auth/step-up/passkey', undefined, other.access_token));
    expect(await codeOf(await post('/v1/auth/step-up', { passkey: key.get(theirs) }, ann.access_token))).toBe(
      'accounts.passkey_refused',
    );
    const options = await optionsOf(await post('/v1/auth/step-up/passkey', undefined, ann.access_token));
    const shown = { passkey: key.get(options) };
    expect((await post('/v1/auth/step-up', shown, ann.access_token)).status).toBe(204);
    expect((await adminKey()).status).toBe(201);
    expect((await begin()).status).toBe(201);
  });

  it('works alongside an app: codes stay until the last factor is removed', async () => {
    const key = createSoftKey(publicUrl);
    const { passkey, recoveryCodes } = await add(key);
    const begun = await post('/v1/me/authenticator', { password }, ann.access_token);
    expect(begun.status).toBe(201);
    // An app that has shown nothing yet replaces no codes.
    expect((await logIn({ code: recoveryCodes![0] })).status).toBe(200);
    expect((await logIn({ code: recoveryCodes![0] })).status).toBe(403);
    expect(
      (await post(`/v1/me/passkeys/${passkey.passkeyId}/removal`, { password }, ann.access_token)).status,
    ).toBe(204);
    expect((await logIn({ code: recoveryCodes![1] })).status).toBe(200); // ignored: nothing is needed
    const { userId } = await me(ann.access_token);
    await add(createSoftKey(publicUrl));
    await fixture.operators.removeFactor(userId);
    expect(await me(ann.access_token)).toMatchObject({ passkeys: 0, secondFactor: false });
    expect((await logIn({})).status).toBe(200);
  });

  it('is removed when the password of an unverified address is reset', async () => {
    const key = createSoftKey(publicUrl); // of somebody who signed up with Ann's address
    await add(key);
    await fixture.mailsTo('ann@example.com');
    await post('/v1/auth/password-reset', { email: 'ann@example.com' });
    const [mail] = await fixture.mailsTo('ann@example.com');
    const token = /#token=(\S+)/.exec(mail!.text)![1];
    const newPassword = 'eleven blue lampposts';
    expect((await post('/v1/auth/password-reset/finish', { token, newPassword })).status).toBe(204);
    expect(await codeOf(await signIn(key.get(await challenge())))).toBe('accounts.passkey_refused');
    expect((await logIn({ password: newPassword })).status).toBe(200);
  });
});

describe('a passkey is refused', () => {
  let key: SoftKey;
  beforeEach(async () => {
    key = createSoftKey(publicUrl);
    await add(key);
  });
  const refused = async (passkey: object) =>
    expect(await codeOf(await signIn(passkey))).toBe('accounts.passkey_refused');

  it('a second time, also by two servers at once', async () => {
    const answer = key.get(await challenge());
    const other = serve(engine);
    const body = { send: { passkey: answer, cookie: false } };
    const statuses = await Promise.all(
      [fixture, other, fixture, other].map(
        async one => (await one.call('POST', '/v1/auth/passkey/finish', body)).status,
      ),
    );
    expect(statuses.filter(status => status === 200)).toHaveLength(1);
    await refused(answer);
    await other.settle();
  });

  it('for a challenge that was answered wrongly, has expired, or is invented', async () => {
    const options = await challenge();
    await refused(key.get(options, { origin: 'https://evil.example' }));
    await refused(key.get(options));
    const late = await challenge();
    await engine.clock.advance(5 * 60_000 + 1000);
    await refused(key.get(late));
    await refused(key.get(await challenge(), { challenge: 'aW52ZW50ZWQ' }));
  });

  it.each([
    ['another page’s origin', { origin: 'https://evil.example' }],
    ['another port of the same host', { origin: 'http://stak.example:8081' }],
    ['another site’s id', { rpId: 'evil.example' }],
    ['nobody being there', { flags: 0x00 }],
    ['nobody being recognised', { flags: 0x01 }],
    ['a registration instead of a sign-in', { type: 'webauthn.create' }],
    ['the signature of another key', { signWith: createSoftKey(publicUrl) }],
    ['a user handle of nobody', { userHandle: Buffer.from('usr_nobody').toString('base64url') }],
    ['a user handle that is no id', { userHandle: Buffer.from('../PROFILE').toString('base64url') }],
    ['no user handle', { userHandle: '' }],
  ])('for %s', async (_, change) => {
    await refused(key.get(await challenge(), change));
    expect((await signIn(key.get(await challenge()))).status).toBe(200);
  });

  it('for another person’s account', async () => {
    const bob = await fixture.signUp('bob@example.com');
    const { userId } = await me(bob.access_token);
    await refused(key.get(await challenge(), { userHandle: Buffer.from(userId).toString('base64url') }));
    const theirs = createSoftKey(publicUrl);
    await add(theirs, bob);
    const annId = Buffer.from((await me(ann.access_token)).userId).toString('base64url');
    await refused(theirs.get(await challenge(), { userHandle: annId }));
    const { data } = (await (
      await fixture.call('GET', '/v1/me/passkeys', { as: ann.access_token })
    ).json()) as { data: { passkeyId: string }[] };
    const path = `/v1/me/passkeys/${data[0]!.passkeyId}`;
    expect((await fixture.call('PATCH', path, { as: bob.access_token, send: { name: 'Mine' } })).status).toBe(
      404,
    );
    expect((await post(`${path}/removal`, { password }, bob.access_token)).status).toBe(404);
  });

  it('if its counter goes back, which is in the audit trail', async () => {
    expect((await signIn(key.get(await challenge()))).status).toBe(200);
    await refused(key.get(await challenge(), { counter: 1 }));
    const trail = await fixture.call('GET', '/v1/audit', { as: ann.access_token });
    const { data } = (await trail.json()) as { data: { action: string; detail?: string }[] };
    expect(data.find(one => one.action === 'passkey.refused')?.detail).toContain('went back');
    expect((await signIn(key.get(await challenge()))).status).toBe(200);
    const synced = createSoftKey(publicUrl, { countsUp: false });
    await add(synced);
    for (let i = 0; i < 2; i++) expect((await signIn(synced.get(await challenge()))).status).toBe(200);
  });

  it('with another person’s challenge, another purpose, or from another site', async () => {
    const bob = await fixture.signUp('bob@example.com');
    const begin = async (who: Tokens) =>
      optionsOf(await post('/v1/me/passkeys/registration', { password }, who.access_token));
    const send = async (passkey: object, who = bob) =>
      post('/v1/me/passkeys', { name: 'x', passkey }, who.access_token);
    const fresh = createSoftKey(publicUrl);
    const ofAnn = await begin(ann);
    expect(await codeOf(await send(fresh.create(ofAnn)))).toBe('accounts.passkey_refused');
    const ofBob = await begin(bob);
    const forSignIn = { ...ofBob, challenge: (await challenge()).challenge };
    expect(await codeOf(await send(fresh.create(forSignIn)))).toBe('accounts.passkey_refused');
    expect(await codeOf(await send(fresh.create(ofBob, { origin: 'https://evil.example' })))).toBe(
      'accounts.passkey_refused',
    );
    expect(await codeOf(await send(fresh.create(await begin(bob), { flags: 0x41 })))).toBe(
      'accounts.passkey_refused',
    );
    expect((await send(fresh.create(await begin(bob)))).status).toBe(201);
    expect(await codeOf(await send(fresh.create(await begin(bob))))).toBe('accounts.passkey_exists');
    expect(
      await codeOf(await post('/v1/me/passkeys/registration', { password: 'no' }, bob.access_token)),
    ).toBe('accounts.password_wrong');
  });

  it('for a disabled account, and from other sites', async () => {
    const { userId } = await me(ann.access_token);
    const foreign = await fixture.call('POST', '/v1/auth/passkey', {
      headers: { Origin: 'https://evil.example' },
    });
    expect(await codeOf(foreign)).toBe('accounts.origin_refused');
    await fixture.operators.disable(userId);
    expect(await codeOf(await signIn(key.get(await challenge())))).toBe('accounts.disabled');
  });
});

it('keeps the last way to sign in', async () => {
  const key = createSoftKey(publicUrl);
  const { passkey } = await add(key);
  const { userId } = await me(ann.access_token);
  await fixture.users.update(userId, { passwordHash: null }); // as of somebody who came by GitHub
  const path = `/v1/me/passkeys/${passkey.passkeyId}/removal`;
  expect(await codeOf(await post(path, {}, ann.access_token))).toBe('accounts.last_sign_in');
  await add(createSoftKey(publicUrl), ann, 'Second');
  expect((await post(path, {}, ann.access_token)).status).toBe(204);
});

it('is not available at an IP address, except on this machine', async () => {
  const byAddress = serve(engine, { publicUrl: 'http://192.0.2.7:8080' });
  const refused = await byAddress.call('POST', '/v1/auth/passkey');
  expect(await codeOf(refused)).toBe('accounts.passkeys_unavailable');
  const local = serve(engine, { publicUrl: 'http://127.0.0.1:8787' });
  expect(await optionsOf(await local.call('POST', '/v1/auth/passkey'))).toMatchObject({ rpId: 'localhost' });
  await Promise.all([byAddress.settle(), local.settle()]);
});

it('gives an address so many challenges a minute', async () => {
  const limited = serve(engine, {}, { store: createMemoryRateLimits() });
  const ask = (address: string) => limited.call('POST', '/v1/auth/passkey', { address });
  for (let i = 0; i < limits.challengesPerMinute; i++) expect((await ask('203.0.113.1')).status).toBe(200);
  expect((await ask('203.0.113.1')).status).toBe(429);
  expect((await ask('203.0.113.2')).status).toBe(200);
  await limited.settle();
});
