import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectEveryChangeOnce, expectSameAsTable } from './evidence.ts';
import {
  ann,
  type Backend,
  bob,
  capture,
  endUser,
  keep,
  openBackend,
  openLake,
  readObjects,
} from './lake-fixture.ts';
import { type Chore, chore, newChore } from './test-table.ts';

// Any changes, with captures, compactions and backfills in between: the lake says what a list of the items says.

const users = ['usr_ann', 'usr_bob', 't1:u1'] as const;
const day = 86_400;
const start = 1767225600;

const item = fc.record({
  user: fc.constantFrom(...users),
  id: fc.constantFrom('a', 'b', 'c'),
  status: fc.constantFrom(
    'pending' as const,
    'in_progress' as const,
    'completed' as const,
    'cancelled' as const,
  ),
  priority: fc.option(fc.constantFrom('low' as const, 'high' as const), { nil: undefined }),
  created: fc.integer({ min: 0, max: 2 }),
  due: fc.option(fc.constantFrom('2025-12-30', '2026-01-01', '2026-02-01'), { nil: undefined }),
});
const step = fc.oneof(
  { weight: 6, arbitrary: item.map(value => ({ do: 'put' as const, ...value })) },
  { weight: 2, arbitrary: item.map(({ user, id }) => ({ do: 'remove' as const, user, id })) },
  { weight: 1, arbitrary: item.map(({ user, id }) => ({ do: 'expire' as const, user, id })) },
  { weight: 2, arbitrary: fc.constant({ do: 'capture' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'keep' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'backfill' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'wait' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'lose' as const }) },
);

type Kept = { created: Map<string, number>; completed: Map<string, number> };
const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
const dayText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);

function keepInMind({ created, completed }: Kept, { created_at, completed_at }: Chore): void {
  count(created, dayText(created_at));
  if (completed_at !== null) count(completed, dayText(completed_at));
}

// Everything that is made of bronze is gone, and found missing by the first who looks.
async function loseFiles(backend: Backend, lake: ReturnType<typeof openLake>): Promise<void> {
  for (const folder of ['silver/', 'gold/'])
    for (const key of await readObjects(backend.objects, folder)) await backend.objects.delete(key);
  await lake.query(ann, 'select * from tasks').catch(() => {});
  await keep(lake);
}

test('the lake equals a model, whatever happens in between', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async script => {
      const backend = await openBackend();
      const lake = openLake(backend);
      const items = new Map<string, Chore>();
      const expired: Chore[] = [];
      for (const one of script) {
        if (one.do === 'capture') await capture(backend, lake);
        else if (one.do === 'keep') await keep(lake);
        else if (one.do === 'wait') await backend.clock.advance(180_000);
        else if (one.do === 'backfill') await lake.backfill('chores');
        else if (one.do === 'lose') await loseFiles(backend, lake);
        else {
          const key = { user_id: one.user, task_id: one.id };
          const name = `${one.user} ${one.id}`;
          if (one.do === 'put') {
            const created_at = start + one.created * day;
            const completed_at = one.status === 'completed' ? created_at + 2 * day : null;
            const { status, priority, due: due_date } = one;
            const next = newChore(one.user, one.id, {
              created_at,
              completed_at,
              status,
              priority,
              due_date,
            });
            items.set(name, next);
            await backend.store.put(chore, next);
          } else if (one.do === 'remove') {
            items.delete(name);
            await backend.store.delete(chore, key);
          } else if (items.has(name)) {
            const ttl = Math.floor(backend.clock.now() / 1000) - 60;
            expired.push(items.get(name)!);
            items.delete(name);
            await backend.store.update(chore, key, { set: { ttl } });
            await backend.engine.sweep();
          }
        }
      }
      await capture(backend, lake);

      const anns = (user: string) => user !== 'usr_bob';
      for (const _ of ['as it is', 'compacted']) {
        await expectSameAsTable(backend, lake, ann, anns);
        await expectSameAsTable(backend, lake, bob, user => user === 'usr_bob');
        await expectSameAsTable(backend, lake, endUser, user => user === 't1:u1');
        await expectInsights(
          lake,
          [...items.values()].filter(one => anns(one.user_id)),
          expired.filter(one => anns(one.user_id)),
        );
        await keep(lake);
      }
      await expectEveryChangeOnce(backend);
      await backend.engine.close();
    }),
    { numRuns: process.env.STAK_LONG_TESTS ? 20 : 2 },
  );
}, 60_000);

async function expectInsights(
  lake: ReturnType<typeof openLake>,
  present: Chore[],
  expired: Chore[],
): Promise<void> {
  const read = async (name: string) => (await lake.insight(ann, name, 400)).data;
  const tally = (key: (one: Chore) => string) => {
    const counts = new Map<string, number>();
    for (const one of present) count(counts, key(one));
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  };
  const pairs = (rows: readonly Record<string, unknown>[], name: string) =>
    rows.map(row => [row[name], row.tasks]);
  expect(pairs(await read('tasks-by-status'), 'status')).toEqual(tally(one => one.status));
  expect(pairs(await read('tasks-by-priority'), 'priority')).toEqual(tally(one => one.priority ?? 'none'));
  const kept: Kept = { created: new Map(), completed: new Map() };
  for (const one of [...present, ...expired]) keepInMind(kept, one);
  const sorted = (map: Map<string, number>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  expect(pairs(await read('tasks-created'), 'day')).toEqual(sorted(kept.created));
  expect(pairs(await read('tasks-completed'), 'day')).toEqual(sorted(kept.completed));
  const due = present.filter(one => one.due_date && ['pending', 'in_progress'].includes(one.status));
  const [rate] = await read('tasks-overdue');
  expect(rate).toMatchObject({ due: due.length });
}
