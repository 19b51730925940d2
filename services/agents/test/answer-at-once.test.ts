import type { DynamoClient } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conversationPath, type Fixture, openFixture, openProcess, say } from './agents-fixture.ts';
import { loseAnswer } from './faults.ts';

// Counts what reaches the table.
function counting(client: DynamoClient, requests: string[]): DynamoClient {
  const entries = Object.entries(client).map(([name, operation]) => [
    name,
    (input: never) => {
      requests.push(name);
      return (operation as (input: never) => Promise<unknown>)(input);
    },
  ]);
  return Object.fromEntries(entries) as DynamoClient;
}

describe('an answer by a rule, on a local store', () => {
  let fixture: Fixture;
  let requests: string[];
  beforeEach(async () => {
    fixture = await openFixture();
    requests = [];
    fixture.tenants.get('acme')!.settings = { enabled_skills: [] };
  });
  afterEach(() => fixture.target.close());

  const open = (client = counting(fixture.target.client, requests)) => {
    const process = openProcess(fixture.target, { clock: fixture.clock, client });
    process.tenants.set('acme', fixture.tenants.get('acme')!);
    return process;
  };
  const turnsOf = async (id: string) =>
    (await fixture.call('GET', `${conversationPath(id)}/messages`)).body.data as { seq: number }[];
  const messagesToday = async (query = '') =>
    (await fixture.call('GET', `/v1/tenants/acme/agent-usage${query}`)).body.total.messages as number;

  it('is counted by the transaction that stores it, and reads nothing that this process wrote last', async () => {
    const process = open();
    await say(process, 'c', 'hello', { user_id: 'ann' });
    expect(requests).toEqual(['get', 'get', 'transactWrite']);
    requests.length = 0;
    for (let i = 0; i < 3; i++) expect((await say(process, 'c', 'hello')).status).toBe(200);
    expect(requests).toEqual(['transactWrite', 'transactWrite', 'transactWrite']);
    expect(await turnsOf('c')).toHaveLength(4);
    expect(await messagesToday()).toBe(4);
    expect(await messagesToday('?user_id=ann')).toBe(4);
  });

  it('notices what another process has changed', async () => {
    const [one, other] = [open(), open()];
    await say(one, 'c', 'hello');
    await say(other, 'c', 'thanks');
    expect((await say(one, 'c', 'help')).status).toBe(200);
    expect((await turnsOf('c')).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await other.call('DELETE', `${conversationPath('c')}/messages`);
    expect((await say(one, 'c', 'hello')).status).toBe(200);
    await other.call('DELETE', conversationPath('c'));
    expect((await say(one, 'c', 'hello', { user_id: 'bob' })).status).toBe(200);
    expect(await messagesToday()).toBe(5);
    expect(await messagesToday('?user_id=bob')).toBe(1);
  });

  it('is refused few writes where several processes answer in one conversation', async () => {
    const processes = [open(), open()];
    for (let i = 0; i < 200; i++) await say(processes[i % 2]!, 'c', 'hello');
    expect(await turnsOf('c')).not.toHaveLength(0);
    expect(await messagesToday()).toBe(200);
    expect(requests.filter(name => name === 'transactWrite').length).toBeLessThan(210);
  });

  it('never exceeds the quota, whichever processes count at the same time', async () => {
    fixture.tenants.get('acme')!.settings = { enabled_skills: [], messages_per_day: 12 };
    const processes = [open(), open()];
    const sayIn = (i: number) => say(processes[i % 2]!, `c${i}`, 'hello');
    for (let i = 0; i < 4; i++) expect((await sayIn(i)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => sayIn(i)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(8);
    expect(statuses.filter(status => status === 429)).toHaveLength(22);
    expect(await messagesToday()).toBe(12);
  });

  it('is made and counted once if the response of the store was lost', async () => {
    const process = open(loseAnswer(fixture.target.client, 1));
    expect((await say(process, 'c', 'hello')).status).toBe(200);
    expect((await say(process, 'c', 'thanks', { key: 'k' })).status).toBe(500);
    expect((await say(process, 'c', 'thanks', { key: 'k' })).status).toBe(200);
    expect((await say(process, 'c', 'help')).status).toBe(200);
    expect(await turnsOf('c')).toHaveLength(3);
    expect(await messagesToday()).toBe(3);
  });
});
