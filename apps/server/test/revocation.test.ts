import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@stak/client';
import { inboxConfig } from '@stak/inbox';
import { createLogger, manualClock } from '@stak/kit';
import { createStore } from '@stak/table';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';
import { openDatabase } from '../src/store/database.ts';

const clock = manualClock(Date.UTC(2026, 0, 1));
let folder: string;
let here: RunningServer; // where something is revoked
let there: RunningServer; // where somebody listens, and calls
let stranger: Host;

const variables = () => ({
  STAK_LAKE: 'off',
  STAK_SMTP_URL: pathToFileURL(join(folder, 'mail')).href,
});

const start = () =>
  startServer(readServerConfig({ port: 0, path: folder, demo: false }, variables()), {
    clock,
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-revocation-'));
  here = await start();
  there = await start();
  await makeOwnInbox();
  stranger = await openHost();
}, 60_000);
afterAll(async () => {
  await here.stop();
  await there.stop();
  await rm(folder, { recursive: true, force: true });
});

const as = (token?: string) => createClient({ baseUrl: here.localUrl, token });
const open = (token: string, path = '/v1/tasks/events') =>
  fetch(`${there.localUrl}${path}`, { headers: { Authorization: `Bearer ${token}` } });
const endOf = async (stream: Response) =>
  /event: end\ndata: \{"reason":"(\w+)"\}/.exec(await stream.text())?.[1];

let hosts = 0;
async function openHost() {
  const person = { email: `host-${++hosts}@example.com`, password: 'a long enough password', cookie: false };
  const { data } = await as().accounts.signUp({ body: { ...person, name: 'Host' } });
  const client = as(data.access_token);
  const logIn = async () => (await as().accounts.logIn({ body: person })).data.access_token;
  const tenant_id = `acme-${hosts}`;
  const { etag } = await client.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  await client.tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
  const mint = async (sub: string) => {
    const body = { sub, scope: 'inbox:read tasks:read' };
    return (await client.tenants.mintToken({ tenant_id, body })).data.token;
  };
  return { client, person, session: data.access_token, tenant_id, etag: etag!, logIn, mint };
}

const ownInbox = '/v1/tenants/stak/inboxes/alerts/users/me';

// An account's own inbox is made with the first notification.
async function makeOwnInbox() {
  const { client, close } = await openDatabase(
    { kind: 'embedded', path: folder },
    { clock, isSecondary: true },
  );
  const words = { title: 'Alerts', description: '', ttl: {}, uid: 'stak' };
  const inboxId = { tenant_key: 'stak', inbox_key: 'alerts' };
  const policies = { late_joiners: 'all', unique_host_system_ids: true } as const;
  await createStore({ client, clock }).put(inboxConfig, { ...inboxId, ...words, ...policies });
  await close();
}

// Somebody who works in the host's organisation: the same person for all, because an address signs up so often only.
const colleague = { email: 'colleague@example.com', password: 'a long enough password', cookie: false };
let isSignedUp = false;
async function joinHost({ client }: Host): Promise<string> {
  const { accountId } = (await client.accounts.readOrganisation()).data;
  await client.accounts.invite({ body: { email: colleague.email, role: 'admin' } });
  const token = await vi.waitFor(async () => {
    const names = (await readdir(join(folder, 'mail'))).filter(name => name.endsWith('.eml'));
    const mails = await Promise.all(names.map(name => readFile(join(folder, 'mail', name), 'utf8')));
    const links = mails
      .join('')
      .replaceAll('=\r\n', '')
      .matchAll(/#token=3D(\S+)/g);
    const found = [...links].find(([, one]) => one!.startsWith(`${accountId}.inv_`));
    return found![1]!;
  }, 25_000);
  const { data } = isSignedUp
    ? await as().accounts.logIn({ body: colleague })
    : await as().accounts.signUp({ body: { ...colleague, name: 'Colleague' } });
  isSignedUp = true;
  const person = as(data.access_token);
  await person.accounts.acceptInvitation({ body: { token } });
  const there = await person.accounts.switchOrganisation({ body: { accountId, cookie: false } });
  return there.data.access_token;
}

type Host = Awaited<ReturnType<typeof openHost>>;
type Case = {
  token(host: Host): Promise<string>;
  revoke(host: Host, token: string): Promise<unknown>;
  paths?: { stream: string; call: string };
  reason?: string;
};

const cases: Record<string, Case> = {
  'a session that was ended': {
    token: ({ logIn }) => logIn(),
    revoke: (_, token) => as(token).accounts.logOut(),
  },
  'a session, by a new password': {
    token: ({ logIn }) => logIn(),
    revoke: ({ client, person }) =>
      client.accounts.changePassword({
        body: { currentPassword: person.password, newPassword: 'another long password' },
      }),
  },
  'all sessions': {
    token: ({ logIn }) => logIn(),
    revoke: ({ client }) => client.accounts.endSessions(),
  },
  'an API key': {
    token: async ({ client }) =>
      (await client.accounts.createKey({ body: { name: 'k', permissions: 'admin' } })).data.key,
    revoke: async ({ client }) => {
      const { data } = await client.accounts.listKeys();
      await client.accounts.deleteKey({ keyId: data.data[0]!.keyId });
    },
  },
  'the account': {
    token: async ({ client }) =>
      (await client.accounts.createKey({ body: { name: 'k', permissions: 'admin' } })).data.key,
    revoke: ({ client, person }) => client.accounts.deleteMe({ body: { password: person.password } }),
  },
  'a member who was removed': {
    token: joinHost,
    revoke: async ({ client }) => {
      const { data } = await client.accounts.listMembers();
      await client.accounts.removeMember({ userId: data.data.find(one => one.role === 'admin')!.userId });
    },
  },
  'a key of a member who was removed': {
    token: async host =>
      (await as(await joinHost(host)).accounts.createKey({ body: { name: 'k', permissions: 'admin' } })).data
        .key,
    revoke: async host => cases['a member who was removed']!.revoke(host, ''),
  },
  "a user's tokens": {
    token: ({ mint }) => mint('ann'),
    revoke: ({ client, tenant_id }) => client.tenants.revokeTokens({ tenant_id, body: { sub: 'ann' } }),
  },
  "a tenant's tokens": {
    token: ({ mint }) => mint('ann'),
    revoke: ({ client, tenant_id }) => client.tenants.revokeTokens({ tenant_id, body: {} }),
  },
  'a user who was deleted': {
    token: ({ mint }) => mint('ann'),
    revoke: ({ client, tenant_id }) =>
      client.tenants.deleteUser({ tenant_id, user_id: 'ann' }, { ifMatch: '*' }),
  },
  'a tenant that was deleted': {
    token: ({ mint }) => mint('ann'),
    revoke: ({ client, tenant_id }) => client.tenants.delete({ tenant_id }),
  },
  'a tenant that was suspended': {
    token: ({ mint }) => mint('ann'),
    revoke: ({ client, tenant_id, etag }) =>
      client.tenants.update({ tenant_id, body: { status: 'suspended' } }, { ifMatch: etag }),
    reason: 'refused',
  },
};

// A token for one's own inbox ends with what it was asked for with.
const own = { stream: `${ownInbox}/stream`, call: `${ownInbox}/counts` };
const askedWith = new Map<string, string>();
const ownOf =
  (one: Case): Case['token'] =>
  async host => {
    const credential = await one.token(host);
    const { token } = (await as(credential).accounts.mintInboxToken()).data;
    askedWith.set(token, credential);
    return token;
  };
for (const name of [
  'a session that was ended',
  'a session, by a new password',
  'all sessions',
  'an API key',
  'a member who was removed',
  'the account',
]) {
  const one = cases[name]!;
  cases[`the token for one's own inbox, by ${name}`] = {
    token: ownOf(one),
    revoke: (host, token) => one.revoke(host, askedWith.get(token)!),
    paths: own,
  };
}

describe('within a second of a revocation in another process', () => {
  it.each(Object.entries(cases))('%s: the open stream ends and calls are refused', async (_, one) => {
    const { token, revoke, reason = 'unauthenticated', paths } = one;
    const { stream: streamPath, call: callPath } = paths ?? { stream: '/v1/tasks/events', call: '/v1/tasks' };
    const host = await openHost();
    const given = await token(host);
    const stream = await open(given, streamPath);
    const bystander = await open(stranger.session);
    expect([stream.status, bystander.status]).toEqual([200, 200]);

    await revoke(host, given);
    await clock.advance(1000);
    const call = await open(given, callPath);
    expect(call.status).toBe(reason === 'refused' ? 403 : 401);
    expect(await endOf(stream)).toBe(reason);

    const reader = bystander.body!.pipeThrough(new TextDecoderStream()).getReader();
    await clock.advance(15_000);
    let seen = '';
    for (let done = false; !done && !seen.includes(': still here'); ) {
      const next = await reader.read();
      seen += next.value ?? '';
      done = next.done;
    }
    expect(seen).toContain(': still here');
    expect(seen).not.toContain('event: end');
    await reader.cancel();
  });

  it('an admin who becomes a viewer keeps no rights, and nobody a calendar who has left', async () => {
    const host = stranger;
    const session = await joinHost(host);
    const { address } = (await as(session).tasks.replaceFeed()).data;
    const calendar = async () => (await fetch(there.localUrl + new URL(address).pathname)).status;
    const { data: made } = await as(session).accounts.createKey({
      body: { name: 'k', permissions: 'admin' },
    });
    const tokens = [session, made.key];
    const streams = await Promise.all(tokens.map(token => open(token)));
    const { data: members } = await host.client.accounts.listMembers();
    const { userId } = members.data.find(one => one.role === 'admin')!;
    await host.client.accounts.changeMemberRole({ userId, body: { role: 'viewer' } });
    await clock.advance(1000);
    for (const token of tokens) {
      const { webhooks } = createClient({ baseUrl: there.localUrl, token });
      await expect(webhooks.createSource({ body: { name: 'shop' } })).rejects.toMatchObject({ status: 403 });
      expect((await webhooks.listSources()).status).toBe(200);
    }
    expect(await Promise.all(streams.map(endOf))).toEqual(['unauthenticated', 'unauthenticated']);
    expect(await calendar()).toBe(200);
    await host.client.accounts.removeMember({ userId });
    expect(await calendar()).toBe(404);
  });
});
