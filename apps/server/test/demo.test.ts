import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterEach, expect, test } from 'vitest';
import { readServerConfig } from '../src/config.ts';
import { mountConsole } from '../src/console-files.ts';
import { mountBooks } from '../src/demo/books.ts';
import { type Demo, prepareDemo } from '../src/demo.ts';
import { type RunningServer, startServer } from '../src/server.ts';
import { killAll, stak, start } from './command.ts';
import { untilPrinted } from './signed-in.ts';

type Visit = { folder: string; server: RunningServer; demo: Demo; client: Client };
const visits: Visit[] = [];

// A server whose demo workspace is filled, and somebody who has opened it.
async function visit(): Promise<Visit> {
  const folder = await mkdtemp(join(tmpdir(), 'stak-demo-'));
  let demo: Demo | undefined;
  const server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    extend: app => {
      mountConsole(app, () => demo);
      mountBooks(app);
    },
  });
  demo = await prepareDemo(server.url, folder);
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
const place = { tenant_id, inbox_key: 'news' };

async function look({ client }: Visit) {
  const [sends, tasks, sources, conversations] = await Promise.all([
    client.inbox.listSends({ ...place, limit: 100 }),
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

test('the first start fills every service, once, also if it was cut short', async () => {
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

test('stak demo breaks a destination and heals it, goes on live, and makes room for the next story', async () => {
  const me = await visit();
  const { client } = me;
  const url = ['--url', me.server.url];
  const first = await stak('demo', ...url, '--for', '1s', '--pace', '240');
  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(first.stderr).toContain('Filling: 170 of 170');
  expect(first.stdout).toContain('Live from now on, 240 things a minute');
  expect(first.stdout).toMatch(/\d\d:\d\d:\d\d {2}(stripe|inbox|tasks|agents|desk) /);

  const { sourceId, events, tasks, sends } = await look(me);
  expect(events.filter(({ status }) => !['delivered', 'filtered', 'rejected'].includes(status))).toEqual([]);
  expect(
    events.some(({ status }) => status === 'rejected'),
    'the forger is caught',
  ).toBe(true);
  const { data: connections } = await client.webhooks.listConnections({ sourceId });
  const desk = connections.data.find(({ name }) => name.includes('shipping'))!;
  expect(desk).toMatchObject({ status: 'paused', breaker: 'closed' });
  expect(desk.failureCount, 'it was out of order').toBeGreaterThan(0);
  const { data: alerts } = await client.webhooks.listAlerts();
  expect(alerts.data.map(one => one.alertKind)).toContain('breaker_opened');
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

test('what cannot be done is told with what to do', async () => {
  const [nobody, pace, length] = await Promise.all([
    stak('demo', '--url', 'http://127.0.0.1:1'),
    stak('demo', '--pace', '100000'),
    stak('demo', '--for', 'ever'),
  ]);
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('start one with npm start') });
  expect(pace).toMatchObject({ code: 1, stderr: expect.stringContaining('--pace is 240 at most') });
  expect(length).toMatchObject({ code: 1, stderr: expect.stringContaining('like 90s, 10m or 1h') });
}, 60_000);
