import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createOutbound } from '@stak/outbound';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createModels } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { advanceUntil, type Fixture, isKept, openFixture, say, settle } from './agents-fixture.ts';
import { openWire, type Reply, wires } from './provider-wires.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

async function listen(behaviour: Behaviour): Promise<string> {
  const server = createServer((request, response) => void behaviour(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise<void>(resolve => server.close(() => resolve()).closeAllConnections()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const readMessage = async (request: IncomingMessage) => JSON.parse((await text(request)) || '{}');
const answerJson = (to: ServerResponse, rest: object) =>
  void to.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', ...rest }));

// The protocol's own server, with a notebook.
async function openNotebook() {
  const notes: string[] = [];
  const seen: { authorization?: string; meta?: unknown }[] = [];
  const describeNotebook = (response: ServerResponse) => {
    const server = new McpServer({ name: 'notebook', version: '1' });
    server.registerTool(
      'add.note',
      { description: 'Adds a note.', inputSchema: { text: z.string() } },
      async ({ text }, { _meta, requestInfo }) => {
        seen.push({ authorization: String(requestInfo?.headers.authorization), meta: _meta });
        if (text === 'secret') return { isError: true, content: [{ type: 'text', text: 'No secrets.' }] };
        notes.push(text);
        await state.afterNote?.(response);
        return { content: [{ type: 'text', text: `Noted: ${text}` }] };
      },
    );
    server.registerTool(
      'list',
      { description: 'Lists notes.', annotations: { readOnlyHint: true }, inputSchema: {} },
      async () => ({
        content: [
          { type: 'text', text: notes.join(', ') },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
      }),
    );
    return server;
  };
  const state: {
    isDown: boolean;
    broken: number; // of the next requests
    complains?: string;
    afterNote?: (response: ServerResponse) => unknown; // before it is answered
  } = { isDown: false, broken: 0 };
  const url = await listen(async (request, response) => {
    if (state.isDown) return void response.writeHead(503).end();
    if (state.broken-- > 0) return void response.destroy();
    if (state.complains !== undefined) {
      const { id } = await readMessage(request);
      return answerJson(response, { id, error: { code: -32603, message: state.complains } });
    }
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void transport.close());
    await describeNotebook(response).connect(transport as never);
    await transport.handleRequest(request, response);
  });
  return { url, notes, seen, state };
}

const wire = wires.find(({ provider }) => provider === 'openai-compatible')!;
const call = (name: string, input: object, id = 'a1') => wire.calls({ id, name, input });

async function openChat(replies: readonly Reply[] = [], settings: Record<string, unknown> = {}) {
  const model = await openWire(replies);
  const outbound = createOutbound({ allow: ['127.0.0.0/8'] });
  const models = createModels(wire.configure(model.url));
  const fixture = await openFixture(undefined, { models, outbound });
  closers.push(model.close, fixture.target.close);
  fixture.tenants.get('acme')!.settings = {
    ai_provider: wire.provider,
    ai_model: wire.model,
    enabled_skills: ['mcp_notes_add_note', 'mcp_notes_list'],
    ...settings,
  };
  return { fixture, model, outbound };
}

const path = '/v1/tenants/acme/mcp-servers/notes';
const register = (fixture: Fixture, url: string, headers = { authorization: 'Bearer of-the-notebook' }) =>
  fixture.call('PUT', path, { send: { url, headers } });

const unapproved = { skill_approvals: { mcp_notes_add_note: 'never', mcp_notes_list: 'never' } };

describe('tools of an MCP server', () => {
  it('come from a limited number of servers, however many are added at once', async () => {
    const notebook = await openNotebook();
    const { fixture } = await openChat();
    const names = Array.from({ length: limits.mcpServers + 3 }, (_, i) => `server${i}`);
    const answers = await Promise.all(
      names.map(name =>
        fixture.call('PUT', `/v1/tenants/acme/mcp-servers/${name}`, { send: { url: notebook.url } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(limits.mcpServers);
    expect(answers.filter(({ body }) => body.code === 'agents.too_many_skills')).toHaveLength(3);
    const { body } = await fixture.call('GET', '/v1/tenants/acme/mcp-servers');
    expect(body.data).toHaveLength(limits.mcpServers);
  });

  it('never share a name with those of another server', async () => {
    const notebook = await openNotebook();
    const { fixture } = await openChat();
    const put = (name: string) =>
      fixture.call('PUT', `/v1/tenants/acme/mcp-servers/${name}`, { send: { url: notebook.url } });
    expect((await put('notes')).status).toBe(200);
    for (const name of ['notes_add', 'notes_', 'notes-add', 'Notes'])
      expect((await put(name)).body.code, name).toBe('http.request_invalid');
  });

  it('become skills with a prefix, which need approval, with the tenant’s secrets', async () => {
    const notebook = await openNotebook();
    const { fixture, model } = await openChat([
      call('mcp_notes_add_note', { text: 'tea' }),
      wire.text('Done.'),
    ]);
    const made = await register(fixture, notebook.url);
    expect(made).toMatchObject({
      status: 200,
      body: {
        header_names: ['authorization'],
        tools: [
          { name: 'add.note', skill: 'mcp_notes_add_note' },
          { name: 'list', skill: 'mcp_notes_list' },
        ],
        skipped: [],
        error: null,
      },
    });
    expect(JSON.stringify(made.body)).not.toContain('of-the-notebook');
    expect(await isKept(fixture, 'of-the-notebook')).toBe(false);
    const { body: skills } = await fixture.call('GET', '/v1/tenants/acme/skills');
    expect(skills.data.at(-1)).toMatchObject({ name: 'mcp_notes_list', is_custom: true, approval: 'user' });

    const asked = await say(fixture, 'c', 'Note tea, please', { user_id: 'ann' });
    expect(asked.body.approvals).toMatchObject([{ name: 'mcp_notes_add_note', input: { text: 'tea' } }]);
    expect(notebook.notes).toEqual([]);
    const { approval_id } = asked.body.approvals[0];
    await fixture.call('POST', `/v1/tenants/acme/conversations/c/approvals/${approval_id}`, {
      send: { approved: true },
    });
    await settle(fixture);
    expect(notebook.notes).toEqual(['tea']);
    expect(notebook.seen).toMatchObject([
      {
        authorization: 'Bearer of-the-notebook',
        meta: { 'stak/idempotency_key': expect.stringMatching(/^turn_/) },
      },
    ]);
    expect(JSON.stringify(model.asked[1]!.body)).toContain('Noted: tea');
  });

  it('report errors to the model, and the turn continues', async () => {
    const notebook = await openNotebook();
    const { fixture, model } = await openChat(
      [
        call('mcp_notes_add_note', { text: 'secret' }),
        wire.text('It takes no secrets.'),
        call('mcp_notes_list', {}),
        wire.text('It is down.'),
      ],
      unapproved,
    );
    await register(fixture, notebook.url);
    expect((await say(fixture, 'c', 'Note the secret')).body.reply.content).toBe('It takes no secrets.');
    expect(JSON.stringify(model.asked[1]!.body)).toContain('No secrets.');
    notebook.state.isDown = true;
    expect((await say(fixture, 'c', 'Which notes are there?')).body.reply.content).toBe('It is down.');
    expect(JSON.stringify(model.asked[3]!.body)).toContain('the MCP server notes failed');
  });

  const unknown = 'it is not known whether it was done';

  it('are called with the same key again if the connection broke during a call', async () => {
    const notebook = await openNotebook();
    const again = ['a1', 'a2', 'a3'].map(id => call('mcp_notes_add_note', { text: 'tea' }, id));
    const { fixture, model } = await openChat([...again, wire.text('Done.')], unapproved);
    await register(fixture, notebook.url);
    notebook.state.afterNote = response => {
      Object.assign(notebook.state, { afterNote: undefined, broken: 1 }); // the next session does not even begin
      response.destroy();
    };
    expect((await say(fixture, 'c', 'Note tea')).body.reply.content).toBe('Done.');
    const results = model.asked
      .at(-1)!
      .body.messages.flatMap((one: { role: string; content: string }) =>
        one.role === 'tool' ? JSON.parse(one.content) : [],
      );
    expect(results).toEqual([
      { error: expect.stringContaining(`it did not answer (reset), and ${unknown}`), outcome: 'unknown' },
      { error: 'the MCP server notes failed: it did not answer (reset)' },
      'Noted: tea',
    ]);
    const [first, second] = notebook.seen.map(({ meta }) => meta);
    expect(second).toEqual(first);
  });

  it('have an unknown outcome if this server stops during a call, and have failed after that', async () => {
    const notebook = await openNotebook();
    const calls = ['tea', 'milk'].map(text => call('mcp_notes_add_note', { text }, text));
    const { fixture, model, outbound } = await openChat([...calls, wire.text('Hm.')], unapproved);
    await register(fixture, notebook.url);
    notebook.state.afterNote = () => outbound.close();
    await say(fixture, 'c', 'Note tea and milk');
    expect(notebook.notes).toEqual(['tea']);
    const told = JSON.stringify(model.asked[2]!.body);
    expect(told).toContain(`it did not answer (closed), and ${unknown}`);
    expect(told).toContain('it could not be reached (closed)\\"');
  });

  it('are listed again after a while, and kept if the server is down by then', async () => {
    const notebook = await openNotebook();
    const { fixture } = await openChat();
    await register(fixture, notebook.url);
    notebook.state.isDown = true;
    const refreshed = await fixture.call('POST', `${path}/refresh`);
    expect(refreshed.body).toMatchObject({ tools: [{}, {}], error: expect.stringContaining('503') });
    notebook.state.isDown = false;
    // Half a character, sent as such or cut off, is nothing that can be stored.
    for (const text of ['\ud800', '💥'.repeat(200), ` ${'💥'.repeat(200)}`]) {
      notebook.state.complains = text;
      const { status, body } = await fixture.call('POST', `${path}/refresh`);
      expect([status, body.error?.isWellFormed()]).toEqual([200, true]);
    }
    notebook.state.complains = undefined;
    await fixture.clock.advance(61 * 60_000);
    await fixture.call('GET', '/v1/tenants/acme/skills'); // somebody uses them
    const error = async () => (await fixture.call('GET', path)).body.error;
    await expect.poll(error, { timeout: 10_000 }).toBeNull();
  });
});

describe('a server that is not an MCP server, or a bad one', () => {
  const reply = (result: (method: string, id: number) => unknown) =>
    listen(async (request, response) => {
      const { method, id } = await readMessage(request);
      if (id === undefined) return void response.writeHead(202).end();
      answerJson(response, { id, result: result(method, id) });
    });
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '1' },
  };
  const listing = (tools: unknown[], more: object = {}) =>
    reply(method => (method === 'initialize' ? hello : { tools, ...more }));

  it.each([
    ['answers nothing of the kind', () => listen((_, response) => void response.end('<html>'))],
    ['says no', () => listen((_, response) => void response.writeHead(401).end())],
    [
      'leads elsewhere',
      () => listen((_, r) => void r.writeHead(307, { location: 'http://10.0.0.1/' }).end()),
    ],
    ['lies about its tools', () => reply(() => ({ ...hello, tools: 'many' }))],
    ['breaks off', () => listen((_, response) => void response.destroy())],
  ])('that %s is refused, with the reason', async (_, start) => {
    const { fixture } = await openChat();
    const { status, body } = await register(fixture, await start());
    expect([status, body.code]).toEqual([422, 'agents.mcp_server_refused']);
    expect(body.detail).toMatch(/^The server did not say which tools it has: .+/);
  });

  it('that never answers times out', async () => {
    const { fixture } = await openChat();
    const url = await listen(() => {});
    let answer: Awaited<ReturnType<typeof register>> | undefined;
    register(fixture, url).then(got => {
      answer = got;
    });
    await advanceUntil(fixture, () => answer !== undefined);
    expect(answer!.body.detail).toContain('it took longer than 10000 ms');
  });

  it('that never ends is bounded', async () => {
    const tools = Array.from({ length: 80 }, (_, i) => ({ name: `t${i}`, inputSchema: { type: 'object' } }));
    const { fixture } = await openChat();
    const { body } = await register(fixture, await listing(tools, { nextCursor: 'again' }));
    expect([body.tools.length, body.skipped.length]).toEqual([50, 50]);
  });

  it('cannot take the name of a built-in skill, or corrupt a model’s input', async () => {
    const nested = (depth: number): object =>
      depth === 0 ? { type: 'string' } : { type: 'object', properties: { x: nested(depth - 1) } };
    const url = await listing([
      { name: 'Usage!', inputSchema: { type: 'object' } },
      { name: 'usage?', inputSchema: { type: 'object' } },
      { name: 'x'.repeat(128), inputSchema: { type: 'object' } },
      { name: 'long', inputSchema: { type: 'object', properties: { a: { enum: Array(600).fill('x') } } } },
      {
        name: 'odd',
        inputSchema: {
          $schema: 'http://json-schema.org/draft-07/schema#',
          type: 'object',
          properties: {
            a: { $ref: '#/definitions/a' },
            b: { type: 'string', pattern: '(a+)+$' },
            c: nested(40),
          },
        },
      },
    ]);
    const { fixture, model } = await openChat([wire.text('Hm.')], {
      enabled_skills: ['mcp_notes_odd', 'usage'],
    });
    const { body } = await register(fixture, url);
    const names = body.tools.map(({ skill }: { skill: string }) => skill);
    expect(names.slice(0, 2)).toEqual([
      'mcp_notes_usage_',
      expect.stringMatching(/^mcp_notes_usage__[0-9a-f]{8}$/),
    ]);
    expect(names[2]).toHaveLength(64);
    expect(body.skipped).toMatchObject([{ name: 'long' }]);
    await say(fixture, 'c', 'What is odd?');
    const sent = JSON.stringify(model.asked[0]!.body.tools);
    expect(sent).toContain('mcp_notes_odd');
    expect(sent).not.toMatch(/\$ref|pattern/);
    const taken = await fixture.call('PUT', '/v1/tenants/acme/custom-skills/mcp_notes_odd', {
      send: { description: 'x', url: 'http://127.0.0.1:9/' },
    });
    expect(taken.body.code).toBe('agents.skill_name_taken');
  });

  it('that describes its results has its tools listed, without compiling its schemas', async () => {
    const results = { type: 'object', properties: { a: { $ref: 'https://elsewhere.example/a' } } };
    const { fixture } = await openChat();
    const { status, body } = await register(
      fixture,
      await listing([{ name: 'report', inputSchema: { type: 'object' }, outputSchema: results }]),
    );
    expect([status, body.tools]).toMatchObject([200, [{ name: 'report' }]]);
  });

  it.each([
    ['as events', 'text/event-stream', (ping: string) => `data: ${ping}\n\n`.repeat(1000)],
    [
      'as events of other line breaks',
      'text/event-stream',
      (ping: string) => `data:${ping}\r\r`.repeat(1000),
    ],
    ['as a list', 'application/json', (ping: string) => `[${Array(1000).fill(ping).join()}]`],
  ])('that sends a thousand requests %s gets no responses', async (_, type, repeat) => {
    let posts = 0;
    const url = await listen((_, response) => {
      posts += 1;
      response.writeHead(200, { 'content-type': type });
      response.end(repeat(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })));
    });
    const { fixture } = await openChat();
    const { status, body } = await register(fixture, url);
    expect([status, body.detail]).toEqual([422, expect.stringContaining('too many messages')]);
    expect(posts).toBe(1);
  });

  it('that lists tens of thousands of tools is refused before they are described', async () => {
    const { fixture } = await openChat();
    const things = Array(30_000).fill(1);
    const { status, body } = await register(fixture, await listing(things));
    expect([status, body.detail]).toEqual([422, expect.stringContaining('too many values')]);
    const hidden = ': "\\\n'; // a comment that opens a text
    const answer = { jsonrpc: '2.0', id: 0, result: { ...hello, things } };
    const url = await listen((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${hidden}data: ${JSON.stringify(answer)}\n\n`);
    });
    expect((await register(fixture, url)).body.detail).toContain('too many values');
  });

  it('inside the network is not reached', async () => {
    const fixture = await openFixture(undefined, { outbound: createOutbound() });
    closers.push(fixture.target.close);
    const { body } = await register(fixture, await listen((_, response) => void response.end()));
    expect([body.code, body.detail]).toEqual([
      'agents.mcp_server_refused',
      expect.stringContaining('may not be reached'),
    ]);
    expect((await register(fixture, 'http://127.0.0.1:80/mcp', { host: 'x' } as never)).status).toBe(422);
  });
});
