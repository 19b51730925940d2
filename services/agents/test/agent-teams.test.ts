import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createModels, defineSkill } from '../src/index.ts';
import {
  advanceUntil,
  conversationPath,
  type Fixture,
  openProcess,
  say,
  settle,
  until,
} from './agents-fixture.ts';
import { call, clientOf, openAgent, say as says } from './openai-fixture.ts';
import type { Behaviour } from './openai-stub.ts';

const base = '/v1/tenants/acme/agents';
const define = async (fixture: Fixture, name: string, send: object) => {
  const saved = await fixture.call('PUT', `${base}/${name}`, { send });
  expect([name, saved.status, saved.body.detail]).toEqual([name, 200, undefined]);
  const published = await fixture.call('POST', `${base}/${name}/publish`, { send: {} });
  expect(published.status).toBe(200);
};
const begin = (fixture: Fixture, agent: string, conversation_id = 'c') =>
  fixture.call('POST', '/v1/tenants/acme/conversations', {
    send: { conversation_id, agent, user_id: 'ann' },
  });
type Asked = { messages: { role: string; content: string }[]; tools?: { function: { name: string } }[] };
const systemOf = ({ messages }: Asked) => messages[0]!.content;
const toolsOf = ({ tools = [] }: Asked) => tools.map(one => one.function.name);
const conversationOf = async (fixture: Fixture) => (await fixture.call('GET', conversationPath('c'))).body;
const usageOf = async (fixture: Fixture) =>
  (await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total;

const stock = defineSkill({
  name: 'stock',
  description: 'How much there is.',
  triggers: [],
  parameters: z.strictObject({}),
  run: async () => ({ data: { left: 7 }, text: '7' }),
});
const paid: string[] = [];
const pay = defineSkill({
  name: 'pay',
  description: 'Pays.',
  triggers: [],
  parameters: z.strictObject({}),
  acts: true,
  approval: 'never',
  async run(_, { idempotency_key }) {
    paid.push(idempotency_key!);
    return { data: {}, text: 'Paid.' };
  },
});

// Each model request is answered by what its agent does, so that the order of requests does not matter.
const byAgent =
  (behaviours: Record<string, Behaviour[]>): Behaviour =>
  (asked, stream) => {
    const own = behaviours[systemOf(asked)]!;
    return (own.length > 1 ? own.shift()! : own[0]!)(asked, stream);
  };

const open = (behaviours: Record<string, Behaviour[]>, settings = {}) =>
  openAgent([byAgent(behaviours)], { skills: [stock, pay], settings });

describe('an agent that hands over', () => {
  const team = async (behaviours: Record<string, Behaviour[]>) => {
    const opened = await open(behaviours);
    await define(opened.fixture, 'billing', {
      prompt: 'Billing',
      description: 'Invoices',
      skills: ['stock'],
    });
    await define(opened.fixture, 'front', { prompt: 'Front', handoffs: ['billing', 'default'] });
    await begin(opened.fixture, 'front');
    return opened;
  };
  const handOver = call('hand_off', { agent: 'billing', reason: 'An invoice.' });

  it('lets the other one answer, now and from then on, and the turn says so', async () => {
    const { fixture, stub } = await team({ Front: [handOver], Billing: [says('It is paid.')] });
    const { body } = await say(fixture, 'c', 'My invoice?');
    expect(body).toMatchObject({
      reply: { content: 'It is paid.' },
      agent: 'billing',
      agent_version: 1,
      handed_from: 'front',
      skills: ['hand_off'],
    });
    expect(JSON.stringify(stub.asked[0]!.tools)).toContain('- billing: Invoices');
    expect(toolsOf(stub.asked[1]!)).toEqual(['stock']);
    expect(await conversationOf(fixture)).toMatchObject({ agent: 'billing', agent_version: null });
    expect((await say(fixture, 'c', 'Sure?')).body).toMatchObject({ agent: 'billing', handed_from: null });
    const turns = (await fixture.call('GET', `${conversationPath('c')}/messages`)).body.data;
    const steps = JSON.stringify(turns[0].messages);
    expect(steps).toContain('"toolName":"hand_off","input":{"agent":"billing","reason":"An invoice."}');
    expect(steps).toContain('"handed_over_to":"billing"');
  });

  it('hands over once, when its process dies before the other one has answered', async () => {
    const silent: Behaviour = () => {};
    const { fixture, stub } = await team({ Front: [handOver], Billing: [silent, says('It is paid.')] });
    say(fixture, 'c', 'My invoice?').catch(() => {}); // its process is as good as dead
    await until(() => stub.asked.length === 2);
    expect(await conversationOf(fixture)).toMatchObject({ agent: 'front' });
    const models = createModels({
      openaiCompatible: { baseURL: stub.baseURL },
      default: { provider: 'openai-compatible', model: 'stub' },
    });
    fixture.clock.set(fixture.clock.now() + 31_000); // the lease has ended
    const survivor = openProcess(fixture.target, { clock: fixture.clock, models, skills: [stock, pay] });
    await settle(survivor);
    expect(stub.asked.map(systemOf)).toEqual(['Front', 'Billing', 'Billing']);
    const turns = (await survivor.call('GET', `${conversationPath('c')}/messages`)).body.data;
    expect(turns).toMatchObject([{ agent: 'billing', handed_from: 'front', skills: ['hand_off'] }]);
    expect(await conversationOf(survivor)).toMatchObject({ agent: 'billing' });
  });

  it('cannot hand over to one that was deleted meanwhile', async () => {
    let fixture: Fixture;
    const late: Behaviour = async (asked, stream) => {
      await fixture.call('DELETE', `${base}/billing`);
      return handOver(asked, stream);
    };
    const opened = await team({ Front: [late, says('Nobody is there.')] });
    fixture = opened.fixture;
    expect((await say(fixture, 'c', 'My invoice?')).body).toMatchObject({
      agent: 'front',
      handed_from: null,
      reply: { content: 'Nobody is there.' },
    });
    expect(JSON.stringify(opened.stub.asked[1])).toContain('Invalid arguments: agent');
  });

  it('cannot hand over to another tenant’s, or to one that it does not name', async () => {
    const stranger = call('hand_off', { agent: 'strange' });
    const { fixture } = await team({ Front: [stranger, says('No.')] });
    const send = { prompt: 'Strange' };
    await fixture.call('PUT', '/v1/tenants/globex/agents/strange', { send, as: 'globex' });
    await fixture.call('POST', '/v1/tenants/globex/agents/strange/publish', { send: {}, as: 'globex' });
    expect((await say(fixture, 'c', 'Hi there, who?')).body).toMatchObject({ agent: 'front' });
  });

  it('ends when two agents pass a conversation to each other', async () => {
    const to = (agent: string) => call('hand_off', { agent });
    const { fixture, stub } = await open({ One: [to('two')], Two: [to('one')] });
    await define(fixture, 'one', { prompt: 'One' });
    await define(fixture, 'two', { prompt: 'Two', handoffs: ['one'] });
    await define(fixture, 'one', { prompt: 'One', handoffs: ['two'] });
    await begin(fixture, 'one');
    const { status } = await say(fixture, 'c', 'Who answers?');
    expect(status).not.toBe(500);
    expect(stub.asked.filter(asked => toolsOf(asked).includes('hand_off'))).toHaveLength(3);
  });

  it('can be stopped afterwards, and the conversation stays where it is', async () => {
    const silent: Behaviour = () => {};
    const { fixture, stub } = await team({ Front: [handOver], Billing: [silent] });
    const sent = say(fixture, 'c', 'My invoice?');
    await until(() => stub.asked.length === 2);
    await fixture.call('POST', `${conversationPath('c')}/cancel`);
    expect((await sent).body).toMatchObject({ rule: 'cancelled', agent: 'billing', handed_from: 'front' });
    expect(await conversationOf(fixture)).toMatchObject({ agent: 'billing' });
  });
});

describe('an agent that asks another', () => {
  it('gets its answer, which knows nothing of the conversation and does nothing', async () => {
    const { fixture, stub } = await open({
      Front: [call('ask_agent', { agent: 'store', question: 'How many?' }), says('Seven are left.')],
      Store: [call('stock', {}), says('Seven.')],
    });
    await define(fixture, 'store', { prompt: 'Store', skills: ['stock', 'pay'] });
    await define(fixture, 'front', { prompt: 'Front', asks: ['store'] });
    await begin(fixture, 'front');
    const { body } = await say(fixture, 'c', 'A secret question');
    expect(body).toMatchObject({
      reply: { content: 'Seven are left.' },
      agent: 'front',
      skills: ['ask_agent'],
      usage: { input_tokens: 400, output_tokens: 80 },
    });
    const ofStore = stub.asked.filter(asked => systemOf(asked) === 'Store');
    expect(toolsOf(ofStore[0]!)).toEqual(['stock']);
    expect(JSON.stringify(ofStore)).not.toContain('secret');
    expect(JSON.stringify(stub.asked.at(-1))).toContain('Seven.');
    expect(await usageOf(fixture)).toMatchObject({ messages: 1, model_turns: 1, input_tokens: 400 });
    const spent = async (name: string) => (await fixture.call('GET', `${base}/${name}`)).body.spent_today_usd;
    expect(await spent('store')).toBeGreaterThan(0);
    expect((await spent('store')) + (await spent('front'))).toBeCloseTo(body.cost_usd, 9);
    expect(await usageOf(fixture)).toMatchObject({ cost_usd: body.cost_usd, reserved_usd: 0 });
  });

  it('is at most so deep, and never asks one that is asking', async () => {
    const ask = (agent: string) => call('ask_agent', { agent, question: 'What?' });
    const { fixture, stub } = await open({
      A: [ask('b'), says('Done.')],
      B: [ask('c'), says('B.')],
      C: [says('C.')],
    });
    await define(fixture, 'a', { prompt: 'A' });
    await define(fixture, 'd', { prompt: 'D' });
    await define(fixture, 'c', { prompt: 'C', asks: ['a', 'd'] });
    await define(fixture, 'b', { prompt: 'B', asks: ['a', 'c'] });
    await define(fixture, 'a', { prompt: 'A', asks: ['b'] });
    await begin(fixture, 'a');
    expect((await say(fixture, 'c', 'Go on')).body.reply.content).toBe('Done.');
    const [first, second, third] = stub.asked as Asked[];
    expect([first, second, third].map(one => toolsOf(one!))).toEqual([['ask_agent'], ['ask_agent'], []]);
    expect(JSON.stringify(second!.tools)).not.toContain('- a:');
  });
});

describe('the budget of an agent', () => {
  const expensive = { prices: { 'openai-compatible/stub': { input: 0, output: 1000 } } };
  const openWith = async (definition: object, behaviours: Behaviour[]) => {
    const opened = await openAgent(behaviours, {});
    const models = createModels({
      openaiCompatible: { baseURL: opened.stub.baseURL },
      default: { provider: 'openai-compatible', model: 'stub' },
      ...expensive,
    });
    const fixture = openProcess(opened.fixture.target, { clock: opened.fixture.clock, models });
    fixture.tenants.get('acme')!.settings = { max_tokens_per_message: 100 };
    await define(fixture, 'front', { prompt: 'Front', ...definition });
    await begin(fixture, 'front');
    return { ...opened, fixture };
  };

  it('of a day is its own, and is not exceeded by however many at once', async () => {
    const { fixture } = await openWith({ spend_per_day_usd: 0.15 }, [says('Yes.')]); // a step may cost 10 cents, and costs 2
    const all = await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        await begin(fixture, 'front', `c${i}`);
        return say(fixture, `c${i}`, 'What now?');
      }),
    );
    const refused = all.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]!.body).toMatchObject({
      code: 'agents.spend_exceeded',
      detail: expect.stringContaining('The agent has reached'),
    });
    const answered = all.filter(({ status }) => status === 200).length;
    const { body } = await fixture.call('GET', `${base}/front`);
    expect(body.spent_today_usd).toBeCloseTo(answered * 0.02, 9);
    expect((await say(fixture, 'other', 'What now?')).status).toBe(200); // the settings of the tenant have no such limit
    expect(await usageOf(fixture)).toMatchObject({ reserved_usd: 0 });
  });

  it('of a turn ends it', async () => {
    const { fixture } = await openWith({ spend_per_turn_usd: 0.05 }, [says('Yes.')]);
    const { status, body } = await say(fixture, 'c', 'What now?');
    expect([status, body.code]).toEqual([429, 'agents.spend_exceeded']);
    expect(body.detail).toContain('A turn of this agent may cost at most $0.05');
    expect(await usageOf(fixture)).toMatchObject({ cost_usd: 0, reserved_usd: 0 });
  });
});

describe('a skill that the published version has lost', () => {
  it('is not called by a turn that began before', async () => {
    let fixture: Fixture;
    const late: Behaviour = async (asked, stream) => {
      const send = { prompt: 'Front', skills: [] };
      await fixture.call('PUT', `${base}/front`, { send });
      await fixture.call('POST', `${base}/front/publish`, { send: {} });
      return call('pay', {})(asked, stream);
    };
    const opened = await open({ Front: [late, says('I may not.')] });
    fixture = opened.fixture;
    await define(fixture, 'front', { prompt: 'Front', skills: ['pay'] });
    await begin(fixture, 'front');
    paid.length = 0;
    let answer: Awaited<ReturnType<typeof say>> | undefined;
    say(fixture, 'c', 'Pay it').then(found => {
      answer = found;
    });
    await advanceUntil(fixture, () => answer !== undefined);
    expect(answer).toMatchObject({ body: { agent_version: 1, reply: { content: 'I may not.' } } });
    expect(paid).toEqual([]);
  });
});

describe('agents, named as models of OpenAI', () => {
  it('are listed and answer, to those who may begin with them', async () => {
    const { fixture, client, stub } = await openAgent([says('Yes.')]);
    await define(fixture, 'internal', { prompt: 'Internal' });
    await define(fixture, 'support', { prompt: 'Support', is_open_to_users: true });
    const ids = (await client.models.list()).data.map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual(['default', 'agent/internal', 'agent/support']);
    const ask = (model: string, of = client) =>
      of.chat.completions.create({ model, messages: [{ role: 'user', content: 'What now?' }] });
    expect((await ask('agent/support')).choices[0]!.message.content).toBe('Yes.');
    expect(systemOf(stub.asked[0])).toBe('Support');
    const first = await client.responses.create({ model: 'agent/internal', input: 'What now?' });
    await client.responses.create({
      model: 'agent/internal',
      input: 'And then?',
      previous_response_id: first.id,
    });
    expect(stub.asked.slice(1).map(systemOf)).toEqual(['Internal', 'Internal']);
    const user = clientOf(fixture, 'acme~ann');
    expect((await user.models.list()).data.map(({ id }) => id)).not.toContain('agent/internal');
    await expect(ask('agent/internal', user)).rejects.toThrow('does not exist');
    await expect(ask('agent/nobody')).rejects.toThrow('does not exist');
    expect((await ask('agent/support', user)).choices[0]!.message.content).toBe('Yes.');
  });
});
