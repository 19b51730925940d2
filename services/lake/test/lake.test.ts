import { expect, test } from 'vitest';
import { ann, bob, capture, endUser, keep, openBackend, openLake } from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

test('a change can be queried in SQL by its owner', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await backend.store.put(chore, newChore('usr_ann', 'a', { priority: 'high' }));
  await backend.store.put(chore, newChore('usr_ann', 'b', { status: 'completed', completed_at: 1767229200 }));
  await backend.store.put(chore, newChore('usr_bob', 'c'));
  await backend.store.put(chore, newChore('t1:u1', 'd'));
  await backend.store.put(chore, newChore('t1:u2', 'e'));
  await capture(backend, lake);
  const byStatus = 'select status, count(*) as tasks from tasks group by 1 order by 1';
  for (const _ of ['from bronze', 'from silver']) {
    expect((await lake.query(ann, byStatus)).rows).toEqual([
      ['completed', 1],
      ['pending', 3],
    ]);
    expect((await lake.query(bob, byStatus)).rows).toEqual([['pending', 1]]);
    expect((await lake.query(endUser, 'select task_id from tasks')).rows).toEqual([['d']]);
    expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([
      { status: 'completed', tasks: 1 },
      { status: 'pending', tasks: 3 },
    ]);
    await keep(lake);
  }
  await backend.engine.close();
});
