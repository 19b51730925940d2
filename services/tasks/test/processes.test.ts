import { seededRandom } from '@stak/kit';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { describe, expect, it } from 'vitest';
import type { WireTask } from '../src/index.ts';
import { embedded, openTasks } from './tasks-fixture.ts';

type Page = { changed: WireTask[]; token: string; has_more: boolean };
type Counts = { total: number; by_status: Record<string, number> };

describe('two processes that write tasks of one user at the same time', () => {
  it('count each task once, and give each change a number of its own', async () => {
    const backend = { ...(await embedded()), isRestless: true };
    const processes = [await openTasks(backend), await openTasks({ ...backend, seed: 8 })] as const;
    const [one, other] = processes;
    await one.create({ title: 'first' });
    const { token } = await one.ok<Page>('GET', '/v1/tasks/changes');
    const creating = Array.from({ length: 20 }, (_, n) => processes[n % 2]!.create({ title: `task ${n}` }));
    const made = (await Promise.all(creating)).map(({ task_id }) => task_id);
    expect(new Set(made).size).toBe(20);
    const counts = await other.ok<Counts>('GET', '/v1/tasks/counts');
    expect(counts).toMatchObject({ total: 21, by_status: { pending: 21 } });
    const changed = new Set<string>();
    for (let since = token, more = true; more; ) {
      const page = await other.ok<Page>('GET', `/v1/tasks/changes?since=${since}`);
      for (const { task_id } of page.changed) changed.add(task_id);
      since = page.token;
      more = page.has_more;
    }
    expect([...changed].sort()).toEqual(made.toSorted());
    await one.close();
  });
});

// STAK_ADVERSARY_SEED gives another history.
const given = Number(process.env.STAK_ADVERSARY_SEED);
const seeds = given > 0 ? [given] : [1];

describe('two processes on a store that fails', () => {
  it.each(seeds)('repeat, move and count each task once, seed %i', { timeout: 60_000 }, async seed => {
    const random = seededRandom(seed);
    const backend = { ...(await embedded()), isRestless: true };
    const adversary = createAdversary(backend.client, {
      ...passingFaults,
      lostAnswers: 0.2,
      staleIndexes: 0.3,
      clock: backend.clock,
      random: seededRandom(seed + 1),
    });
    const wrap = () => adversary;
    const processes = [
      await openTasks({ ...backend, wrap, seed: seed + 2 }),
      await openTasks({ ...backend, wrap, seed: seed + 3 }),
    ] as const;
    const [one, other] = processes;
    const daily = { due_date: '2026-01-01', recurrence: 'FREQ=DAILY' };
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        processes[n % 2]!.create({ title: `task ${n}`, ...(n % 2 === 0 && daily) }),
      ),
    );
    // Both complete the same tasks at the same time, while others are moved.
    const completed = made.filter((_, n) => n % 3 !== 2);
    // As a client does: what is refused because others were first is sent again.
    const call = async (by: typeof one, ...given: Parameters<typeof one.call>) => {
      for (let left = 10; ; left--) {
        const response = await by.call(...given);
        if (response.status !== 503 || left === 0) return response;
      }
    };
    const patch = (by: typeof one, id: string) =>
      call(by, 'PATCH', `/v1/tasks/${id}`, { send: { status: 'completed' } });
    const move = (by: typeof one, id: string, anchor: string) =>
      call(by, 'PUT', `/v1/tasks/${id}/position`, { send: { after: anchor } });
    const responses = await Promise.all([
      ...completed.flatMap(({ task_id }) => processes.map(by => patch(by, task_id))),
      ...made.map(({ task_id }, n) =>
        move(processes[n % 2]!, task_id, made[(n + 1 + Math.floor(random() * 10)) % 12]!.task_id),
      ),
    ]);
    expect(responses.map(({ status }) => status).filter(status => status !== 200)).toEqual([]);

    const next = completed.filter(({ recurrence }) => recurrence).length;
    const total = made.length + next;
    const recount = async (by: typeof one) => {
      const { data } = await by.ok<{ data: WireTask[] }>('GET', '/v1/tasks?limit=100&sort=position');
      expect(new Set(data.map(({ task_id }) => task_id)).size).toBe(total);
      const done = data.filter(({ status }) => status === 'completed').length;
      expect([data.length, done]).toEqual([total, completed.length]);
      const counts = await by.ok<Counts>('GET', '/v1/tasks/counts');
      expect(counts).toMatchObject({ total, by_status: { completed: done, pending: total - done } });
    };
    await one.clock.advance(10_000); // indexes are as new as the table
    const plain = await openTasks({ ...backend, seed: seed + 4 });
    await recount(plain);

    // Each task that repeats has one successor, a day later, and is done itself.
    const list = async () =>
      (await plain.ok<{ data: WireTask[] }>('GET', '/v1/tasks?limit=100&sort=position')).data;
    const all = await list();
    for (const { task_id, title, recurrence } of completed) {
      const others = all.filter(other => other.title === title && other.task_id !== task_id);
      const expected = recurrence ? [{ due_date: '2026-01-02', status: 'pending' }] : [];
      expect(others).toMatchObject(expected);
      expect(others).toHaveLength(expected.length);
    }

    // One after the other, by either of them: the order is what was asked for, although indexes are late.
    let order = all.map(({ task_id }) => task_id);
    for (let n = 0; n < 30; n++) {
      const moved = order[Math.floor(random() * total)]!;
      const others = order.filter(id => id !== moved);
      // Mostly beside one that was moved just now, which an index may not know yet.
      const at = random() < 0.7 ? 0 : Math.floor(random() * others.length);
      expect((await move(processes[n % 2]!, moved, others[at]!)).status).toBe(200);
      order = others.toSpliced(at + 1, 0, moved);
    }
    await one.clock.advance(10_000);
    expect((await list()).map(({ task_id }) => task_id)).toEqual(order);
    await recount(plain);
    expect(Object.values(adversary.counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    await other.close();
  });
});
