import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import { conversationPath, settle } from './agents-fixture.ts';
import { call, eventually, failure, openAgent, question, say, weather } from './openai-fixture.ts';

// Functions that the client runs, skills of the agent beside them, and answers in a form that the client wants.

describe('a chat completion', () => {
  it('hands calls of functions to its caller, and takes their results back', async () => {
    const { client, stub } = await openAgent([call('weather', { city: 'Oslo' }), say('It snows.')]);
    const messages: OpenAI.ChatCompletionMessageParam[] = [question('How is the weather in Oslo?')];
    const first = await client.chat.completions.create({ model: 'default', messages, tools: [weather] });
    const [choice] = first.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(choice!.message.tool_calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]);
    messages.push(choice!.message, { role: 'tool', tool_call_id: 'call_1', content: 'snow' });
    const second = await client.chat.completions.create({ model: 'default', messages, tools: [weather] });
    expect(second.choices[0]!.message.content).toBe('It snows.');
    expect(stub.asked[1].messages.slice(1)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'snow' },
    ]);
  });

  it('takes results back in a conversation that is kept here, once', async () => {
    const { client, stub } = await openAgent([
      call('weather', { city: 'Oslo' }),
      say('It snows.'),
      say('Yes.'),
    ]);
    const metadata = { conversation_id: 'c' };
    const ask = (messages: OpenAI.ChatCompletionMessageParam[], key = '') =>
      client.chat.completions.create(
        { model: 'default', metadata, messages, tools: [weather] },
        key ? { headers: { 'Idempotency-Key': key } } : {},
      );
    await ask([question('How is the weather in Oslo?')]);
    const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'snow' };
    const answer = await ask([result], 'k');
    expect(answer.choices[0]!.message.content).toBe('It snows.');
    expect(stub.asked[1].messages.slice(1)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool' },
    ]);
    expect(await ask([result], 'k')).toEqual(answer);
    expect(await failure(ask([result]))).toMatchObject({ status: 400, param: 'messages' });
    await ask([question('Sure?')]);
    expect(stub.asked[2].messages.slice(1)).toHaveLength(5);
  });

  it('streams calls, which the client runs by itself', async () => {
    const { client } = await openAgent([call('weather', { city: 'Oslo' }), say('It snows.')]);
    const asked: unknown[] = [];
    const runner = client.chat.completions.runTools({
      model: 'default',
      stream: true,
      messages: [question('How is the weather in Oslo?')],
      tools: [
        {
          type: 'function',
          function: {
            ...weather.function,
            parse: JSON.parse,
            function: (input: { city: string }) => {
              asked.push(input);
              return 'snow';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It snows.');
    expect(asked).toEqual([{ city: 'Oslo' }]);
  });

  it('calls at most one function if the caller wants that, whatever the model does', async () => {
    const { client } = await openAgent([
      (_, stream) => {
        stream.raw(
          `data: ${JSON.stringify({
            id: 'c',
            object: 'chat.completion.chunk',
            created: 1,
            model: 'stub',
            choices: [
              {
                index: 0,
                finish_reason: null,
                delta: {
                  tool_calls: ['a', 'b'].map((id, index) => ({
                    index,
                    id,
                    type: 'function',
                    function: { name: 'weather', arguments: `{"city":"${id}"}` },
                  })),
                },
              },
            ],
          })}\n\n`,
        );
        stream.finish('tool_calls');
      },
    ]);
    const answer = await client.chat.completions.create({
      model: 'default',
      messages: [question('How is the weather?')],
      tools: [weather],
      parallel_tool_calls: false,
    });
    expect(answer.choices[0]!.message.tool_calls!.map(({ id }) => id)).toEqual(['a']);
  });

  it('uses skills of the agent on the way, and only functions if one is required', async () => {
    const lookup = defineSkill({
      name: 'lookup',
      description: 'Looks a word up.',
      triggers: [],
      parameters: z.strictObject({ word: z.string() }),
      run: async ({ word }) => ({ data: { word }, text: '' }),
    });
    const { client, stub } = await openAgent(
      [call('lookup', { word: 'snow' }), call('weather', { city: 'Oslo' }, 'call_2'), say('x')],
      { skills: [lookup], settings: { enabled_skills: ['lookup'] } },
    );
    const ask = (tool_choice: 'auto' | 'required') =>
      client.chat.completions.create({
        model: 'default',
        messages: [question('Does it snow?')],
        tools: [weather],
        tool_choice,
      });
    const answer = await ask('auto');
    expect(answer.choices[0]!.message.tool_calls).toMatchObject([{ id: 'call_2' }]);
    await ask('required');
    const namesIn = (i: number) => stub.asked[i].tools.map((one: typeof weather) => one.function.name).sort();
    expect(namesIn(0)).toEqual(['lookup', 'weather']);
    expect(namesIn(2)).toEqual(['weather']);
    expect(stub.asked[2].tool_choice).toBe('required');
  });

  it('ends where a call needs an approval, and goes on after the decision', async () => {
    let sent = 0;
    const post = defineSkill({
      name: 'post_note',
      description: 'Posts a note.',
      triggers: [],
      acts: true,
      parameters: z.strictObject({ text: z.string() }),
      run: async () => ({ data: { posted: ++sent }, text: 'posted' }),
    });
    const { client, fixture } = await openAgent([call('post_note', { text: 'hi' }), say('I posted it.')], {
      skills: [post],
      settings: { enabled_skills: ['post_note'] },
    });
    const answer = (await client.chat.completions.create({
      model: 'default',
      messages: [question('Post a note please')],
      metadata: { conversation_id: 'c' },
    })) as OpenAI.ChatCompletion & { message_id: string; approvals: { approval_id: string }[] };
    expect(answer.choices[0]!.message.content).toMatch(/needs an approval/);
    const [{ approval_id }] = answer.approvals as [{ approval_id: string }];
    await fixture.call('POST', `${conversationPath('c')}/approvals/${approval_id}`, {
      send: { approved: true },
    });
    await settle(fixture);
    const done = await fixture.call('GET', `${conversationPath('c')}/messages/${answer.message_id}`);
    expect(done.body.reply.content).toContain('I posted it.');
    expect(sent).toBe(1);
  });

  it('fits the schema that the caller wants, or is made again', async () => {
    const { client, fixture, stub } = await openAgent([
      say('Sure: {"n": 1}'),
      say('{"n":"one"}'),
      say('{"n":1}'),
    ]);
    const asked = {
      model: 'default',
      messages: [question('A number?')],
      response_format: {
        type: 'json_schema' as const,
        json_schema: {
          name: 'number',
          strict: true,
          schema: {
            type: 'object',
            properties: { n: { type: 'number' } },
            required: ['n'],
            additionalProperties: false,
          },
        },
      },
    };
    const refused = failure(eventually(fixture, client.chat.completions.create(asked)));
    expect(await refused).toMatchObject({ status: 502, type: 'server_error' });
    const answer = await client.chat.completions.parse(asked);
    expect(answer.choices[0]!.message.parsed).toEqual({ n: 1 });
    expect(stub.asked[0].messages[0].content).toContain('"additionalProperties":false');
  });
});
