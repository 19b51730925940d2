import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModels, type ModelsConfig } from '../src/index.ts';
import {
  advanceUntil,
  conversationPath,
  type Fixture,
  isKept,
  openFixture,
  openProcess,
  say,
  settle,
  until,
} from './agents-fixture.ts';
import { deliver, openProviders, signSlack, slackMessage } from './channel-stub.ts';
import { busyWhen } from './faults.ts';
import { type Behaviour, openStub } from './openai-stub.ts';

// A step may cost 10 cents, and an answer costs 2: 20 tokens of 0.1 cents each.
const prices = { stub: { input: 0, output: 1000 } };
const settings = {
  ai_provider: 'openai-compatible',
  ai_model: 'stub',
  enabled_channels: ['dashboard', 'slack'],
  max_tokens_per_message: 100,
};

const yes: Behaviour = (_, stream) => {
  stream.text('Yes.');
  stream.finish();
};
const silent: Behaviour = () => {};

let providers: Awaited<ReturnType<typeof openProviders>>;
const closers: (() => Promise<void>)[] = [];
beforeEach(async () => {
  providers = await openProviders();
  closers.push(providers.close);
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open(usd: number | undefined, behaviours: Behaviour[], config: ModelsConfig = {}) {
  const stub = await openStub(...behaviours);
  const models = createModels({ openaiCompatible: { baseURL: stub.baseURL }, prices, ...config });
  const fixture = await openFixture(undefined, { models, addresses: providers.addresses });
  closers.push(stub.close, fixture.target.close);
  const ofTenant = { ...settings, ...(usd !== undefined && { spend_per_day_usd: usd }) };
  fixture.tenants.get('acme')!.settings = ofTenant;
  fixture.claims.set('slack#T1', 'acme');
  fixture.identities.set('acme#slack#U1', 'ann');
  const path = '/v1/tenants/acme/channels/slack/T1/credentials';
  await fixture.call('PUT', path, { send: { signing_secret: 'slack-secret', bot_token: 'xoxb-1' } });
  return { stub, models, fixture };
}

const usageOf = async (fixture: Fixture) =>
  (await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total;
const sendSlack = (fixture: Fixture, text: string, ts: string, change: object = {}) => {
  const event = slackMessage(text, ts, change);
  return deliver(fixture, 'slack', 'T1', event, signSlack(fixture, event));
};

describe('what is spent', () => {
  it('is shown apart from what a process that died had reserved', async () => {
    const { stub, models, fixture } = await open(1, [silent, yes]);
    say(fixture, 'c', 'What now?').catch(() => {}); // its process is as good as dead
    await until(() => stub.asked.length === 1);
    expect(await usageOf(fixture)).toMatchObject({ cost_usd: 0, reserved_usd: 0.1 });
    const survivor = openProcess(fixture.target, { clock: fixture.clock, models });
    survivor.tenants.get('acme')!.settings = settings;
    fixture.clock.set(fixture.clock.now() + 31_000); // the lease has ended
    await survivor.agents.runDue();
    expect(await usageOf(survivor)).toMatchObject({ cost_usd: 0.02, reserved_usd: 0.1 });
  });

  it('is counted with each step, so that a process that dies leaves only the last one reserved', async () => {
    const calling: Behaviour = (_, stream) => {
      stream.call('usage', '{}');
      stream.finish('tool_calls');
    };
    const { stub, fixture } = await open(1, [calling, silent]);
    fixture.tenants.get('acme')!.settings.enabled_skills = ['usage'];
    say(fixture, 'c', 'How much did I use?').catch(() => {});
    await until(() => stub.asked.length === 2);
    expect(await usageOf(fixture)).toMatchObject({ cost_usd: 0.02, reserved_usd: 0.1 });
  });

  it('does not include what a failed attempt had reserved and not used', async () => {
    const { fixture } = await open(0.15, [(_, stream) => stream.refuse(503), yes]);
    let answer: Awaited<ReturnType<typeof say>> | undefined;
    say(fixture, 'c', 'What now?').then(found => {
      answer = found;
    });
    await advanceUntil(fixture, () => answer !== undefined);
    expect(answer).toMatchObject({ status: 200, body: { reply: { content: 'Yes.' } } });
    expect(await usageOf(fixture)).toMatchObject({ cost_usd: 0.02, reserved_usd: 0 });
  });

  it('loses no answer if the store is too busy to count it', async () => {
    const { models, fixture, stub } = await open(1, [yes]);
    let isBusy = false;
    const client = busyWhen(
      fixture.target.client,
      (_, input) => isBusy && JSON.stringify(input).includes('model_turns'),
    );
    const process = openProcess(fixture.target, { clock: fixture.clock, client, models });
    process.tenants.get('acme')!.settings = settings;
    isBusy = true;
    const { status, body } = await say(process, 'c', 'What now?');
    expect([status, body.reply?.content, stub.asked.length]).toEqual([200, 'Yes.', 1]);
    expect(await usageOf(fixture)).toMatchObject({ cost_usd: 0, reserved_usd: 0.1 });
  });

  it('includes what an answer that broke off may have cost, and no more', async () => {
    const breaking: Behaviour = (_, stream) => {
      stream.text('Well');
      stream.fail('refused');
    };
    const { fixture } = await open(undefined, [breaking]);
    expect((await say(fixture, 'c', 'What now?')).status).toBe(502);
    const { input_tokens, output_tokens } = await usageOf(fixture);
    expect(output_tokens).toBe(1);
    expect(input_tokens).toBeGreaterThan(20);
    expect(input_tokens).toBeLessThan(300);
  });

  it('is less for input that the provider has read before', async () => {
    const cached: Behaviour = (_, stream) => {
      stream.text('Yes.');
      stream.finish('stop', {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 80 },
      });
    };
    const { fixture } = await open(undefined, [cached], {
      prices: { stub: { input: 10, output: 0, cached: 1 } },
    });
    expect((await say(fixture, 'c', 'What now?')).body.cost_usd).toBe(0.00028);
  });
});

describe('a message that was accepted, when the budget is used up', () => {
  it('is answered in a channel at once, with the reason', async () => {
    const { stub, fixture } = await open(0.11, [yes]);
    expect((await say(fixture, 'c', 'What now?')).status).toBe(200);
    await sendSlack(fixture, 'And what now?', '1.0');
    await fixture.clock.advance(1_000);
    await settle(fixture);
    expect(stub.asked).toHaveLength(1);
    expect(providers.sent.map(({ body }) => body.text)).toEqual([expect.stringContaining('used up')]);
    const { body } = await fixture.call('GET', '/v1/tenants/acme/conversations?user_id=ann');
    expect(body.data[0]).toMatchObject({ turns: 1 });
  });

  it('is answered over the API, if only by saying so, and not dropped', async () => {
    let finish = () => {};
    const slow: Behaviour = (asked, stream) => {
      finish = () => void yes(asked, stream);
    };
    const { stub, fixture } = await open(0.11, [slow]);
    const first = say(fixture, 'c', 'What is first?');
    await until(() => stub.asked.length === 1);
    const second = say(fixture, 'c', 'What is second?');
    await until(() => isKept(fixture, 'What is second?'));
    await fixture.clock.advance(20_000 - 1); // the model is not silent for longer than it may
    finish();
    expect((await first).status).toBe(200);
    await fixture.clock.advance(6_000);
    const { status, body } = await second;
    expect(status).toBe(202);
    await settle(fixture);
    const path = `${conversationPath('c')}/messages/${body.message_id}`;
    const found = await fixture.call('GET', path);
    expect(found).toMatchObject({ status: 200, body: { seq: 2, routing: 'rule', rule: 'budget' } });
    expect(found.body.reply.content).toContain('used up');
    expect(await usageOf(fixture)).toMatchObject({ messages: 2, refunded: 0 });
  });

  it('waits for what other answers have reserved and do not use', async () => {
    const { stub, fixture } = await open(0.15, [yes]);
    const chats = ['1', '2', '3', '4'];
    await Promise.all(
      chats.map(chat => sendSlack(fixture, 'What now?', `${chat}.0`, { channel: `D${chat}` })),
    );
    await fixture.clock.advance(1_000);
    for (let i = 0; i < 4; i++) {
      await settle(fixture);
      await fixture.clock.advance(15_000);
    }
    expect(stub.asked.length).toBeGreaterThan(1);
    expect(providers.sent).toHaveLength(chats.length);
    expect(await usageOf(fixture)).toMatchObject({ messages: 4, refunded: 0 });
    expect((await usageOf(fixture)).cost_usd).toBeLessThanOrEqual(0.15);
  });
});

describe('a refusal for money that is only reserved', () => {
  it('may be tried again soon', async () => {
    const { stub, fixture } = await open(0.15, [silent]);
    say(fixture, 'a', 'What now?').catch(() => {});
    await until(() => stub.asked.length === 1);
    const refused = await say(fixture, 'b', 'What now?');
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'agents.spend_exceeded', details: { is_reserved: true } },
    });
    expect(refused.headers.get('retry-after')).toBe('2');
  });
});

describe('a model', () => {
  it('is asked again after a chunk that is not JSON', async () => {
    const malformed: Behaviour = (_, stream) => {
      stream.raw('data: {"choices": [\n\n');
      stream.finish();
    };
    const { stub, fixture } = await open(undefined, [malformed, yes]);
    let answer: Awaited<ReturnType<typeof say>> | undefined;
    say(fixture, 'c', 'What now?').then(found => {
      answer = found;
    });
    await advanceUntil(fixture, () => answer !== undefined);
    expect(answer).toMatchObject({ status: 200, body: { reply: { content: 'Yes.' } } });
    expect(stub.asked).toHaveLength(2);
  });

  it('that asks for a delay is asked again after it, and so is the caller', async () => {
    const { stub, fixture } = await open(undefined, [
      (_, stream) => stream.refuse(429, { 'retry-after': '120' }),
      (_, stream) => stream.refuse(429, { 'retry-after': '120' }),
      yes,
    ]);
    const refused = await say(fixture, 'c', 'What now?');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([502, '120']);
    await sendSlack(fixture, 'And what now?', '1.0');
    await fixture.clock.advance(1_000);
    await settle(fixture);
    await fixture.clock.advance(110_000);
    await settle(fixture);
    expect(stub.asked).toHaveLength(2);
    await fixture.clock.advance(10_000);
    await settle(fixture);
    expect(providers.sent.map(({ body }) => body.text)).toEqual(['Yes.']);
  });
});
