import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createModels, defineSkill, type Skill } from '../src/index.ts';
import {
  advanceUntil,
  conversationPath,
  everyItem,
  type Fixture,
  isKept,
  type Options,
  openFixture,
  openProcess,
  say,
  settle,
  targets,
} from './agents-fixture.ts';
import { createFaults } from './faults.ts';
import { openWire, type Reply, wires } from './provider-wires.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

// A service that takes a key once, as ours do: what was done, and how often it was asked for.
function createBank(options: Partial<Skill> = {}) {
  const done = new Map<string, string>();
  const asked: string[] = [];
  const skill = defineSkill({
    name: 'pay',
    description: 'Pays somebody.',
    triggers: [/^pay (?<to>\w+)$/i],
    parameters: z.strictObject({ to: z.string() }),
    acts: true,
    async run({ to }, { idempotency_key }) {
      asked.push(idempotency_key!);
      done.set(idempotency_key!, to);
      return { data: { paid: to }, text: `Paid ${to}.` };
    },
    ...(options as object),
  });
  return { done, asked, skill };
}

const wire = wires.find(({ provider }) => provider === 'openai-compatible')!;
const lookup = defineSkill({
  name: 'lookup',
  description: 'Looks a word up.',
  triggers: [],
  parameters: z.strictObject({ word: z.string() }),
  run: async ({ word }) => ({ data: { meaning: `of ${word}` }, text: '' }),
});

async function open(options: Partial<Skill> = {}, replies?: readonly Reply[], target = targets.embedded) {
  const bank = createBank(options);
  const server = replies && (await openWire(replies));
  const deps: Options = {
    skills: [bank.skill, lookup],
    roleOf: async (_, user) => (user === 'boss' ? 'admin' : 'member'),
    ...(server && { models: createModels(wire.configure(server.url)) }),
  };
  const fixture = await openFixture(target, deps);
  closers.push(fixture.target.close, ...(server ? [server.close] : []));
  const settings: Record<string, unknown> = {
    enabled_skills: ['pay', 'lookup'],
    ...(server && { ai_provider: wire.provider, ai_model: wire.model }),
  };
  fixture.tenants.get('acme')!.settings = settings;
  // Another process over the same tables.
  const another = (options: Options = {}) => {
    const other = openProcess(fixture.target, { clock: fixture.clock, ...deps, ...options });
    other.tenants.get('acme')!.settings = settings;
    return other;
  };
  return { fixture, bank, settings, another, server };
}

const turnsOf = async (fixture: Fixture) =>
  (await fixture.call('GET', `${conversationPath('c')}/messages`)).body.data;
const ask = async (fixture: Fixture, content = 'pay bob', as = 'acme~ann') => {
  await fixture.call('POST', '/v1/tenants/acme/conversations', {
    send: { conversation_id: 'c', user_id: 'ann' },
  });
  return say(fixture, 'c', content, { as });
};
const decide = (fixture: Fixture, id: string, approved: boolean, as = 'acme~ann', reason?: string) =>
  fixture.call('POST', `${conversationPath('c')}/approvals/${id}`, { as, send: { approved, reason } });
const waitingOf = async (fixture: Fixture, as = 'acme~ann') =>
  (await fixture.call('GET', '/v1/tenants/acme/approvals', { as })).body.data;

// Callers who lose a race wait a moment.
async function whileTimePasses<T>(fixture: Fixture, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  await advanceUntil(fixture, () => isOver);
  return work;
}

describe('a call that needs an approval', () => {
  it.each(Object.entries(targets))('waits, is made when they agree, and answers (%s)', async (_, target) => {
    const { fixture, bank } = await open({}, undefined, target);
    const asked = await ask(fixture);
    expect(asked).toMatchObject({
      status: 202,
      body: { status: 'waiting', approvals: [{ name: 'pay', input: { to: 'bob' }, approval: 'user' }] },
    });
    await settle(fixture);
    expect(bank.asked).toEqual([]);
    const [waiting] = await waitingOf(fixture);
    expect(waiting).toEqual(asked.body.approvals[0]);
    const decided = await decide(fixture, waiting.approval_id, true);
    expect(decided).toMatchObject({ status: 200, body: { status: 'approved', decided_by: 'user:ann' } });
    await decide(fixture, waiting.approval_id, true); // once more
    expect(fixture.audited).toMatchObject([
      {
        accountId: 'usr_acme',
        action: 'agents.decideApproval',
        detail: 'approved pay',
        via: 'end_user',
        credentialId: 'acme/ann',
        address: '203.0.113.7',
        requestId: expect.any(String),
      },
    ]);
    await settle(fixture);
    const answer = await fixture.call('GET', `${conversationPath('c')}/messages/${asked.body.message_id}`);
    expect(answer.body).toMatchObject({
      status: 'answered',
      rule: 'skill',
      skills: ['pay'],
      reply: { content: 'Paid bob.' },
    });
    expect([...bank.done.values()]).toEqual(['bob']);
    expect(await waitingOf(fixture)).toEqual([]);
    expect((await everyItem(fixture.target)).filter(({ sk }) => sk === 'PAUSED')).toEqual([]);
  });

  it('is not made if it is rejected or expires', async () => {
    const { fixture, bank, settings } = await open();
    settings.approval_hours = 1;
    const first = await ask(fixture);
    await decide(fixture, first.body.approvals[0].approval_id, false, 'acme~ann', 'too much');
    await settle(fixture);
    await ask(fixture);
    await settle(fixture);
    await fixture.clock.advance(59 * 60_000);
    await settle(fixture);
    expect(await turnsOf(fixture)).toHaveLength(1);
    const [late] = await waitingOf(fixture);
    await fixture.clock.advance(61_000);
    await settle(fixture);
    expect(
      (await turnsOf(fixture)).map((turn: { messages: { content: string }[] }) => turn.messages[1]!.content),
    ).toEqual(['pay was not done: refused: too much.', 'pay was not done: the approval expired.']);
    expect(bank.asked).toEqual([]);
    expect(await decide(fixture, late.approval_id, true)).toMatchObject({
      status: 409,
      body: { code: 'agents.approval_decided', details: { status: 'expired' } },
    });
  });

  it('cannot be decided after its time, even before anybody has noticed', async () => {
    const { fixture, bank, settings } = await open();
    settings.approval_hours = 1;
    const { approval_id } = (await ask(fixture)).body.approvals[0];
    fixture.clock.set(fixture.clock.now() + 60 * 60_000);
    expect(await decide(fixture, approval_id, true)).toMatchObject({
      status: 409,
      body: { code: 'agents.approval_decided', details: { status: 'expired' } },
    });
    await settle(fixture);
    expect(bank.asked).toEqual([]);
  });

  it('has one outcome, no matter who decides or how often', async () => {
    const { fixture, bank, another } = await open();
    const { approval_id } = (await ask(fixture)).body.approvals[0];
    const others = [fixture, another(), another()];
    const deciding = Promise.all(others.map((one, i) => decide(one, approval_id, i !== 1)));
    const answers = await whileTimePasses(fixture, deciding);
    const winner = answers.find(({ status }) => status === 200)!.body.status;
    for (const { status, body } of answers)
      expect(status === 200 ? body.status : body.code).toBe(
        status === 200 ? winner : 'agents.approval_decided',
      );
    await whileTimePasses(fixture, Promise.all(others.map(one => one.agents.runDue())));
    await settle(fixture);
    expect(bank.asked).toHaveLength(winner === 'approved' ? 1 : 0);
    expect(await turnsOf(fixture)).toHaveLength(1);
    const again = await decide(fixture, approval_id, winner === 'approved', 'acme', 'again');
    expect(again).toMatchObject({ status: 200, body: { decided_by: 'user:ann', reason: null } });
  });

  it('is not made after the conversation was cleared', async () => {
    const { fixture, bank } = await open();
    const { approval_id } = (await ask(fixture)).body.approvals[0];
    await fixture.call('DELETE', `${conversationPath('c')}/messages`);
    expect(await waitingOf(fixture)).toEqual([]);
    expect((await decide(fixture, approval_id, true)).body).toMatchObject({
      details: { status: 'cancelled' },
    });
    await settle(fixture);
    expect([bank.asked, await turnsOf(fixture)]).toEqual([[], []]);
    expect(await isKept(fixture, 'bob')).toBe(false);
    expect((await say(fixture, 'c', 'hello', { as: 'acme~ann' })).status).toBe(200);
  });

  it('is decided only by permitted users', async () => {
    const { fixture, bank, settings } = await open();
    const first = (await ask(fixture)).body.approvals[0].approval_id;
    expect((await decide(fixture, first, true, 'acme~bob')).body.code).toBe('agents.approval_not_found');
    expect((await decide(fixture, first, true, 'acme~boss')).body.code).toBe('agents.approval_not_found');
    expect(await waitingOf(fixture, 'acme~bob')).toEqual([]);
    await decide(fixture, first, false);
    await settle(fixture);

    settings.skill_approvals = { pay: 'admin' };
    const second = (await ask(fixture)).body.approvals[0].approval_id;
    expect((await decide(fixture, second, true)).body.code).toBe('agents.approval_not_yours');
    expect((await decide(fixture, second, true, 'acme~bob')).body.code).toBe('agents.approval_not_found');
    expect((await decide(fixture, second, true, 'acme/write')).body.code).toBe('agents.approval_not_yours');
    expect(await waitingOf(fixture, 'acme~boss')).toMatchObject([{ approval_id: second, approval: 'admin' }]);
    expect((await decide(fixture, second, true, 'acme~boss')).status).toBe(200);
    await settle(fixture);
    expect([...bank.done.values()]).toEqual(['bob']);

    settings.skill_approvals = { pay: 'never' };
    expect((await ask(fixture)).body.reply.content).toBe('Paid bob.');
    settings.skill_approvals = { pay: 'nevr' }; // a slip of the pen asks
    expect((await ask(fixture)).status).toBe(202);
  });

  it('is handled before later messages', async () => {
    const { fixture, settings } = await open();
    const { approval_id } = (await ask(fixture)).body.approvals[0];
    const behind = await say(fixture, 'c', 'hello', { as: 'acme~ann' });
    expect(behind).toMatchObject({ status: 202, body: { approvals: [{ approval_id }] } });
    await settle(fixture);
    settings.busy = 'refuse';
    expect((await say(fixture, 'c', 'hello again', { as: 'acme~ann' })).body.code).toBe(
      'agents.conversation_busy',
    );
    await decide(fixture, approval_id, true);
    await settle(fixture);
    const turns = await turnsOf(fixture);
    expect(turns.map((turn: { messages: { content: string }[] }) => turn.messages[0]!.content)).toEqual([
      'pay bob',
      'hello',
    ]);
  });

  it('needs the scopes of the user’s token', async () => {
    const { fixture, bank } = await open({ needs: 'bank:write', approval: 'never' });
    expect((await ask(fixture)).body.reply.content).toBe('Paid bob.');
    expect((await say(fixture, 'c', 'pay eve', { as: 'acme~ann~agents.chat' })).body.reply.content).toBe(
      "The skill pay failed: The user's token does not hold the scope bank:write",
    );
    expect([...bank.done.values()]).toEqual(['bob']);
  });
});

describe("a model's call that needs an approval", () => {
  const call = (name: string, input: object, id: string) => ({ id, name, input });

  it('continues in another process, with everything that happened before', async () => {
    const first = wire.calls(call('lookup', { word: 'bob' }, 'a1'), call('pay', { to: 'bob' }, 'b2'));
    const { fixture, bank, another, server } = await open({}, [first, wire.text('Bob has his money.')]);
    const asked = await ask(fixture, 'Give Bob his money');
    expect(asked.body.approvals).toMatchObject([{ name: 'pay', tool_call_id: 'b2' }]);
    const other = another();
    await decide(other, asked.body.approvals[0].approval_id, true);
    await settle(other);
    const [turn] = await turnsOf(fixture);
    expect(turn).toMatchObject({
      routing: 'model',
      skills: ['lookup', 'pay'],
      usage: { output_tokens: 40 },
    });
    expect(turn.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(wire.messages(server!.asked[1]!.body)).toHaveLength(
      wire.messages(server!.asked[0]!.body).length + 3,
    );
    expect([...bank.done.values()]).toEqual(['bob']);
  });

  it('reports the refusal to the model', async () => {
    const first = wire.calls(call('pay', { to: 'bob' }, 'b2'));
    const { fixture, server } = await open({}, [first, wire.text('Then not.')]);
    const asked = await ask(fixture, 'Give Bob his money');
    await decide(fixture, asked.body.approvals[0].approval_id, false, 'acme~ann', 'he owes me');
    await settle(fixture);
    expect(JSON.stringify(server!.asked[1]!.body)).toContain('he owes me');
    expect((await turnsOf(fixture))[0].messages.at(-1).content).toEqual([
      { type: 'text', text: 'Then not.' },
    ]);
  });

  it('can ask more than once in a turn, each decided separately', async () => {
    const { fixture, bank } = await open({}, [
      wire.calls(call('pay', { to: 'bob' }, 'a1'), call('pay', { to: 'eve' }, 'a2')),
      wire.calls(call('pay', { to: 'dan' }, 'a3')),
      wire.text('Done.'),
    ]);
    const [one, two] = (await ask(fixture, 'Pay all of them')).body.approvals;
    await decide(fixture, one.approval_id, true);
    await settle(fixture);
    expect(bank.asked).toEqual([]); // the other one is still open
    await decide(fixture, two.approval_id, false);
    await settle(fixture);
    const [third] = await waitingOf(fixture);
    expect([...bank.done.values(), third.input.to]).toEqual(['bob', 'dan']);
    await decide(fixture, third.approval_id, true);
    await settle(fixture);
    expect([...bank.done.values()]).toEqual(['bob', 'dan']);
    expect(await turnsOf(fixture)).toHaveLength(1);
  });

  it('lists what was done if the model is unavailable by then', async () => {
    const gone: Reply = { status: 401, body: '{}' };
    const { fixture } = await open({}, [wire.calls(call('pay', { to: 'bob' }, 'b2')), gone]);
    const asked = await ask(fixture, 'Give Bob his money');
    await decide(fixture, asked.body.approvals[0].approval_id, true);
    for (let i = 0; i < 3; i++) {
      await settle(fixture);
      await fixture.clock.advance(60_000);
    }
    expect((await turnsOf(fixture))[0].messages.at(-1)).toEqual({ role: 'assistant', content: 'Paid bob.' });
  });
});

describe('a call of a skill that acts', () => {
  const pay = (to: string, id: string) => wire.calls({ id, name: 'pay', input: { to } });

  // Each operation of the store, after the index was read, fails in turn, or is made and its answer gets lost; the process is then as good as dead.
  it.each(['before', 'after'] as const)('is made once, if the process dies %s any write', async when => {
    for (let after = 4; after < 15; after++) {
      const { fixture, bank, another } = await open();
      const asked = await ask(fixture);
      await decide(fixture, asked.body.approvals[0].approval_id, true);
      const faults = createFaults(fixture.target.client);
      const victim = another({ client: faults.client });
      faults.failNext(after, when);
      await victim.agents.runDue().catch(() => {});
      for (let i = 0; i < 4; i++) {
        await fixture.clock.advance(31_000);
        await settle(fixture);
      }
      expect([...bank.done.values()]).toEqual(['bob']);
      expect(await turnsOf(fixture)).toHaveLength(1);
    }
  });

  // A process that dies right after the call was made, before anybody hears of it.
  const dying = ({ skill }: ReturnType<typeof createBank>, fixture: Fixture) => {
    const faults = createFaults(fixture.target.client);
    const run: Skill['run'] = async (...given) => {
      const result = await skill.run(...given);
      faults.failNext(0, 'before');
      return result;
    };
    return { client: faults.client, skills: [{ ...skill, run }] };
  };

  it('is made once without an approval, even if the model phrases it differently', async () => {
    const replies = [pay('bob', 'a1'), wire.text('Done.'), pay('robert', 'x9')];
    const { fixture, bank, another } = await open({ approval: 'never' }, replies);
    expect((await say(another(dying(bank, fixture)), 'c', 'Give Bob money')).status).toBe(500);
    await fixture.clock.advance(31_000);
    await settle(fixture);
    expect([...bank.done.values()]).toEqual(['bob']);
    expect(bank.asked).toHaveLength(2); // with one key
    expect((await turnsOf(fixture))[0].messages.at(-1).content).toEqual([{ type: 'text', text: 'Done.' }]);
  });

  it('is not repeated if its outcome was lost and repeating could do it twice', async () => {
    const { fixture, bank, another } = await open({ isRepeatable: false });
    const asked = await ask(fixture);
    await decide(fixture, asked.body.approvals[0].approval_id, true);
    await another(dying(bank, fixture)).agents.runDue();
    await fixture.clock.advance(31_000);
    await settle(fixture);
    expect(bank.asked).toHaveLength(1);
    expect((await turnsOf(fixture))[0].messages[1].content).toBe(
      'The skill pay failed: it is not known whether it was done; it was not tried again',
    );
  });
});
