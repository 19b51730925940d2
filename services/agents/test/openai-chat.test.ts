import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { conversationPath, settle, until } from './agents-fixture.ts';
import { clientOf, eventually, failure, openAgent, question, say } from './openai-fixture.ts';

// OpenAI's own client, as it comes: only the base URL and the key are ours.

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
