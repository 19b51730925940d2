import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, { STAK_LAKE: 'off' }), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
});
afterAll(() => server.stop());

const as = (token?: string) => createClient({ baseUrl: server.url, token });

test('the token for one’s own inbox has no more rights than the session that requested it, and ends with it', async () => {
  const person = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false };
  const { data: session } = await as().accounts.signUp({ body: person });
  const scopes = ['read', 'write', 'admin'] as const;
  const given: string[] = [];
  for (const permissions of scopes) {
    const body = { name: permissions, permissions };
    const { data: key } = await as(session.access_token).accounts.createKey({ body });
    const { data: own } = await as(key.key).accounts.mintInboxToken();
    expect(Date.parse(own.expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000);
    const { data: caller } = await as(own.token).accounts.whoAmI();
    expect(caller).toMatchObject({ kind: 'endUser', tenantId: 'stak' });
    given.push(caller.scope);
    const mailbox = { tenant_id: own.tenant_id, uid: 'me' };
    for (const inbox_key of ['alerts', 'tasks'])
      expect((await as(own.token).inbox.counts({ ...mailbox, inbox_key })).data.total).toBe(0);
  }
  expect(given).toEqual(['inbox:read', 'inbox:read inbox:write', 'inbox:read inbox:write']);
});
