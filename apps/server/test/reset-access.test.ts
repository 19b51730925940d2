import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';

const email = 'ann@example.com';
const password = 'seven green umbrellas';
const newPassword = 'eleven blue lampposts';
const tenant_id = 'books';

// A stranger may leave things in an account. These tests show what a password reset does with them.
describe('a password reset', () => {
  let url: string;
  let mail: (subject: string) => Promise<string>;
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stak-reset-'));
    const variables = {
      STAK_SMTP_URL: pathToFileURL(folder).href,
      STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
      STAK_LAKE: 'off',
    };
    const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, variables), {
      log: createLogger({ level: 'silent' }),
      passwordCost: { logN: 4, r: 8, p: 1 },
    });
    onTestFinished(async () => {
      await server.stop();
      await rm(folder, { recursive: true });
    });
    url = server.url;
    const used: string[] = [];
    mail = subject =>
      vi.waitFor(async () => {
        const files = (await readdir(folder)).filter(name => name.endsWith('.eml')).toSorted();
        const texts = await Promise.all(files.map(name => readFile(join(folder, name), 'utf8')));
        const found = texts.findLast(text => text.includes(`Subject: ${subject}`));
        expect(found, subject).toBeDefined();
        const token = /#token=3D(\S+)/.exec(found!.replaceAll('=\r\n', ''))![1]!;
        expect(used).not.toContain(token);
        used.push(token);
        return token;
      }, 25_000);
  });

  const as = (token?: string) => createClient({ baseUrl: url, token });
  const codeOf = (work: Promise<{ status: number }>) =>
    work.then(
      ({ status }) => status,
      (error: { status: number }) => error.status,
    );
  const logIn = async (tried: string) =>
    as((await as().accounts.logIn({ body: { email, password: tried, cookie: false } })).data.access_token);
  const resetPassword = async (endAccess?: boolean) => {
    await as().accounts.requestPasswordReset({ body: { email } });
    const token = await mail('Reset your Stak password');
    await as().accounts.finishPasswordReset({ body: { token, newPassword, endAccess } });
    return logIn(newPassword);
  };
  // Everything that outlives a session.
  async function leaveBehind() {
    const { data } = await as().accounts.signUp({ body: { email, password, name: 'Ann', cookie: false } });
    const client = as(data.access_token);
    await client.tenants.create({ body: { tenant_id, name: 'Books', status: 'active' } });
    const admin = { user_id: 'eve', display_name: 'Eve', role: 'admin' as const };
    await client.tenants.createUser({ tenant_id, body: admin });
    const scope = 'tenant:manage';
    const { data: minted } = await client.tenants.mintToken({ tenant_id, body: { sub: 'eve', scope } });
    const issuer = { issuer: url, client_id: 'x', client_secret: 'y', domains: ['evil.example'] };
    await client.tenants.putPortalProvider({ tenant_id, body: issuer });
    const { data: made } = await client.accounts.createKey({ body: { name: 'left', permissions: 'admin' } });
    const alertUrl = `${url}/alerts`;
    const trail = { name: 'trail', provider: 'stak' as const, auditTrail: true, alertUrl };
    await client.webhooks.createSource({ body: trail });
    await client.tasks.create({ body: { title: 'before' } });
    const { data: feed } = await client.tasks.replaceFeed();
    return {
      victimFeedUrl: await takeFeed(client, 'vic'),
      session: client,
      key: as(made.key),
      admin: as(minted.token),
      feedUrl: new URL(new URL(feed.address).pathname, url).href,
    };
  }

  // The calendar of a tenant's user, by a token of theirs that the account minted.
  async function takeFeed(host: ReturnType<typeof as>, sub: string): Promise<string> {
    const { data } = await host.tenants.mintToken({ tenant_id, body: { sub, scope: 'tasks:write' } });
    const { data: feed } = await as(data.token).tasks.replaceFeed();
    return new URL(new URL(feed.address).pathname, url).href;
  }
  const statusOf = async (address: string) => (await fetch(address)).status;

  it('gives the owner of a mailbox nothing of a stranger who signed up with its address', async () => {
    const left = await leaveBehind();
    const owner = await resetPassword();
    expect((await owner.accounts.getMe()).data).toMatchObject({ email, emailVerified: true });
    expect((await owner.webhooks.listSources({})).data.data).toEqual([]);
    expect((await owner.tenants.list({})).data.data).toEqual([]);
    expect((await owner.accounts.listKeys()).data.data).toEqual([]);
    expect((await owner.tasks.list({})).data.data).toEqual([]);
    await owner.tasks.create({ body: { title: 'secret plan', due_date: '2030-01-01' } });
    const feed = await fetch(left.feedUrl);
    expect(feed.status === 404 || !(await feed.text()).includes('secret plan')).toBe(true);
    expect(await codeOf(left.session.accounts.getMe())).toBe(401);
    expect(await codeOf(left.key.accounts.getMe())).toBe(401);
    expect(await codeOf(owner.tenants.get({ tenant_id }))).toBe(404);
  });

  it('of a verified account ends sessions, and other access if its owner wants', async () => {
    const left = await leaveBehind();
    const token = await mail('Verify your address for Stak');
    await left.session.accounts.verifyEmail({ body: { token } });
    const kept = await resetPassword();
    expect(await codeOf(left.session.accounts.getMe())).toBe(401);
    expect(await codeOf(left.key.accounts.getMe())).toBe(200);
    expect(await codeOf(left.admin.tenants.listUsers({ tenant_id }))).toBe(200);
    expect([await statusOf(left.feedUrl), await statusOf(left.victimFeedUrl)]).toEqual([200, 200]);
    expect((await kept.tenants.list({})).data.data).toHaveLength(1);

    const owner = await resetPassword(true);
    expect(await codeOf(left.key.accounts.getMe())).toBe(401);
    expect(await codeOf(left.admin.tenants.listUsers({ tenant_id }))).toBe(401);
    expect([await statusOf(left.feedUrl), await statusOf(left.victimFeedUrl)]).toEqual([404, 404]);
    expect((await owner.tasks.list({})).data.data).toHaveLength(1);
    expect(await statusOf(await takeFeed(owner, 'vic'))).toBe(200);
  });

  it('that ends access ends the calendar of an organisation that they took', async () => {
    const { session, feedUrl } = await leaveBehind();
    const token = await mail('Verify your address for Stak');
    await session.accounts.verifyEmail({ body: { token } });
    const feeds: string[] = [];
    for (const name of ['One', 'Two']) {
      const { data: made } = await session.accounts.createOrganisation({ body: { name } });
      const person = await logIn(password);
      const { data } = await person.accounts.switchOrganisation({
        body: { accountId: made.accountId, cookie: false },
      });
      const { data: feed } = await as(data.access_token).tasks.replaceFeed();
      feeds.push(new URL(new URL(feed.address).pathname, url).href);
    }
    expect(await Promise.all([feedUrl, ...feeds].map(statusOf))).toEqual([200, 200, 200]);
    await resetPassword(true);
    expect(await Promise.all([feedUrl, ...feeds].map(statusOf))).toEqual([404, 404, 404]);
  });

  it('is not needed to end the calendar of one user: revoked tokens do', async () => {
    await leaveBehind();
    const host = await logIn(password);
    const [ofVic, ofZoe] = [await takeFeed(host, 'vic'), await takeFeed(host, 'zoe')];
    await host.tenants.revokeTokens({ tenant_id, body: { sub: 'vic' } });
    expect([await statusOf(ofVic), await statusOf(ofZoe)]).toEqual([404, 200]);
    // The address is gone, and does not come back when the note of the revocation expires.
    const { data } = await host.tenants.mintToken({ tenant_id, body: { sub: 'vic', scope: 'tasks:write' } });
    await expect(as(data.token).tasks.revokeFeed()).rejects.toMatchObject({ code: 'tasks.feed_not_found' });
  });

  it('is not needed to end the calendar of an account that is deleted, by whichever credential it was made', async () => {
    const { session, key, feedUrl } = await leaveBehind();
    expect(await statusOf(feedUrl)).toBe(200);
    const { data: feed } = await key.tasks.replaceFeed();
    const ofKey = new URL(new URL(feed.address).pathname, url).href;
    expect([await statusOf(feedUrl), await statusOf(ofKey)]).toEqual([404, 200]);
    await session.accounts.deleteMe({ body: { password } });
    expect(await statusOf(ofKey)).toBe(404);
  });

  it('is not needed to end the calendar of a user who is deleted', async () => {
    await leaveBehind();
    const host = await logIn(password);
    const ofEve = await takeFeed(host, 'eve');
    expect(await statusOf(ofEve)).toBe(200);
    await host.tenants.deleteUser({ tenant_id, user_id: 'eve' });
    expect(await statusOf(ofEve)).toBe(404);
  });
});
