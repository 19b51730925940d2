import { afterEach, describe, expect, it } from 'vitest';
import { type AgentsDeps, createModels } from '../src/index.ts';
import {
  advanceUntil,
  conversationPath,
  type Fixture,
  type Options,
  openFixture,
  openProcess,
  say,
  settle,
  until,
} from './agents-fixture.ts';
import { createFaults } from './faults.ts';
import { openStub } from './openai-stub.ts';

// `send_inbox_message` and `query_lake`, as a model calls them: for whom, with which key, and within which limits.

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Ports = NonNullable<AgentsDeps['ports']>;

// Services that take a key once, as ours do.
function createPorts() {
  const sent = new Map<string, unknown>();
  const sends: string[] = [];
  const queries: unknown[] = [];
  const silent = { times: 0 }; // it does what it is asked for, and does not say so
  const ports: Ports = {
    async sendMessage(whose, to, message, key) {
      sends.push(key);
      sent.set(key, { whose, to, message });
      if (silent.times-- > 0) await new Promise(() => {});
      return { id: `send of ${key}` };
    },
    async queryLake(whose, sql) {
      queries.push({ whose, sql });
      const rows = Array.from({ length: sql.includes('many') ? 3_000 : 2 }, (_, i) => [i, 'x'.repeat(20)]);
      return { columns: ['n', 'text'], rows, truncated: false };
    },
  };
  return { ports, sent, sends, queries, silent };
}

// It calls the skill, once for each input, and when it hears what came of the last call, it is done.
async function open(
  input: object | readonly object[],
  { name = 'send_inbox_message', approval = 'never' } = {},
) {
  const made = createPorts();
  const inputs = [input].flat();
  const server = await openStub(({ messages }, stream) => {
    const next = inputs[messages.filter(({ role }: { role: string }) => role === 'tool').length];
    if (next) stream.call(name, JSON.stringify(next), 'a1');
    else stream.text('Done.');
    stream.finish(next ? 'tool_calls' : 'stop');
  });
  const models = createModels({ openaiCompatible: { baseURL: server.baseURL } });
  const deps: Options = { ports: made.ports, models };
  const fixture = await openFixture(undefined, deps);
  closers.push(fixture.target.close, server.close);
  const settings = {
    enabled_skills: ['send_inbox_message', 'query_lake'],
    skill_approvals: { [name]: approval },
    ai_provider: 'openai-compatible',
    ai_model: 'stub',
  };
  fixture.tenants.get('acme')!.settings = settings;
  const another = (options: Options) => {
    const other = openProcess(fixture.target, { clock: fixture.clock, ...deps, ...options });
    other.tenants.get('acme')!.settings = settings;
    return other;
  };
  // The result of its call that the model received.
  const result = () => JSON.stringify(server.asked.at(-1).messages.at(-1));
  return { ...made, fixture, server, another, result };
}

const ann = (fixture: Fixture) =>
  fixture.call('POST', '/v1/tenants/acme/conversations', { send: { conversation_id: 'c', user_id: 'ann' } });
const message = { title: 'Tea', body: 'Buy some.' };
const owner = { tenant_id: 'acme', account_id: 'usr_acme' };

describe('a message to an inbox', () => {
  it('goes to the user who asks, with a key of its turn', async () => {
    const { fixture, sent } = await open(message);
    await ann(fixture);
    expect((await say(fixture, 'c', 'Remind me of tea', { as: 'acme~ann' })).status).toBe(200);
    expect([...sent]).toEqual([
      [expect.stringMatching(/^turn_\w+\.a1$/), { whose: { ...owner, user_id: 'ann' }, to: 'ann', message }],
    ]);
  });

  it.each(['never', 'user'])(
    'is sent for each call, even if the model gives all of them the same id (approval: %s)',
    async approval => {
      const inputs = ['Tea', 'Milk', 'Sugar'].map(title => ({ ...message, title }));
      const { fixture, sent, sends, server } = await open(inputs, { approval });
      await ann(fixture);
      await say(fixture, 'c', 'Tell me what to buy', { as: 'acme~ann' });
      for (let i = 0; i < inputs.length && approval !== 'never'; i++) {
        const { body } = await fixture.call('GET', '/v1/tenants/acme/approvals');
        const [{ approval_id }] = body.data;
        const path = `${conversationPath('c')}/approvals/${approval_id}`;
        await fixture.call('POST', path, { as: 'acme~ann', send: { approved: true } });
        await settle(fixture);
      }
      expect([...sent.values()]).toMatchObject(inputs.map(message => ({ message })));
      expect(sends).toHaveLength(3);
      type Message = { role: string; tool_call_id?: string };
      const ids = server.asked.at(-1).messages.flatMap((one: Message) => one.tool_call_id ?? []);
      expect(new Set(ids).size).toBe(3);
    },
  );

  it('goes to no other user, whatever the model was persuaded to do', async () => {
    const { fixture, sent, result } = await open({ ...message, to: 'bob' });
    await ann(fixture);
    await say(fixture, 'c', 'Tell Bob', { as: 'acme~ann' });
    expect(result()).toContain('a user can send messages to themselves only');
    expect(sent.size).toBe(0);
  });

  it('goes to the users that the host names, in its own conversation', async () => {
    const named = await open({ ...message, to: 'bob' });
    await say(named.fixture, 'c', 'Tell Bob', { as: 'acme' });
    expect([...named.sent.values()]).toEqual([
      { whose: { ...owner, user_id: undefined }, to: 'bob', message },
    ]);
    const unnamed = await open(message);
    await say(unnamed.fixture, 'c', 'Tell somebody', { as: 'acme' });
    expect(unnamed.result()).toContain('say whom the message is for');
    expect(unnamed.sent.size).toBe(0);
  });

  it('needs the scope of the inbox on the token of the user', async () => {
    const { fixture, sent, result } = await open(message);
    await ann(fixture);
    await say(fixture, 'c', 'Remind me', { as: 'acme~ann~agents.chat+inbox.read' });
    expect(result()).toContain('does not hold the scope inbox:write');
    expect(sent.size).toBe(0);
    const granted = await open(message);
    await ann(granted.fixture);
    await say(granted.fixture, 'c', 'Remind me', { as: 'acme~ann~agents.chat+inbox.write' });
    expect(granted.sent.size).toBe(1);
  });

  it('waits for the user’s approval by default', async () => {
    const { fixture, sent } = await open(message, { approval: 'user' });
    await ann(fixture);
    const asked = await say(fixture, 'c', 'Remind me', { as: 'acme~ann' });
    expect(asked).toMatchObject({ status: 202, body: { approvals: [{ name: 'send_inbox_message' }] } });
    expect(sent.size).toBe(0);
    const path = `${conversationPath('c')}/approvals/${asked.body.approvals[0].approval_id}`;
    for (let i = 0; i < 2; i++)
      await fixture.call('POST', path, { as: 'acme~ann', send: { approved: true } });
    await settle(fixture);
    expect(sent.size).toBe(1);
  });

  it.each([
    { title: '', body: 'b' },
    { title: 'a'.repeat(201), body: 'b' },
    { title: 't', body: 'b'.repeat(4_001) },
    { title: 't' },
    { ...message, tenant_id: 'globex' },
    { ...message, to: '' },
  ])('is refused if it does not fit: %#', async input => {
    const { fixture, sent, result } = await open(input);
    await say(fixture, 'c', 'Tell', { as: 'acme' });
    expect(result()).toContain('Invalid input for tool');
    expect(sent.size).toBe(0);
  });

  it('is sent once if it is retried because its result was lost', async () => {
    const other = { ...message, title: 'Milk' };
    const { fixture, sent, sends, server, silent } = await open([message, message, message, other, message]);
    await ann(fixture);
    silent.times = 2;
    let answer: Awaited<ReturnType<typeof say>> | undefined;
    say(fixture, 'c', 'Remind me of tea', { as: 'acme~ann' }).then(got => {
      answer = got;
    });
    await until(() => sends.length === 1);
    await advanceUntil(fixture, () => answer !== undefined);
    expect(answer!.status).toBe(200);
    type Message = { role: string; content: string };
    const results = server.asked.at(-1).messages.filter(({ role }: Message) => role === 'tool');
    expect(results[0].content).toContain(
      'it took longer than 10000 ms, and it is not known whether it was done',
    );
    expect(sends[1]).toBe(sends[0]);
    expect(sends[2]).toBe(sends[0]); // still the same, and now somebody heard of it
    expect(new Set(sends.slice(2)).size).toBe(3); // from here on it is asked for once more
    expect([...sent.values()]).toHaveLength(3);
  });

  // Each operation of the store fails in turn, or is made and its answer gets lost. The turn goes on elsewhere, or the
  // sender gets an error.
  it.each(['before', 'after'] as const)('is sent once, if the store fails %s any operation', async when => {
    const sendsOf: number[] = [];
    for (let after = 4; after < 20; after++) {
      const { fixture, sent, sends, another } = await open(message);
      await ann(fixture);
      const faults = createFaults(fixture.target.client);
      const victim = another({ client: faults.client });
      faults.failNext(after, when);
      await say(victim, 'c', 'Remind me', { as: 'acme~ann', key: 'once' }).catch(() => {});
      faults.reset();
      for (let i = 0; i < 4; i++) {
        await fixture.clock.advance(31_000);
        await settle(fixture);
      }
      const { body } = await say(fixture, 'c', 'Remind me', { as: 'acme~ann', key: 'once' });
      const turns = (await fixture.call('GET', `${conversationPath('c')}/messages`)).body.data;
      if (body.code === 'agents.message_dropped') expect([sent.size, turns.length]).toEqual([0, 0]);
      else expect([sent.size, turns.length], `${after}`).toEqual([1, 1]);
      sendsOf.push(sends.length);
    }
    expect(sendsOf).toContain(1);
    if (when === 'before') expect(sendsOf).toContain(2); // with the same key
  });
});

describe('a lake query', () => {
  const lake = { name: 'query_lake' };

  it('runs as the user, without an approval', async () => {
    const { fixture, queries, result } = await open({ sql: 'select 1' }, lake);
    await ann(fixture);
    expect((await say(fixture, 'c', 'How many?', { as: 'acme~ann~agents.chat+lake.read' })).status).toBe(200);
    expect(queries).toEqual([{ whose: { ...owner, user_id: 'ann' }, sql: 'select 1' }]);
    expect(result()).toContain('columns');
  });

  it('runs as the account in a conversation of the host', async () => {
    const { fixture, queries } = await open({ sql: 'select 1' }, lake);
    await say(fixture, 'c', 'How many?', { as: 'acme' });
    expect(queries).toEqual([{ whose: { ...owner, user_id: undefined }, sql: 'select 1' }]);
  });

  it('needs the scope of the lake on the token of the user', async () => {
    const { fixture, queries, result } = await open({ sql: 'select 1' }, lake);
    await ann(fixture);
    await say(fixture, 'c', 'How many?', { as: 'acme~ann~agents.chat+tasks.read' });
    expect(result()).toContain('does not hold the scope lake:read');
    expect(queries).toEqual([]);
  });

  it('has a limit, and so has its result', async () => {
    for (const sql of ['', ' ', `select '${'a'.repeat(4_000)}'`]) {
      const { fixture, queries, result } = await open({ sql }, lake);
      await say(fixture, 'c', 'How many?', { as: 'acme' });
      expect(result()).toContain('Invalid input for tool');
      expect(queries).toEqual([]);
    }
    const { fixture, result } = await open({ sql: 'select many' }, lake);
    await say(fixture, 'c', 'How many?', { as: 'acme' });
    expect(result().length).toBeLessThan(40_000);
    expect(result()).toContain('cut');
  });
});
