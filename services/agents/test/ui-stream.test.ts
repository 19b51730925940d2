import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createModels, defineSkill } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { conversationPath, type Fixture, openFixture, say, settle, until } from './agents-fixture.ts';
import { openWire, type Reply, wires } from './provider-wires.ts';

// The transport that `useChat` uses, as it comes, and the reader that makes its messages.

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const wire = wires.find(({ provider }) => provider === 'openai-compatible')!;

function gate() {
  let open = () => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { open, opened };
}

async function openChat(
  replies: readonly Reply[],
  lookup: (word: string) => Promise<unknown> = async () => ({}),
) {
  const server = await openWire(replies);
  const skill = defineSkill({
    name: 'lookup',
    description: 'Looks a word up.',
    triggers: [],
    parameters: z.strictObject({ word: z.string() }),
    run: async ({ word }) => ({ data: await lookup(word), text: '' }),
  });
  const fixture = await openFixture(undefined, {
    models: createModels(wire.configure(server.url)),
    skills: [skill],
  });
  closers.push(server.close, fixture.target.close);
  const { provider, model } = wire;
  fixture.tenants.get('acme')!.settings = {
    ai_provider: provider,
    ai_model: model,
    enabled_skills: ['lookup'],
  };
  return fixture;
}

const transportOf = (fixture: Fixture, options: { user_id?: string; as?: string; body?: object } = {}) =>
  new DefaultChatTransport({
    api: `http://localhost${conversationPath('c')}/ui`,
    headers: { Authorization: `Bearer ${options.as ?? 'acme'}` },
    body: { ...options.body, ...(options.user_id !== undefined && { user_id: options.user_id }) },
    fetch: async (input, init) =>
      fixture.app.request(String(input), init as RequestInit, { remoteAddress: '203.0.113.7' }),
  });

const question = (text: string, id = 'q1'): UIMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});
const send = (fixture: Fixture, messages: UIMessage[], options: { as?: string; signal?: AbortSignal } = {}) =>
  transportOf(fixture, options).sendMessages({
    trigger: 'submit-message',
    chatId: 'c',
    messageId: undefined,
    messages,
    abortSignal: options.signal,
  });

async function last(
  stream: Parameters<typeof readUIMessageStream>[0]['stream'],
  message?: UIMessage, // that the stream goes on with
): Promise<UIMessage> {
  let seen = message;
  for await (const one of readUIMessageStream({ stream, message, terminateOnError: true })) seen = one;
  return seen!;
}

// As `addToolApprovalResponse` does.
const respond = (message: UIMessage, approved: boolean, reason?: string): UIMessage => ({
  ...message,
  parts: message.parts.map(part =>
    part.type === 'dynamic-tool' && part.state === 'approval-requested'
      ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved, reason } }
      : part,
  ) as UIMessage['parts'],
});
const toolsOf = ({ parts }: UIMessage) => parts.filter(({ type }) => type === 'dynamic-tool');
const textsOf = ({ parts }: UIMessage) => parts.flatMap(part => (part.type === 'text' ? [part.text] : []));

describe("the AI SDK's chat transport", () => {
  it('gets an answer, with its cost', async () => {
    const fixture = await openChat([wire.text('It ', 'is ', 'noon.')]);
    const message = await last(await send(fixture, [question('What time is it?')]));
    expect(message.parts.filter(({ type }) => type === 'text')).toMatchObject([
      { text: 'It is noon.', state: 'done' },
    ]);
    expect(message.metadata).toMatchObject({ routing: 'model', usage: { output_tokens: 20 }, seq: 1 });
    const { body } = await fixture.call('GET', `${conversationPath('c')}/messages`);
    expect(body.data[0].messages[0]).toEqual({ role: 'user', content: 'What time is it?' });
  });

  it('may send any history: only the last messages are used', async () => {
    const fixture = await openChat([]);
    const history = Array(100_000).fill(1) as never[];
    const message = await last(await send(fixture, [...history, question('hello')]));
    expect(message.parts.at(-1)).toMatchObject({ type: 'text', state: 'done' });
    const parts = Array(limits.uiParts + 1).fill({ type: 'text', text: 'x' });
    await expect(send(fixture, [{ id: 'q2', role: 'user', parts }])).rejects.toThrow('http.request_invalid');
  });

  it('gets the answers of rules', async () => {
    const fixture = await openChat([]);
    const message = await last(await send(fixture, [question('hello')]));
    expect(message.parts.at(-1)).toMatchObject({ type: 'text', text: expect.stringMatching(/^Hello/) });
  });

  it('sees tools with their arguments and results', async () => {
    const calls = [
      { id: 'a1', name: 'lookup', input: { word: 'tea' } },
      { id: 'b2', name: 'lookup', input: { word: 'rice' } },
    ];
    const fixture = await openChat([wire.calls(...calls), wire.text('Both.')], async word => {
      if (word === 'rice') throw new Error('no rice today');
      return { meaning: `of ${word}` };
    });
    const message = await last(await send(fixture, [question('Tea and rice?')]));
    const tools = message.parts.filter(({ type }) => type === 'dynamic-tool');
    expect(tools).toMatchObject([
      {
        toolName: 'lookup',
        state: 'output-available',
        input: { word: 'tea' },
        output: { meaning: 'of tea' },
      },
      { toolName: 'lookup', state: 'output-error', errorText: 'no rice today' },
    ]);
    expect(message.parts.at(-1)).toMatchObject({ type: 'text', text: 'Both.' });
  });

  it('sends a message once, however often it is repeated', async () => {
    const fixture = await openChat([wire.text('Noon.')]);
    for (let i = 0; i < 2; i++) {
      const message = await last(await send(fixture, [question('What time is it?')]));
      expect(message.parts.at(-1)).toMatchObject({ text: 'Noon.' });
    }
    expect((await fixture.call('GET', conversationPath('c'))).body.turns).toBe(1);
  });

  it('disconnects in the middle, reconnects, and gets the whole answer', async () => {
    const { open, opened } = gate();
    const call = { id: 'a1', name: 'lookup', input: { word: 'tea' } };
    const fixture = await openChat([wire.calls(call), wire.text('Tea.')], () => opened.then(() => ({})));
    const leaving = new AbortController();
    const stream = await send(fixture, [question('What is tea?')], { signal: leaving.signal });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    leaving.abort();
    const transport = transportOf(fixture);
    const resumed = await transport.reconnectToStream({ chatId: 'c' });
    open();
    const message = await last(resumed!);
    expect(message.parts.map(({ type }) => type)).toEqual(['step-start', 'dynamic-tool', 'text']);
    expect(await transport.reconnectToStream({ chatId: 'c' })).toBeNull();
    const { headers, status } = await fixture.call('GET', `${conversationPath('c')}/stream`);
    expect([status, headers.get('content-type')]).toEqual([204, null]);
  });

  it('is told that files cannot be sent', async () => {
    const fixture = await openChat([]);
    const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' } as const;
    const message: UIMessage = {
      ...question('What is this?'),
      parts: [file, { type: 'text', text: 'What?' }],
    };
    await expect(send(fixture, [message])).rejects.toThrow(/Files cannot be sent/);
    expect((await fixture.call('GET', conversationPath('c'))).status).toBe(404);
  });

  it('begins a conversation of an end user with any id, which is theirs alone', async () => {
    const fixture = await openChat([wire.text('Noon.'), wire.text('Night.'), wire.text('One.')]);
    await say(fixture, 'c', 'hello', { user_id: 'carl' }); // the id is taken by somebody else
    const ofAnns = transportOf(fixture, { as: 'acme~ann' });
    expect(await ofAnns.reconnectToStream({ chatId: 'c' })).toBeNull(); // it has not begun
    const ids: unknown[] = [];
    for (const as of ['acme~ann', 'acme~bob', 'acme~ann']) {
      const message = await last(
        await send(fixture, [question('What time is it?', `q${ids.length}`)], { as }),
      );
      ids.push((message.metadata as { conversation_id: string }).conversation_id);
    }
    expect(ids[0]).toBe(ids[2]);
    expect(new Set([...ids, 'c']).size).toBe(3);
    const ofAnn = await fixture.call('GET', '/v1/tenants/acme/conversations', { as: 'acme~ann' });
    expect(ofAnn.body.data).toMatchObject([{ conversation_id: ids[0], turns: 2 }]);
    expect(await ofAnns.reconnectToStream({ chatId: 'c' })).toBeNull();
    const cancelled = await fixture.call('POST', `${conversationPath('c')}/cancel`, { as: 'acme~ann' });
    expect(cancelled.body).toEqual({ cancelled: [] });
    expect((await fixture.call('GET', conversationPath('c'))).body.turns).toBe(1);
  });

  it('replaces the last answer when it regenerates it', async () => {
    const fixture = await openChat([wire.text('Noon.'), wire.text('One.'), wire.text('Two.')]);
    await last(await send(fixture, [question('What is one?', 'q0')]));
    const asked = [question('What time is it?')];
    await last(await send(fixture, asked));
    const again = () =>
      transportOf(fixture).sendMessages({
        trigger: 'regenerate-message',
        chatId: 'c',
        messageId: undefined,
        messages: asked,
        abortSignal: undefined,
      });
    expect(textsOf(await last(await again()))).toEqual(['Two.']);
    const { data } = (await fixture.call('GET', `${conversationPath('c')}/messages`)).body;
    expect(data.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2]);
    expect(data[1].messages.at(-1).content).toEqual([{ type: 'text', text: 'Two.' }]);
    const { body } = await fixture.call('GET', conversationPath('c'));
    expect(body.turns).toBe(2);
    expect(JSON.stringify(body.messages)).not.toContain('One.');
    // The first message finds the answer there is now.
    expect(textsOf(await last(await send(fixture, asked)))).toEqual(['Two.']);
  });

  it('stops the answer with the stream, if it says so', async () => {
    const { open, opened } = gate();
    const call = { id: 'a1', name: 'lookup', input: { word: 'tea' } };
    const fixture = await openChat([wire.calls(call), wire.text('Tea.')], () => opened.then(() => ({})));
    const leaving = new AbortController();
    const transport = transportOf(fixture, { body: { cancel_on_disconnect: true } });
    const stream = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: 'c',
      messageId: undefined,
      messages: [question('What is tea?')],
      abortSignal: leaving.signal,
    });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    leaving.abort();
    await until(async () => {
      const { body } = await fixture.call('GET', `${conversationPath('c')}/messages`);
      return body.data?.[0]?.rule === 'cancelled';
    });
    open();
  });

  it('gets the error', async () => {
    const fixture = await openChat([{ status: 401, body: '{}' }]);
    await expect(last(await send(fixture, [question('What now?')]))).rejects.toThrow(
      'the provider answered 401',
    );
    await expect(send(fixture, [question(' ')])).rejects.toThrow('agents.message_refused');
    await expect(send(fixture, [question('hello', 'q2')], { as: 'globex' })).rejects.toThrow(
      'tenants.not_found',
    );
  });

  describe('when a tool needs an approval', () => {
    const call = { id: 'a1', name: 'lookup', input: { word: 'tea' } };
    const openGated = async (...replies: Reply[]) => {
      const fixture = await openChat([wire.calls(call), ...replies], async word => ({
        meaning: `of ${word}`,
      }));
      fixture.tenants.get('acme')!.settings.skill_approvals = { lookup: 'user' };
      return fixture;
    };

    it('ends with the question, and continues in the same message after the decision', async () => {
      const fixture = await openGated(wire.text('Tea.'));
      const asked = await last(await send(fixture, [question('What is tea?')]));
      expect(toolsOf(asked)).toMatchObject([{ state: 'approval-requested', input: { word: 'tea' } }]);
      const again = await last((await transportOf(fixture).reconnectToStream({ chatId: 'c' }))!);
      expect(again.parts).toEqual(asked.parts); // also after a reload

      const messages = [question('What is tea?'), respond(asked, true)];
      const stream = await send(fixture, messages);
      await settle(fixture);
      const answered = await last(stream, structuredClone(messages[1]));
      expect(answered.id).toBe(asked.id);
      expect(toolsOf(answered)).toMatchObject([{ state: 'output-available', output: { meaning: 'of tea' } }]);
      expect(textsOf(answered)).toEqual(['Tea.']);

      const repeated = await last(await send(fixture, messages), structuredClone(messages[1])); // the answer got lost
      expect(textsOf(repeated)).toEqual(['Tea.']);
      expect(fixture.audited).toMatchObject([
        { action: 'agents.decideApproval', detail: 'approved lookup', via: 'api_key', accountId: 'usr_acme' },
      ]);
      expect((await fixture.call('GET', conversationPath('c'))).body.turns).toBe(1);
    });

    it('shows a rejected call as denied', async () => {
      const fixture = await openGated(wire.text('Then not.'));
      const asked = await last(await send(fixture, [question('What is tea?')]));
      const messages = [question('What is tea?'), respond(asked, false, 'not now')];
      const stream = await send(fixture, messages);
      await settle(fixture);
      const answered = await last(stream, structuredClone(messages[1]));
      expect(toolsOf(answered)).toMatchObject([{ state: 'output-denied', approval: { reason: 'not now' } }]);
      expect(textsOf(answered)).toEqual(['Then not.']);
    });

    it('does not let a user decide for an admin', async () => {
      const fixture = await openGated();
      fixture.tenants.get('acme')!.settings.skill_approvals = { lookup: 'admin' };
      await fixture.call('POST', '/v1/tenants/acme/conversations', {
        send: { conversation_id: 'c', user_id: 'ann' },
      });
      const asked = await last(await send(fixture, [question('What is tea?')], { as: 'acme~ann' }));
      await expect(send(fixture, [respond(asked, true)], { as: 'acme~ann' })).rejects.toThrow(
        'agents.approval_not_yours',
      );
    });
  });
});
