import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { manualOwners, seededRandom } from '@stak/kit';
import { createMailer, type Mailer } from '@stak/mail';
import { tableErrors } from '@stak/table';
import { createAdversary } from '@stak/table/adversary';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { mailsDue, outgoingMail } from '../src/notices/tables.ts';
import {
  type Engine,
  openEmbedded,
  openMailbox,
  password,
  publicUrl,
  type Serving,
  serve,
  watchClient,
} from './open-accounts.ts';

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

const brand = { name: 'Stak', color: '#0f766e', url: publicUrl };
const withMailer = (mailer: Mailer, change: Partial<Parameters<typeof serve>[1]> = {}) =>
  serve(engine, { mail: { mailer, brand }, ...change });
const never = new AbortController().signal;
const forgot = (by: Serving, email: string, address = '192.0.2.1') =>
  by.call('POST', '/v1/auth/password-reset', { send: { email }, address });
const waiting = async () => (await fixture.store.query(mailsDue, {})).items;

describe('the outbox', () => {
  it('waits while the mail server is down, and sends when it is back', async () => {
    const received: string[] = [];
    const open = async (port: number) => {
      const smtp = new SMTPServer({
        authOptional: true,
        disabledCommands: ['AUTH', 'STARTTLS'],
        onData(stream, { envelope }, done) {
          stream.resume().on('end', () => {
            received.push(...envelope.rcptTo.map(({ address }) => address));
            done();
          });
        },
      });
      smtp.on('error', () => {});
      const listening = smtp.listen(port, '127.0.0.1');
      await once(listening, 'listening');
      const close = () => new Promise<void>(resolve => smtp.close(() => resolve()));
      return { port: (listening.address() as AddressInfo).port, close };
    };
    const first = await open(0);
    await first.close();
    const mailer = createMailer({ url: `smtp://127.0.0.1:${first.port}`, from: 'stak@example.com' });
    onTestFinished(() => mailer.close());
    const server = withMailer(mailer);
    await server.signUp('ann@example.com');
    await server.sendMails(never);
    const [failed] = await waiting();
    expect(failed).toMatchObject({ attempts: 1, failure: expect.stringContaining('ECONNREFUSED') });
    expect(failed!.nextAtMs! - engine.clock.now()).toBeGreaterThan(2_000);
    await server.sendMails(never); // not due yet
    expect((await waiting())[0]).toMatchObject({ attempts: 1 });

    const second = await open(first.port);
    onTestFinished(second.close);
    await engine.clock.advance(5_000);
    await server.sendMails(never);
    expect(received).toEqual(['ann@example.com']);
    expect(await waiting()).toEqual([]);
  });

  it('gives up in the end, and keeps the mail without its secret', async () => {
    let tried = 0;
    const server = withMailer({
      send: async () => {
        tried += 1;
        throw new Error('down');
      },
      close: async () => {},
    });
    const { userId } = await server.users.create({ email: 'oauth@example.com', name: 'O' });
    await forgot(server, 'oauth@example.com');
    const mail = async () => {
      for (const one of await waiting()) if (one.kind === 'password.reset') return one;
      return undefined;
    };
    await server.sendMails(never);
    const { userId: whose, mailId } = (await mail())!;
    expect(whose).toBe(userId);
    // An hour is all that a reset is good for: then nobody wants the mail any more.
    for (let i = 0; i < 60; i++) {
      await engine.clock.advance(60_000);
      await server.sendMails(never);
    }
    expect(tried).toBeGreaterThan(8);
    expect(tried).toBeLessThan(20);
    expect(await waiting()).toEqual([]);
    expect(await fixture.store.get(outgoingMail, { userId, mailId })).toBeUndefined();
  });

  it('does not retry a permanent refusal', async () => {
    let tried = 0;
    const server = withMailer({
      async send() {
        tried += 1;
        return { status: 'refused', detail: '550 No such user here' };
      },
      close: async () => {},
    });
    await server.signUp('nobody@example.com');
    const { userId, mailId } = (await waiting())[0]!;
    for (let i = 0; i < 3; i++) {
      await server.sendMails(never);
      await engine.clock.advance(3_600_000);
    }
    expect(tried).toBe(1);
    const kept = await fixture.store.get(outgoingMail, { userId, mailId });
    expect(kept).toMatchObject({ failure: '550 No such user here' });
    expect(kept).not.toHaveProperty('sealedToken');
    expect(server.lines.join()).toContain('a mail was given up');
  });

  it('is sent by another worker when one dies, at once if the death is known', async () => {
    const owners = manualOwners();
    const stuck = withMailer(
      { send: () => new Promise(() => {}), close: async () => {} },
      { owners: owners.as('dead') },
    );
    await stuck.signUp('ann@example.com');
    void stuck.sendMails(never);
    await expect.poll(async () => (await waiting())[0]?.owner).toBeDefined();
    expect(await fixture.mailsTo('ann@example.com')).toEqual([]); // claimed, so nobody else sends it

    const { mailer, sent } = openMailbox();
    const alive = withMailer(mailer, { owners: owners.as('alive') });
    const stopping = new AbortController();
    const running = alive.workers.find(({ name }) => name === 'accounts-mail')!.run(stopping.signal);
    owners.end('dead');
    await expect.poll(() => sent.map(({ to }) => to)).toEqual(['ann@example.com']);
    stopping.abort();
    await running;

    await stuck.signUp('bobby@example.com');
    void stuck.sendMails(never);
    await expect.poll(async () => (await waiting())[0]?.owner).toBeDefined();
    await engine.clock.advance(120_000);
    expect(await fixture.mailsTo('bobby@example.com')).toHaveLength(1); // elsewhere, when its lease is over
  });

  it('loses no attempt to a store that is too busy', async () => {
    const server = withMailer({
      send: async () => {
        throw tableErrors.create('table.busy', 'the table is too busy');
      },
      close: async () => {},
    });
    await server.signUp('ann@example.com');
    await server.sendMails(never);
    expect(await waiting()).toMatchObject([{ attempts: 0, failure: 'the table is too busy' }]);
  });

  it('is sent once by workers that look at the same time', async () => {
    const { mailer, sent } = openMailbox();
    const workers = [withMailer(mailer), withMailer(mailer), withMailer(mailer)];
    const emails = Array.from({ length: 8 }, (_, i) => `user${i}@example.com`);
    for (const email of emails) await workers[0]!.signUp(email);
    await Promise.all(workers.map(one => one.sendMails(never)));
    expect(sent.map(({ to }) => to).sort()).toEqual(emails);
    expect(await waiting()).toEqual([]);
  });

  it('loses and repeats nothing when responses of the store are lost', async () => {
    const client = createAdversary(engine.client, { lostAnswers: 0.2, random: seededRandom(7) });
    const lossy = serve({ ...engine, client });
    const emails = Array.from({ length: 12 }, (_, i) => `user${i}@example.com`);
    for (const email of emails) await lossy.signUp(email);
    for (let i = 0; i < 12 && (await waiting()).length > 0; i++) {
      await lossy.sendMails(never);
      await engine.clock.advance(120_000);
    }
    expect(await waiting()).toEqual([]);
    for (const email of emails) expect((await lossy.mailsTo(email)).length).toBeGreaterThan(0);
    await lossy.settle();
  });

  it('writes no mail for a refused sign-up', async () => {
    await fixture.signUp('ann@example.com');
    const before = (await waiting()).length;
    await fixture.call('POST', '/v1/auth/signup', {
      send: { email: 'ann@example.com', password: 'seven green umbrellas', name: 'Eve' },
    });
    expect(await waiting()).toHaveLength(before);
  });

  it('treats names as text, whatever they contain', async () => {
    const name = '<b>Ann</b> "><script>alert(1)</script>';
    await fixture.signUp('ann@example.com', { name });
    await fixture.mailsTo('ann@example.com');
    const { userId } = (await fixture.users.getByEmail('ann@example.com'))!;
    await fixture.users.update(userId, { emailVerified: true });
    await forgot(fixture, 'ann@example.com');
    const [mail] = await fixture.mailsTo('ann@example.com');
    expect(mail?.html).not.toContain('<script');
    expect(mail?.text).toContain(`Hello ${name},`);
    const lines = await fixture.call('POST', '/v1/auth/signup', {
      send: {
        email: 'eve@example.com',
        password: 'seven green umbrellas',
        name: 'Eve\r\nBcc: all@example.com',
      },
    });
    expect(lines.status).toBe(400);
  });
});

// A stranger signs up with somebody else's address, and chooses the name.
describe('a name', () => {
  it('is in no mail to an unverified address', async () => {
    const name = 'You won, see evil.example';
    const { access_token: as } = await fixture.signUp('victim@example.com', { name });
    const change = (email: string) =>
      fixture.call('POST', '/v1/me/email', { as, send: { email, password }, address: '192.0.2.9' });
    await fixture.call('POST', '/v1/me/verification', { as });
    await forgot(fixture, 'victim@example.com');
    const headers = { 'user-agent': 'Cheap watches at evil.example' };
    await fixture.logIn('victim@example.com', undefined, { address: '192.0.2.77', headers });
    await fixture.call('POST', '/v1/invitations', {
      as,
      send: { email: 'other@example.com', role: 'member' },
    });
    expect((await change('other@example.com')).status).toBe(202);
    await fixture.call('POST', '/v1/me/password', {
      as,
      send: { currentPassword: password, newPassword: 'seven green umbrellas' },
    });
    const mails = [
      ...(await fixture.mailsTo('victim@example.com')),
      ...(await fixture.mailsTo('other@example.com')),
    ];
    const subjects = mails.map(({ subject }) => subject);
    for (const part of ['Verify', 'Reset', 'New sign-in', 'Confirm your new', 'password was changed', 'Join'])
      expect(subjects.join('\n')).toContain(part);
    for (const { subject, text, html } of mails) {
      expect(`${subject} ${text} ${html}`).not.toContain('evil.example');
      expect(text).toContain('Hello,');
    }
  });

  it('is shortened in mails to others, and nothing in it becomes a link', async () => {
    const names = [
      'Win at evil.example/now!',
      'https://evil.example',
      'www.evil\u3002example',
      'mailto:ann@evil.example',
      `Ann ${'evil.example '.repeat(7)}`,
    ];
    for (const [i, name] of names.entries()) {
      const email = `ann${i}@example.com`;
      const { access_token: as } = await fixture.signUp(email, { name });
      const { userId } = (await fixture.users.getByEmail(email))!;
      await fixture.users.update(userId, { emailVerified: true });
      await fixture.call('PATCH', '/v1/organisation', { as, send: { name } });
      await fixture.call('POST', '/v1/invitations', {
        as,
        send: { email: `new${i}@example.com`, role: 'member' },
      });
      const [mail] = await fixture.mailsTo(`new${i}@example.com`);
      const { subject = '', text = '', html = '' } = mail ?? {};
      expect(subject.length).toBeLessThan(120);
      expect(subject).toMatch(/^Join .*(?:evil|Ann)/);
      for (const part of [subject, text, html])
        expect(part.replaceAll(publicUrl, '')).not.toMatch(/evil[.\u3002]example|:\/\/|@evil|mailto:ann/);
    }
    // What nobody would take for a link stays as it is.
    const { access_token: as } = await fixture.signUp('bo@example.com', { name: 'Dr. Bo O’Neil, 2/3 Ltd.' });
    const { userId } = (await fixture.users.getByEmail('bo@example.com'))!;
    await fixture.users.update(userId, { emailVerified: true });
    await fixture.call('POST', '/v1/invitations', { as, send: { email: 'new@example.com', role: 'member' } });
    const [mail] = await fixture.mailsTo('new@example.com');
    expect(mail?.subject).toBe('Join Dr. Bo O’Neil, 2/3 Ltd. on Stak');
  });
});

describe('a sign-in', () => {
  const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0' };
  const logIn = (address: string, headers: Record<string, string> = firefox) =>
    fixture.logIn('ann@example.com', undefined, { address, headers });

  it('from a new device or network is mailed to its owner, once', async () => {
    await fixture.signUp('ann@example.com');
    const { userId } = (await fixture.users.getByEmail('ann@example.com'))!;
    await fixture.users.update(userId, { emailVerified: true });
    await fixture.mailsTo('ann@example.com');
    expect((await logIn('192.0.2.1')).status).toBe(200);
    const [mail, ...more] = await fixture.mailsTo('ann@example.com');
    expect(mail?.subject).toBe('New sign-in to Stak');
    expect(mail?.text).toContain('Firefox on Linux from 192.0.2.1');
    expect(more).toEqual([]);
    await fixture.settle();
    await logIn('192.0.2.1');
    await logIn('192.0.2.1', { 'user-agent': firefox['user-agent'].replace('130', '131') });
    expect(await fixture.mailsTo('ann@example.com')).toEqual([]);
    await logIn('192.0.2.1', { 'user-agent': 'stak on laptop' });
    expect((await fixture.mailsTo('ann@example.com'))[0]?.text).toContain('stak on laptop');
    // Nobody hears of an attempt that failed.
    await fixture.logIn('ann@example.com', 'a wrong guess', { address: '192.0.2.200' });
    expect(await fixture.mailsTo('ann@example.com')).toEqual([]);
  });
});

it('an invitation costs the same, whether or not the address has an account', async () => {
  const { access_token: as } = await fixture.signUp('ann@example.com');
  await fixture.signUp('bob@example.com');
  // Where others wait already, their senders are looked at, for every address alike.
  const first = { email: 'first@example.com', role: 'member' };
  expect((await fixture.call('POST', '/v1/invitations', { as, send: first })).status).toBe(201);
  const seen = new Set<string>();
  for (const email of ['bob@example.com', 'none@example.com']) {
    const { client, operations } = watchClient(engine.client);
    const server = serve({ ...engine, client }, { defaultPlan: 'selfhosted' });
    const answer = await server.call('POST', '/v1/invitations', { as, send: { email, role: 'member' } });
    expect(answer.status).toBe(201);
    seen.add(JSON.stringify(operations));
  }
  expect(seen.size).toBe(1);
});

describe('a request for a reset', () => {
  it('looks and costs the same, whether or not the address has an account', async () => {
    await fixture.signUp('ann@example.com');
    await fixture.users.create({ email: 'oauth@example.com', name: 'O', githubId: '1' });
    const seen = new Set<string>();
    for (const email of ['ann@example.com', 'none@example.com', 'oauth@example.com']) {
      const { client, operations } = watchClient(engine.client);
      const answer = await forgot(serve({ ...engine, client }), email, `192.0.2.${email.length}`);
      const headers = [...answer.headers].filter(([name]) => !/request-id|ratelimit|date/i.test(name));
      expect(operations).toContain('transactWrite');
      seen.add(JSON.stringify([answer.status, headers, await answer.text(), operations]));
    }
    expect(seen.size).toBe(1);
    await fixture.mailsTo('ann@example.com');
    expect(await fixture.mailsTo('none@example.com')).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  it('is limited by its address and by its caller, alike for all', async () => {
    await fixture.signUp('ann@example.com');
    for (const email of ['ann@example.com', 'none@example.com']) {
      for (let i = 0; i < 5; i++) expect((await forgot(fixture, email, `192.0.2.${i}`)).status).toBe(202);
      expect(await fixture.codeOf(await forgot(fixture, email, '192.0.2.9'))).toBe(
        'accounts.too_many_attempts',
      );
    }
    for (let i = 0; i < 20; i++)
      expect((await forgot(fixture, `u${i}@example.com`, '198.51.100.1')).status).toBe(202);
    expect((await forgot(fixture, 'u20@example.com', '198.51.100.1')).status).toBe(429);
  });

  it('is accepted from our own pages and from programs, but not from other sites', async () => {
    const send = { email: 'ann@example.com' };
    const headers = { origin: 'https://evil.example' };
    const foreign = await fixture.call('POST', '/v1/auth/password-reset', { send, headers });
    expect(await fixture.codeOf(foreign)).toBe('accounts.origin_refused');
    const finish = { token: 'x', newPassword: 'seven green umbrellas' };
    const other = await fixture.call('POST', '/v1/auth/password-reset/finish', { send: finish, headers });
    expect(await fixture.codeOf(other)).toBe('accounts.origin_refused');
    const form = await fixture.call('POST', '/v1/auth/password-reset', {
      body: 'email=ann@example.com',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(form.status).toBe(415);
  });

  it('is refused for everybody if the server sends no mail', async () => {
    const quiet = serve(engine, { mail: undefined });
    await quiet.signUp('ann@example.com');
    for (const email of ['ann@example.com', 'none@example.com'])
      expect(await quiet.codeOf(await forgot(quiet, email))).toBe('accounts.no_mail');
    expect(await waiting()).toEqual([]);
    expect(openMailbox().sent).toEqual([]);
  });
});
