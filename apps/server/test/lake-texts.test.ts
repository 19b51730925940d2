import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import type { createLakeReader } from '@stak/lake';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { lakeProgram } from './command.ts';

const patience = { timeout: 60_000, interval: 400 }; // each look is a query of DuckDB

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'stak-texts-'));
  const server = await startServer(
    readServerConfig({ path: join(folder, 'data'), port: 0, demo: false }, {}),
    {
      log: createLogger({ level: 'silent' }),
      passwordCost: { logN: 4, r: 8, p: 1 },
      lakeThread: { program: lakeProgram },
    },
  );
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  const as = (token?: string) => createClient({ baseUrl: server.url, ...(token && { token }) });
  const signUp = async (name: string) => {
    const person = { email: `${name}@example.com`, password: 'a long enough password', name, cookie: false };
    return as((await as().accounts.signUp({ body: person })).data.access_token);
  };
  // Whether a file of the lake has it, in its bytes.
  const isInFiles = async (text: string): Promise<boolean> => {
    const lake = join(folder, 'data', 'lake');
    for (const one of await readdir(lake, { recursive: true, withFileTypes: true }))
      if (one.isFile()) {
        const body = await readFile(join(one.parentPath, one.name)).catch(() => Buffer.alloc(0)); // just deleted
        if (body.includes(text)) return true;
      }
    return false;
  };
  return { server, as, signUp, isInFiles };
}

const rowsOf = async (client: Client, sql: string) => (await client.lake.query({ body: { sql } })).data.rows;
const untilRows = (client: Client, sql: string, count: number) =>
  vi.waitUntil(async () => (await rowsOf(client, sql)).length === count, patience);

// Its part of an erasure, which begins a minute after it is requested.
const lakeOf = ({ services }: Awaited<ReturnType<typeof startServer>>) =>
  services.all.find(one => 'eraser' in one && 'insight' in one) as unknown as Pick<
    ReturnType<typeof createLakeReader>,
    'eraser'
  >;

const bodies = 'select body, encoding, isWhole from event_bodies order by receivedAt';
const turns = 'select tenant_id, messages from conversation_turns';

test('texts are stored only in the lakes of accounts that enabled it', async () => {
  const { server, as, signUp, isInFiles } = await open();
  const [ann, bob] = [await signUp('ann'), await signUp('bob')];
  const tenant_id = 'acme';
  await ann.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  for (const user_id of ['u1', 'u2'])
    await ann.tenants.createUser({ tenant_id, body: { user_id, display_name: user_id } });
  const { data: source } = await ann.webhooks.createSource({ body: { name: 'Shop' } });
  const send = async (body: string | Uint8Array) =>
    expect((await fetch(`${server.url}/in/${source.sourceId}`, { method: 'POST', body })).status).toBe(200);
  const mint = async (sub: string, scope: string) =>
    as((await ann.tenants.mintToken({ tenant_id, body: { sub, scope } })).data.token);
  const chat = async (sub: string, said: string) => {
    const user = await mint(sub, 'agents:chat');
    const { conversation_id } = (await user.agents.createConversation({ tenant_id, body: {} })).data;
    // The first words are the conversation's title, which the lake has anyway.
    for (const content of ['hello', said])
      await user.agents.sendMessage({ tenant_id, conversation_id, body: { content } });
    return conversation_id;
  };

  await send('{"order":"sesame-before"}');
  await chat('u1', 'Many thanks so much');
  await untilRows(ann, 'select 1 from events', 1);
  await untilRows(ann, 'select 1 from conversations where last_seq = 2', 1);
  expect((await ann.lake.readTexts()).data).toEqual({ enabled: false, since: null });
  expect([await rowsOf(ann, bodies), await rowsOf(ann, turns)]).toEqual([[], []]);
  for (const text of ['sesame', 'thanks so much']) expect(await isInFiles(text)).toBe(false);

  const { data: key } = await ann.accounts.createKey({ body: { name: 'all', permissions: 'admin' } });
  await expect(as(key.key).lake.setTexts({ body: { enabled: true } })).rejects.toMatchObject({ status: 403 });
  const { data: on } = await ann.lake.setTexts({ body: { enabled: true } });
  expect(on).toEqual({ enabled: true, since: expect.any(String) });
  expect((await ann.lake.setTexts({ body: { enabled: true } })).data).toEqual(on);
  await send('{"order":"sesame-during"}');
  await send(new Uint8Array([0xff, 0xfe]));
  const kept = await chat('u1', 'Thank you very much');
  await chat('u2', 'Cheers a lot');
  await untilRows(ann, bodies, 2);
  await untilRows(ann, turns, 4);
  expect(await rowsOf(ann, bodies)).toEqual([
    ['{"order":"sesame-during"}', 'utf8', true],
    ['//4=', 'base64', true],
  ]);
  expect(JSON.stringify(await rowsOf(ann, turns))).toContain('Thank you very much');
  expect(await isInFiles('sesame-before')).toBe(false);

  // A key that may read conversations and events reads them here, too. Others do not.
  const { data: reader } = await ann.accounts.createKey({ body: { name: 'read', permissions: 'read' } });
  expect(await rowsOf(as(reader.key), turns)).toHaveLength(4);
  expect([await rowsOf(bob, bodies), await rowsOf(bob, turns)]).toEqual([[], []]);
  const { data: limited } = await ann.accounts.createKey({
    body: { name: 'acme', permissions: 'admin', tenants: [tenant_id] },
  });
  await expect(rowsOf(as(limited.key), turns)).rejects.toMatchObject({ status: 403 });
  await expect(rowsOf(await mint('u1', 'lake:read'), turns)).rejects.toMatchObject({
    code: 'lake.sql_invalid',
  });

  // A conversation that is deleted, and a user who is erased.
  await ann.agents.deleteConversation({ tenant_id, conversation_id: kept });
  await untilRows(ann, turns, 2);
  while ((await lakeOf(server).eraser.eraseUser(tenant_id, 'u2')) !== 'done');
  expect(await rowsOf(ann, turns)).toEqual([]);
  expect(await isInFiles('Cheers a lot')).toBe(false);

  expect((await ann.lake.setTexts({ body: { enabled: false } })).data.enabled).toBe(false);
  for (const text of ['sesame', 'very much'])
    await vi.waitUntil(async () => !(await isInFiles(text)), patience);
  expect(await rowsOf(ann, bodies)).toEqual([]);
  const { data: trail } = await ann.accounts.listAudit({ limit: 100 });
  const actions = trail.data.map(({ action }) => action).filter(action => action.startsWith('lake.texts'));
  expect(actions).toEqual(['lake.texts_disabled', 'lake.texts_enabled']);
}, 240_000);
