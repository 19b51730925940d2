import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { profile } from '@stak/accounts/tables';
import { approval } from '@stak/agents/tables';
import { createClient } from '@stak/client';
import { createEngine } from '@stak/engine';
import { member, memberTotal } from '@stak/inbox/tables';
import { type Clock, createSealer, systemClock } from '@stak/kit';
import { createStore, createTables } from '@stak/table';
import { tenant } from '@stak/tenants/tables';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exportTo, importFrom } from '../src/cli/store/archive-actions.ts';
import { accountTables, openAccounts } from '../src/store/archive/account.ts';
import { exportArchive } from '../src/store/archive/export.ts';
import { readManifest, readPart } from '../src/store/archive/format.ts';
import { keyIn } from '../src/store/archive/import.ts';
import { importAccounts, inUsualShard } from '../src/store/archive/import-account.ts';
import { designs } from '../src/store/designs.ts';
import { consumersBehind } from './consumers-behind.ts';
import { type Items, itemsIn, logIn, makeEverything, quickClock, withServer } from './everything.ts';
import { openFixture } from './walk/fixture.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-archive-'));
  vi.stubEnv('STAK_ARCHIVE_PASSPHRASE', 'correct horse battery');
  vi.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const newKeys = () => `k1:${randomBytes(32).toString('base64')}`;

const isGuard = / CREATION#/; // of two creations at the same time, for an hour
const isSentMail = / MAIL#/; // the server it moves to is free to send it
const isUsage = / USAGE#/; // counters towards limits: an archive that its server did not seal could forge them
// These are counted from the stream. Attempts go on at the new server: a retry may be due at any time.
const eventsIn = (items: Items, key: string) => [items.get(key)?.received, items.get(key)?.count];

async function keysInArchive(from: string): Promise<Set<string>> {
  const keys = new Set<string>();
  const { tables } = await readManifest(from);
  for (const table of accountTables)
    for (const part of tables[table.name]?.parts ?? [])
      for await (const item of readPart(from, part))
        keys.add(`${table.name} ${Object.values(keyIn(table, item)).join(' ')}`);
  return keys;
}

test('an account moves to a running server, with all its data and nothing else', {
  timeout: 120_000,
}, async () => {
  const path = join(folder, 'data');
  const keys = newKeys();
  vi.stubEnv('STAK_SECRET_KEYS', keys);
  const fixture = await openFixture(undefined, { STAK_LAKE: 'off', STAK_SECRET_KEYS: keys }, path);
  const { data: me } = await createClient({
    baseUrl: fixture.server.url,
    token: fixture.owner.session,
  }).accounts.getMe();
  await makeEverything(fixture);
  await fixture.server.stop();
  const before = await itemsIn(path);
  const to = join(folder, 'archive');
  await exportTo({ path, to, account: me.userId, live: true });
  const exported = await keysInArchive(to);
  expect([...exported].filter(key => !before.has(key))).toEqual([]);

  const other = join(folder, 'other');
  const otherKeys = newKeys();
  await withServer(other, otherKeys, async url => {
    const { accounts } = createClient({ baseUrl: url });
    const body = { email: 'first@example.com', password: 'a long enough password', name: 'First' };
    await accounts.signUp({ body: { ...body, cookie: false } });
    const settled = await itemsIn(other);
    vi.stubEnv('STAK_SECRET_KEYS', otherKeys);
    await importFrom({ path: other, from: to, unverified: true, keep: 'plan,verified,roles,credentials' });
    const moved = await itemsIn(other);
    const missing = [...exported].filter(
      key => !moved.has(key) && !isSentMail.test(key) && !isUsage.test(key),
    );
    expect(missing).toEqual([]);
    for (const [key, item] of settled)
      if (/ (?:PROFILE|LOCK|KEY#)/.test(key)) expect(moved.get(key), key).toEqual(item);

    const client = await logIn(url, fixture.owner);
    expect((await client.accounts.getMe()).data.userId).toBe(me.userId);
    const { data: sources } = await client.webhooks.listSources();
    expect(sources.data.map(({ sourceId }) => sourceId)).toContain(fixture.known.get('sourceId'));
    // Nothing was counted a second time.
    await expect.poll(() => consumersBehind({ kind: 'embedded', path: other })).toEqual([]);
    const later = await itemsIn(other);
    const counts = [...later.keys()].filter(key => / (?:TOTAL#|DAY#)/.test(key));
    expect(counts.length).toBeGreaterThan(0);
    for (const key of counts) expect(eventsIn(later, key), key).toEqual(eventsIn(before, key));
    await expect(importFrom({ path: other, from: to, unverified: true })).rejects.toThrow(
      `the account ${me.userId} already exists`,
    );
  });
  vi.stubEnv('STAK_SECRET_KEYS', keys);

  // The erasure of the account removes everything that was exported, and no more, but for the tombstones.
  await withServer(
    path,
    keys,
    async url => {
      const client = await logIn(url, fixture.owner);
      await client.accounts.deleteMe({ body: { password: fixture.owner.password } });
      const open = async () => [...(await itemsIn(path)).keys()].filter(key => /DELETION|ERASURES/.test(key));
      await expect.poll(open, { timeout: 60_000 }).toEqual([]);
    },
    quickClock(),
  );
  const after = await itemsIn(path);
  const erased = [...before.keys()].filter(key => !after.has(key));
  expect(erased.filter(key => !exported.has(key) && !isGuard.test(key))).toEqual([]);
  expect([...exported].filter(key => after.has(key))).toEqual(['tenants TENANT#walked META']);
});

test('queued work is imported into a shard that every store has', () => {
  const tableOf = (name: string) => accountTables.find(table => table.name === name)!;
  const events = tableOf('ferryhook-events');
  const delivery = { PK: 'EVT#evt_1', SK: 'DLV#con_1#0000', state: 'pending' };
  const due = (dueIn: string) => ({
    ...delivery,
    dueIn,
    GSI2PK: `DUE#${dueIn}`,
    GSI2SK: '1767225600000#evt_1',
  });
  expect(inUsualShard(events, due('s13'))).toEqual(due('s5'));
  for (const item of [due('s7'), due('con_1'), delivery]) expect(inUsualShard(events, item)).toBe(item);
  const conversations = tableOf('conversations');
  const attribute = 'due_lane';
  const conversation = (sk: string, index: string, shard: string) => ({
    pk: 'CONV#acme#c1',
    sk,
    [attribute]: shard,
    due_pk: `${index}#${shard}`,
    due_sk: '1767225600000#acme#c1',
  });
  for (const [sk, index] of [
    ['STATE', 'DUE'],
    ['MEMORYJOB', 'DUEMEMORY'],
  ] as const) {
    expect(inUsualShard(conversations, conversation(sk, index, '14'))).toEqual(conversation(sk, index, '2'));
    const usual = conversation(sk, index, '3');
    expect(inUsualShard(conversations, usual)).toBe(usual);
  }
});

const ann = 'usr_ann';
const alerts = { tenant_key: 'stak', inbox_key: 'alerts' }; // where Stak tells accounts
const sealer = createSealer({ keys: [{ id: 'k1', secret: randomBytes(32) }] });

async function openStore(...tenants: string[]) {
  const engine = await createEngine({ path: ':memory:' });
  await createTables(engine, designs);
  const store = createStore({ client: engine.client });
  const at = '2026-01-01T00:00:00.000Z';
  for (const tenant_id of tenants)
    await store.put(tenant, {
      tenant_id,
      account_id: ann,
      name: tenant_id,
      status: 'active',
      created_at: at,
      updated_at: at,
      settings: '{}',
      settings_version: 1,
    });
  return { engine, store, close: () => engine.close() };
}

async function exportAnn() {
  const { engine, store, close } = await openStore('acme', 'globex');
  const at = '2026-01-01T00:00:00.000Z';
  await store.put(profile, {
    userId: ann,
    email: 'ann@example.com',
    name: 'Ann',
    plan: 'free',
    createdAt: at,
    updatedAt: at,
  });
  for (const uid of [ann, 'usr_bob']) await store.put(member, { ...alerts, uid, joinedat: 1 });
  await store.put(approval, {
    tenant_id: 'acme',
    conversation_id: 'c',
    approval_id: 'apr_1',
    turn_id: 'turn_1',
    message_id: 'msg_1',
    epoch: 1,
    tool_call_id: 'call_1',
    name: 'create_task',
    input: '{}',
    approval: 'user',
    status: 'approved',
    created_at: at,
    expires_at: at,
    ttl: 4_000_000_000,
  });
  const accounts = await openAccounts(store, [ann]);
  const options = { client: engine.client, tables: accountTables, folder, sealer, now: systemClock.now };
  expect(await exportArchive({ ...options, accounts })).toEqual({ items: 5, unopened: 0 });
  await close();
}

test('reports existing data, and writes nothing', async () => {
  await exportAnn();
  const { engine, store, close } = await openStore('globex');
  const options = { client: engine.client, folder, sealer, clock: systemClock };
  await expect(importAccounts(options)).rejects.toThrow(
    'the store already has: tenant TENANT#globex META in tenants. Nothing was written',
  );
  expect(await store.get(tenant, { tenant_id: 'acme' })).toBeUndefined();
  await close();
});

test('an interrupted import resumes; nobody can sign in until it is done', async () => {
  await exportAnn();
  const { engine, store, close } = await openStore();
  const { client } = engine;
  let puts = 0;
  const failing = new Proxy(client, {
    get: (target, name: keyof typeof client) =>
      name === 'put'
        ? (input: never) => (++puts > 1 ? Promise.reject(new Error('gone')) : target.put(input))
        : target[name],
  });
  const options = { client, folder, sealer, clock: systemClock };
  await expect(importAccounts({ ...options, client: failing })).rejects.toThrow('gone');
  expect(await store.get(profile, { userId: ann })).toBeUndefined();
  await expect(importAccounts(options)).rejects.toThrow('with --continue');
  expect(await importAccounts({ ...options, goOn: true })).toMatchObject({ items: 5, people: [] });
  expect(await store.get(profile, { userId: ann })).toMatchObject({ email: 'ann@example.com' });
  expect(await store.get(memberTotal, alerts)).toMatchObject({ users: 1 });
  expect(await store.get(member, { ...alerts, uid: 'usr_bob' })).toBeUndefined();
  await expect(importAccounts({ ...options, goOn: true })).rejects.toThrow('already');
  await close();
});

test('an import can resume long after it began', async () => {
  await exportAnn();
  const { engine, store, close } = await openStore();
  const { client } = engine;
  const failing = new Proxy(client, {
    get: (target, name: keyof typeof client) =>
      name === 'put'
        ? (input: never) =>
            JSON.stringify(input).includes('ann@example.com')
              ? Promise.reject(new Error('gone'))
              : target.put(input)
        : target[name],
  });
  const options = { folder, sealer };
  const later: Clock = { ...systemClock, now: () => systemClock.now() + 60_000 };
  await expect(importAccounts({ ...options, client: failing, clock: systemClock })).rejects.toThrow('gone');
  expect(await importAccounts({ ...options, client, clock: later, goOn: true })).toMatchObject({ items: 5 });
  expect(await store.get(profile, { userId: ann })).toMatchObject({ email: 'ann@example.com' });
  await close();
});

// As `tar -x` does.
async function unpack(tar: Uint8Array, to: string): Promise<void> {
  await mkdir(to);
  const bytes = Buffer.from(tar);
  for (let at = 0; bytes[at] !== 0; ) {
    const name = bytes.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 135), 8);
    await writeFile(join(to, name), bytes.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

test('an owner exports everything, with secrets encrypted by a passphrase, and another server imports it', {
  timeout: 60_000,
}, async () => {
  const you = { email: 'you@example.com', password: 'a long enough password', name: 'You' };
  const to = join(folder, 'unpacked');
  let secret = '';
  await withServer(join(folder, 'data'), newKeys(), async url => {
    const { accounts } = createClient({ baseUrl: url });
    await accounts.signUp({ body: { ...you, email: 'else@example.com', cookie: false } });
    await accounts.signUp({ body: { ...you, cookie: false } });
    const client = await logIn(url, you);
    await client.tenants.create({ body: { tenant_id: 'acme', name: 'Acme', status: 'active' } });
    const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
    const { data: connection } = await client.webhooks.createConnection({
      sourceId: source.sourceId,
      body: { name: 'Billing', destinationUrl: 'https://example.com/hooks' },
    });
    secret = connection.signingSecret!;
    expect(secret.length).toBeGreaterThan(20);
    const body = { passphrase: 'correct horse battery' };
    await expect(client.accounts.download({ body: { passphrase: 'short' } })).rejects.toMatchObject({
      status: 400,
    });
    const { data: tar } = await client.accounts.download({ body });
    await unpack(tar, to);
    const { data: trail } = await client.accounts.listAudit();
    expect(trail.data.map(({ action }) => action)).toContain('account.downloaded');
  });
  const text = [];
  for (const file of await readdir(to)) {
    const content = await readFile(join(to, file));
    text.push(String(file.endsWith('.gz') ? gunzipSync(content) : content));
  }
  expect(text.join()).toContain('you@example.com');
  expect(text.join()).not.toContain(secret);
  expect(text.join()).not.toContain('else@example.com');

  const other = join(folder, 'other');
  const keys = newKeys();
  vi.stubEnv('STAK_SECRET_KEYS', keys);
  await importFrom({ path: other, from: to, unverified: true, keep: 'credentials' });
  await withServer(other, keys, async url => {
    const client = await logIn(url, you);
    expect((await client.tenants.get({ tenant_id: 'acme' })).data.name).toBe('Acme');
  });
});
