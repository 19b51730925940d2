import type * as Crypto from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Call,
  type Engine,
  openEmbedded,
  password,
  type Serving,
  serve,
  tokenIn,
  watchClient,
} from './open-accounts.ts';

// Counted, not timed: a hash takes a third of a second, and everything else is calls to the store.
const hashes = vi.hoisted(() => ({ count: 0 }));
vi.mock('node:crypto', async original => {
  const crypto = await original<typeof Crypto>();
  const scrypt = (...input: Parameters<typeof Crypto.scrypt>) => {
    hashes.count += 1;
    return crypto.scrypt(...input);
  };
  return { ...crypto, scrypt };
});

let engine: Engine;
let fixture: Serving;
beforeEach(async () => {
  engine = await openEmbedded();
  fixture = serve(engine, { signsUpByMail: true });
});
afterEach(async () => {
  await fixture.settle();
  await engine.close();
});

const ann = { email: 'ann@example.com', password, name: 'Ann' };
const post = (path: string, send: object, more: Call = {}, by: Serving = fixture) =>
  by.call('POST', path, { send, ...more });
const request = (person = ann, more?: Call) => post('/v1/auth/signup/request', person, more);
const finish = (token: string, tried = password, more?: Call) =>
  post('/v1/auth/signup/finish', { token, password: tried, cookie: false }, more);
const link = async (email = ann.email) => {
  const mails = await fixture.mailsTo(email);
  return tokenIn(mails.findLast(({ subject }) => subject.startsWith('Finish')));
};

describe('signing up by mail', () => {
  it('creates the account with link and password, and with a verified address', async () => {
    const asked = await request();
    expect([asked.status, await asked.text()]).toEqual([202, '']);
    expect((await fixture.logIn(ann.email)).status).toBe(401); // there is no account yet
    const token = await link();
    const made = await finish(token);
    expect(made.status).toBe(201);
    const { access_token } = (await made.json()) as { access_token: string };
    const me = await fixture.call('GET', '/v1/me', { as: access_token });
    expect(await me.json()).toMatchObject({ email: ann.email, name: 'Ann', emailVerified: true });
    expect((await fixture.logIn(ann.email)).status).toBe(200);
    expect(await fixture.codeOf(await finish(token))).toBe('accounts.token_refused'); // it works once
  });

  it('requires both the mailbox and the password for an account', async () => {
    await request({ ...ann, password: 'a stranger chose this' });
    const token = await link();
    expect(await fixture.codeOf(await finish(token))).toBe('accounts.password_wrong');
    expect(await fixture.codeOf(await finish(`${token.slice(0, -3)}abc`))).toBe('accounts.token_refused');
    expect(await fixture.users.getByEmail(ann.email)).toBeNull();
    await request();
    expect((await finish(await link())).status).toBe(201);
  });

  it('creates one account from two links, and from one link sent twice', async () => {
    await request();
    const first = await link();
    await request();
    const second = await link();
    const answers = await Promise.all([finish(first), finish(first), finish(second)]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const codes = await Promise.all(answers.filter(({ status }) => status !== 201).map(fixture.codeOf));
    for (const code of codes) expect(['accounts.token_refused', 'accounts.email_taken']).toContain(code);
  });

  it('expires after a day', async () => {
    await request();
    const token = await link();
    await engine.clock.advance(25 * 60 * 60_000);
    expect(await fixture.codeOf(await finish(token))).toBe('accounts.token_refused');
  });

  it('is the only way, for every address', async () => {
    await fixture.users.create({ email: 'taken@example.com', name: 'T' });
    for (const email of ['taken@example.com', 'free@example.com'])
      expect(await fixture.codeOf(await post('/v1/auth/signup', { ...ann, email }))).toBe(
        'accounts.sign_up_by_mail',
      );
    const direct = serve(engine);
    const taken = await direct.call('POST', '/v1/auth/signup', {
      send: { ...ann, email: 'taken@example.com' },
    });
    expect(await direct.codeOf(taken)).toBe('accounts.email_taken');
  });

  it('mails the owner of an existing account, and no one else', async () => {
    await fixture.users.create({ email: ann.email, name: 'The first Ann' });
    await request();
    const [mail, ...more] = await fixture.mailsTo(ann.email);
    expect(more).toEqual([]);
    expect(mail?.subject).toBe('You already have an account at Stak');
    expect(mail?.text).not.toContain('#token=');
  });

  it('is rate limited, and refused from other sites', async () => {
    for (let i = 0; i < 5; i++) expect((await request(ann, { address: `192.0.2.${i}` })).status).toBe(202);
    expect((await request(ann, { address: '192.0.2.9' })).status).toBe(429);
    const headers = { origin: 'https://evil.example' };
    expect(await fixture.codeOf(await request(ann, { headers }))).toBe('accounts.origin_refused');
    const quiet = serve(engine, { mail: undefined });
    const answer = await post('/v1/auth/signup/request', ann, {}, quiet);
    expect(await quiet.codeOf(answer)).toBe('accounts.no_mail');
  });
});

describe('whether an address has an account is visible in no response, and in no work', () => {
  const people = {
    'with a password': 'ann@example.com',
    'without one': 'git@example.com',
    'that is disabled': 'off@example.com',
    'that is nobody’s': 'abc@example.com',
  };

  it.each([
    ['signing in', '/v1/auth/login', { password: 'a wrong password', cookie: false }, 401],
    ['signing up', '/v1/auth/signup/request', { password, name: 'Ann' }, 202],
    ['asking for a reset', '/v1/auth/password-reset', {}, 202],
  ])('%s', async (_, path, body, status) => {
    const direct = serve(engine);
    await direct.signUp(people['with a password']);
    await direct.users.create({ email: people['without one'], name: 'Git', githubId: '1' });
    await direct.signUp(people['that is disabled']);
    const { userId } = (await direct.users.getByEmail(people['that is disabled']))!;
    await direct.users.update(userId, { disabledAt: 'then' });
    await direct.settle();

    const seen = new Map<string, string>();
    for (const [who, email] of Object.entries(people)) {
      const { client, operations } = watchClient(engine.client);
      const server = serve({ ...engine, client }, { signsUpByMail: true });
      hashes.count = 0;
      const answer = await post(path, { ...body, email }, { address: `192.0.2.${seen.size}` }, server);
      const work = [hashes.count, ...operations];
      expect(answer.status, who).toBe(status);
      const headers = [...answer.headers].filter(([name]) => !/request-id|ratelimit|date/i.test(name));
      const text = (await answer.text()).replace(/"request_id":"[^"]*"/, '');
      seen.set(who, JSON.stringify([headers, text, work]));
      await server.settle();
    }
    expect(new Set(seen.values()).size, JSON.stringify([...seen])).toBe(1);
  });
});
