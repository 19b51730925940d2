import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger, createSealer, systemClock } from '@stak/kit';
import { createTables, type DynamoClient } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exportArchive } from '../src/archive/export.ts';
import { readPart, tagItem } from '../src/archive/format.ts';
import { importArchive } from '../src/archive/import.ts';
import { exportTo, importFrom } from '../src/commands/archive-actions.ts';
import { readServerConfig } from '../src/config.ts';
import { startServer } from '../src/server.ts';
import { consumersBehind } from './consumers-behind.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-archive-'));
  vi.stubEnv('STAK_ARCHIVE_PASSPHRASE', 'correct horse battery');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  vi.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const newKeys = () => `k1:${randomBytes(32).toString('base64')}`;
const person = { email: 'you@example.com', password: 'a long enough password', name: 'You', cookie: false };
const tenant_id = 'acme';

type Store = { path?: string; env: Record<string, string> };

async function withServer(
  { path, env }: Store,
  work: (client: Client, baseUrl: string) => Promise<void>,
): Promise<void> {
  const config = readServerConfig(
    { port: 0, demo: false, ...(path !== undefined && { path }) },
    { STAK_LAKE: 'off', STAK_OUTBOUND_ALLOW: '127.0.0.0/8', STAK_PUBLIC_URL: 'http://127.0.0.1', ...env },
  );
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  try {
    const { email, password } = person;
    const { accounts } = createClient({ baseUrl: server.localUrl });
    const { data } = await accounts
      .logIn({ body: { email, password, cookie: false } })
      .catch(() => accounts.signUp({ body: person }));
    await work(createClient({ baseUrl: server.localUrl, token: data.access_token }), server.localUrl);
    if (path !== undefined) await expect.poll(() => consumersBehind(path), { timeout: 10_000 }).toEqual([]);
  } finally {
    await server.stop();
  }
}

async function openDestination() {
  const signatures: string[] = [];
  const server = createServer((request, response) => {
    signatures.push(String(request.headers['webhook-signature'] ?? request.headers['x-ferryhook-signature']));
    request.resume();
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, signatures, close: () => server.close().closeAllConnections() };
}

// What somebody sees of a workspace.
async function look(client: Client, sourceId: string) {
  const { data: sent } = await client.inbox.listSends({ tenant_id, inbox_key: 'news' });
  const { data: tasks } = await client.tasks.list();
  const { data: stats } = await client.tasks.counts();
  const { data: events } = await client.webhooks.listEvents({ sourceId });
  const { data: users } = await client.tenants.listUsers({ tenant_id });
  const { data: source } = await client.webhooks.readSource({ sourceId });
  return { sent, tasks: tasks.data, stats, events: events.data, users: users.data, count: source.eventCount };
}

test('a workspace moves to another disk and to DynamoDB, and goes on there', {
  timeout: 60_000,
}, async () => {
  const destination = await openDestination();
  const engine = await createEngine({ path: ':memory:' });
  const door = createHttpServer(engine, { port: 0 });
  try {
    const from: Store = { path: join(folder, 'data'), env: { STAK_SECRET_KEYS: newKeys() } };
    let sourceId = '';
    let seen: Awaited<ReturnType<typeof look>> | undefined;
    await withServer(from, async (client, baseUrl) => {
      await client.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
      await client.tenants.createUser({ tenant_id, body: { user_id: 'ann', display_name: 'Ann' } });
      await client.inbox.writeInbox({ tenant_id, inbox_key: 'news', body: { title: 'News' } });
      await client.inbox.publish({
        tenant_id,
        inbox_key: 'news',
        body: {
          uids: ['ann'],
          message: { title: 'Hello', body: 'You have mail' },
          taxonomy: { category: 'letters' },
        },
      });
      await client.tasks.create({ body: { title: 'Milk' } });
      const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
      sourceId = source.sourceId;
      await client.webhooks.createConnection({
        sourceId,
        body: { name: 'Billing', destinationUrl: destination.url },
      });
      await fetch(new URL(new URL(source.ingestUrl!).pathname, baseUrl), { method: 'POST', body: '{"n":1}' });
      await expect.poll(() => destination.signatures.length).toBe(1);
      await expect
        .poll(async () => {
          const { events, count } = await look(client, sourceId);
          return [events[0]?.status, count];
        })
        .toEqual(['delivered', 1]);
      seen = await look(client, sourceId);
    });
    vi.stubEnv('STAK_SECRET_KEYS', from.env.STAK_SECRET_KEYS!);
    const to = join(folder, 'archive');
    await exportTo({ path: from.path, to });

    const { url } = await door.listen();
    const aws = { STAK_STORE: 'aws', STAK_AWS_REGION: 'us-east-1', STAK_AWS_ENDPOINT: url };
    const stores: { store: Store; flags: object }[] = [
      { store: { path: join(folder, 'other'), env: {} }, flags: { path: join(folder, 'other') } },
      { store: { env: aws }, flags: { endpoint: url, region: 'us-east-1' } },
    ];
    for (const { store, flags } of stores) {
      store.env.STAK_SECRET_KEYS = newKeys();
      vi.stubEnv('STAK_SECRET_KEYS', store.env.STAK_SECRET_KEYS);
      await importFrom({ ...flags, from: to });
      await withServer(store, async client => {
        expect(await look(client, sourceId)).toEqual(seen);
        // Nothing old was taken for news, and the secret that signs is still the same.
        expect(destination.signatures).toHaveLength(1);
        const eventId = seen!.events[0]!.eventId;
        await client.webhooks.replayEvent({ eventId, body: {} });
        await expect.poll(() => destination.signatures.length).toBe(2);
        await client.tasks.create({ body: { title: 'Bread' } });
        await expect
          .poll(async () => (await look(client, sourceId)).stats.by_status.pending)
          .toBe(seen!.stats.by_status.pending + 1);
      });
      destination.signatures.pop();
      await expect(importFrom({ ...flags, from: to })).rejects.toThrow(/is not empty/);
    }
  } finally {
    destination.close();
    await door.close().catch(() => {});
    await engine.close();
  }
});

test('a server that runs, or a wrong passphrase, stops it', { timeout: 60_000 }, async () => {
  const store: Store = { path: join(folder, 'data'), env: { STAK_SECRET_KEYS: newKeys() } };
  vi.stubEnv('STAK_SECRET_KEYS', store.env.STAK_SECRET_KEYS!);
  const to = join(folder, 'archive');
  await withServer(store, async () => {
    await expect
      .poll(() => exportTo({ path: store.path, to }).then(String, String))
      .toContain('a server is running');
  });
  await exportTo({ path: store.path, to });
  await expect(exportTo({ path: store.path, to })).rejects.toThrow(/is complete/);
  vi.stubEnv('STAK_ARCHIVE_PASSPHRASE', 'another passphrase');
  await expect(importFrom({ path: join(folder, 'new'), from: to })).rejects.toThrow(/not the passphrase/);
  vi.stubEnv('STAK_ARCHIVE_PASSPHRASE', 'short');
  await expect(importFrom({ path: join(folder, 'new'), from: to })).rejects.toThrow(/at least 12/);
});

const tables = [todoAppData];
const sealer = createSealer({ keys: [{ id: 'k1', secret: randomBytes(32) }] });
const { now } = systemClock;

async function openEngine(items: number) {
  const engine = await createEngine({ path: ':memory:' });
  await createTables(engine, tables);
  const { partition, sort } = todoAppData.keys;
  for (let n = 0; n < items; n++)
    await engine.client.put({
      TableName: todoAppData.name,
      Item: { [partition]: `p${n % 7}`, [sort!]: `s${n}`, text: 'x'.repeat(200), n },
    });
  return engine;
}

const countOf = async (client: DynamoClient) =>
  ((await client.scan({ TableName: todoAppData.name, Select: 'COUNT' } as never)) as { Count?: number })
    .Count;

// A store that stops answering.
function failingAfter(client: DynamoClient, calls: number): DynamoClient {
  let left = calls;
  return new Proxy(client, {
    get(target, name: keyof DynamoClient) {
      const method = target[name];
      if (typeof method !== 'function') return method;
      return (input: never) => {
        left -= 1;
        if (left < 0) throw new Error('gone');
        return (method as (input: never) => unknown).call(target, input);
      };
    },
  });
}

test('what was cut short goes on, on both sides', async () => {
  const from = await openEngine(400);
  const paged = new Proxy(from.client, {
    get: (target, name: keyof DynamoClient) =>
      name === 'scan' ? (input: object) => target.scan({ ...input, Limit: 50 } as never) : target[name],
  });
  const options = { tables, folder, sealer, now, partBytes: 1000 };
  await expect(exportArchive({ ...options, client: failingAfter(paged, 3) })).rejects.toThrow('gone');
  const target = await createEngine({ path: ':memory:' });
  const importing = { client: target.client, control: target, tables, folder, sealer, clock: systemClock };
  await expect(importArchive(importing)).rejects.toThrow(/was cut short/);
  expect(await exportArchive({ ...options, client: paged })).toEqual({ items: 400, unopened: 0 });

  await expect(importArchive({ ...importing, client: failingAfter(target.client, 6) })).rejects.toThrow(
    'gone',
  );
  await expect(importArchive(importing)).rejects.toThrow(/is not empty/);
  expect(await importArchive({ ...importing, goOn: true })).toEqual({ items: 400, unopened: 0 });
  expect(await countOf(target.client)).toBe(400);
  await from.close();
  await target.close();
});

test('a file that is missing or damaged is named, and nothing is written', async () => {
  const from = await openEngine(50);
  await exportArchive({ client: from.client, tables, folder, sealer, now });
  const [file] = (await readdir(folder)).filter(name => name.endsWith('.gz'));
  const whole = await readFile(join(folder, file!));
  const target = await createEngine({ path: ':memory:' });
  const importing = { client: target.client, control: target, tables, folder, sealer, clock: systemClock };
  const flipped = Buffer.from(whole);
  flipped[flipped.length >> 1]! ^= 1;
  await writeFile(join(folder, file!), flipped);
  await expect(importArchive(importing)).rejects.toThrow(`${file} of the archive is damaged`);
  await rm(join(folder, file!));
  await expect(importArchive(importing)).rejects.toThrow(`the archive lacks ${file}`);
  expect(((await target.execute('ListTables', {})) as { TableNames: string[] }).TableNames).toEqual([]);
  await from.close();
  await target.close();
});

test('an item comes back as it was, whatever is in it', async () => {
  const { gzipSync } = await import('node:zlib');
  const value = fc.letrec(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter(one => !Object.is(one, -0)),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array().map(bytes => Buffer.from(bytes)),
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }).map(all => new Set(all.toSorted())),
      fc.array(tie('value')),
      fc.dictionary(fc.constantFrom('B', 'S', 'BS', 'L', 'a', 'ü'), tie('value'), { noNullPrototype: true }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        fc.string({ minLength: 1 }).filter(name => name !== '__proto__'),
        value,
        { noNullPrototype: true },
      ),
      async item => {
        await writeFile(join(folder, 'x.gz'), gzipSync(`${JSON.stringify(tagItem(item))}\n`));
        for await (const read of readPart(folder, { file: 'x.gz', items: 1, sha256: '' }))
          expect(tagItem(read)).toEqual(tagItem(item));
      },
    ),
    { numRuns: 100 },
  );
});
