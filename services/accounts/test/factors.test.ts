import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeAt, stepOf } from '../src/people/credentials/totp.ts';
import { type Engine, openEmbedded, password, type Serving, serve, type Tokens } from './open-accounts.ts';

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

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const bytesOf = (text: string): Uint8Array => {
  const bits = [...text].map(one => alphabet.indexOf(one).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g)!, byte => Number.parseInt(byte, 2));
};
const post = (path: string, send: object, as = ann.access_token) => fixture.call('POST', path, { as, send });
const login = (code?: string, by: Serving = fixture) =>
  by.call('POST', '/v1/auth/login', {
    send: { email: 'ann@example.com', password, cookie: false, ...(code !== undefined && { code }) },
  });

// The app: what it shows now, or in so many steps.
async function addApp() {
  const begun = (await (await post('/v1/me/authenticator', { password })).json()) as {
    secret: string;
    uri: string;
  };
  const show = (after = 0) => codeAt(bytesOf(begun.secret), stepOf(engine.clock.now()) + after);
  const confirmed = await post('/v1/me/authenticator/confirm', { code: show() });
  expect(confirmed.status).toBe(200);
  const { recoveryCodes } = (await confirmed.json()) as { recoveryCodes: string[] };
  return { ...begun, show, recoveryCodes };
}
const userId = async (): Promise<string> => {
  const me = await fixture.call('GET', '/v1/me', { as: ann.access_token });
  return ((await me.json()) as { userId: string }).userId;
};
const nextStep = () => engine.clock.advance(30_000);

describe('a second factor', () => {
  it('is required after the right password, and never reveals whether a wrong one was close', async () => {
    const { show, uri } = await addApp();
    expect(uri).toMatch(/^otpauth:\/\/totp\/Stak:ann%40example\.com\?secret=[A-Z2-7]{32}&issuer=Stak$/);
    expect(await fixture.codeOf(await fixture.logIn('ann@example.com', 'a wrong password'))).toBe(
      'accounts.credentials_wrong',
    );
    expect(await fixture.codeOf(await login())).toBe('accounts.code_required');
    expect(await fixture.codeOf(await login('000000'))).toBe('accounts.code_wrong');
    await nextStep();
    expect((await login(show())).status).toBe(200);
    const [mail] = await fixture.mailsTo('ann@example.com');
    expect(mail?.text).toContain('An authenticator app was added');
    const me = (await (await fixture.call('GET', '/v1/me', { as: ann.access_token })).json()) as object;
    expect(me).toMatchObject({ secondFactor: true });
  });

  it('accepts each code once, also in concurrent requests to two servers', async () => {
    const { show } = await addApp();
    await nextStep();
    const other = serve(engine);
    const code = show();
    const answers = await Promise.all([login(code), login(code, other), login(code), login(code, other)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await login(code)).status).toBe(403);
    await other.settle();
  });

  it('is not replaced by one that was started before it was confirmed', async () => {
    let meanwhile: Awaited<ReturnType<typeof addApp>> | undefined;
    const first =
      <I extends unknown[], O>(call: (...input: I) => Promise<O>) =>
      async (...input: I): Promise<O> => {
        meanwhile ??= await addApp();
        return call(...input);
      };
    const { put, transactWrite } = engine.client;
    const slow = serve({
      ...engine,
      client: { ...engine.client, put: first(put), transactWrite: first(transactWrite) },
    });
    const begun = await slow.call('POST', '/v1/me/authenticator', {
      as: ann.access_token,
      send: { password },
    });
    expect(await fixture.codeOf(begun)).toBe('accounts.changed');
    await nextStep();
    expect((await login(meanwhile!.show())).status).toBe(200);
    expect((await login(meanwhile!.recoveryCodes[0])).status).toBe(200);
    await slow.settle();
  });

  it('can be replaced by recovery codes, each once', async () => {
    const { recoveryCodes } = await addApp();
    expect(new Set(recoveryCodes).size).toBe(10);
    const [first, second] = recoveryCodes as [string, string];
    expect((await login(first.toUpperCase().replace('-', ' '))).status).toBe(200);
    expect((await login(first)).status).toBe(403);
    expect((await login(second)).status).toBe(200);
  });

  it('cannot be guessed: attempts are counted like passwords', async () => {
    await addApp();
    const statuses: number[] = [];
    for (let i = 0; i < 25; i++) statuses.push((await login(String(i).padStart(6, '0'))).status);
    expect(statuses.filter(status => status === 429).length).toBeGreaterThan(3);
  });

  it('stays when the password is reset, if the address was verified', async () => {
    const { show } = await addApp();
    await fixture.operators.verify(await userId());
    await fixture.call('POST', '/v1/auth/password-reset', { send: { email: 'ann@example.com' } });
    const mails = await fixture.mailsTo('ann@example.com');
    const token = /#token=(\S+)/.exec(mails.find(({ subject }) => subject.startsWith('Reset'))!.text)![1];
    const send = { token, newPassword: 'eleven blue lampposts' };
    expect((await fixture.call('POST', '/v1/auth/password-reset/finish', { send })).status).toBe(204);
    const again = (more: object) =>
      fixture.call('POST', '/v1/auth/login', {
        send: { email: 'ann@example.com', password: 'eleven blue lampposts', cookie: false, ...more },
      });
    expect(await fixture.codeOf(await again({}))).toBe('accounts.code_required');
    await nextStep();
    expect((await again({ code: show() })).status).toBe(200);
  });

  it('is required again for admin keys, deletion, a new password and changing factors', async () => {
    const { show } = await addApp();
    const key = (permissions: string) => post('/v1/api-keys', { name: 'k', permissions });
    expect((await key('admin')).status).toBe(201);
    await engine.clock.advance(10 * 60_000);
    expect((await key('write')).status).toBe(201);
    for (const answer of [
      await key('admin'),
      await post('/v1/me/deletion', { password }),
      await post('/v1/me/authenticator/removal', { password }),
      await post('/v1/me/password', { currentPassword: password, newPassword: 'seven green umbrellas' }),
      await fixture.call('POST', '/v1/me/recovery-codes', { as: ann.access_token }),
    ])
      expect(await fixture.codeOf(answer)).toBe('accounts.step_up_needed');
    expect(await fixture.codeOf(await post('/v1/auth/step-up', { code: '123456' }))).toBe(
      'accounts.code_wrong',
    );
    expect((await post('/v1/auth/step-up', { code: show() })).status).toBe(204);
    expect((await key('admin')).status).toBe(201);
    const renewed = await fixture.call('POST', '/v1/me/recovery-codes', { as: ann.access_token });
    expect(((await renewed.json()) as { recoveryCodes: string[] }).recoveryCodes).toHaveLength(10);
    expect((await post('/v1/me/authenticator/removal', { password })).status).toBe(204);
    expect((await login()).status).toBe(200);
    expect((await post('/v1/me/deletion', { password })).status).toBe(202);
  });

  it('is off until the app has produced a code, and requires the password', async () => {
    expect(await fixture.codeOf(await post('/v1/me/authenticator', { password: 'a wrong password' }))).toBe(
      'accounts.password_wrong',
    );
    expect((await post('/v1/me/authenticator', { password })).status).toBe(201);
    expect(await fixture.codeOf(await post('/v1/me/authenticator/confirm', { code: '000000' }))).toBe(
      'accounts.code_wrong',
    );
    expect((await login()).status).toBe(200);
    await addApp();
    expect(await fixture.codeOf(await post('/v1/me/authenticator', { password }))).toBe(
      'accounts.factor_exists',
    );
  });

  it('is removed by an operator when phone and codes are lost', async () => {
    await addApp();
    await fixture.operators.removeFactor(await userId());
    expect((await login()).status).toBe(200);
  });
});
