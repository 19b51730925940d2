import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createModels, defineSkill } from '../src/index.ts';
import {
  conversationPath,
  everyItem,
  type Fixture,
  type Options,
  openFixture,
  openProcess,
  say,
  settle,
  until,
} from './agents-fixture.ts';
import { type Behaviour, openStub } from './openai-stub.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const settings = {
  ai_provider: 'openai-compatible',
  ai_model: 'stub',
  enabled_skills: ['pay'],
  spend_per_day_usd: 10,
};
const paid: string[] = [];
const pay = defineSkill({
  name: 'pay',
  description: 'Pays.',
  triggers: [],
  parameters: z.strictObject({}),
  acts: true,
  async run() {
    paid.push('once');
    return { data: {}, text: 'Paid.' };
  },
});

async function open(...behaviours: Behaviour[]) {
  paid.splice(0);
  const stub = await openStub(...behaviours);
  const prices = { stub: { input: 0, output: 1000 } };
  const models = createModels({ openaiCompatible: { baseURL: stub.baseURL }, prices });
  const options: Options = { models, skills: [pay] };
  const fixture = await openFixture(undefined, options);
  closers.push(stub.close, fixture.target.close);
  fixture.tenants.get('acme')!.settings = { ...settings };
  const another = () => {
    const other = openProcess(fixture.target, { clock: fixture.clock, ...options });
    other.tenants.get('acme')!.settings = { ...settings };
    return other;
  };
  return { stub, fixture, another };
}

const path = conversationPath('c');
const cancel = async (fixture: Fixture, as?: string) =>
  fixture.call('POST', `${path}/cancel`, as === undefined ? {} : { as });
const turnsOf = async (fixture: Fixture) => (await fixture.call('GET', `${path}/messages`)).body.data;
const usageOf = async (fixture: Fixture) =>
  (await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total;

// A model that has begun to answer, and goes on for as long as somebody listens.
function createEndless() {
  const state = { isGone: false };
  const behaviour: Behaviour = (_, stream) => {
    stream.text('Once upon ', 'a time');
    stream.onGone(() => {
      state.isGone = true;
    });
  };
  return { state, behaviour };
}
const hasSaid = (fixture: Fixture, count = 1) =>
  until(async () => (await usageOf(fixture)).reserved_usd > 0 && count > 0);
const yes: Behaviour = (_, stream) => {
  stream.text('Yes.');
  stream.finish();
};

describe('an answer that is stopped', () => {
  it('ends the model, keeps what was said, and costs no more than that', async () => {
    const { state, behaviour } = createEndless();
    const { stub, fixture } = await open(behaviour, yes);
    const deltas = await followed(fixture, 'Tell me a story');
    await until(() => deltas.text.includes('a time'));
    const { status, body } = await cancel(fixture);
    expect([status, body.cancelled.length]).toEqual([200, 1]);
    await until(() => state.isGone);
    await until(async () => (await turnsOf(fixture)).length === 1);
    const [turn] = await turnsOf(fixture);
    expect(turn).toMatchObject({ rule: 'cancelled', routing: 'model' });
    expect(turn.messages.map(({ content }: { content: string }) => content)).toEqual([
      'Tell me a story',
      'Once upon a time',
    ]);
    await until(() => deltas.text.includes('event: reply'));
    const { cost_usd, reserved_usd, output_tokens, messages } = await usageOf(fixture);
    expect({ cost_usd, reserved_usd, output_tokens, messages }).toEqual({
      ...{ cost_usd: 0.004, reserved_usd: 0, output_tokens: 4 },
      messages: 1,
    });
    expect((await cancel(fixture)).body).toEqual({ cancelled: [] });
    expect((await say(fixture, 'c', 'Shorter, please')).body.reply.content).toBe('Yes.');
    expect(JSON.stringify(stub.asked.at(-1).messages)).toContain('Once upon a time');
  });

  it('ends in whichever process it is made', async () => {
    const { state, behaviour } = createEndless();
    const { fixture, another } = await open(behaviour);
    const answer = say(fixture, 'c', 'Tell me a story');
    await hasSaid(fixture);
    await cancel(another());
    // Nobody tells this process: it looks now and then.
    for (let s = 0; s < 12 && !state.isGone; s++) {
      await fixture.clock.advance(1_000);
      await new Promise(resolve => setImmediate(resolve));
    }
    expect((await answer).body).toMatchObject({ rule: 'cancelled' });
    await until(() => state.isGone);
  });

  it('is not made after a crash', async () => {
    const { behaviour } = createEndless();
    const { stub, fixture, another } = await open(behaviour);
    say(fixture, 'c', 'Tell me a story').catch(() => {}); // its process is as good as dead
    await until(() => stub.asked.length === 1);
    const survivor = another();
    expect((await cancel(survivor)).body.cancelled).toHaveLength(1);
    fixture.clock.set(fixture.clock.now() + 31_000); // the lease has ended, and nobody renewed it
    await settle(survivor);
    expect(stub.asked).toHaveLength(1);
    const [turn] = await turnsOf(survivor);
    expect(turn).toMatchObject({ rule: 'cancelled', messages: [{}, { content: 'The answer was stopped.' }] });
  });

  it('is that of everything that waits, and of nothing that comes later', async () => {
    const { behaviour } = createEndless();
    const { stub, fixture } = await open(behaviour, yes);
    const first = say(fixture, 'c', 'One?');
    await hasSaid(fixture);
    const second = say(fixture, 'c', 'Two?');
    await until(async () => JSON.stringify(await everyItem(fixture.target)).includes('Two?'));
    expect((await cancel(fixture)).body.cancelled).toHaveLength(2);
    const third = say(fixture, 'c', 'Three?');
    expect((await first).body).toMatchObject({ seq: 1, rule: 'cancelled' });
    await settle(fixture);
    expect((await second).body).toMatchObject({ rule: 'cancelled' });
    expect((await third).body).toMatchObject({ rule: null, reply: { content: 'Yes.' } });
    expect(stub.asked).toHaveLength(2);
  });

  it('withdraws what it wanted approved, and does none of it', async () => {
    const { fixture, stub } = await open((_, stream) => {
      stream.call('pay', '{}');
      stream.finish('tool_calls');
    });
    const asked = await say(fixture, 'c', 'Pay them', { user_id: 'ann' });
    expect(asked.status).toBe(202);
    const { approval_id } = asked.body.approvals[0];
    expect((await cancel(fixture, 'acme~ann')).body.cancelled).toHaveLength(1);
    await settle(fixture);
    const [turn] = await turnsOf(fixture);
    expect(turn).toMatchObject({ rule: 'cancelled', skills: ['pay'] });
    const decided = await fixture.call('POST', `${path}/approvals/${approval_id}`, {
      as: 'acme~ann',
      send: { approved: true },
    });
    expect(decided.body.code).toBe('agents.approval_decided');
    expect([paid, stub.asked.length]).toEqual([[], 1]);
    const items = await everyItem(fixture.target);
    expect(items.some(({ sk }) => sk === 'PAUSED')).toBe(false);
  });

  it('does nothing of what was approved before, but has not begun', async () => {
    const { fixture, stub } = await open((_, stream) => {
      stream.call('pay', '{}');
      stream.finish('tool_calls');
    });
    const asked = await say(fixture, 'c', 'Pay them', { user_id: 'ann' });
    const { approval_id } = asked.body.approvals[0];
    const send = { approved: true };
    const decided = await fixture.call('POST', `${path}/approvals/${approval_id}`, { as: 'acme~ann', send });
    expect(decided.status).toBe(200);
    expect((await cancel(fixture, 'acme~ann')).body.cancelled).toHaveLength(1);
    await settle(fixture);
    expect([paid, stub.asked.length]).toEqual([[], 1]);
    expect((await turnsOf(fixture))[0]).toMatchObject({ rule: 'cancelled' });
  });

  it('is the user’s own', async () => {
    const { behaviour } = createEndless();
    const { stub, fixture } = await open(behaviour);
    say(fixture, 'c', 'Tell me a story', { user_id: 'ann' }).catch(() => {});
    await until(() => stub.asked.length === 1);
    for (const as of ['acme~bob', 'globex', 'globex~ann'])
      expect((await cancel(fixture, as)).status).toBe(404);
    expect((await cancel(fixture, 'acme~ann')).body.cancelled).toHaveLength(1);
  });
});

// Reads the events of an answer as they come.
async function followed(fixture: Fixture, content: string) {
  const response = await fixture.app.request(`${path}/messages`, {
    method: 'POST',
    headers: {
      Authorization: 'Bearer acme',
      Accept: 'text/event-stream',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ content }),
  });
  const seen = { text: '' };
  const read = async () => {
    for await (const chunk of response.body!) seen.text += new TextDecoder().decode(chunk);
  };
  read().catch(() => {});
  return seen;
}
