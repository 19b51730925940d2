import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineSkill, type Skill } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import {
  advanceUntil,
  conversationPath,
  everyItem,
  type Fixture,
  openFixture,
  openProcess,
  say,
  settle,
  until,
} from './agents-fixture.ts';
import { suspendable } from './faults.ts';

// A process that is suspended holds a lease that has ended meanwhile. What others have done since then stands.

type Suspended = Fixture & Omit<ReturnType<typeof suspendable>, 'client'>;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const ownPath = conversationPath('c');
const writesTurn = (name: string, input: unknown) =>
  name === 'transactWrite' && JSON.stringify(input).includes('"TURN#');
const pauses = (name: string, input: unknown) =>
  name === 'transactWrite' && JSON.stringify(input).includes('"PAUSED"');
const takesLease = (name: string, input: unknown) =>
  name === 'update' && JSON.stringify(input).includes('"fence"');
const releases = (name: string, input: unknown) =>
  name === 'update' &&
  /REMOVE/.test(JSON.stringify(input)) &&
  JSON.stringify(input).includes('"leased_until"');

// Several processes over the same tables, each of which can be suspended, and what their skills have done.
async function open() {
  const first = await openFixture();
  closers.push(first.target.close);
  const runs: string[] = [];
  const asked: string[] = [];
  const gate = { opened: Promise.resolve() };
  const look = defineSkill({
    name: 'look',
    description: 'Looks at something.',
    triggers: [/^look (?<at>\w+)$/i],
    parameters: z.strictObject({ at: z.string() }),
    async run({ at }) {
      runs.push(at);
      await gate.opened;
      return { data: { seen: at }, text: `Seen ${at}.` };
    },
  });
  const pay = defineSkill({
    name: 'pay',
    description: 'Pays somebody.',
    triggers: [/^pay (?<to>\w+)$/i],
    parameters: z.strictObject({ to: z.string() }),
    acts: true,
    async run({ to }, { idempotency_key }) {
      asked.push(idempotency_key!);
      return { data: { paid: to }, text: `Paid ${to}.` };
    },
  });
  const start = (): Suspended => {
    const { client, ...control } = suspendable(first.target.client);
    const skills: Skill[] = [look, pay];
    const process = openProcess(first.target, { clock: first.clock, client, skills, isStoreLocal: true });
    process.tenants.get('acme')!.settings = { enabled_skills: ['look', 'pay'] };
    return { ...process, ...control };
  };
  const texts = async () => {
    const { body } = await first.call('GET', `${ownPath}/messages`);
    type Turn = { messages: { role: string; content: string }[] };
    return (body.data as Turn[]).flatMap(({ messages }) =>
      messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    );
  };
  const stateOf = async () =>
    (await everyItem(first.target)).find(({ sk }) => sk === 'STATE') as
      | { waiting_count?: number }
      | undefined;
  return { first, clock: first.clock, start, runs, asked, gate, texts, stateOf };
}

const leaseEnds = (fixture: Fixture) => fixture.clock.advance(limits.leaseMs + 1_000);

describe('a process that was suspended', () => {
  it('writes no turn over those of the process that took over', async () => {
    const { start, texts } = await open();
    const [slow, other] = [start(), start()];
    slow.suspendBefore(writesTurn);
    const late = say(slow, 'c', 'look one');
    await until(slow.isSuspended);
    await leaseEnds(other);
    await settle(other);
    // As many messages wait as before, so only the fence tells the two leases apart.
    other.suspendBefore(writesTurn);
    const answer = say(other, 'c', 'look two');
    await until(other.isSuspended);
    slow.resume();
    let isOver = false;
    void late.finally(() => {
      isOver = true;
    });
    await advanceUntil(slow, () => isOver);
    other.resume();
    expect((await answer).status).toBe(200);
    expect(await texts()).toEqual(['look one', 'look two']);
  });

  it('does not take a conversation that another one has taken', async () => {
    const { start, runs, texts, gate } = await open();
    const [dead, one, late] = [start(), start(), start()];
    dead.suspendBefore(writesTurn);
    void say(dead, 'c', 'look one');
    await until(dead.isSuspended);
    await leaseEnds(one);
    late.suspendBefore(takesLease);
    const looking = late.agents.runDue();
    await until(late.isSuspended);
    let openGate = () => {};
    gate.opened = new Promise(resolve => {
      openGate = resolve;
    });
    const working = one.agents.runDue();
    await until(() => runs.length === 2);
    late.resume();
    await looking;
    expect(runs).toHaveLength(2);
    openGate();
    await working;
    expect(await texts()).toEqual(['look one']);
  });

  it('gives back a lease, and what has arrived meanwhile is answered', async () => {
    const { start, texts, stateOf } = await open();
    const [one, late] = [start(), start()];
    await say(one, 'c', 'look one');
    await one.call('DELETE', `${ownPath}/messages`);
    late.suspendBefore(releases);
    const cleaning = late.agents.runDue();
    await until(late.isSuspended);
    const answer = say(one, 'c', 'look two');
    await until(async () => (await stateOf())?.waiting_count === 1);
    late.resume();
    await cleaning;
    await settle(one); // at once: no time passes
    expect(await texts()).toEqual(['look two']);
    let isOver = false;
    void answer.finally(() => {
      isOver = true;
    });
    await advanceUntil(one, () => isOver);
    expect((await answer).status).toBe(200);
  });

  it('gives back a lease, and what has arrived meanwhile is answered by others, at once', async () => {
    const { start, texts, stateOf } = await open();
    const [one, late, other] = [start(), start(), start()];
    await say(one, 'c', 'look one');
    await one.call('DELETE', `${ownPath}/messages`);
    late.suspendBefore(releases);
    const cleaning = late.agents.runDue();
    await until(late.isSuspended);
    void say(one, 'c', 'look two');
    await until(async () => (await stateOf())?.waiting_count === 1);
    one.suspendBefore(() => true); // the process that has accepted the message does nothing more
    late.resume();
    await cleaning;
    await settle(other); // no time passes
    expect(await texts()).toEqual(['look two']);
  });

  it('asks for no approval of a turn that another one has paused', async () => {
    const { start, asked, texts } = await open();
    const [slow, other] = [start(), start()];
    slow.suspendBefore(pauses);
    const late = say(slow, 'c', 'pay bob');
    await until(slow.isSuspended);
    await leaseEnds(other);
    await settle(other);
    slow.resume();
    let isOver = false;
    void late.finally(() => {
      isOver = true;
    });
    await advanceUntil(slow, () => isOver);
    const { body } = await other.call('GET', '/v1/tenants/acme/approvals');
    expect(body.data).toHaveLength(1);
    await other.call('POST', `${ownPath}/approvals/${body.data[0].approval_id}`, {
      send: { approved: true },
    });
    await settle(other);
    expect(asked).toHaveLength(1);
    expect(await texts()).toEqual(['pay bob']);
  });

  it('has stored the result of a call, and nobody makes it again', async () => {
    const { start, asked, texts } = await open();
    const [slow, other] = [start(), start()];
    const { body } = await say(slow, 'c', 'pay bob');
    const path = `${ownPath}/approvals/${body.approvals[0].approval_id}`;
    await slow.call('POST', path, { send: { approved: true } });
    slow.suspendBefore(writesTurn);
    void slow.agents.runDue();
    await until(slow.isSuspended);
    await leaseEnds(other);
    await settle(other);
    expect(asked).toHaveLength(1);
    expect(await texts()).toEqual(['pay bob']);
  });
});

describe('a conversation that waits for an approval', () => {
  it('takes messages of its own user only', async () => {
    const { start } = await open();
    const one = start();
    await one.call('POST', '/v1/tenants/acme/conversations', {
      send: { conversation_id: 'c', user_id: 'ann' },
    });
    expect((await say(one, 'c', 'pay bob', { as: 'acme~ann' })).status).toBe(202);
    const theirs = await say(one, 'c', 'look one', { as: 'acme~bob' });
    expect([theirs.status, theirs.body.code]).toEqual([404, 'agents.conversation_not_found']);
    expect((await say(one, 'c', 'look one', { as: 'acme~ann' })).status).toBe(202);
  });

  it('takes a number of messages, and no more', async () => {
    const { start } = await open();
    const one = start();
    await say(one, 'c', 'pay bob');
    const statuses: number[] = [];
    for (let n = 0; n < limits.waitingMessages; n++)
      statuses.push((await say(one, 'c', `look x${n}`)).status);
    const waits = limits.waitingMessages - 1; // the first one waits for the approval
    expect(statuses).toEqual([...Array(waits).fill(202), 409]);
  });
});
