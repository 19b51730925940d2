import { setImmediate } from 'node:timers/promises';
import { manualClock, seededRandom, systemClock } from '@stak/kit';
import { createLedger, createStore } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fixture, openFixture, openProcess, say, targets } from './agents-fixture.ts';

describe.each(Object.entries(targets))('the quota, %s', (_, make) => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openFixture(make);
  });
  afterEach(() => fixture.target.close());

  it('admits exactly as many messages as the quota, however many arrive at once', async () => {
    fixture.tenants.get('acme')!.settings = { messages_per_day: 7 };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => say(fixture, `c${i}`, 'hello')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body).toMatchObject({
      code: 'agents.quota_exceeded',
      details: { scope: 'tenant', limit: 7, resets_at: '2026-01-02T00:00:00.000Z' },
    });
    expect(refused.headers.get('retry-after')).toBe(String(24 * 60 * 60 + 1));
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage');
    expect(usage.body).toMatchObject({ limit_per_day: 7, total: { messages: 7 } });
    fixture.clock.set(Date.UTC(2026, 0, 2, 0, 0, 1));
    expect((await say(fixture, 'c0', 'hello')).status).toBe(200);
  });

  it('also counts each user, and charges the tenant nothing for refused messages', async () => {
    fixture.tenants.get('acme')!.settings = { messages_per_day: 5, messages_per_user_per_day: 2 };
    const ann = await Promise.all(
      Array.from({ length: 5 }, (_, i) => say(fixture, `a${i}`, 'hello', { user_id: 'ann' })),
    );
    expect(ann.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(ann.find(({ status }) => status === 429)!.body.details.scope).toBe('user');
    const bob = await Promise.all(
      Array.from({ length: 2 }, (_, i) => say(fixture, `b${i}`, 'hello', { user_id: 'bob' })),
    );
    expect(bob.map(({ status }) => status)).toEqual([200, 200]);
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage', { as: 'acme~ann' });
    expect(usage.body).toMatchObject({ user_id: 'ann', limit_per_day: 2, total: { messages: 2 } });
    expect(
      (await fixture.call('GET', '/v1/tenants/acme/agent-usage?user_id=ann', { as: 'acme~bob' })).status,
    ).toBe(404);
  });

  it('of a user pays for nothing that the tenant’s refuses', async () => {
    const { settings } = fixture.tenants.get('acme')!;
    Object.assign(settings, { messages_per_day: 1, messages_per_user_per_day: 2 });
    expect((await say(fixture, 'b', 'hello', { user_id: 'bob' })).status).toBe(200);
    for (const id of ['a0', 'a1', 'a2'])
      expect((await say(fixture, id, 'hello', { user_id: 'ann' })).body.details.scope).toBe('tenant');
    settings.messages_per_day = 10;
    for (const id of ['a3', 'a4'])
      expect((await say(fixture, id, 'hello', { user_id: 'ann' })).status).toBe(200);
    expect((await say(fixture, 'a5', 'hello', { user_id: 'ann' })).body.details.scope).toBe('user');
  });

  it('of a tenant is never used up, not even briefly, by a user who has none left', async () => {
    fixture.tenants.get('acme')!.settings = { messages_per_day: 2, messages_per_user_per_day: 1 };
    await say(fixture, 'a', 'hello', { user_id: 'ann' });
    const eager = Array.from({ length: 20 }, (_, i) => say(fixture, `a${i}`, 'hello', { user_id: 'ann' }));
    const bob = await say(fixture, 'b', 'hello', { user_id: 'bob' });
    expect((await Promise.all(eager)).map(({ status }) => status)).toEqual(eager.map(() => 429));
    expect(bob.status).toBe(200);
  });

  it('of zero admits nothing', async () => {
    fixture.tenants.get('acme')!.settings = { messages_per_day: 0 };
    expect((await say(fixture, 'c', 'hello')).status).toBe(429);
  });
});

// Sends twenty messages where twelve are allowed. Returns how many answers of the store were lost.
async function sendTooMany(seed: number): Promise<number> {
  const target = await targets.embedded();
  const client = createAdversary(target.client, {
    ...passingFaults,
    lostAnswers: 0.3,
    random: seededRandom(seed),
  });
  const clock = manualClock();
  const waiting = { now: clock.now, sleep: async () => void (await setImmediate()) };
  const store = createStore({ client, clock: waiting, random: seededRandom(10) });
  const fixture = await openFixture(async () => target, { client, clock, store });
  fixture.tenants.get('acme')!.settings = { messages_per_day: 12 };
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => say(fixture, `c${i}`, 'hello')));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(12).fill(200), ...Array(8).fill(429)]);
  const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage');
  expect(usage.body).toMatchObject({ total: { messages: 12 } });
  await target.close();
  return client.counts.lostAnswers;
}

describe('when responses are lost', () => {
  it('the quota counts each message once, and no conversation is blocked', async () => {
    const seed = Number(process.env.STAK_ADVERSARY_SEED) || 9;
    let lost = 0;
    for (let round = 0; lost === 0 && round < 10; round++) lost = await sendTooMany(seed + round * 100_000);
    expect(lost).toBeGreaterThan(0);
  });
});

describe('when the store does not respond at all', () => {
  it('a message that was stored anyway counts', async () => {
    const target = await targets.embedded();
    let isSilent = false;
    const client = {
      ...target.client,
      mayLoseAnswers: true,
      async transactWrite(input: Parameters<typeof target.client.transactWrite>[0]) {
        const output = await target.client.transactWrite(input);
        if (isSilent) throw Object.assign(new Error('no answer'), { name: 'TimeoutError' });
        return output;
      },
    };
    const clock = manualClock();
    const waiting = { now: clock.now, sleep: (ms: number) => systemClock.sleep(ms / 100) };
    const store = createStore({ client, clock: waiting, random: seededRandom(10) });
    const fixture = await openFixture(async () => target, { client, clock, store });
    isSilent = true;
    const { status, body } = await say(fixture, 'c', 'hello');
    expect([status, body.code]).toEqual([503, 'table.busy']);
    isSilent = false;
    const { body: turns } = await fixture.call('GET', '/v1/tenants/acme/conversations/c/messages');
    expect(turns.data).toHaveLength(1);
    const usage = await fixture.call('GET', '/v1/tenants/acme/agent-usage');
    expect(usage.body.total).toMatchObject({ messages: 1, refunded: 0 });
    await target.close();
  });
});

describe('a turn that a rule answers', () => {
  const open = async () => {
    const target = await targets['over the AWS SDK']();
    const ledger = createLedger();
    const clock = manualClock();
    const fixture = await openFixture(async () => target, {
      clock,
      store: createStore({ client: target.client, clock, ledger }),
    });
    const units = () => ledger.entries().reduce((sum, { writeUnits }) => sum + writeUnits, 0);
    const cost = async (content: string, key?: string) => {
      const before = units();
      expect((await say(fixture, 'c', content, { user_id: 'ann', ...(key && { key }) })).status).toBe(200);
      return units() - before;
    };
    return { fixture, cost };
  };

  it('costs at most 12 write units, 14 with a receipt', async () => {
    const { fixture, cost } = await open();
    expect(await cost('hello')).toBeLessThanOrEqual(13); // begins the conversation
    expect(await cost('hello')).toBeLessThanOrEqual(12);
    expect(await cost('hello', 'k1')).toBeLessThanOrEqual(14);
    expect(await cost('hello', 'k1')).toBe(0);
    const { body } = await fixture.call('GET', '/v1/tenants/acme/conversations/c/messages');
    expect(body.data.map((one: { seq: number }) => one.seq)).toEqual([1, 2, 3]);
    await fixture.target.close();
  });

  it('is found by its message, and replaces what a crash left behind', async () => {
    const fixture = await openFixture();
    const { body: first } = await say(fixture, 'c', 'hello');
    const { client } = fixture.target;
    const { Items = [] } = await client.scan({ TableName: 'conversations' });
    const left = Items.find(({ sk }) => String(sk).startsWith('TURN#'))!;
    const sk = String(left.sk).replace(/1$/, '2');
    await client.put({
      TableName: 'conversations',
      Item: { ...left, sk, seq: 2, message_ids: ['msg_gone'] },
    });
    const { body: second } = await say(fixture, 'c', 'help');
    expect(second).toMatchObject({ seq: 2, rule: 'help' });
    for (const { message_id, seq } of [first, second]) {
      const found = await fixture.call('GET', `/v1/tenants/acme/conversations/c/messages/${message_id}`);
      expect(found.body).toMatchObject({ message_id, seq, status: 'answered' });
    }
    const gone = await fixture.call('GET', '/v1/tenants/acme/conversations/c/messages/msg_gone');
    expect(gone.status).toBe(404);
    await fixture.target.close();
  });

  it('is counted once by concurrent processes, and the quota is never exceeded', async () => {
    const target = await targets.embedded();
    const first = await openFixture(async () => target);
    const all = [
      first,
      openProcess(target, { clock: first.clock }),
      openProcess(target, { clock: first.clock }),
    ];
    for (const { tenants } of all) tenants.get('acme')!.settings = { messages_per_day: 40 };
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => say(all[i % 3]!, `c${i}`, 'hello', { user_id: `u${i % 4}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    const usage = await first.call('GET', '/v1/tenants/acme/agent-usage');
    expect(usage.body).toMatchObject({ total: { messages: 40 } });
    await target.close();
  });
});
