import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEngine } from '@stak/engine';
import { createApi, endpoint, json, route } from '@stak/http';
import { createLogger, manualClock, seededRandom, systemClock } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createStore, createTables, defineTable, entity, tableErrors } from '@stak/table';
import { createAdversary } from '@stak/table/adversary';
import { awsClient } from '@stak/table/aws';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { storeCheck } from '../src/store-check.ts';

const log = createLogger({ level: 'silent' });
const failure = (type: string) => `{"__type":"com.amazonaws.dynamodb.v20120810#${type}","message":"x"}`;

test('probes share one read a second, of one key', async () => {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  await createTables(engine, [streamsTable]);
  const clock = manualClock();
  const reads: object[] = [];
  const client = {
    get: (input: Parameters<typeof engine.client.get>[0]) => {
      reads.push(input);
      return engine.client.get(input);
    },
  };
  const check = storeCheck(client, clock);
  for (let probe = 0; probe < 20; probe++) await check();
  expect(reads).toHaveLength(1);
  await clock.advance(1_000);
  await Promise.all([check(), check()]);
  expect(reads).toHaveLength(2);
});

test('a store that is throttled now and then is ready, one that always is is not', async () => {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  await createTables(engine, [streamsTable]);
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const at = (throttled: number) => {
    const client = createAdversary(engine.client, { random: seededRandom(1), throttled });
    return storeCheck(client, clock);
  };
  await at(0.2)();
  await expect(at(1)()).rejects.toMatchObject({ name: 'ThrottlingException' });
});

const things = defineTable({ name: 'things', keys: { partition: 'pk' } });
const thing = entity(things, {
  name: 'thing',
  schema: z.object({ id: z.string() }),
  key: { partition: '{id}' },
});

type Deed = 'hangs' | 'resets' | { status: number; type: string };

test.each<[string, Deed]>([
  ['hangs', 'hangs'],
  ['resets', 'resets'],
  ['fails', { status: 500, type: 'InternalServerError' }],
  ['throttles', { status: 400, type: 'ThrottlingException' }],
])('a store that %s is a 503 that says when to come back', async (_, deed) => {
  const server = createServer((incoming, outgoing) => {
    if (deed === 'hangs') return;
    if (deed === 'resets') return incoming.socket.resetAndDestroy();
    outgoing.writeHead(deed.status, { 'content-type': 'application/x-amz-json-1.0' }).end(failure(deed.type));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const client = awsClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    answerMs: 50,
  });
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const store = createStore({ client, random: () => 0 });
  const read = (path: `/${string}`) =>
    route({
      method: 'get',
      path,
      auth: 'public',
      summary: 'Read',
      problems: ['table.busy', 'http.unavailable'],
      responses: { 200: json(z.object({})) },
    });
  const { app } = createApi({
    info: { title: 'Test', version: '1', description: '' },
    endpoints: [
      endpoint(read('/by-store'), async c => c.json({ found: await store.get(thing, { id: 'a' }) }, 200)),
      // Some read without a store, as those do that scan.
      endpoint(read('/by-client'), async c => c.json(await client.scan({ TableName: 'things' }), 200)),
    ],
    errors: [tableErrors],
    authenticate: async () => undefined,
    clock: systemClock,
    log,
    checks: { store: storeCheck(client, systemClock) },
  });
  for (const [path, code] of [
    ['/by-store', 'table.busy'],
    ['/by-client', 'http.unavailable'],
  ] as const) {
    const response = await app.request(path);
    expect([response.status, await response.json()]).toMatchObject([503, { code }]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const ready = await app.request('/readyz');
  expect([ready.status, await ready.json()]).toMatchObject([503, { checks: { store: 'failed' } }]);
});
