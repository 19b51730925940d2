import { seededRandom } from '@stak/kit';
import { createMailer, type Mail } from '@stak/mail';
import { decoded, headersOf, openSmtp } from '@stak/mail/smtp-stub';
import { createAdversary } from '@stak/table/adversary';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { member } from '../src/access/tables.ts';
import { mailedNotice, mailsDue, outgoingMail } from '../src/notices/tables.ts';
import { type Billing, openBilling } from './billing-stub.ts';
import { type Engine, openEmbedded, publicUrl, type Serving, serve } from './open-accounts.ts';

const minute = 60_000;
const never = new AbortController().signal;
const brand = { name: 'Stak', color: '#0f766e', url: publicUrl };

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

type Role = 'owner' | 'admin' | 'member' | 'viewer';

async function addPerson(email: string, change: { emailVerified?: boolean } = {}): Promise<string> {
  const person = { email, name: email.split('@')[0]!, emailVerified: true, ...change };
  return (await fixture.users.create(person)).userId;
}
// An organisation with a member of each role, and where their mails go.
async function addOrganisation(): Promise<string> {
  const accountId = await addPerson('owner@example.com');
  const owner = { accountId, userId: accountId, role: 'owner' as const, joinedAt: 'then' };
  await fixture.store.put(member, owner);
  for (const role of ['admin', 'member', 'viewer'] as const) await addMember(accountId, role);
  return accountId;
}
async function addMember(accountId: string, role: Role, email = `${role}@example.com`): Promise<void> {
  const userId = await addPerson(email);
  await fixture.store.put(member, { accountId, userId, role, joinedAt: 'then' });
}

const limit = { key: 'limits.events.2026-03.5000.80', title: '80 % are used', body: 'Of 5,000 events.' };
const failing = (key: string, line = `${key} failed`) => ({ key, line });
const everyone = ['owner@example.com', 'admin@example.com', 'member@example.com', 'viewer@example.com'];

// As a stream does: until it has worked.
async function tellFailing(by: Serving, accountId: string, key: string): Promise<void> {
  for (let isTold = false; !isTold; )
    isTold = await by.notices.deliveriesFail(accountId, failing(key)).then(
      () => true,
      () => false,
    );
}

// Everything that is due, by whom it went to.
async function mails(by: Serving = fixture): Promise<Record<string, Mail[]>> {
  const found: [string, Mail[]][] = [];
  for (const email of everyone) {
    const sent = await by.mailsTo(email);
    if (sent.length > 0) found.push([email.split('@')[0]!, sent]);
  }
  return Object.fromEntries(found);
}
const counts = async (by?: Serving) =>
  Object.fromEntries(Object.entries(await mails(by)).map(([name, sent]) => [name, sent.length]));
const unsubscribeUrl = (mail: Mail): string => mail.unsubscribeUrl!.slice(publicUrl.length);

describe('a limit of the plan', () => {
  it('is mailed once to those who can act, however many processes report it', async () => {
    const accountId = await addOrganisation();
    const other = serve(engine);
    await Promise.all(
      [fixture, other, fixture, other].map(one => one.notices.limitReached(accountId, limit)),
    );
    expect(await counts()).toEqual({ owner: 1, admin: 1 });
    await fixture.notices.limitReached(accountId, limit);
    await other.notices.limitReached(accountId, limit);
    expect(await counts()).toEqual({});
    await fixture.notices.limitReached(accountId, { ...limit, key: 'limits.events.2026-03.5000.100' });
    expect(await counts()).toEqual({ owner: 1, admin: 1 });
  });

  it('explains its reason and how to unsubscribe, over SMTP', async () => {
    const smtp = await openSmtp({ disabledCommands: ['AUTH', 'STARTTLS'] });
    const mailer = createMailer({ url: `smtp://127.0.0.1:${smtp.port}`, from: 'Stak <stak@example.com>' });
    onTestFinished(() => mailer.close());
    const server = serve(engine, { mail: { mailer, brand } });
    const accountId = await addPerson('owner@example.com');
    await server.notices.limitReached(accountId, limit);
    await server.sendMails(never);
    const { to, raw } = smtp.received[0]!;
    expect(to).toEqual(['owner@example.com']);
    const headers = headersOf(raw);
    expect(headers).toContain('Subject: owner: 80 % are used');
    expect(headers).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    const [, address] = /^List-Unsubscribe: <(\S+)>$/.exec(
      headers.find(one => /^List-Unsubscribe:/.test(one))!,
    )!;
    expect(decoded(raw)).toContain(`To stop these mails: ${address}`);
    expect(decoded(raw)).toContain(`You get this because you are owner of owner at ${publicUrl}.`);
    const answer = await server.call('POST', address!.slice(publicUrl.length), {
      body: 'List-Unsubscribe=One-Click',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.status).toBe(200);
    expect((await server.users.readProfile(accountId))?.mailsOff).toEqual(['limits']);
    await server.settle();
  });

  it('reaches all members of a large organisation, each once', async () => {
    const accountId = await addOrganisation();
    const people = Array.from({ length: 60 }, (_, i) => `admin${i}@example.com`);
    for (const email of people) await addMember(accountId, 'admin', email);
    await fixture.notices.limitReached(accountId, limit);
    for (const email of people) expect(await fixture.mailsTo(email), email).toHaveLength(1);
    expect(await counts()).toEqual({ owner: 1, admin: 1 });
  });

  it('is sent neither to unverified addresses nor to deleted members', async () => {
    const accountId = await addPerson('owner@example.com', { emailVerified: false });
    await fixture.notices.limitReached(accountId, limit);
    expect(await counts()).toEqual({});
    await fixture.users.update(accountId, { emailVerified: true, disabledAt: 'then' });
    await fixture.notices.limitReached(accountId, { ...limit, key: 'another' });
    expect(await counts()).toEqual({});
  });

  it('writes nothing if the server sends no mail', async () => {
    const accountId = await addPerson('owner@example.com');
    const quiet = serve(engine, { mail: undefined });
    await quiet.notices.limitReached(accountId, limit);
    await quiet.notices.deliveriesFail(accountId, failing('a'));
    expect((await fixture.store.query(mailsDue, {})).items).toEqual([]);
    expect(
      await fixture.store.get(mailedNotice, { accountId, noticeKey: limit.key }, { consistent: true }),
    ).toBeUndefined();
  });
});

describe('failing deliveries', () => {
  it('are sent as one mail after a minute, and the next ones an hour later', async () => {
    const accountId = await addOrganisation();
    const other = serve(engine);
    await fixture.notices.deliveriesFail(
      accountId,
      failing('14.conn_1.breaker_opened', 'Shop, One: breaker'),
    );
    await other.notices.deliveriesFail(accountId, failing('14.conn_2.breaker_opened', 'Shop, Two: breaker'));
    expect(await counts()).toEqual({});
    await engine.clock.advance(minute);
    const first = await mails();
    expect(Object.keys(first)).toEqual(['owner', 'admin', 'member']);
    const [mail] = first.member!;
    expect(mail?.subject).toBe('Webhooks of owner are not delivered');
    expect(mail?.text).toContain('• Shop, One: breaker');
    expect(mail?.text).toContain('• Shop, Two: breaker');

    await engine.clock.advance(5 * minute);
    await fixture.notices.deliveriesFail(
      accountId,
      failing('14.conn_3.delivery_failed', 'Shop, Three: failed'),
    );
    for (let passed = 0; passed < 54; passed += 1) {
      await engine.clock.advance(minute);
      expect(await counts()).toEqual({});
    }
    await engine.clock.advance(minute);
    const second = await mails();
    expect(Object.keys(second)).toEqual(['owner', 'admin', 'member']);
    expect(second.owner![0]!.text).toContain('Three');
    expect(second.owner![0]!.text).not.toContain('One');
    await engine.clock.advance(120 * minute);
    expect(await counts()).toEqual({});
  });

  it('are mailed once, however often and wherever their record is repeated', async () => {
    const accountId = await addPerson('owner@example.com');
    const servers = [fixture, serve(engine), serve(engine)];
    const keys = Array.from({ length: 8 }, (_, i) => `14.conn_${i}.breaker_opened`);
    await Promise.all(keys.flatMap(key => servers.map(one => tellFailing(one, accountId, key))));
    await engine.clock.advance(minute);
    const { owner } = await mails();
    expect(owner).toHaveLength(1);
    for (const key of keys) expect(owner![0]!.text.split(`• ${key} failed`)).toHaveLength(2);
    for (const key of keys) await servers[1]!.notices.deliveriesFail(accountId, failing(key));
    await engine.clock.advance(120 * minute);
    expect(await counts()).toEqual({});
  });

  it('are all mailed, once, when responses of the store are lost', async () => {
    const accountId = await addPerson('owner@example.com');
    const client = createAdversary(engine.client, { lostAnswers: 0.3, random: seededRandom(11) });
    const lossy = serve({ ...engine, client });
    const keys = Array.from({ length: 15 }, (_, i) => `key${String(i).padStart(2, '0')}`);
    const texts: string[] = [];
    for (const key of keys) {
      await tellFailing(lossy, accountId, key);
      await engine.clock.advance(10 * minute);
      texts.push(...(await lossy.mailsTo('owner@example.com')).map(({ text }) => text));
    }
    await engine.clock.advance(120 * minute);
    texts.push(...(await lossy.mailsTo('owner@example.com')).map(({ text }) => text));
    for (const key of keys) expect(new Set(texts.filter(text => text.includes(key))).size, key).toBe(1);
    await lossy.settle();
  });

  it('are counted if they are too many for a mail', async () => {
    const accountId = await addPerson('owner@example.com');
    for (let i = 0; i < 23; i++) await fixture.notices.deliveriesFail(accountId, failing(`key${i}`));
    await engine.clock.advance(minute);
    const { owner } = await mails();
    expect(owner![0]!.text).toContain('And 3 more.');
  });

  it('are mailed again when the previous mail was lost', async () => {
    const accountId = await addPerson('owner@example.com');
    await fixture.notices.deliveriesFail(accountId, failing('first'));
    const [request] = (await fixture.store.query(mailsDue, {})).items;
    await fixture.store.delete(outgoingMail, { userId: accountId, mailId: request!.mailId });
    await engine.clock.advance(7 * 60 * minute);
    await fixture.notices.deliveriesFail(accountId, failing('second'));
    await engine.clock.advance(minute);
    const { owner } = await mails();
    expect(owner![0]!.text).toContain('first failed');
    expect(owner![0]!.text).toContain('second failed');
  });
});

describe('the unsubscribe link', () => {
  it('asks for confirmation when opened, and unsubscribes one person from one topic when sent', async () => {
    const accountId = await addOrganisation();
    await fixture.notices.deliveriesFail(accountId, failing('one'));
    await engine.clock.advance(minute);
    const { member: toMember } = await mails();
    const url = unsubscribeUrl(toMember![0]!);
    const shown = await fixture.call('GET', url);
    expect(shown.headers.get('content-type')).toContain('text/html');
    expect(await shown.text()).toContain('<form method="post">');
    await fixture.notices.deliveriesFail(accountId, failing('two'));
    await engine.clock.advance(60 * minute);
    expect(await counts()).toEqual({ owner: 1, admin: 1, member: 1 }); // opening it changed nothing

    for (let i = 0; i < 2; i++)
      expect((await fixture.call('POST', url, { body: 'List-Unsubscribe=One-Click' })).status).toBe(200);
    await fixture.notices.deliveriesFail(accountId, failing('three'));
    await engine.clock.advance(60 * minute);
    expect(await counts()).toEqual({ owner: 1, admin: 1 });
    const trail = [];
    const memberId = (await fixture.users.getByEmail('member@example.com'))!.userId;
    for await (const { action, via } of fixture.audit.all(memberId)) trail.push([action, via]);
    expect(trail).toEqual([['account.changed', 'mail']]);
  });

  it('is refused if it is not ours, and says where to go', async () => {
    for (const token of ['invented', 's1.test.AAAA']) {
      const answer = await fixture.call('POST', `/v1/mail/unsubscribe?token=${token}`, { body: 'x' });
      expect(await answer.text()).toContain('does not work any more');
    }
  });

  it('is not the only way: people choose their mails in their account', async () => {
    const { access_token } = await fixture.signUp('owner@example.com');
    const me = async () =>
      ((await (await fixture.call('GET', '/v1/me', { as: access_token })).json()) as { mails: object }).mails;
    expect(await me()).toEqual({ deliveries: true, limits: true });
    const send = { mails: { limits: false } };
    const changed = await fixture.call('PATCH', '/v1/me', { as: access_token, send });
    expect(await changed.json()).toMatchObject({ name: 'Ann', mails: { deliveries: true, limits: false } });
    const both = { name: 'Anna', mails: { limits: true, deliveries: false } };
    await fixture.call('PATCH', '/v1/me', { as: access_token, send: both });
    expect(await me()).toEqual({ deliveries: false, limits: true });
  });
});

describe('a failed payment', () => {
  let billing: Billing;
  beforeEach(async () => {
    billing = await openBilling();
  });
  afterEach(() => billing.close());

  it('is mailed to the owners, once per event of Stripe', async () => {
    const { customer } = await billing.addCustomer('payer@example.com');
    billing.stripe.subscribe(customer, 'price_pro', { status: 'past_due' });
    const event = billing.eventOf('invoice.payment_failed', customer);
    expect(await Promise.all([1, 2, 3].map(() => billing.deliver(event)))).toContain('applied');
    expect(await billing.deliver(event)).toBe('repeated');
    const mailsOf = async () => (await billing.mailsTo('payer@example.com')).map(({ subject }) => subject);
    expect(await mailsOf()).toEqual(['A payment for Stak failed']);
    await billing.deliver(billing.eventOf('invoice.paid', customer));
    expect(await mailsOf()).toEqual([]);
  });
});
