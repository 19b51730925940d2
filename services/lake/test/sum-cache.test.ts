import { expect, test } from 'vitest';
import type { DuckJob } from '../src/duckdb/duck.ts';
import { ann, capture, ducks, keep, openBackend, openLake } from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

// A lake that has been asked before says the same as one that was just opened, and reads only what is new.

test('a repeated insight adds only what is new', async () => {
  const backend = await openBackend();
  const { store, clock } = backend;
  const jobs: DuckJob[] = [];
  const insights = {
    ...ducks.insights,
    run(job: DuckJob) {
      jobs.push(job);
      return ducks.insights.run(job);
    },
  };
  const asked = openLake(backend, { ducks: { ...ducks, insights } });
  const ask = async (lake: typeof asked) => {
    const names = asked.listInsights().map(({ name }) => name);
    return Promise.all(names.map(async name => (await lake.insight(ann, name, 400)).data));
  };
  for (let i = 0; i < 6; i++) await store.put(chore, newChore('usr_ann', `${i}`));
  await capture(backend, asked);
  await keep(asked);
  await clock.advance(2 * 60_000); // what the scan has seen does not come by the stream any more

  const statuses = ['in_progress', 'completed', 'pending'] as const;
  for (const [i, status] of statuses.entries()) {
    const completed_at = status === 'completed' ? 1767300000 : null;
    await store.update(chore, { user_id: 'usr_ann', task_id: '1' }, { set: { status, completed_at } });
    await store.put(chore, newChore('usr_ann', `more ${i}`, { priority: 'high', due_date: '2026-01-05' }));
    await store.put(chore, newChore('usr_bob', `his ${i}`));
    await store.delete(chore, { user_id: 'usr_ann', task_id: `${i + 2}` });
    await capture(backend, asked);
    expect(await ask(asked)).toEqual(await ask(openLake(backend)));
  }

  const files = (job: DuckJob) => new Set(job.sql?.match(/[^']+\.parquet/g)).size;
  const byStatus = jobs.filter(({ sql }) => sql?.startsWith('select "status"'));
  expect(byStatus.map(files)).toEqual([2, 1, 1]); // gold and the first file of changes, then each new one
  const before = jobs.length;
  await ask(asked);
  expect(jobs).toHaveLength(before);

  await keep(asked);
  expect(await ask(asked)).toEqual(await ask(openLake(backend)));
  asked.close();
  await backend.engine.close();
});
