import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import { conversationPath, settle, until } from './agents-fixture.ts';
import { call, clientOf, openAgent, openAiPath, say } from './openai-fixture.ts';

// OpenAI's own client, and Vercel's providers, as they come.

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const weather = { type: 'function' as const, name: 'weather', parameters, strict: true };
const failure = async (asked: PromiseLike<unknown>) =>
  Promise.resolve(asked).then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown as InstanceType<typeof OpenAI.APIError>,
  );

describe('a response', () => {
  it('is a turn of the agent, which the next one continues', async () => {
    const { client, fixture, stub } = await openAgent([say('I am Bo.'), say('You are Ann.')]);
    const first = await client.responses.create({
      model: 'default',
      input: 'I am Ann, who are you?',
      instructions: 'Be brief.',
      user: 'ann',
    });
    expect(first).toMatchObject({ object: 'response', status: 'completed', model: 'openai-compatible/stub' });
    expect(first.output_text).toBe('I am Bo.');
    expect(first.usage).toMatchObject({ input_tokens: 100, output_tokens: 20, total_tokens: 120 });
    const second = await client.responses.create({
      model: 'default',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Who am I?' }] }],
      previous_response_id: first.id,
    });
    expect(second.output_text).toBe('You are Ann.');
    expect(second.conversation).toEqual(first.conversation);
    const [system, ...messages] = stub.asked[1].messages;
    expect(system.content).not.toContain('Be brief.');
    expect(messages.map((one: { content: string }) => one.content)).toEqual([
      'I am Ann, who are you?',
      'I am Bo.',
      'Who am I?',
    ]);
    const branch = client.responses.create({ model: 'default', input: 'x', previous_response_id: first.id });
    expect(await failure(branch)).toMatchObject({ status: 400, param: 'previous_response_id' });
    const read = await client.responses.retrieve(first.id);
    expect(read).toMatchObject({ id: first.id, status: 'completed', output: first.output });
    const path = conversationPath(first.conversation!.id);
    expect((await fixture.call('GET', path, { as: 'acme~ann' })).status).toBe(200);
    expect(await failure(clientOf(fixture, 'acme~bob').responses.retrieve(first.id))).toMatchObject({
      status: 404,
    });
  });

  it('is streamed', async () => {
    const { client } = await openAgent([say('It ', 'is late.')]);
    const stream = client.responses.stream({ model: 'default', input: 'What time is it?' });
    const types: string[] = [];
    stream.on('event', ({ type }) => types.push(type));
    const final = await stream.finalResponse();
    expect(final.output_text).toBe('It is late.');
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it('hands calls of functions to its caller, and takes their results back', async () => {
    const { client, stub } = await openAgent([call('weather', { city: 'Oslo' }), say('It snows.')]);
    const first = await client.responses.create({
      model: 'default',
      input: 'How is Oslo?',
      tools: [weather],
    });
    expect(first.output).toMatchObject([
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
    ]);
    const second = await client.responses.create({
      model: 'default',
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: 'call_1', output: 'snow' }],
      tools: [weather],
    });
    expect(second.output_text).toBe('It snows.');
    expect(stub.asked[1].messages.slice(1)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', content: 'snow' },
    ]);
  });

  it.each([false, true])('takes a conversation that is sent whole, stored: %s', async store => {
    const { client, stub } = await openAgent([call('weather', { city: 'Oslo' }), say('It snows.')]);
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'How is Oslo?' }];
    const ask = () => client.responses.create({ model: 'default', input, tools: [weather], store });
    const first = await ask();
    input.push(...(first.output as OpenAI.Responses.ResponseInput), {
      type: 'function_call_output',
      call_id: 'call_1',
      output: 'snow',
    });
    expect((await ask()).output_text).toBe('It snows.');
    expect(stub.asked[1].messages.slice(1)).toHaveLength(3);
  });

  it('is made in the background, and stopped', async () => {
    let gone = false;
    const { client, stub } = await openAgent([
      (_, stream) => {
        stream.text('It is ');
        stream.onGone(() => {
          gone = true;
        });
      },
      say('It is late.'),
    ]);
    const ask = () =>
      client.responses.create({ model: 'default', input: 'What time is it?', background: true });
    const begun = await ask();
    expect(begun).toMatchObject({ status: 'in_progress', background: true, output: [] });
    await until(() => stub.asked.length === 1);
    expect((await client.responses.retrieve(begun.id)).status).toBe('in_progress');
    expect((await client.responses.cancel(begun.id)).status).toBe('cancelled');
    await until(() => gone);
    await until(async () => (await client.responses.retrieve(begun.id)).status === 'cancelled');
    const other = await ask();
    await until(async () => (await client.responses.retrieve(other.id)).status === 'completed');
    expect((await client.responses.retrieve(other.id)).output_text).toBe('It is late.');
  });

  it('shows the approvals that it waits for', async () => {
    const post = defineSkill({
      name: 'post_note',
      description: 'Posts a note.',
      triggers: [],
      acts: true,
      parameters: z.strictObject({ text: z.string() }),
      run: async () => ({ data: { posted: true }, text: 'posted' }),
    });
    const { client, fixture } = await openAgent([call('post_note', { text: 'hi' }), say('I posted it.')], {
      skills: [post],
      settings: { enabled_skills: ['post_note'] },
    });
    const waiting = await client.responses.create({ model: 'default', input: 'Post a note please' });
    expect(waiting).toMatchObject({
      status: 'in_progress',
      output: [{ type: 'mcp_approval_request', name: 'post_note', arguments: '{"text":"hi"}' }],
    });
    const path = `${conversationPath(waiting.conversation!.id)}/approvals/${waiting.output[0]!.id}`;
    await fixture.call('POST', path, { send: { approved: true } });
    await settle(fixture);
    const done = await client.responses.retrieve(waiting.id);
    expect(done).toMatchObject({ status: 'completed' });
    expect(done.output_text).toContain('I posted it.');
  });

  it('fits the schema that the caller wants', async () => {
    const { client } = await openAgent([say('{"city":"Oslo"}')]);
    const format = { type: 'json_schema' as const, name: 'place', schema: parameters, strict: true };
    const answer = await client.responses.parse({
      model: 'default',
      input: 'Where is it cold?',
      text: { format },
    });
    expect(answer.output_parsed).toEqual({ city: 'Oslo' });
  });

  it.each<[string, object, string]>([
    ['a tool of another kind', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [
      'an image',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
      'input[0].content[0].type',
    ],
    ['a response that is not there', { previous_response_id: 'resp_x' }, 'previous_response_id'],
    ['how much to reason', { reasoning: { effort: 'high' } }, 'reasoning'],
    ['an item that is not there', { input: [{ type: 'item_reference', id: 'msg_x' }] }, 'input[0].id'],
  ])('says which field is wrong: %s', async (_, more, param) => {
    const { client } = await openAgent([say('x')]);
    const asked = { model: 'default', input: 'What now?', ...more };
    const refused = await failure(
      client.responses.create(asked as OpenAI.Responses.ResponseCreateParamsNonStreaming),
    );
    expect(refused).toMatchObject({ status: 400, type: 'invalid_request_error', param });
  });
});

describe("Vercel's providers", () => {
  const tools = {
    weather: tool({
      inputSchema: jsonSchema<{ city: string }>(parameters as never),
      execute: async ({ city }) => `snow in ${city}`,
    }),
  };
  const providers = {
    'OpenAI, by responses': createOpenAI,
    'OpenAI, by chat completions': (settings: Parameters<typeof createOpenAI>[0]) =>
      createOpenAI(settings).chat,
    'a compatible one': (settings: Parameters<typeof createOpenAI>[0]) =>
      createOpenAICompatible({ name: 'stak', baseURL: '', ...settings }),
  };

  it.each(Object.entries(providers))('run their own tools: %s', async (_, create) => {
    const { fetch } = await openAgent([call('weather', { city: 'Oslo' }), say('It ', 'snows.')]);
    const provider = create({ baseURL: `http://localhost${openAiPath}`, apiKey: 'acme', fetch });
    const model = provider('default');
    const { text, steps } = await generateText({
      model,
      tools,
      prompt: 'How is Oslo?',
      stopWhen: stepCountIs(3),
    });
    expect(text).toBe('It snows.');
    expect(steps[0]!.toolResults).toMatchObject([{ output: 'snow in Oslo' }]);
    const streamed = streamText({ model, prompt: 'And now?' });
    expect(await streamed.text).toBe('It snows.');
    expect(await streamed.finishReason).toBe('stop');
  });
});
