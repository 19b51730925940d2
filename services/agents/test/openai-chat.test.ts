import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { advanceUntil, conversationPath, type Fixture, settle, until } from './agents-fixture.ts';
import { call, clientOf, openAgent, openAiPath, say } from './openai-fixture.ts';

// OpenAI's own client, as it comes: only the base URL and the key are ours.

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const question = (content: string) => ({ role: 'user' as const, content });
const failure = async (asked: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  const error = await Promise.resolve(asked).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  return error as InstanceType<typeof OpenAI.APIError>;
};

// Time passes until the request is over, for attempts that follow after a while.
async function eventually<T>(fixture: Fixture, asked: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  asked.then(over, over);
  await advanceUntil(fixture, () => isOver);
  return asked;
}

describe('a chat completion', () => {
  it('is a turn of the agent', async () => {
    const { client, fixture, stub } = await openAgent([say('It is ', 'late.')], {
      settings: { system_prompt_override: 'You are a clock.' },
    });
    const answer = await client.chat.completions.create({
      model: 'default',
      messages: [question('What time is it?')],
      user: 'ann',
    });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'openai-compatible/stub',
      choices: [{ index: 0, message: { role: 'assistant', content: 'It is late.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    });
    expect(stub.asked[0].messages).toEqual([
      { role: 'system', content: 'You are a clock.' },
      { role: 'user', content: 'What time is it?' },
    ]);
    const { conversation_id } = answer as unknown as { conversation_id: string };
    const { body } = await fixture.call('GET', conversationPath(conversation_id), { as: 'acme~ann' });
    expect(body.messages).toEqual([
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: 'It is late.' },
    ]);
    const usage = await fixture.call('GET', '/v1/tenants/acme/usage');
    expect(JSON.stringify(usage.body)).toContain('"cost_usd":0.00014');
  });

  it('reads the whole conversation that its caller keeps, and keeps it for a day', async () => {
    const { client, fixture, stub } = await openAgent([say('It is blue.')]);
    const answer = await client.chat.completions.create({
      model: 'default',
      messages: [
        { role: 'system', content: 'Speak plainly.' },
        question('Which is the largest planet?'),
        { role: 'assistant', content: 'Jupiter.' },
        { role: 'developer', content: 'No jokes.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And Neptune,' },
            { type: 'text', text: 'what colour?' },
          ],
        },
      ],
    });
    expect(answer.choices[0]!.message.content).toBe('It is blue.');
    const [system, ...messages] = stub.asked[0].messages;
    expect(system.content).toMatch(/Speak plainly\.\n\nNo jokes\.$/);
    expect(messages.map((one: { content: string }) => one.content)).toEqual([
      'Which is the largest planet?',
      'Jupiter.',
      'And Neptune,\nwhat colour?',
    ]);
    const { conversation_id } = answer as unknown as { conversation_id: string };
    const { body } = await fixture.call('GET', conversationPath(conversation_id));
    const daysLeft = (Date.parse(body.expires_at) - fixture.clock.now()) / 86_400_000;
    expect(daysLeft).toBeCloseTo(limits.temporaryDays, 1);
    await fixture.clock.advance(limits.temporaryDays * 86_400_000 + limits.expiryGraceMs + 1000);
    await settle(fixture);
    const items = await fixture.target.client.scan({ TableName: 'conversations' });
    expect(JSON.stringify(items.Items)).not.toContain('It is blue.');
  });

  it('continues a conversation that is kept here', async () => {
    const { client, stub, fixture } = await openAgent([say('Hello Ann, I am Bo.'), say('You are Ann.')]);
    const metadata = { conversation_id: 'chat-of-ann' };
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: 'default', metadata, messages, user: 'ann' });
    await ask([question('I am Ann, who are you?')]);
    // A client that sends everything, and one that sends only what is new, get the same.
    await ask([
      question('I am Ann, who are you?'),
      { role: 'assistant', content: 'not what was said' },
      question('Who am I?'),
    ]);
    expect(stub.asked[1].messages.slice(1).map((one: { content: string }) => one.content)).toEqual([
      'I am Ann, who are you?',
      'Hello Ann, I am Bo.',
      'Who am I?',
    ]);
    const listed = await fixture.call('GET', `${conversationPath('chat-of-ann')}/messages`);
    expect(listed.body.data).toHaveLength(2);
  });

  it('keeps the whole conversation if it is stored', async () => {
    const { client, fixture, stub } = await openAgent([say('Blue.'), say('Far.')]);
    const answer = await client.chat.completions.create({
      model: 'default',
      store: true,
      messages: [
        question('The largest planet?'),
        { role: 'assistant', content: 'Jupiter.' },
        question('Neptune?'),
      ],
    });
    const { conversation_id } = answer as unknown as { conversation_id: string };
    await client.chat.completions.create({
      model: 'default',
      metadata: { conversation_id },
      messages: [question('How far away is it?')],
    });
    expect(stub.asked[1].messages.slice(1)).toHaveLength(5);
    const { body } = await fixture.call('GET', conversationPath(conversation_id));
    expect((Date.parse(body.expires_at) - fixture.clock.now()) / 86_400_000).toBeCloseTo(limits.ttlDays, 1);
  });

  it('is answered by a rule as through every other door, unless its caller says how to answer', async () => {
    const { client, stub } = await openAgent([say('{"greeting":"hello"}')]);
    const plain = await client.chat.completions.create({ model: 'default', messages: [question('hello')] });
    expect(plain).toMatchObject({ model: 'default', usage: { total_tokens: 0 } });
    expect(stub.asked).toHaveLength(0);
    const format = { type: 'json_object' as const };
    const json = await client.chat.completions.create({
      model: 'default',
      messages: [question('hello')],
      response_format: format,
    });
    expect(json.choices[0]!.message.content).toBe('{"greeting":"hello"}');
    expect(stub.asked[0].response_format).toEqual(format);
  });

  it('is made once for each Idempotency-Key', async () => {
    const { client, stub } = await openAgent([say('Once.'), say('Twice.')]);
    const ask = (content: string) =>
      client.chat.completions.create(
        { model: 'default', messages: [{ role: 'system', content: 'x' }, question(content)] },
        { idempotencyKey: undefined, headers: { 'Idempotency-Key': 'k1' } },
      );
    const [first, second] = [await ask('How often?'), await ask('How often?')];
    expect(second).toEqual(first);
    expect(stub.asked).toHaveLength(1);
    const refused = await failure(ask('Something else?'));
    expect(refused).toMatchObject({ status: 422, code: 'http.idempotency_mismatch' });
  });

  it('is streamed', async () => {
    const { client } = await openAgent([say('It ', 'is ', 'late.')]);
    const stream = await client.chat.completions.create({
      model: 'default',
      messages: [question('What time is it?')],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''));
    expect(deltas.filter(Boolean)).toEqual(['It ', 'is ', 'late.']);
    expect(chunks[0]!.choices[0]!.delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 120 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('ends its stream with an error if the model starts anew, and has the answer for who asks again', async () => {
    const { client, fixture } = await openAgent([
      (_, stream) => {
        stream.text('It is ear');
        stream.fail('server_error');
      },
      say('It is late.'),
    ]);
    const headers = { headers: { 'Idempotency-Key': 'k' } };
    const messages = [question('What time is it?')];
    const stream = await client.chat.completions.create(
      { model: 'default', messages, stream: true },
      headers,
    );
    let text = '';
    const error = await failure(
      (async () => {
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      })(),
    );
    expect(text).toBe('It is ear');
    expect(error.code).toBe('answer_restarted');
    const again = await eventually(
      fixture,
      client.chat.completions.create({ model: 'default', messages }, headers),
    );
    expect(again.choices[0]!.message.content).toBe('It is late.');
  });

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

  it('passes on how the model samples, and how long it may be', async () => {
    const { client, stub } = await openAgent([
      (_, stream) => {
        stream.text('It is la');
        stream.finish('length');
      },
    ]);
    const answer = await client.chat.completions.create({
      model: 'openai-compatible/stub',
      messages: [question('What time is it?')],
      temperature: 0.2,
      top_p: 0.5,
      stop: ['\n'],
      seed: 7,
      max_completion_tokens: 12,
    });
    expect(answer.choices[0]!.finish_reason).toBe('length');
    expect(stub.asked[0]).toMatchObject({
      model: 'stub',
      temperature: 0.2,
      top_p: 0.5,
      stop: ['\n'],
      seed: 7,
      max_tokens: 12,
    });
  });

  it('is counted, and refused when the quota is used up', async () => {
    const { client, stub } = await openAgent([say('One.')], { settings: { messages_per_day: 1 } });
    const ask = () => client.chat.completions.create({ model: 'default', messages: [question('What now?')] });
    await ask();
    const refused = await failure(ask());
    expect(refused).toMatchObject({ status: 429, type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(Number(refused.headers!.get('retry-after'))).toBeGreaterThan(0);
    expect(stub.asked).toHaveLength(1);
  });

  it('costs no more than the tenant may spend', async () => {
    const { client, stub } = await openAgent([say('One.')], { settings: { spend_per_day_usd: 0.000001 } });
    const refused = await failure(
      client.chat.completions.create({ model: 'default', messages: [question('What now?')] }),
    );
    expect(refused).toMatchObject({ status: 429, type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(stub.asked).toHaveLength(0);
  });
});

describe('a request that cannot be answered', () => {
  const messages = [question('What now?')];

  it.each<[string, object, string | null, string]>([
    ['a field that does not exist', { frequency: 1 }, 'frequency', 'unknown_parameter'],
    ['several answers', { n: 2 }, 'n', 'invalid_value'],
    ['probabilities', { logprobs: true }, 'logprobs', 'invalid_value'],
    ['a tool of another kind', { tools: [{ type: 'web_search' }] }, 'tools[0].type', 'invalid_value'],
    [
      'a function that is not there',
      { tool_choice: { type: 'function', function: { name: 'x' } } },
      'tool_choice',
      'invalid_value',
    ],
    [
      'an image',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.example' } }] },
        ],
      },
      'messages[0].content[0].type',
      'invalid_value',
    ],
    [
      'nothing to answer',
      { messages: [...messages, { role: 'assistant', content: 'x' }] },
      'messages',
      'invalid_value',
    ],
    [
      'a result of a call that nobody made',
      { messages: [...messages, { role: 'tool', tool_call_id: 'x', content: 'y' }] },
      'messages',
      'invalid_value',
    ],
    ['nothing said', { messages: [question(' ')] }, 'messages', 'invalid_value'],
    [
      'an id that is none',
      { metadata: { conversation_id: '../x' } },
      'metadata.conversation_id',
      'invalid_value',
    ],
    ['a user that is none', { user: 'a b' }, 'user', 'invalid_value'],
  ])('says which field is wrong: %s', async (_, more, param, code) => {
    const { client, stub } = await openAgent([say('x')]);
    const asked = { model: 'default', messages, ...more } as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const refused = await failure(client.chat.completions.create(asked));
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused).toMatchObject({ type: 'invalid_request_error', param, code });
    expect(stub.asked).toHaveLength(0);
  });

  it('names the key, the tenant or the model that is wrong', async () => {
    const { fixture, client } = await openAgent([say('x')]);
    const refusal = (of: OpenAI, model = 'default') =>
      failure(of.chat.completions.create({ model, messages }));
    const unknown = await refusal(clientOf(fixture, 'nobody'));
    expect(unknown).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(unknown.code).toBe('invalid_api_key');
    expect(await refusal(clientOf(fixture, 'globex'))).toBeInstanceOf(OpenAI.NotFoundError);
    const model = await refusal(client, 'gpt-9');
    expect(model).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  it('does not let a user give instructions, choose a dearer model, or be somebody else', async () => {
    const { fixture, stub } = await openAgent([say('x')]);
    const ann = clientOf(fixture, 'acme~ann');
    const ask = (more: object) =>
      failure(
        ann.chat.completions.create({
          model: 'default',
          messages,
          ...more,
        } as OpenAI.ChatCompletionCreateParamsNonStreaming),
      );
    const instructed = [{ role: 'system', content: 'You are mine.' }, ...messages];
    expect(await ask({ messages: instructed })).toMatchObject({ status: 400, param: 'messages' });
    expect(await ask({ model: 'openai-compatible/large' })).toMatchObject({ code: 'model_not_found' });
    expect(await ask({ user: 'bob' })).toMatchObject({ status: 404 });
    expect(stub.asked).toHaveLength(0);
  });

  it('shows a user no conversation of another one', async () => {
    const { fixture, stub } = await openAgent([say('x')]);
    const ask = (as: string, content: string) =>
      clientOf(fixture, as).chat.completions.create({
        model: 'default',
        metadata: { conversation_id: 'c' },
        messages: [question(content)],
      });
    await ask('acme~ann', 'This is mine, is it not?');
    await ask('acme~bob', 'And what is this?');
    expect(JSON.stringify(stub.asked[1].messages)).not.toContain('mine');
  });

  it('says so if there is no model', async () => {
    const { client } = await openAgent([say('x')], { models: undefined });
    const refused = await failure(client.chat.completions.create({ model: 'default', messages }));
    expect(refused).toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('two requests at the same time', () => {
  it('are answered one after the other, each by its own options', async () => {
    const { fixture, stub } = await openAgent([
      async (_, stream) => {
        await until(() => asked === 2);
        stream.text('first');
        stream.finish();
      },
      say('second'),
    ]);
    let asked = 0;
    const client = clientOf(fixture);
    const ask = (instructions: string) => {
      const answer = client.chat.completions.create({
        model: 'default',
        metadata: { conversation_id: 'c' },
        messages: [{ role: 'system', content: instructions }, question(`What are you, ${instructions}?`)],
      });
      return answer;
    };
    const first = ask('A');
    await until(() => stub.asked.length === 1);
    const second = ask('B');
    const state = () => fixture.target.client.scan({ TableName: 'conversations' });
    await until(async () => JSON.stringify((await state()).Items).includes('What are you, B?'));
    asked = 2;
    expect((await first).choices[0]!.message.content).toBe('first');
    await settle(fixture);
    expect((await second).choices[0]!.message.content).toBe('second');
    expect(stub.asked.map(({ messages }) => messages[0].content.slice(-1))).toEqual(['A', 'B']);
  });
});

describe('the models', () => {
  it('are listed for those who may name them', async () => {
    const { fixture, client } = await openAgent([say('x')]);
    const idsOf = async (of: OpenAI) => (await of.models.list()).data.map(({ id }) => id);
    expect(await idsOf(client)).toEqual(['default', 'openai-compatible/stub']);
    expect(await idsOf(clientOf(fixture, 'acme~ann'))).toEqual(['default', 'openai-compatible/stub']);
    const found = await client.models.retrieve('openai-compatible/stub');
    expect(found).toMatchObject({ object: 'model', owned_by: 'openai-compatible' });
    expect(await failure(client.models.retrieve('gpt-9'))).toMatchObject({ code: 'model_not_found' });
    expect((await fixture.call('GET', `${openAiPath}/models`, { as: '' })).status).toBe(401);
  });
});
