import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createClient } from '@stak/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bin } from './command.ts';
import { type SignedIn, signIn } from './signed-in.ts';

// With the protocol's own client.

let me: SignedIn;
let key: string;
beforeAll(async () => {
  me = await signIn();
  await me.client.tenants.create({ body: { tenant_id: 'acme', name: 'Acme', status: 'active' } });
  key = await createKey('write');
}, 60_000);
afterAll(() => me.close());

async function createKey(permissions: 'read' | 'write'): Promise<string> {
  const person = { email: 'ann@example.com', password: 'a long enough password', cookie: false };
  const { data } = await createClient({ baseUrl: me.url }).accounts.logIn({ body: person });
  const session = createClient({ baseUrl: me.url, token: data.access_token });
  const made = await session.accounts.createKey({ body: { name: permissions, permissions } });
  return made.data.key;
}

async function open(token = key): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${me.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer, it names itself.
type Called = { isError: boolean; text: string; data: any };
const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<Called> => {
  const result = await client.callTool({ name, arguments: args });
  const [content] = result.content as { type: string; text: string }[];
  return {
    isError: result.isError === true,
    text: content!.text,
    data: result.structuredContent,
  };
};

test('refuses requests from other sites, under any host name', async () => {
  const from = async (origin: string) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      Origin: origin,
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    return (await fetch(`${me.url}/mcp`, { method: 'POST', headers, body })).status;
  };
  for (const origin of ['http://evil.example', 'https://127.0.0.1.evil.example', 'null', 'nonsense'])
    expect([origin, await from(origin)]).toEqual([origin, 403]);
  for (const origin of [new URL(me.url).origin, 'http://localhost:6274', 'http://[::1]:80'])
    expect([origin, await from(origin)]).toEqual([origin, 200]);
});

test('an assistant finds tools for every service, and the table designs', async () => {
  const client = await open();
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  for (const name of [
    'inbox_publish',
    'tasks_create',
    'webhooks_list_events',
    'agents_send_message',
    'lake_query',
  ])
    expect(names).toContain(name);
  expect(new Set(names).size).toBe(names.length);
  const create = tools.find(({ name }) => name === 'tasks_create')!;
  expect(create.inputSchema.required).toEqual(['body']);
  expect(create.annotations).toMatchObject({ readOnlyHint: false });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('stak://tables/conversations');
  const { contents } = await client.readResource({ uri: 'stak://tables/conversations' });
  expect((contents[0] as { text: string }).text).toContain('# conversations');
  await expect(client.readResource({ uri: 'stak://tables/none' })).rejects.toThrow('There is no resource');
  await client.close();
}, 60_000);

test('it uses them with the rights of the key’s owner', async () => {
  const client = await open();
  const args = { body: { title: 'Buy tea' }, idempotency_key: 'once' };
  const [first, again] = [await call(client, 'tasks_create', args), await call(client, 'tasks_create', args)];
  expect(first.data).toMatchObject({ title: 'Buy tea' });
  expect(again.data).toEqual(first.data);
  expect((await call(client, 'tasks_counts')).data).toBeDefined();
  const { data } = await call(client, 'tasks_list', { limit: 10 });
  expect(data.data.map((one: { title: string }) => one.title)).toEqual(['Buy tea']);
  const said = { tenant_id: 'acme', conversation_id: 'c', body: { content: 'hello' } };
  expect((await call(client, 'agents_send_message', said)).data.reply.content).toMatch(/^Hello/);
  const other = await call(client, 'agents_list_conversations', { tenant_id: 'globex' });
  expect([other.isError, JSON.parse(other.text).code]).toEqual([true, 'tenants.not_found']);
  const bad = await call(client, 'tasks_create', { body: {} });
  expect([bad.isError, JSON.parse(bad.text).code]).toEqual([true, 'http.request_invalid']);
  // The address of a task called ".." would be that of another operation.
  for (const task_id of ['..', '.', '', '\ud800'])
    expect(await call(client, 'tasks_get', { task_id })).toMatchObject({
      isError: true,
      text: expect.stringContaining('"task_id" must name something'),
    });
  for (const idempotency_key of ['clé €', 'two\nlines', ''])
    expect(await call(client, 'tasks_create', { body: { title: 'No' }, idempotency_key })).toMatchObject({
      isError: true,
      text: expect.stringContaining('"idempotency_key" can have visible ASCII'),
    });
  await expect(client.callTool({ name: 'accounts_delete_me' })).rejects.toThrow('There is no tool');
  await client.close();
}, 60_000);

test('arguments that a tool does not take are refused by name, instead of being ignored', async () => {
  const client = await open();
  const { tools } = await client.listTools();
  await call(client, 'tasks_create', { body: { title: 'Open' } });
  for (const { name } of tools) {
    const wrong = await call(client, name, { no_such_argument: 'x' });
    expect([name, wrong.isError, wrong.text]).toEqual([
      name,
      true,
      expect.stringContaining('There is no argument "no_such_argument"'),
    ]);
  }
  const listed = await call(client, 'tasks_list', { status: 'completed' });
  expect(listed).toMatchObject({ isError: true, text: expect.stringContaining('limit') });
  const missing = await call(client, 'tasks_get');
  expect(missing).toMatchObject({ isError: true, text: expect.stringContaining('"task_id" is missing') });
  for (const limit of [{ most: 1 }, [{ most: 1 }]])
    expect(await call(client, 'tasks_list', { limit })).toMatchObject({
      isError: true,
      text: expect.stringContaining('"limit" cannot be an object'),
    });
  const key = { body: { title: 'No' }, idempotency_key: 5 };
  expect(await call(client, 'tasks_create', key)).toMatchObject({ isError: true });
  await client.close();
}, 60_000);

test('tools say what they do', async () => {
  const client = await open();
  const { tools } = await client.listTools();
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  expect(hints.lake_query).toMatchObject({
    readOnlyHint: true,
    destructiveHint: false,
    openWorldHint: false,
  });
  expect(hints.tasks_update).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  expect(hints.tasks_create).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  expect(hints.webhooks_replay_event).toMatchObject({ readOnlyHint: false, openWorldHint: true });
  expect(hints.agents_send_message).toMatchObject({ readOnlyHint: false, openWorldHint: true });
  await client.close();
}, 60_000);

test('a read-only key is offered nothing that writes', async () => {
  const client = await open(await createKey('read'));
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['tasks_list', 'lake_query']));
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
  await client.close();
}, 60_000);

test('a read-only key only reads, and a key is required', async () => {
  const client = await open(await createKey('read'));
  expect((await call(client, 'tasks_list')).isError).toBe(false);
  const refused = await call(client, 'tasks_create', { body: { title: 'No' } });
  expect([refused.isError, JSON.parse(refused.text).status]).toEqual([true, 403]);
  await client.close();
  await expect(open('nonsense')).rejects.toThrow('Send an API key or a token');
}, 60_000);

test('a batch counts as one request per message, and is limited', async () => {
  const headers = { Authorization: `Bearer ${key}` };
  const post = (body: string) =>
    fetch(`${me.url}/mcp`, {
      method: 'POST',
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body,
    });
  const batch = (length: number) =>
    JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' })));
  const left = async () =>
    Number((await fetch(`${me.url}/v1/whoami`, { headers })).headers.get('ratelimit-remaining'));
  const before = await left();
  const startedMs = performance.now();
  const answer = await post(batch(20));
  expect([answer.status, ((await answer.json()) as unknown[]).length]).toEqual([200, 20]);
  const cameBack = ((performance.now() - startedMs) / 1000) * 10; // of 600 a minute
  expect(before - (await left()) + cameBack).toBeGreaterThan(19);
  for (const body of [batch(21), '[', '']) expect((await post(body)).status, body.slice(0, 9)).toBe(400);
}, 60_000);

test('works over standard input and output', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--url', me.url],
    env: { ...(process.env as Record<string, string>), STAK_TOKEN: key },
  });
  await client.connect(transport);
  expect((await client.listTools()).tools.length).toBeGreaterThan(20);
  expect((await call(client, 'accounts_who_am_i')).data).toMatchObject({ kind: 'account' });
  const task = { title: 'One', description: 'Two\u2028three\u2029four' }; // separators of lines to Unicode
  expect((await call(client, 'tasks_create', { body: task })).data).toMatchObject(task);
  await client.close();
}, 60_000);
