import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { everyItem, type Fixture, openFixture, openProcess, say } from './agents-fixture.ts';

const path = '/v1/tenants/acme/users/me/memory';
const as = 'acme~ann';

describe('memory', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openFixture();
    fixture.tenants.get('acme')!.settings = { enabled_skills: ['remember', 'forget'] };
    const Item = { pk: 'TENANT#acme', sk: 'USER#ann', user_id: 'ann', version: 1 };
    const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };
    await fixture.target.client.put({ TableName: 'tenants', Item: { ...Item, ...times } });
  });
  afterEach(() => fixture.target.close());

  const ask = async (at: Fixture, content: string) =>
    (await say(at, 'c', content, { user_id: 'ann' })).body.reply.content as string;
  const facts = async () => (await fixture.call('GET', path, { as })).body.data;

  it('forgets nothing for a partial or meaningless word', async () => {
    await ask(fixture, 'remember that my kitten is white');
    expect(await ask(fixture, 'forget kit')).toBe('I remember nothing like that.');
    for (const said of ['forget it', 'Forget about it!', 'forget that.']) await ask(fixture, said);
    expect(await facts()).toHaveLength(1);
    expect(await ask(fixture, 'Forget about my kitten.')).toBe('Forgotten: my kitten is white');
    expect(await facts()).toEqual([]);
  });

  it('is written by the host, also for a session without any', async () => {
    const session = '/v1/tenants/acme/users/ann/memory/onboarding';
    const send = { summary: 'Moved in', key_facts: [{ fact: 'Likes tea' }] };
    expect((await fixture.call('PATCH', session, { send, ifMatch: '"1"' })).status).toBe(412);
    const written = await fixture.call('PATCH', session, { send });
    expect(written.body).toMatchObject({ session_id: 'onboarding', summary: 'Moved in' });
    expect(await facts()).toMatchObject([{ key_facts: [{ fact: 'Likes tea', source: 'edited' }] }]);
    const edited = await fixture.call('PATCH', session, { send: { summary: null }, ifMatch: written.etag });
    expect(edited.body).toMatchObject({ summary: null, key_facts: [{ fact: 'Likes tea' }] });
    expect((await fixture.call('PATCH', session, { send: { key_facts: [] } })).status).toBe(200);
    expect(await facts()).toEqual([]);
    expect((await fixture.call('PATCH', session, { send: {} })).body.code).toBe('agents.memory_not_found');
    await fixture.call('PATCH', `${path}-settings`, { as, send: { is_declined: true } });
    expect((await fixture.call('PATCH', session, { send })).body.code).toBe('agents.memory_declined');
  });

  it('stores no summary of a user who opted out', async () => {
    const set = (send: object) => fixture.call('PATCH', `${path}-settings`, { as, send });
    expect((await set({ memory_summary: 'Likes tea' })).body.memory_summary).toBe('Likes tea');
    expect((await set({ is_declined: true })).body.memory_summary).toBeNull();
    const refused = await set({ memory_summary: 'Likes tea' });
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 409,
      code: 'agents.memory_declined',
    });
    const both = await set({ is_declined: false, memory_summary: 'Likes tea' });
    expect(both.body).toMatchObject({ is_declined: false, memory_summary: 'Likes tea' });
  });

  it('stores nothing of a user who opts out while a fact is being written', async () => {
    let isDeclined = false;
    const { client } = fixture.target;
    const decline = async () => {
      if (isDeclined) return;
      isDeclined = true;
      await fixture.call('PATCH', `${path}-settings`, { as, send: { is_declined: true } });
    };
    const isMemory = (input: unknown) => JSON.stringify(input).includes('"MEMORY#ann#c"');
    const late = openProcess(fixture.target, {
      clock: fixture.clock,
      client: {
        ...client,
        transactWrite: async input => {
          if (isMemory(input)) await decline();
          return client.transactWrite(input);
        },
        put: async input => {
          if (isMemory(input)) await decline();
          return client.put(input);
        },
      },
    });
    late.tenants.get('acme')!.settings = { enabled_skills: ['remember'] };
    expect(await ask(late, 'remember that I like tea')).toMatch(/opted out of memory/);
    const left = (await everyItem(fixture.target, 'tenants')).map(({ sk }) => sk);
    expect(left.sort()).toEqual(['NOMEMORY#ann', 'USER#ann']);
  });
});
