import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createModels, defineSkill, type Models, type ModelsConfig } from '../src/index.ts';
import {
  advanceUntil,
  conversationPath,
  isKept,
  type Options,
  openFixture,
  openProcess,
  say,
  settle,
  until,
} from './agents-fixture.ts';
import { busyWhen } from './faults.ts';
import { type Behaviour, openStub, type Stream } from './openai-stub.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const answering =
  (...parts: string[]): Behaviour =>
  (_, stream) => {
    stream.text(...parts);
    stream.finish();
  };

async function open(behaviours: Behaviour[], config: ModelsConfig = {}, options: Options = {}) {
  const stub = await openStub(...behaviours);
  const models = createModels({ openaiCompatible: { baseURL: stub.baseURL }, ...config });
  const fixture = await openFixture(undefined, { models, ...options });
  closers.push(stub.close, fixture.target.close);
  const settings = { ai_provider: 'openai-compatible', ai_model: 'stub', enabled_skills: ['lookup'] };
  fixture.tenants.get('acme')!.settings = settings;
  return { stub, fixture, settings: settings as Record<string, unknown> };
}

const quote = (asked: unknown): string => `your request was ${JSON.stringify(asked)}`;

const lookups: unknown[] = [];
const lookup = defineSkill({
  name: 'lookup',
  description: 'Looks something up.',
  triggers: [],
  parameters: z.strictObject({ word: z.string() }),
  async run(input, { tenant_id }) {
    lookups.push([tenant_id, input]);
    return { data: { found: `${input.word} of ${tenant_id}` }, text: '' };
  },
});

describe('a model', () => {
  it('answers with the window before it, and the turn shows its cost', async () => {
    const prices = { stub: { input: 2, output: 10 } };
    const { stub, fixture } = await open([answering('It ', 'is ', 'noon.')], { prices });
    await say(fixture, 'c', 'hello', { user_id: 'ann' });
    const { body } = await say(fixture, 'c', 'What time is it?');
    expect(body).toMatchObject({
      routing: 'model',
      rule: null,
      model: 'openai-compatible/stub',
      reply: { content: 'It is noon.' },
      usage: { input_tokens: 100, output_tokens: 20 },
      cost_usd: 0.0004,
    });
    expect(stub.asked[0].messages.map((one: { role: string }) => one.role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage?user_id=ann');
    expect(usage.body.total).toMatchObject({
      messages: 2,
      model_turns: 1,
      input_tokens: 100,
      cost_usd: 0.0004,
    });
    expect((await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total.cost_usd).toBe(0.0004);
  });

  it('calls skills, which know their tenant and accept no other', async () => {
    const { stub, fixture } = await open(
      [
        (_, stream) => {
          stream.call('lookup', '{"word":"tea","tenant_id":"globex"}', 'a');
          stream.finish('tool_calls');
        },
        (_, stream) => {
          stream.call('lookup', '{"word":"tea"}', 'b');
          stream.finish('tool_calls');
        },
        answering('Tea it is.'),
      ],
      {},
      { skills: [lookup] },
    );
    lookups.length = 0;
    const { body } = await say(fixture, 'c', 'What is tea?');
    expect(body).toMatchObject({ reply: { content: 'Tea it is.' }, skills: ['lookup'] });
    expect(lookups).toEqual([['acme', { word: 'tea' }]]);
    expect(JSON.stringify(stub.asked[1].messages.at(-1))).toContain('Invalid input');
    await say(fixture, 'c', 'And again?');
    const roles = stub.asked[3].messages.map((one: { role: string }) => one.role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('gets an error when its arguments are invalid JSON, and continues', async () => {
    const { stub, fixture } = await open(
      [
        (_, stream) => {
          stream.call('lookup', '{"word": "te');
          stream.finish('tool_calls');
        },
        answering('Never mind.'),
      ],
      {},
      { skills: [lookup] },
    );
    lookups.length = 0;
    expect((await say(fixture, 'c', 'What is tea?')).body.reply.content).toBe('Never mind.');
    expect(lookups).toEqual([]);
    await say(fixture, 'c', 'And now?');
    expect(stub.asked).toHaveLength(3);
  });

  it('cannot use a skill that was disabled meanwhile, or that asks for another tenant', async () => {
    const { stub, fixture, settings } = await open(
      [
        (_, stream) => {
          settings.enabled_skills = [];
          stream.call('lookup', '{"word":"tea"}');
          stream.finish('tool_calls');
        },
        answering('I could not.'),
      ],
      {},
      { skills: [lookup] },
    );
    lookups.length = 0;
    expect((await say(fixture, 'c', 'What is tea?')).body.reply.content).toBe('I could not.');
    expect(lookups).toEqual([]);
    expect(JSON.stringify(stub.asked[1].messages.at(-1))).toContain('not enabled');
  });

  it('stops calling after some steps', async () => {
    const { stub, fixture } = await open(
      [
        (_, stream) => {
          stream.text('Looking. ');
          stream.call('lookup', '{"word":"tea"}', `id${Math.random()}`);
          stream.finish('tool_calls');
        },
      ],
      {},
      { skills: [lookup] },
    );
    expect((await say(fixture, 'c', 'What is tea?')).status).toBe(200);
    expect(stub.asked).toHaveLength(5);
  });

  it('is retried after a moment if it was overloaded', async () => {
    const { stub, fixture } = await open([
      (_, stream) => stream.refuse(429, { 'retry-after': '2' }),
      answering('Now.'),
    ]);
    const answer = say(fixture, 'c', 'What now?');
    await until(() => stub.asked.length === 1 && fixture.clock.sleepers() >= 3);
    await advanceUntil(fixture, () => stub.asked.length === 2);
    expect((await answer).body.reply.content).toBe('Now.');
  });

  it('is replaced by the fallback if it breaks off, is silent, or refuses', async () => {
    const other = await openStub(answering('The other one.'));
    closers.push(other.close);
    for (const behaviour of [
      (_, stream) => {
        stream.text('Half an ans');
        setTimeout(stream.breakOff, 20);
      },
      (_, stream) => stream.text('And then silence'),
      (_, stream) => stream.refuse(400),
    ] as Behaviour[]) {
      const { stub, fixture } = await open([behaviour]);
      const own = createModels({ openaiCompatible: { baseURL: stub.baseURL } });
      const second = createModels({ openaiCompatible: { baseURL: other.baseURL } });
      const models: Models = {
        find: async name =>
          name.provider === 'second'
            ? second.find({ ...name, provider: 'openai-compatible' })
            : own.find(name),
        priceOf: () => undefined,
      };
      const again = await openFixture(undefined, { models });
      closers.push(again.target.close);
      again.tenants.get('acme')!.settings = {
        ...fixture.tenants.get('acme')!.settings,
        ai_fallback: { provider: 'second', model: 'stub' },
      };
      let answer: Awaited<ReturnType<typeof say>> | undefined;
      say(again, 'c', 'What now?').then(got => {
        answer = got;
      });
      await until(() => stub.asked.length === 1 || answer !== undefined);
      await advanceUntil(again, () => answer !== undefined);
      expect(answer!.body).toMatchObject({ model: 'second/stub', reply: { content: 'The other one.' } });
    }
  });

  it('that does not answer costs no message, and the turn is not stored', async () => {
    const { fixture } = await open([(_, stream) => stream.refuse(401)]);
    const answer = await say(fixture, 'c', 'What now?', { key: 'k' });
    expect(answer).toMatchObject({ status: 502, body: { code: 'agents.model_failed' } });
    expect(answer.body.detail).toBe('No model answered: the provider answered 401.');
    expect((await fixture.call('GET', `${conversationPath('c')}/messages`)).body.data).toEqual([]);
    const { total } = (await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body;
    expect(total).toMatchObject({ messages: 0, refunded: 1, cost_usd: 0 });
    expect((await say(fixture, 'c', 'What now?', { key: 'k' })).body.code).toBe('agents.message_dropped');
  });

  it('that fails in a request loses no message that waited before it', async () => {
    let finish = () => {};
    const { fixture, stub } = await open([
      (_, stream) => {
        finish = () => answering('One.')(undefined, stream);
      },
      (_, stream) => stream.refuse(401),
      answering('Two.'),
    ]);
    const first = say(fixture, 'c', 'What is first?');
    await until(() => stub.asked.length === 1);
    const waited = say(fixture, 'c', 'What is second?');
    await until(() => isKept(fixture, 'What is second?'));
    finish();
    expect((await first).body.reply.content).toBe('One.');
    const failed = await say(fixture, 'c', 'What is third?', { key: 'k' });
    expect(failed).toMatchObject({ status: 502, body: { code: 'agents.model_failed' } });
    expect((await say(fixture, 'c', 'What is third?', { key: 'k' })).body.code).toBe(
      'agents.message_dropped',
    );
    await fixture.clock.advance(15_000);
    await settle(fixture);
    expect((await waited).body).toMatchObject({ seq: 2, merged: 1, reply: { content: 'Two.' } });
    const { total } = (await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body;
    expect(total).toMatchObject({ messages: 2, refunded: 1 });
  });

  it('that fails is logged, without any of the conversation', async () => {
    const { fixture } = await open([(_, stream) => stream.refuse(400)]);
    await say(fixture, 'c', 'My secret is a blue door.');
    const logged = fixture.lines.filter(line => line.includes('a model did not answer'));
    expect(logged).toHaveLength(1);
    expect(fixture.lines.join()).not.toContain('blue door');
  });

  it.each([
    ['before it answers', (asked: unknown, stream: Stream) => stream.refuse(400, {}, quote(asked))],
    [
      'in its answer',
      (asked: unknown, stream: Stream) => {
        stream.text('Well');
        stream.fail(quote(asked));
      },
    ],
  ])('that quotes the conversation when it fails %s leaves none of it in the log', async (_, behaviour) => {
    const { fixture } = await open([behaviour]);
    const { body } = await say(fixture, 'c', 'My secret is a blue door.');
    expect(body.code).toBe('agents.model_failed');
    expect(fixture.lines.join()).toContain('a model did not answer');
    expect(fixture.lines.join() + JSON.stringify(body)).not.toContain('blue door');
  });

  it('never exceeds the daily cap, however many ask at once', async () => {
    const prices = { stub: { input: 1, output: 100 } };
    const { stub, fixture, settings } = await open([answering('Yes.')], { prices });
    Object.assign(settings, { spend_per_day_usd: 0.5, max_tokens_per_message: 1000 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => say(fixture, `c${i}`, 'What is the meaning of this?')),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(4); // each may cost a bit more than 10 cents
    expect(answers.find(({ status }) => status === 429)!.body).toMatchObject({
      code: 'agents.spend_exceeded',
    });
    expect(stub.asked).toHaveLength(4);
    const { total } = (await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body;
    expect(total.cost_usd).toBeCloseTo(4 * (100 + 20 * 100) * 1e-6);
    settings.ai_model = 'unpriced';
    expect((await say(fixture, 'c', 'And now?')).body.code).toBe('agents.price_unknown');
    expect((await say(fixture, 'c', 'hello')).status).toBe(200); // rules cost nothing
  });

  it('has a budget left if the store was too busy to say so', async () => {
    const prices = { stub: { input: 2, output: 10 } };
    const { stub, fixture, settings } = await open([
      (_, stream) => {
        stream.call('lookup', '{"word":"tea"}');
        stream.finish('tool_calls');
      },
      answering('Tea it is.'),
    ]);
    const models = createModels({ openaiCompatible: { baseURL: stub.baseURL }, prices });
    let busy = false;
    const client = busyWhen(fixture.target.client, (_, input) => {
      const isBusy = busy && JSON.stringify(input).includes('spend_micros');
      if (isBusy) busy = false;
      return isBusy;
    });
    const skill = defineSkill({
      ...lookup,
      run: async () => {
        busy = true;
        return { data: {}, text: '' };
      },
    });
    const { clock } = fixture;
    const process = openProcess(fixture.target, { clock, client, models, skills: [skill] });
    process.tenants.get('acme')!.settings = settings;
    const answer = say(process, 'c', 'What is tea?');
    const isWaiting = async () =>
      (await fixture.target.client.scan({ TableName: 'conversations' })).Items!.some(
        ({ waiting_count, fence }) => waiting_count === 1 && fence === undefined,
      );
    await Promise.race([answer, until(isWaiting)]);
    await clock.advance(15_000);
    await settle(process);
    expect((await answer).body).toMatchObject({ reply: { content: 'Tea it is.' } });
  });

  it('gets the user’s memories, as data', async () => {
    const model = new MockLanguageModelV3({
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start', warnings: [] },
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'Tea.' },
            { type: 'text-end', id: '1' },
            {
              type: 'finish',
              finishReason: { unified: 'stop', raw: 'stop' },
              usage: {
                inputTokens: { total: 5, noCache: 5, cacheRead: 0, cacheWrite: 0 },
                outputTokens: { total: 1, text: 1, reasoning: 0 },
              },
            },
          ],
        }),
      }),
    });
    const name = { provider: 'mock', model: 'mock' };
    const models: Models = { find: async () => model, priceOf: () => undefined, default: name };
    const fixture = await openFixture(undefined, { models });
    closers.push(fixture.target.close);
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['remember'] };
    await say(fixture, 'c', 'Remember that I drink tea', { user_id: 'ann' });
    expect((await say(fixture, 'c', 'What do I drink?')).body.reply.content).toBe('Tea.');
    expect(JSON.stringify(model.doStreamCalls[0]!.prompt[0])).toContain('- I drink tea');
  });
});
