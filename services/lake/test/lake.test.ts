import { expect, test } from 'vitest';
import { errand, newErrand } from './errands.ts';
import { ann, bob, capture, guest, keep, openHouse, openLake } from './lake-fixture.ts';

test('a change can be asked about in SQL, by whoever it belongs to', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  await house.store.put(errand, newErrand('usr_ann', 'a', { priority: 'high' }));
  await house.store.put(errand, newErrand('usr_ann', 'b', { status: 'completed', completed_at: 1767229200 }));
  await house.store.put(errand, newErrand('usr_bob', 'c'));
  await house.store.put(errand, newErrand('t1:u1', 'd'));
  await house.store.put(errand, newErrand('t1:u2', 'e'));
  await capture(house, lake);
  const byStatus = 'select status, count(*) as tasks from tasks group by 1 order by 1';
  for (const _ of ['from bronze', 'from silver']) {
    expect((await lake.query(ann, byStatus)).rows).toEqual([
      ['completed', 1],
      ['pending', 3],
    ]);
    expect((await lake.query(bob, byStatus)).rows).toEqual([['pending', 1]]);
    expect((await lake.query(guest, 'select task_id from tasks')).rows).toEqual([['d']]);
    expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([
      { status: 'completed', tasks: 1 },
      { status: 'pending', tasks: 3 },
    ]);
    await keep(lake);
  }
  await house.engine.close();
});
