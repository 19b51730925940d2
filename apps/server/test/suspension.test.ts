import { createClient } from '@stak/client';
import { createLogger, manualClock } from '@stak/kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readServerConfig } from '../src/config.ts';
import { type RunningServer, startServer } from '../src/server.ts';

const clock = manualClock(Date.UTC(2026, 0, 1));
let server: RunningServer;
beforeAll(async () => {
  server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, {}), {
    clock,
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
}, 60_000);
afterAll(() => server.stop());

const as = (token?: string) => createClient({ baseUrl: server.localUrl, token });
const tenant_id = 'acme';

it('puts out those who were listening when their tenant was suspended, and nobody else', async () => {
  const account = { email: 'host@example.com', password: 'a long enough password', name: 'Host' };
  const { data: session } = await as().accounts.signUp({ body: { ...account, cookie: false } });
  const host = as(session.access_token);
  const made = await host.tenants.create({ body: { tenant_id, name: 'Acme', status: 'active' } });
  await host.inbox.writeInbox({ tenant_id, inbox_key: 'main', body: { title: 'Main' } });
  const { data: user } = await host.tenants.mintToken({
    tenant_id,
    body: { sub: 'ann', scope: 'inbox:read tasks:read' },
  });
  const open = (token: string, path: string) =>
    fetch(`${server.localUrl}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const inbox = await open(user.token, `/v1/tenants/${tenant_id}/inboxes/main/users/me/stream`);
  const tasks = await open(user.token, '/v1/tasks/events');
  const others = await open(session.access_token, '/v1/tasks/events');
  expect([inbox.status, tasks.status, others.status]).toEqual([200, 200, 200]);

  await host.tenants.update({ tenant_id, body: { status: 'suspended' } }, { ifMatch: made.etag! });
  await clock.advance(15_000);
  const end = 'event: end\ndata: {"reason":"refused"}\n\n';
  expect(await inbox.text()).toContain(end);
  expect(await tasks.text()).toContain(end);
  const reader = others.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  while (!seen.includes(': still here')) seen += (await reader.read()).value;
  expect(seen).not.toContain('event: end');
  await reader.cancel();
});
