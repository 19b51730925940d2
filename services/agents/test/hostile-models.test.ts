import { afterEach, describe, expect, it } from 'vitest';
import { createModels } from '../src/index.ts';
import { advanceUntil, openFixture, say, until } from './agents-fixture.ts';
import { type Behaviour, openStub } from './openai-stub.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open(behaviour: Behaviour) {
  const stub = await openStub(behaviour);
  const models = createModels({
    openaiCompatible: { baseURL: stub.baseURL },
    prices: { stub: { input: 1, output: 1 } },
  });
  const fixture = await openFixture(undefined, { models });
  closers.push(stub.close, fixture.target.close);
  const settings = { ai_provider: 'openai-compatible', ai_model: 'stub', enabled_skills: ['remember'] };
  fixture.tenants.get('acme')!.settings = settings;
  const readTotal = async () => (await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total;
  return { stub, fixture, readTotal };
}

describe('a model', () => {
  it('that reports nonsensical usage is counted by what it read and wrote', async () => {
    const nonsense = { prompt_tokens: -5.5, completion_tokens: 1e300 };
    const { fixture, readTotal } = await open((_, stream) => {
      stream.text('It is noon.');
      stream.finish('stop', nonsense);
    });
    const { status, body } = await say(fixture, 'c', 'What time is it?', { user_id: 'ann' });
    expect({ status, text: body.reply?.content }).toEqual({ status: 200, text: 'It is noon.' });
    expect(body.usage.output_tokens).toBe(3);
    expect(body.usage.input_tokens).toBeGreaterThan(100); // the prompt and the tools have more bytes than that
    expect(await readTotal()).toMatchObject({ messages: 1, model_turns: 1, output_tokens: 3 });
  });

  it('that does not stop is cut off, and its output is billed', async () => {
    const { fixture, readTotal } = await open((_, stream) => {
      for (let i = 0; i < 110; i++) stream.text('x'.repeat(1024));
    });
    const { body } = await say(fixture, 'c', 'Tell me everything.');
    expect(Buffer.byteLength(body.reply.content)).toBe(96 * 1024);
    expect(body.usage.output_tokens).toBeGreaterThan(24 * 1024);
    expect((await readTotal()).cost_usd).toBe(body.cost_usd);
    expect(body.cost_usd).toBeGreaterThan(0.024);
  });

  it('that never finishes is aborted before it fills the memory', async () => {
    const { fixture, readTotal } = await open((_, stream) => {
      for (let i = 0; i < 34; i++) stream.call('remember', 'x'.repeat(512 * 1024));
      stream.finish('tool_calls');
    });
    const { status, body } = await say(fixture, 'c', 'Do something.');
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'agents.model_failed' });
    const { messages, output_tokens } = await readTotal();
    expect(messages).toBe(0);
    expect(output_tokens).toBeGreaterThan(1_000_000);
  });

  // A provider is paid for what it has read and written, also if nobody ever sees it.
  it.each<[string, Behaviour, number]>([
    ['thinks', (_, stream) => stream.think('x'.repeat(4_000)), 1_000],
    ['writes arguments', (_, stream) => stream.call('remember', 'x'.repeat(4_000)), 1_000],
    ['begins', (_, stream) => stream.text(''), 0],
  ])('that %s and never finishes is still billed', async (_, behaviour, written) => {
    const { fixture, stub, readTotal } = await open(behaviour);
    let answer: Awaited<ReturnType<typeof say>> | undefined;
    say(fixture, 'c', 'Do something.').then(got => {
      answer = got;
    });
    await until(() => stub.asked.length === 1);
    await advanceUntil(fixture, () => answer !== undefined);
    expect(answer!.body.code).toBe('agents.model_failed');
    const { input_tokens, output_tokens, cost_usd } = await readTotal();
    expect(output_tokens).toBe(written);
    expect(input_tokens).toBeGreaterThan(100);
    expect(cost_usd).toBeCloseTo((input_tokens + output_tokens) * 1e-6);
  });

  it('that refuses to start costs nothing', async () => {
    const { fixture, readTotal } = await open((_, stream) => stream.refuse(400));
    expect((await say(fixture, 'c', 'Do something.')).body.code).toBe('agents.model_failed');
    expect(await readTotal()).toMatchObject({ input_tokens: 0, output_tokens: 0, cost_usd: 0 });
  });

  it('gets the newest memories, up to a limit', async () => {
    const { stub, fixture } = await open((_, stream) => {
      stream.text('Yes.');
      stream.finish();
    });
    for (let i = 0; i < 30; i++) {
      await say(fixture, `c${i % 2}`, `remember that fact ${i} is ${'x'.repeat(400)}`, { user_id: 'ann' });
      await fixture.clock.advance(1_000);
    }
    await say(fixture, 'c0', 'What do you know?', { user_id: 'ann' });
    const [{ content }] = stub.asked[0].messages;
    expect(Buffer.byteLength(content)).toBeLessThan(10 * 1024);
    expect(content).toContain('fact 29 is');
    expect(content).not.toContain('fact 8 is');
  });
});
