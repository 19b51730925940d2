import type { DynamoClient } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Backend, embedded, type Fixture, openTasks } from './tasks-fixture.ts';

describe('creating tasks', () => {
  let backend: Backend;
  let requests: { tallies: number; writes: number; refused: number };
  beforeEach(async () => {
    backend = await embedded();
    requests = { tallies: 0, writes: 0, refused: 0 };
  });
  afterEach(() => backend.close());

  // Counts what reaches the table.
  const counting = (client: DynamoClient): DynamoClient => ({
    ...client,
    get(input) {
      if (input.Key.SK === 'COUNTS') requests.tallies += 1;
      return client.get(input);
    },
    async transactWrite(input) {
      requests.writes += 1;
      return client.transactWrite(input).catch(error => {
        requests.refused += 1;
        throw error;
      });
    },
  });
  const open = (wrap = counting): Promise<Fixture> => openTasks({ ...backend, wrap });
  const totalOf = async (f: Fixture) => (await f.ok<{ total: number }>('GET', '/v1/tasks/counts')).total;

  it('does not read the tally that this process wrote last', async () => {
    const f = await open();
    await f.create({ title: 'First' });
    requests.tallies = 0;
    const { task_id } = await f.create({ title: 'Second' });
    expect(requests.tallies).toBe(0);
    await f.ok('PATCH', `/v1/tasks/${task_id}`, { send: { status: 'completed' } });
    requests.tallies = 0;
    await f.create({ title: 'Third' });
    expect(requests).toMatchObject({ tallies: 0, refused: 0 });
    expect(await totalOf(f)).toBe(3);
  });

  it('notices what another process has written', async () => {
    const [one, other] = [await open(), await open()];
    const { task_id } = await one.create({ title: 'First' });
    await other.ok('PATCH', '/v1/tasks/me', { send: { time_zone: 'Asia/Tokyo' } });
    await other.ok('DELETE', `/v1/tasks/${task_id}`);
    const reminder = { days_before: 0, time: '09:00' };
    const made = await one.create({ title: 'Second', due_date: '2026-02-01', reminder });
    expect(made).toMatchObject({ remind_at: Date.UTC(2026, 1, 1) / 1000 });
    expect(requests.refused).toBe(1);
    expect([await totalOf(one), await totalOf(other)]).toEqual([1, 1]);
  });

  it('counts every task of processes that write at the same time', async () => {
    const processes = [await open(), await open()];
    await Promise.all(Array.from({ length: 30 }, (_, i) => processes[i % 2]!.create({ title: `Task ${i}` })));
    expect(await totalOf(processes[0]!)).toBe(30);
  });

  it('is refused few writes where several processes write for one user', async () => {
    const processes = [await open(), await open()];
    for (let i = 0; i < 300; i++) await processes[i % 2]!.create({ title: `Task ${i}` });
    expect(requests.refused).toBeLessThan(8);
    expect(await totalOf(processes[0]!)).toBe(300);
  });

  it('creates a task once whose response was lost', async () => {
    let isLost = false;
    const f = await open(client => ({
      ...client,
      async transactWrite(input) {
        const output = await client.transactWrite(input);
        if (!isLost) return output;
        isLost = false;
        throw new Error('the connection broke');
      },
    }));
    await f.create({ title: 'First' });
    isLost = true;
    const again = { send: { title: 'Second' }, key: 'k' };
    expect((await f.call('POST', '/v1/tasks', again)).status).toBe(500);
    expect((await f.call('POST', '/v1/tasks', again)).status).toBe(201);
    await f.create({ title: 'Third' });
    expect(await totalOf(f)).toBe(3);
  });
});
