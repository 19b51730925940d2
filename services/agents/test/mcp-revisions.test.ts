import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createOutbound } from '@stak/outbound';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { createModels } from '../src/index.ts';
import { type Fixture, openFixture, say } from './agents-fixture.ts';
import { openWire, type Reply, wires } from './provider-wires.ts';

// Servers of the revision 2026-07-28, made with the protocol's own package, alone or beside older revisions.

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Serve = (request: Request) => Promise<Response>;
type Asked = { method: string; name: string | null; trace: unknown };

async function listen(serve: Serve): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const behaviour = async (incoming: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const headers = new Headers(incoming.headers as Record<string, string>);
    const { method, params } = JSON.parse(body || '{}');
    asked.push({ method, name: headers.get('mcp-name'), trace: params?._meta?.traceparent });
    const url = `http://127.0.0.1${incoming.url}`;
    const init = { method: incoming.method ?? 'POST', headers, ...(body !== '' && { body }) };
    const answer = await serve(new Request(url, init));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer((request, response) => void behaviour(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise<void>(resolve => server.close(() => resolve()).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked };
}

function describeNotebook(notes: string[]) {
  const server = new McpServer({ name: 'notebook', version: '1' });
  server.registerTool(
    'add',
    { description: 'Adds a note.', inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => {
      notes.push(text);
      return { content: [{ type: 'text', text: `Noted: ${text}` }] };
    },
  );
  // A client has to send the region as a header as well.
  server.registerTool(
    'move',
    {
      description: 'Moves the notebook.',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    },
    async ({ region }) => ({ content: [{ type: 'text', text: `Moved to ${region}` }] }),
  );
  server.registerTool('ask', { description: 'Asks.', inputSchema: z.object({}) }, async () => ({
    resultType: 'input_required' as const,
    inputRequests: {
      name: {
        method: 'elicitation/create' as const,
        params: { message: 'Who?', requestedSchema: { type: 'object' as const, properties: {} } },
      },
    },
    requestState: 'state',
  }));
  return server;
}

const wire = wires.find(({ provider }) => provider === 'openai-compatible')!;
const call = (name: string, input: object) => wire.calls({ id: 'a1', name, input });

async function openChat(replies: readonly Reply[]) {
  const model = await openWire(replies);
  const models = createModels(wire.configure(model.url));
  const fixture = await openFixture(undefined, {
    models,
    outbound: createOutbound({ allow: ['127.0.0.0/8'] }),
  });
  closers.push(model.close, fixture.target.close);
  const names = ['mcp_notes_add', 'mcp_notes_move', 'mcp_notes_ask'];
  fixture.tenants.get('acme')!.settings = {
    ai_provider: wire.provider,
    ai_model: wire.model,
    enabled_skills: names,
    skill_approvals: Object.fromEntries(names.map(name => [name, 'never'])),
  };
  return { fixture, model };
}

const path = '/v1/tenants/acme/mcp-servers/notes';
const register = (fixture: Fixture, url: string) => fixture.call('PUT', path, { send: { url } });

it.each([
  ['of the new revision alone', 'reject', '2026-07-28'],
  ['of both revisions', 'stateless', '2026-07-28'],
] as const)('a server %s is used without a session: a call is one request', async (_, legacy, version) => {
  const notes: string[] = [];
  const handler = createMcpHandler(() => describeNotebook(notes), { legacy });
  const { url, asked } = await listen(request => handler.fetch(request));
  const { fixture } = await openChat([call('mcp_notes_add', { text: 'tea' }), wire.text('Done.')]);
  const { body } = await register(fixture, url);
  expect(body).toMatchObject({ protocol_version: version, tools: [{ name: 'add' }, { name: 'move' }, {}] });
  expect(asked.map(({ method }) => method)).toEqual(['server/discover', 'tools/list']);
  asked.length = 0;
  expect((await say(fixture, 'c', 'Note tea')).body.reply.content).toBe('Done.');
  expect(asked).toMatchObject([{ method: 'tools/call', name: 'add' }]);
  expect(notes).toEqual(['tea']);
});

it('an argument that has to be a header is sent as one', async () => {
  const handler = createMcpHandler(() => describeNotebook([]), { legacy: 'reject' });
  const { url } = await listen(request => handler.fetch(request));
  const { fixture, model } = await openChat([call('mcp_notes_move', { region: 'eu' }), wire.text('Done.')]);
  await register(fixture, url);
  await say(fixture, 'c', 'Move it');
  expect(JSON.stringify(model.asked[1]!.body)).toContain('Moved to eu');
});

it('a tool that asks something back has failed, because nobody is asked', async () => {
  const handler = createMcpHandler(() => describeNotebook([]), { legacy: 'reject' });
  const { url } = await listen(request => handler.fetch(request));
  const { fixture, model } = await openChat([call('mcp_notes_ask', {}), wire.text('Hm.')]);
  await register(fixture, url);
  expect((await say(fixture, 'c', 'Ask')).body.reply.content).toBe('Hm.');
  expect(JSON.stringify(model.asked[1]!.body)).toContain('the MCP server notes failed');
});

it('a server that changes its revision is used again as soon as that has shown', async () => {
  const notes: string[] = [];
  const modern = createMcpHandler(() => describeNotebook(notes), { legacy: 'reject' });
  // A server of before: it knows nothing of the new revision.
  const old = createMcpHandler(() => describeNotebook(notes));
  const older: Serve = async request => {
    const body = await request.clone().text();
    if (request.headers.has('mcp-method') || body.includes('2026-07-28'))
      return new Response('Bad Request: no session', { status: 400 });
    return old.fetch(request);
  };
  let serve: Serve = older;
  const { url } = await listen(request => serve(request));
  const adds = ['one', 'two', 'three'].flatMap(text => [call('mcp_notes_add', { text }), wire.text('Hm.')]);
  const { fixture } = await openChat(adds);
  const versionOf = async () => (await fixture.call('GET', path)).body.protocol_version;
  expect((await register(fixture, url)).body.protocol_version).toBe('2025-11-25');
  await say(fixture, 'c', 'Note one');
  expect(notes).toEqual(['one']);
  serve = request => modern.fetch(request);
  await say(fixture, 'c', 'Note two');
  await expect.poll(versionOf, { timeout: 10_000 }).toBe('2026-07-28');
  await say(fixture, 'c', 'Note three');
  expect(notes).toEqual(['one', 'three']);
});

it.each([
  ['promises a revision that nobody speaks', { supportedVersions: ['2999-01-01'], capabilities: {} }],
  ['promises nothing that can be read', { supportedVersions: 'all' }],
  ['says the same of everything', {}],
])('a server that %s is refused, with the reason', async (_, result) => {
  const { url } = await listen(async request => {
    const { id } = (await request.json()) as { id: unknown };
    return Response.json({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } });
  });
  const { fixture } = await openChat([]);
  const { status, body } = await register(fixture, url);
  expect([status, body.code]).toEqual([422, 'agents.mcp_server_refused']);
});
