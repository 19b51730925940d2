import { manualOwners } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill } from '../src/index.ts';
import {
  advanceUntil,
  conversationPath,
  type Fixture,
  openFixture,
  openProcess,
  say,
  settle,
  until,
} from './agents-fixture.ts';
import { busyWhen, createFaults } from './faults.ts';

// A skill that takes as long as a test wants.
function createGate() {
  let open: () => void = () => {};
  let entered: () => void = () => {};
  const state = {
    calls: 0,
    opened: new Promise<void>(resolve => {
      open = resolve;
    }),
    reached: new Promise<void>(resolve => {
      entered = resolve;
    }),
    open: () => open(),
  };
  const skill = defineSkill({
    name: 'slow',
    description: 'Takes its time.',
    triggers: ['slow'],
    parameters: z.strictObject({}),
    async run() {
      state.calls += 1;
      entered();
      await state.opened;
      return { data: {}, text: 'Done slowly.' };
    },
  });
  return { ...state, skill, calls: () => state.calls };
}

describe('a turn', () => {
  let fixture: Fixture;
  let gate: ReturnType<typeof createGate>;
  beforeEach(async () => {
    gate = createGate();
    fixture = await openFixture(undefined, { skills: [gate.skill] });
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
  });
  afterEach(() => fixture.target.close());

  const path = `${conversationPath('c')}/messages`;
  const turnsOf = async (id = 'c') => {
    const { body } = await fixture.call('GET', `${conversationPath(id)}/messages`);
    return body.data as { seq: number; messages: { role: string; content: string }[] }[];
  };

  const stateOf = async () => {
    const Key = { pk: 'CONV#acme#c', sk: 'STATE' };
    return (await fixture.target.client.get({ TableName: 'conversations', Key })).Item!;
  };
  const waiting = async () => (await stateOf()).waiting_count;

  it('is made once per Idempotency-Key', async () => {
    const first = await say(fixture, 'c', 'hello', { key: 'k1' });
    const again = await say(fixture, 'c', 'hello', { key: 'k1' });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await say(fixture, 'c', 'hi', { key: 'k1' })).body.code).toBe('http.idempotency_mismatch');
    expect(await turnsOf()).toHaveLength(1);
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage');
    expect(usage.body.total.messages).toBe(1);
  });

  it('is shared when the same message is sent again while it is answered', async () => {
    const first = say(fixture, 'c', 'slow', { key: 'k1' });
    await gate.reached;
    const again = say(fixture, 'c', 'slow', { key: 'k1' });
    gate.open();
    expect((await again).body).toEqual((await first).body);
    expect(gate.calls()).toBe(1);
  });

  it('is refused while another one is made, if the tenant chose so', async () => {
    fixture.tenants.get('acme')!.settings.busy = 'refuse';
    const first = say(fixture, 'c', 'slow');
    await gate.reached;
    const second = await say(fixture, 'c', 'hello');
    expect(second).toMatchObject({ status: 409, body: { code: 'agents.conversation_busy' } });
    expect(second.headers.get('retry-after')).toBe('2');
    gate.open();
    expect((await first).status).toBe(200);
    expect((await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total.messages).toBe(1);
  });

  it('answers everything that arrived meanwhile as one turn', async () => {
    const first = say(fixture, 'c', 'slow');
    await gate.reached;
    const burst = ['one', 'two', 'three'].map(text => say(fixture, 'c', text));
    await until(async () => (await waiting()) === 4);
    gate.open();
    await first;
    await settle(fixture);
    const answers = await Promise.all(burst);
    expect(answers.map(({ body }) => [body.seq, body.merged])).toEqual([
      [2, 3],
      [2, 3],
      [2, 3],
    ]);
    expect((await turnsOf())[1]!.messages.map(({ role, content }) => [role, content]).slice(0, 3)).toEqual([
      ['user', 'one'],
      ['user', 'two'],
      ['user', 'three'],
    ]);
  });

  it('answers each question, also behind a message that has a turn to itself', async () => {
    const first = say(fixture, 'c', 'slow');
    await gate.reached;
    const long = say(fixture, 'c', '漢'.repeat(32_000));
    await until(async () => (await waiting()) === 2);
    gate.open();
    await first;
    const last = say(fixture, 'c', 'hello');
    await until(async () => (await turnsOf()).length === 2);
    await settle(fixture);
    expect([(await long).body.seq, (await last).body]).toMatchObject([2, { seq: 3, rule: 'greeting' }]);
    expect((await turnsOf())[2]!.messages[0]!.content).toBe('hello');
  });

  it('is not restored by an answer that was being generated when it was cleared', async () => {
    const first = say(fixture, 'c', 'slow');
    await gate.reached;
    await fixture.call('DELETE', path);
    gate.open();
    expect(await first).toMatchObject({ status: 409, body: { code: 'agents.conversation_cleared' } });
    expect(await turnsOf()).toEqual([]);
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage');
    expect(usage.body.total).toMatchObject({ messages: 0, refunded: 1 });
  });

  it('is finished by another process if the first one dies', async () => {
    const first = say(fixture, 'c', 'slow'); // never answered: its process is as good as dead
    first.catch(() => {});
    await gate.reached;
    const other = createGate();
    other.open();
    const survivor = openProcess(fixture.target, { clock: fixture.clock, skills: [other.skill] });
    survivor.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    expect(await survivor.agents.runDue()).toMatchObject({ worked: 0 });
    fixture.clock.set(fixture.clock.now() + 31_000); // the lease has ended, and nobody renewed it
    expect(await survivor.agents.runDue()).toMatchObject({ worked: 1 });
    expect((await turnsOf()).map(turn => turn.messages[1]!.content)).toEqual(['Done slowly.']);
    gate.open(); // the dead one wakes up, and finds that it holds nothing
    expect((await first).body.code).toBe('agents.conversation_cleared');
    expect(await turnsOf()).toHaveLength(1);
    expect((await fixture.call('GET', '/v1/tenants/acme/agent-usage')).body.total.messages).toBe(1);
  });

  it('is finished at once by another process if the first one is known to be dead', async () => {
    const owners = manualOwners();
    const victim = openProcess(fixture.target, {
      clock: fixture.clock,
      skills: [gate.skill],
      owners: owners.as('victim'),
    });
    victim.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    say(victim, 'c', 'slow').catch(() => {});
    await gate.reached;
    const other = createGate();
    other.open();
    const heir = openProcess(fixture.target, {
      clock: fixture.clock,
      skills: [other.skill],
      owners: owners.as('heir'),
    });
    heir.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    const stopping = new AbortController();
    const sleeping = fixture.clock.sleepers();
    const running = heir.agents.workers[0]!.run(stopping.signal);
    await until(() => fixture.clock.sleepers() > sleeping);
    expect(await turnsOf()).toEqual([]);
    owners.end('victim');
    await until(async () => (await turnsOf()).length === 1);
    expect((await turnsOf()).map(turn => turn.messages[1]!.content)).toEqual(['Done slowly.']);
    gate.open();
    stopping.abort();
    await running;
  });

  it('is made by a worker if the store is too busy for the answer', async () => {
    let busy = 0;
    const client = busyWhen(fixture.target.client, name => name === 'transactWrite' && busy-- > 0);
    const process = openProcess(fixture.target, { clock: fixture.clock, client, skills: [gate.skill] });
    process.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    const first = say(process, 'c', 'slow', { key: 'k1' });
    await gate.reached;
    busy = Number.POSITIVE_INFINITY;
    gate.open();
    for (let s = 0; s < 200 && (await stateOf()).fence !== undefined; s++) await fixture.clock.advance(1_000);
    expect(await stateOf()).not.toHaveProperty('fence');
    expect((await stateOf()).attempts).toBeUndefined();
    busy = 0;
    await fixture.clock.advance(15_000);
    await settle(process);
    const { status, body } = await first;
    expect([status, body.reply?.content]).toEqual([200, 'Done slowly.']);
    expect((await say(process, 'c', 'slow', { key: 'k1' })).body).toEqual(body);
    expect(await turnsOf()).toHaveLength(1);
    expect(gate.calls()).toBe(1); // the answer was made, and is not made again
  });

  it('is written by the process that made it, as soon as the store takes it', async () => {
    let busy = 0;
    const client = busyWhen(fixture.target.client, name => name === 'transactWrite' && busy-- > 0);
    const process = openProcess(fixture.target, { clock: fixture.clock, client, skills: [gate.skill] });
    process.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    const first = say(process, 'c', 'slow');
    await gate.reached;
    busy = 40;
    gate.open();
    let isOver = false;
    first.finally(() => {
      isOver = true;
    });
    await advanceUntil(fixture, () => isOver);
    expect((await first).body.reply.content).toBe('Done slowly.');
    expect([gate.calls(), (await turnsOf()).length]).toEqual([1, 1]);
  });

  it('has not failed if its server was stopping', async () => {
    say(fixture, 'c', 'slow').catch(() => {}); // its process is as good as dead
    await gate.reached;
    const other = createGate();
    const faults = createFaults(fixture.target.client);
    const { clock } = fixture;
    const heir = openProcess(fixture.target, { clock, client: faults.client, skills: [other.skill] });
    heir.tenants.get('acme')!.settings = { enabled_skills: ['slow'] };
    clock.set(clock.now() + 31_000);
    const stopping = new AbortController();
    const running = heir.agents.workers[0]!.run(stopping.signal);
    await other.reached;
    stopping.abort();
    faults.failNext(0, 'before');
    other.open();
    await running;
    expect(await stateOf()).toMatchObject({ waiting_count: 1, attempts: 0 });
    expect(await stateOf()).not.toHaveProperty('fence');
  });

  it('streams, and can be followed again after a disconnect', async () => {
    const events = async (response: Response) =>
      [...(await response.text()).matchAll(/id: (.*)\nevent: (.*)\ndata: (.*)\n/g)].map(
        ([, id, event, data]) => ({
          id,
          event,
          data: JSON.parse(data!),
        }),
      );
    const headers = { Authorization: 'Bearer acme', Accept: 'text/event-stream' };
    const post = { method: 'POST', body: JSON.stringify({ content: 'slow' }) };
    const posted = await fixture.app.request(path, {
      ...post,
      headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
    });
    const reader = posted.body!.getReader();
    let text = '';
    while (!text.includes('accepted')) text += new TextDecoder().decode((await reader.read()).value);
    const { message_id } = JSON.parse(/event: accepted\ndata: (.*)/.exec(text)![1]!);
    await gate.reached;
    await reader.cancel(); // the caller goes away; the turn goes on
    const resumed = await fixture.app.request(`${path}/${message_id}`, {
      headers: { ...headers, 'Last-Event-ID': '0' },
    });
    gate.open();
    const got = await events(resumed);
    expect(got.map(({ event }) => event)).toEqual(['delta', 'reply']);
    expect(got[1]!.data).toMatchObject({ message_id, reply: { content: 'Done slowly.' }, routing: 'rule' });
    const late = await fixture.call('GET', `${path}/${message_id}`);
    expect(late.body).toEqual(got[1]!.data);
  });

  it('aborts a skill that takes too long, and reports it', async () => {
    const answer = say(fixture, 'c', 'slow');
    await gate.reached;
    await fixture.clock.advance(10_000);
    expect((await answer).body.reply.content).toBe('The skill slow failed: it took longer than 10000 ms');
  });

  it('reveals no conversations of others to an end user', async () => {
    await say(fixture, 'anns', 'hello', { user_id: 'ann' });
    for (const [method, suffix, send] of [
      ['GET', '', undefined],
      ['PATCH', '', { title: 'x' }],
      ['DELETE', '', undefined],
      ['GET', '/messages', undefined],
      ['POST', '/messages', { content: 'hello' }],
      ['DELETE', '/messages', undefined],
      ['GET', '/export', undefined],
      ['GET', '/messages/msg_x', undefined],
    ] as const) {
      const theirs = await fixture.call(method, conversationPath('anns') + suffix, { as: 'acme~bob', send });
      const missing = await fixture.call(method, conversationPath('none') + suffix, { as: 'acme~bob', send });
      expect([theirs.status, theirs.body.code]).toEqual([404, 'agents.conversation_not_found']);
      expect([missing.status, missing.body.code]).toEqual([404, 'agents.conversation_not_found']);
    }
    expect((await fixture.call('GET', conversationPath('anns'), { as: 'acme~ann' })).status).toBe(200);
    expect((await fixture.call('GET', conversationPath('anns'), { as: 'globex' })).body.code).toBe(
      'tenants.not_found',
    );
  });

  it('gives an end user an unused id', async () => {
    const send = { conversation_id: 'chosen', title: 'Mine' };
    const made = await fixture.call('POST', '/v1/tenants/acme/conversations', { as: 'acme~ann', send });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ title: 'Mine', user_id: 'ann', turns: 0 });
    expect(made.body.conversation_id).not.toBe('chosen');
    const answer = await say(fixture, made.body.conversation_id, 'hello', { as: 'acme~ann' });
    expect(answer.body.seq).toBe(1);
  });
});
