import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Client } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createTables } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exportTo, importFrom } from '../src/cli/store/archive-actions.ts';
import { exportArchive } from '../src/store/archive/export.ts';
import { readPart, tagItem } from '../src/store/archive/format.ts';
import { importArchive } from '../src/store/archive/import.ts';
import { designs } from '../src/store/designs.ts';
import {
  importInto,
  newKeys,
  now,
  openEngine,
  type Store,
  sealer,
  tables,
  withServer,
} from './archive-fixture.ts';
import { runHere } from './command.ts';

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

const tenant_id = 'acme';

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

// Reads a workspace as its user sees it.
async function look(client: Client, sourceId: string) {
  const { data: sent } = await client.inbox.listSends({ tenant_id, inbox_key: 'news' });
  const { data: tasks } = await client.tasks.list();
  const { data: stats } = await client.tasks.counts();
  const { data: events } = await client.webhooks.listEvents({ sourceId });
  const { data: users } = await client.tenants.listUsers({ tenant_id });
  const { data: source } = await client.webhooks.readSource({ sourceId });
  return { sent, tasks: tasks.data, stats, events: events.data, users: users.data, count: source.eventCount };
}

test('a workspace moves to another disk, to DynamoDB and back, and works there', {
  timeout: 120_000,
}, async () => {
  const destination = await openDestination();
  const engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
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
    let archive = to;

    const { url } = await dynamo.listen();
    const aws = { STAK_STORE: 'aws', STAK_AWS_REGION: 'us-east-1', STAK_AWS_ENDPOINT: url };
    const stores: { store: Store; flags: object }[] = [
      { store: { path: join(folder, 'other'), env: {} }, flags: { path: join(folder, 'other') } },
      { store: { env: aws }, flags: { endpoint: url, region: 'us-east-1' } },
      { store: { path: join(folder, 'back'), env: {} }, flags: { path: join(folder, 'back') } },
    ];
    for (const [n, { store, flags }] of stores.entries()) {
      store.env.STAK_SECRET_KEYS = newKeys();
      vi.stubEnv('STAK_SECRET_KEYS', store.env.STAK_SECRET_KEYS);
      await importFrom({ ...flags, from: archive, unverified: true, server: true });
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
        seen = await look(client, sourceId);
      });
      destination.signatures.pop();
      await expect(importFrom({ ...flags, from: archive, unverified: true, server: true })).rejects.toThrow(
        /is not empty/,
      );
      archive = join(folder, `archive ${n}`);
      await exportTo({ ...flags, to: archive });
    }
  } finally {
    destination.close();
    await dynamo.close().catch(() => {});
    await engine.close();
  }
});

test('a running server or a wrong passphrase stops it', { timeout: 60_000 }, async () => {
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
  await expect(
    importFrom({ path: join(folder, 'new'), from: to, unverified: true, server: true }),
  ).rejects.toThrow(/not the passphrase/);
  vi.stubEnv('STAK_ARCHIVE_PASSPHRASE', 'short');
  await expect(
    importFrom({ path: join(folder, 'new'), from: to, unverified: true, server: true }),
  ).rejects.toThrow(/at least 12/);
});

test('an export without a store or a key creates nothing', async () => {
  vi.stubEnv('STAK_SECRET_KEYS', '');
  const path = join(folder, 'mistyped');
  const to = join(folder, 'archive');
  await expect(exportTo({ path, to })).rejects.toThrow(`there is no folder ${path}`);
  expect(existsSync(path)).toBe(false);
  const engine = await createEngine({ path });
  await createTables(engine, designs);
  await engine.close();
  await expect(exportTo({ path, to })).rejects.toThrow(/STAK_SECRET_KEYS/);
  expect(existsSync(join(path, 'secret-key'))).toBe(false);
  await exportTo({ path, to, asStored: true });
  expect(existsSync(join(path, 'secret-key'))).toBe(false);
});

test('an export fails if its secrets cannot be opened', { timeout: 60_000 }, async () => {
  const store: Store = { path: join(folder, 'data'), env: { STAK_SECRET_KEYS: newKeys() } };
  await withServer(store, async client => {
    const { data: source } = await client.webhooks.createSource({ body: { name: 'Shop' } });
    const body = { name: 'Billing', destinationUrl: 'https://example.com/hooks' };
    await client.webhooks.createConnection({ sourceId: source.sourceId, body });
  });
  vi.stubEnv('STAK_SECRET_KEYS', newKeys());
  const ended = await runHere('export', '--path', store.path!, '--to', join(folder, 'archive'));
  expect(ended.stderr).toContain('did not open under STAK_SECRET_KEYS');
  expect(ended.code).toBe(1);
});

test('reports a missing or damaged file, and writes nothing', async () => {
  const from = await openEngine(50);
  await exportArchive({ client: from.client, tables, folder, sealer, now });
  const [file] = (await readdir(folder)).filter(name => name.endsWith('.gz'));
  const whole = await readFile(join(folder, file!));
  const target = await createEngine({ path: ':memory:' });
  const importing = importInto(target, folder);
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

test('an item with Unicode line separators stays on one line', async () => {
  const from = await createEngine({ path: ':memory:' });
  await createTables(from, tables);
  const { partition, sort } = todoAppData.keys;
  const text = 'a\u2028b\u2029c\u0085d\r\ne';
  await from.client.put({ TableName: todoAppData.name, Item: { [partition]: 'p', [sort!]: 's', text } });
  await exportArchive({ client: from.client, tables, folder, sealer, now });
  const target = await createEngine({ path: ':memory:' });
  await importArchive(importInto(target, folder));
  const { Items = [] } = await target.client.scan({ TableName: todoAppData.name });
  expect(Items.map(item => item.text)).toEqual([text]);
  const [file] = (await readdir(folder)).filter(name => name.endsWith('.gz'));
  // Other programs may take them for ends of lines.
  expect(String(gunzipSync(await readFile(join(folder, file!))))).not.toMatch(/[\u2028\u2029]/);
  await from.close();
  await target.close();
});

test('an item round-trips, whatever it contains', async () => {
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
    { numRuns: 100, examples: [[{ text: 'a\u2028b\u2029c' }]] },
  );
});
