import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAll } from '../command.ts';
import { type AttackedServer, type Person, signUp, startAttacked, withBystander } from './attacked-server.ts';

// A server with a small heap, and strangers who write as much as they may of what it keeps in memory. Each test has more
// than the heap takes: a cache that is not bounded by size ends the process.

let server: AttackedServer;
let eve: Person;
beforeAll(async () => {
  const env = { STAK_REQUESTS_PER_MINUTE: '1000000', STAK_DEFAULT_PLAN: 'selfhosted' };
  server = await startAttacked({ heapMB: 190, env });
  eve = await signUp(server.url, 'eve');
}, 60_000);
afterAll(async () => {
  await server?.stop();
  killAll();
});

const isAlive = async () => {
  expect(server.run.child.exitCode, server.run.stderr.slice(-2_000)).toBeNull();
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
};

async function together(count: number, atOnce: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

test('long addresses that nobody has', async () => {
  const agents = Array.from({ length: 40 }, () => new Agent({ keepAlive: true, maxSockets: 4 }));
  const get = (i: number) =>
    new Promise<number>((resolve, reject) => {
      const address = i % agents.length;
      request({
        port: server.port,
        host: '127.0.0.1',
        localAddress: `127.0.1.${address + 1}`,
        agent: agents[address],
        path: `/v1/tasks/feeds/${String(i).padStart(6, '0')}${'%00'.repeat(4_900)}`,
      })
        .on('response', response => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        })
        .on('error', reject)
        .end();
    });
  const statuses = new Set<number>();
  await together(8_000, 16, async i => statuses.add(await get(i)));
  expect(
    [...statuses].every(status => [400, 404, 429].includes(status)),
    [...statuses].join(),
  ).toBe(true);
  for (const agent of agents) agent.destroy();
  await isAlive();
}, 120_000);

test('sources with many large rules', async () => {
  const value = 'never '.repeat(170);
  const rules = Array.from({ length: 50 }, () => ({
    field: 'method' as const,
    operator: 'equals' as const,
    value,
  }));
  const filters = [{ and: rules }];
  const code = `const transform = event => ({ body: '' }); // ${'x'.repeat(63_000)}`;
  const sources: string[] = [];
  for (let i = 0; i < 42; i++) {
    const { data } = await eve.client.webhooks.createSource({ body: { name: `large ${i}` } });
    sources.push(data.sourceId);
  }
  await together(sources.length * 40, 8, async i => {
    const body = {
      name: `${i}`,
      destinationUrl: 'https://example.com/',
      filters,
      transform: { type: 'javascript' as const, code },
    };
    await eve.client.webhooks.createConnection({ sourceId: sources[i % sources.length]!, body });
  });
  await withBystander(
    server.port,
    () =>
      together(sources.length, 4, async i => {
        const answer = await fetch(`${server.url}/in/${sources[i]}`, { method: 'POST', body: '{}' });
        expect([200, 202, 503]).toContain(answer.status);
      }),
    3_000,
  );
  await isAlive();
}, 400_000);

test('settings of many tenants', async () => {
  const odd = Array.from({ length: 20_000 }, () => ({}));
  await together(200, 8, async i => {
    const tenant_id = `room-${i}`;
    await eve.client.tenants.create({ body: { tenant_id, name: 'T', status: 'active' } });
    const headers = {
      authorization: `Bearer ${eve.key}`,
      'content-type': 'application/json',
      'if-match': '*',
    };
    const url = `${server.url}/v1/tenants/${tenant_id}/settings`;
    const patched = await fetch(url, { method: 'PATCH', headers, body: JSON.stringify({ odd }) });
    expect(patched.status, await patched.text()).toBe(200);
  });
  await together(200, 8, async i => {
    await eve.client.tenants.getSettings({ tenant_id: `room-${i}` });
  });
  await isAlive();
}, 120_000);
