import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { mountBooks } from '../src/cli/demo/books.ts';
import { prepareDemo } from '../src/cli/demo/demo.ts';
import { readServerConfig } from '../src/config/config.ts';
import { mountConsole } from '../src/http/console-files.ts';
import { issueSignInToken } from '../src/http/demo-sign-in-token.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';
import { killAll, stak, start } from './command.ts';
import { untilPrinted } from './signed-in.ts';

type Visit = {
  folder: string;
  server: RunningServer;
  demo: Awaited<ReturnType<typeof prepareDemo>>;
  client: Client;
};
const visits: Visit[] = [];

// A server whose demo workspace is filled, and somebody who has opened it.
async function visit(): Promise<Visit> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-demo-'));
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    extend: api => {
      mountConsole(api, { demoFolder: folder });
      mountBooks(api.mount);
    },
  });
  const demo = await prepareDemo(server.url, folder);
  const { email, password } = demo;
  const visitor = createClient({ baseUrl: server.url });
  const { data } = await visitor.accounts.logIn({ body: { email, password, cookie: false } });
  const client = createClient({ baseUrl: server.url, token: data.access_token });
  const made = { folder, server, demo, client };
  visits.push(made);
  return made;
}

afterEach(async () => {
  killAll();
  for (const { folder, server } of visits.splice(0)) {
    await server.stop();
    await rm(folder, { recursive: true });
  }
});

const tenant_id = 'demo-shop';
const inboxId = { tenant_id, inbox_key: 'news' };

async function look({ client }: Visit) {
  const [sends, tasks, sources, conversations] = await Promise.all([
    client.inbox.listSends({ ...inboxId, limit: 100 }),
    client.tasks.counts(),
    client.webhooks.listSources(),
    client.agents.listConversations({ tenant_id }),
  ]);
  const stripe = sources.data.data.find(({ name }) => name === 'Stripe')!;
  const events = await client.webhooks.listEvents({ sourceId: stripe.sourceId, limit: 100 });
  return {
    sends: sends.data.data.map(({ title }) => title),
    tasks: tasks.data,
    sources: sources.data.data.map(({ name }) => name).toSorted(),
    events: events.data.data,
    conversations: conversations.data.data.map(one => one.conversation_id),
    sourceId: stripe.sourceId,
  };
}

test('the first start fills every service, once, even if it was interrupted', async () => {
  const me = await visit();
  const { server, folder, demo } = me;
  const file = join(folder, 'demo.json');
  const before = await look(me);
  await writeFile(file, (await readFile(file, 'utf8')).replace('"isFilled": true', '"isFilled": false'));
  expect(await prepareDemo(server.url, folder)).toMatchObject({ password: demo.password });

  const after = await look(me);
  expect(after.sends).toEqual(before.sends);
  expect(after.tasks).toEqual(before.tasks);
  expect(after.sources).toEqual(['Stripe', 'demo']);
  expect(after.conversations).toEqual(before.conversations);
  expect(after.sends.length).toBeGreaterThan(5);
  expect(after.tasks.by_status).toMatchObject({
    pending: expect.toSatisfy(count => count > 2),
    in_progress: expect.toSatisfy(count => count > 0),
    completed: expect.toSatisfy(count => count > 0),
  });
  const signed = ({ events }: typeof before) => events.filter(({ status }) => status !== 'rejected').length;
  expect(signed(after)).toBe(signed(before));
  expect(after.conversations).toContain('first-ann');
}, 60_000);

// As nginx's bare proxy_pass does it: the Host is rewritten, and no header tells of the caller.
async function openProxy(target: string): Promise<{ url: string; close(): void }> {
  const { hostname, port, host } = new URL(target);
  const proxy = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const onward = httpRequest({ hostname, port, method, path, headers: { ...headers, host } }, answer => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return { url, close: () => void proxy.close().closeAllConnections() };
}

const redeem = (url: string, token: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}/console/demo/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ token }),
  });

test('only the printed link signs in to the demo, once, and its password stays secret', async () => {
  const { server, folder, demo } = await visit();
  const proxy = await openProxy(server.url);
  onTestFinished(() => proxy.close());
  const first = await issueSignInToken(folder);
  const token = await issueSignInToken(folder); // as after a restart
  for (const url of [server.url, proxy.url]) {
    const told = await (await fetch(`${url}/console/demo.json`)).text();
    expect(told).toBe(JSON.stringify({ email: demo.email }));
    for (const wrong of ['', 'x', first, token.slice(1), '../demo.json', null, { token }, 'x'.repeat(1000)])
      expect((await redeem(url, wrong)).status).toBe(401);
  }
  for (const header of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip']) {
    expect((await fetch(`${server.url}/console/demo.json`, { headers: { [header]: 'x' } })).status).toBe(404);
    expect((await redeem(server.url, token, { [header]: 'x' })).status).toBe(401);
  }

  const answers = await Promise.all(Array.from({ length: 5 }, () => redeem(server.url, token)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
  const session = answers.find(({ ok }) => ok)!;
  expect(session.headers.get('set-cookie')).toContain('HttpOnly');
  const text = await session.text();
  expect(text).not.toContain(demo.password);
  const { access_token } = JSON.parse(text) as { access_token: string };
  const { accounts } = createClient({ baseUrl: server.url, token: access_token });
  expect((await accounts.getMe()).data).toMatchObject({ email: demo.email, userId: demo.accountId });
}, 60_000);

test('stak demo breaks and repairs a destination, continues live, and makes room for the next story', async () => {
  const me = await visit();
  const { client } = me;
  const url = ['--url', me.server.url, '--path', me.folder];
  const first = await stak('demo', ...url, '--for', '1s', '--pace', '240');
  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(first.stderr).toContain('Filling: 170 of 170');
  expect(first.stdout).toContain('Live from now on, 240 things a minute');
  expect(first.stdout).toMatch(/\d\d:\d\d:\d\d {2}[a-z]+ +\S/);

  const { sourceId, events, tasks, sends } = await look(me);
  expect(events.filter(({ status }) => !['delivered', 'filtered', 'rejected'].includes(status))).toEqual([]);
  expect(
    events.some(({ status }) => status === 'rejected'),
    'the forger is caught',
  ).toBe(true);
  const { data: connections } = await client.webhooks.listConnections({ sourceId });
  const shipping = connections.data.find(({ name }) => name.includes('shipping'))!;
  expect(shipping).toMatchObject({ status: 'paused', breaker: 'closed' });
  // Not failureCount: where the breaker opens before a delivery's third attempt, all are held and none fails.
  const { data: alerts } = await client.webhooks.listAlerts();
  expect(
    alerts.data.map(one => one.alertKind),
    'it was out of order',
  ).toContain('breaker_opened');
  expect(tasks.overdue).toBeGreaterThan(0);

  // Again, and stopped by Ctrl-C as soon as the old story is cleared away.
  const second = start('demo', ...url, '--seed', '2');
  await untilPrinted(second, 'The story of a shop');
  second.child.kill('SIGINT');
  expect(await second.code, second.stderr).toBe(0);
  const again = await look(me);
  expect(again.tasks.by_status, "what was open of the first story's tasks is gone").toEqual({
    ...tasks.by_status,
    pending: 3,
    in_progress: 0,
  });
  expect(again.sends).toEqual(sends);
}, 120_000);

test('errors say what to do', async () => {
  const [nobody, pace, length] = await Promise.all([
    stak('demo', '--url', 'http://127.0.0.1:1'),
    stak('demo', '--pace', '100000'),
    stak('demo', '--for', 'ever'),
  ]);
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('start one with stak start') });
  expect(pace).toMatchObject({ code: 1, stderr: expect.stringContaining('--pace is 240 at most') });
  expect(length).toMatchObject({ code: 1, stderr: expect.stringContaining('like 90s, 10m, 1h or 7d') });
}, 60_000);
