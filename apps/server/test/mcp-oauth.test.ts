import { createServer } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { createClient, type Client as StakClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readServerConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/server.ts';

// An app without a key, with the protocol's own client and its own way of getting tokens.

let server: RunningServer;
let ann: StakClient;
beforeAll(async () => {
  // Tokens are for the address that the server has been told: it has to be known before it listens.
  const port = await new Promise<number>(resolve => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address() as { port: number };
      probe.close(() => resolve(free));
    });
  });
  server = await startServer(readServerConfig({ port, memory: true, demo: false }, { STAK_LAKE: 'off' }), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
  });
  const person = { email: 'ann@example.com', password: 'a long enough password', name: 'Ann', cookie: false };
  const { data } = await createClient({ baseUrl: server.url }).accounts.signUp({ body: person });
  ann = createClient({ baseUrl: server.url, token: data.access_token });
}, 60_000);
afterAll(() => server?.stop());

type App = OAuthClientProvider & { asked: URL[]; stored: { tokens?: OAuthTokens } };

function createApp(): App {
  const stored: { tokens?: OAuthTokens; client?: OAuthClientInformationMixed; verifier?: string } = {};
  const asked: URL[] = [];
  return {
    asked,
    stored,
    redirectUrl: 'http://127.0.0.1:33418/callback',
    clientMetadata: {
      client_name: 'Assistant',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'a state',
    clientInformation: () => stored.client,
    saveClientInformation: client => {
      stored.client = client;
    },
    tokens: () => stored.tokens,
    saveTokens: tokens => {
      stored.tokens = tokens;
    },
    redirectToAuthorization: url => void asked.push(url),
    saveCodeVerifier: verifier => {
      stored.verifier = verifier;
    },
    codeVerifier: () => stored.verifier!,
  };
}

const transportOf = (authProvider: App) =>
  new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider });

// The person opens the app's link in their browser, looks, and decides.
async function decide(link: URL, scope: 'read' | 'write'): Promise<URLSearchParams> {
  const page = await fetch(link, { redirect: 'manual' });
  const address = new URL(page.headers.get('location')!, server.url);
  expect(address.pathname).toBe('/console/authorize');
  const request = address.searchParams.get('request')!;
  const { data: shown } = await ann.accounts.readAppRequest({ body: { request } });
  expect(shown).toMatchObject({ name: 'Assistant', redirectHost: '127.0.0.1:33418', organisation: 'Ann' });
  const body = { request, accountId: shown.accountId, approved: true, scope };
  return new URL((await ann.accounts.decideAppRequest({ body })).data.redirectTo).searchParams;
}

async function connect(app: App, scope: 'read' | 'write' = 'write'): Promise<Client> {
  const first = transportOf(app);
  await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
  const back = await decide(app.asked.at(-1)!, scope);
  expect(back.get('state')).toBe('a state');
  await first.finishAuth(back.get('code')!);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transportOf(app));
  return client;
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const result = await client.callTool({ name, arguments: args });
  const [{ text }] = result.content as [{ text: string }];
  return { isError: result.isError === true, data: JSON.parse(text) };
};

test('discovers the authorization server, is approved, and uses the tools', async () => {
  const app = createApp();
  const client = await connect(app);
  expect(app.asked[0]!.searchParams.get('resource')).toBe(`${server.url}/mcp`);
  expect(app.stored.tokens).toMatchObject({ token_type: 'Bearer', scope: 'read write' });
  expect((await call(client, 'tasks_create', { body: { title: 'Buy tea' } })).isError).toBe(false);
  expect((await call(client, 'accounts_who_am_i')).data).toMatchObject({ via: 'app', scope: 'write' });

  // When its token is over, it gets another one without asking.
  app.stored.tokens = { ...app.stored.tokens!, access_token: 'over' };
  expect((await call(client, 'tasks_counts')).isError).toBe(false);
  expect(app.stored.tokens.access_token).not.toBe('over');
  expect(app.asked).toHaveLength(1);
  await client.close();

  // Away from /mcp its token opens nothing.
  const direct = createClient({ baseUrl: server.url, token: app.stored.tokens.access_token });
  await expect(direct.tasks.list()).rejects.toMatchObject({ status: 401 });
  await expect(direct.accounts.listKeys()).rejects.toMatchObject({ status: 401 });
}, 60_000);

test('only reads if the person chose so, and loses access when it is disconnected', async () => {
  const app = createApp();
  const client = await connect(app, 'read');
  expect((await call(client, 'tasks_list')).isError).toBe(false);
  const refused = await call(client, 'tasks_create', { body: { title: 'No' } });
  expect([refused.isError, refused.data.code]).toEqual([true, 'http.scope_missing']);

  const { data: listed } = await ann.accounts.listApps();
  const { userId, sessionId } = listed.data.find(({ scope }) => scope === 'read')!;
  await ann.accounts.endApp({ userId, sessionId });
  await expect(client.callTool({ name: 'tasks_list' })).rejects.toThrow();
  expect(app.asked).toHaveLength(2); // it has to ask again
  await client.close();
}, 60_000);

test('a request without a valid token learns where to get one', async () => {
  const ask = async (headers: Record<string, string>) => {
    const answer = await fetch(`${server.url}/mcp`, { method: 'POST', body: '{}', headers });
    return [answer.status, answer.headers.get('www-authenticate')];
  };
  const challenge = `Bearer realm="stak", resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp"`;
  expect(await ask({})).toEqual([401, challenge]);
  expect(await ask({ authorization: 'Bearer nonsense' })).toEqual([
    401,
    `${challenge}, error="invalid_token"`,
  ]);
});
