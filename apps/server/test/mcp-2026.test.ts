import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient } from '@stak/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bin } from './command.ts';
import { type SignedIn, signIn } from './signed-in.ts';

// The revision 2026-07-28, with the protocol's own client, which does not fall back to an older one.

const revision = '2026-07-28';
let me: SignedIn;
let key: string;
let reader: string;
beforeAll(async () => {
  me = await signIn();
  await me.client.tenants.create({ body: { tenant_id: 'acme', name: 'Acme', status: 'active' } });
  await me.client.inbox.writeInbox({ tenant_id: 'acme', inbox_key: 'main', body: { title: 'Main' } });
  [key, reader] = await Promise.all([createKey('write'), createKey('read')]);
}, 60_000);
afterAll(() => me.close());

async function createKey(permissions: 'read' | 'write'): Promise<string> {
  const person = { email: 'ann@example.com', password: 'a long enough password', cookie: false };
  const { data } = await createClient({ baseUrl: me.url }).accounts.logIn({ body: person });
  const session = createClient({ baseUrl: me.url, token: data.access_token });
  const made = await session.accounts.createKey({ body: { name: permissions, permissions } });
  return made.data.key;
}

const say = (title: string) =>
  me.client.inbox.publish({
    ...{ tenant_id: 'acme', inbox_key: 'main' },
    body: { uids: ['bob'], message: { title, body: title } },
  });

const pinned = () =>
  new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: revision } } });

async function open(token = key): Promise<Client> {
  const client = pinned();
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${me.url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function post(body: unknown, headers: Record<string, string> = {}, token = key) {
  const response = await fetch(`${me.url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const named = (method: string, name?: string) => ({
  'MCP-Protocol-Version': revision,
  'Mcp-Method': method,
  ...(name !== undefined && { 'Mcp-Name': name }),
});

test('says what it is in one request, without a session', async () => {
  const client = await open();
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  expect(client.getDiscoverResult()).toMatchObject({
    supportedVersions: [revision],
    capabilities: { tools: {}, resources: { subscribe: true } },
    instructions: expect.stringContaining('idempotency_key'),
    cacheScope: 'public',
  });
  expect(client.getServerVersion()).toMatchObject({ name: 'stak' });
  await client.close();
}, 60_000);

test('lists the tools of a key for it alone, and for how long the list may be kept', async () => {
  const lists = await Promise.all(
    [key, reader].map(async token => {
      const client = await open(token);
      const list = await client.listTools();
      await client.close();
      return list;
    }),
  );
  const [all, read] = lists.map(({ tools }) => tools.map(({ name }) => name));
  expect(all).toContain('tasks_create');
  expect(read).toContain('tasks_list');
  expect(read).not.toContain('tasks_create');
  for (const list of lists) expect(list).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' });
}, 60_000);

test('results are objects of the form that the tool promises', async () => {
  const client = await open();
  const { tools } = await client.listTools(); // the client compiles the schemas, and checks each result
  const withOutput = tools.filter(({ outputSchema }) => outputSchema);
  expect(withOutput.length).toBeGreaterThan(tools.length / 2);
  const created = await client.callTool({ name: 'tasks_create', arguments: { body: { title: 'Tea' } } });
  expect(created.structuredContent).toMatchObject({ title: 'Tea' });
  const { task_id } = created.structuredContent as { task_id: string };
  const said = { tenant_id: 'acme', conversation_id: 'c', body: { content: 'hello' } };
  for (const [name, input] of [
    ['tasks_get', { task_id }],
    ['tasks_list', { limit: 5 }],
    ['tasks_counts', {}],
    ['accounts_who_am_i', {}],
    ['agents_send_message', said],
    ['agents_list_conversations', { tenant_id: 'acme' }],
    ['lake_query', { body: { sql: 'SELECT 1 AS one' } }],
  ] as const) {
    const { isError, structuredContent } = await client.callTool({ name, arguments: input });
    expect([name, isError ?? false, typeof structuredContent]).toEqual([name, false, 'object']);
  }
  const refused = await client.callTool({ name: 'tasks_get', arguments: { task_id: 'none' } });
  expect(refused).toMatchObject({ isError: true });
  await client.close();
}, 60_000);

describe('a list that is watched', () => {
  test('tells of each change to who may read it, until they stop', async () => {
    const client = await open();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('stak://api/v1/tasks');
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
      expect.arrayContaining([
        'stak://api/v1/sources/{sourceId}/events',
        'stak://api/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}/messages',
      ]),
    );
    const inbox = 'stak://api/v1/tenants/acme/inboxes/main/users/bob/messages';
    const changed = new Set<string>();
    const waiting: (() => void)[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      changed.add(params.uri);
      for (const resolve of waiting.splice(0)) resolve();
    });
    const untilChanged = async (uri: string) => {
      while (!changed.has(uri)) await new Promise<void>(resolve => waiting.push(resolve));
    };
    const foreign = 'stak://api/v1/tenants/globex/inboxes/main/users/bob/messages';
    await say('One');
    const subscription = await client.listen({
      resourceSubscriptions: [
        'stak://api/v1/tasks',
        inbox,
        foreign,
        'stak://tables/conversations',
        'file:///etc',
      ],
      toolsListChanged: true,
    });
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: ['stak://api/v1/tasks', inbox] });
    await client.callTool({ name: 'tasks_create', arguments: { body: { title: 'Watched' } } });
    await untilChanged('stak://api/v1/tasks');
    const { contents } = await client.readResource({ uri: 'stak://api/v1/tasks' });
    expect((contents[0] as { text: string }).text).toContain('Watched');
    changed.clear();
    await say('Two');
    await untilChanged(inbox);
    await subscription.close();
    expect(await subscription.closed).toBe('local');
    await client.close();
  }, 60_000);

  test('ends at once where there is nothing to tell, and is not opened without the right', async () => {
    const client = await open(reader);
    const nothing = await client.listen({ toolsListChanged: true });
    expect([nothing.honoredFilter, await nothing.closed]).toEqual([{}, 'graceful']);
    const many = Array.from({ length: 11 }, (_, i) => `stak://api/v1/sources/src_${i}/events`);
    await expect(client.listen({ resourceSubscriptions: many })).rejects.toThrow('at most 10');
    for (const uri of [
      'stak://api/v1/sources/../tasks',
      'stak://api/v1/sources/%2e%2e/events',
      'stak://api/v1/sources/%/events',
      'stak://api/v1/sources/none/events',
      'stak://api/v1/me',
      'http://127.0.0.1/',
    ])
      await expect(client.readResource({ uri })).rejects.toThrow(/There is no resource|cannot be read/);
    await client.close();
  }, 60_000);

  test('is closed when its key is revoked', async () => {
    const person = { email: 'ann@example.com', password: 'a long enough password', cookie: false };
    const { data } = await createClient({ baseUrl: me.url }).accounts.logIn({ body: person });
    const session = createClient({ baseUrl: me.url, token: data.access_token });
    const made = await session.accounts.createKey({ body: { name: 'short', permissions: 'read' } });
    const client = await open(made.data.key);
    const subscription = await client.listen({ resourceSubscriptions: ['stak://api/v1/tasks'] });
    await session.accounts.deleteKey({ keyId: made.data.keyId });
    expect(await subscription.closed).toBe('graceful');
    await client.close();
  }, 60_000);
});

describe('a request that is not as the revision wants it', () => {
  const list = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta: meta } };

  test.each([
    ['without its headers', list, {}, 400, -32020],
    ['with the header of another method', list, named('tools/call'), 400, -32020],
    [
      'with the name of another tool in its header',
      { ...list, method: 'tools/call', params: { name: 'tasks_create', arguments: {}, _meta: meta } },
      named('tools/call', 'tasks_list'),
      400,
      -32020,
    ],
    [
      'of a revision that there is not',
      { ...list, params: { _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': '2999-01-01' } } },
      { ...named('tools/list'), 'MCP-Protocol-Version': '2999-01-01' },
      400,
      -32022,
    ],
    [
      'without the capabilities of its client',
      { ...list, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': revision } } },
      named('tools/list'),
      400,
      -32602,
    ],
    ['of a method that there is not', { ...list, method: 'no/such' }, named('no/such'), 404, -32601],
    [
      'of a tool that there is not',
      { ...list, method: 'tools/call', params: { name: 'x'.repeat(1000), _meta: meta } },
      named('tools/call', 'x'.repeat(1000)),
      200,
      -32602,
    ],
    ['in a list', [list, list], named('tools/list'), 400, -32600],
  ])('%s is refused by its code', async (_, body, headers, status, code) => {
    const answer = await post(body, headers);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  });

  test('without a key, or of another site, gets nothing', async () => {
    expect((await post(list, named('tools/list'), 'nonsense')).status).toBe(401);
    expect((await post(list, { ...named('tools/list'), Origin: 'http://evil.example' })).status).toBe(403);
  });

  test('with a trace that is no trace, or with a state that nobody gave, is answered all the same', async () => {
    const params = {
      name: 'tasks_counts',
      arguments: {},
      requestState: 'forged',
      _meta: { ...meta, traceparent: 'x\r\nauthorization: Bearer other' },
    };
    const answer = await post({ ...list, method: 'tools/call', params }, named('tools/call', 'tasks_counts'));
    expect([answer.status, answer.body.result?.isError]).toEqual([200, false]);
  });
});

test('a client that takes what there is gets the new revision, and one that asks for the old one that', async () => {
  for (const [mode, expected] of [
    ['auto', revision],
    ['legacy', '2025-11-25'],
  ] as const) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const headers = { Authorization: `Bearer ${key}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${me.url}/mcp`), { requestInit: { headers } }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(expected);
    expect(client.getInstructions()).toContain('idempotency_key');
    expect((await client.callTool({ name: 'tasks_counts', arguments: {} })).structuredContent).toBeDefined();
    await client.close();
  }
}, 60_000);

test('works over standard input and output, and watches there, too', async () => {
  const client = pinned();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--url', me.url],
    env: { ...(process.env as Record<string, string>), STAK_TOKEN: key },
  });
  await client.connect(transport);
  const name = 'tasks_create';
  const body = { title: 'Ünïcode', description: 'Two\u2028three' };
  expect((await client.callTool({ name, arguments: { body } })).structuredContent).toMatchObject(body);
  const changed = new Promise<string>(resolve =>
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri)),
  );
  const subscription = await client.listen({ resourceSubscriptions: ['stak://api/v1/tasks'] });
  await client.callTool({ name, arguments: { body: { title: 'Watched' } } });
  expect(await changed).toBe('stak://api/v1/tasks');
  await subscription.close();
  await client.close();
}, 60_000);
