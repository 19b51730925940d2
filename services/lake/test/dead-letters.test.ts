import { expect, test } from 'vitest';
import { follow } from '../src/index.ts';
import { sweepMs } from '../src/limits.ts';
import { expectEveryChangeOnce, readState } from './evidence.ts';
import { ann, capture, keep, openBackend, openLake, readObjects } from './lake-fixture.ts';
import { chore, choresTable, newChore, ownerOf } from './test-table.ts';

// `poison` is a user whose owner nobody can tell.
test('a record that cannot become a row is set aside, and everything else continues', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const { store } = backend;
  await keep(lake);
  await store.put(chore, newChore('usr_ann', 'a'));
  await store.put(chore, newChore('poison', 'b', { title: 'first', secret: 'hush' }));
  await store.put(chore, newChore('poison', 'b', { title: 'second' }));
  await store.put(chore, newChore('poison', 'gone'));
  await store.delete(chore, { user_id: 'poison', task_id: 'gone' });
  await store.put(chore, newChore('usr_ann', 'c'));
  await capture(backend, lake);
  await keep(lake);
  expect((await lake.query(ann, 'select task_id from tasks order by 1')).rows).toEqual([['a'], ['c']]);
  const { letters } = await readState(backend);
  expect(letters.map(letter => letter.error)).toEqual(Array(4).fill('Error: nobody knows whose this is'));
  const bodies = await Promise.all(letters.map(({ path }) => backend.objects.get(path)));
  expect(Buffer.concat(bodies.map(body => body!)).toString()).not.toContain('hush');
  expect((await lake.status()).tables[0]!.dead_letters).toBe(4);
  expect(await lake.redrive('chores')).toEqual({ redriven: 0, left: 4 });

  const repaired = follow(chore, {
    view: 'tasks',
    ownerOf: item => (item.user_id === 'poison' ? { account_id: 'usr_ann' } : ownerOf(item)),
  });
  const better = openLake(backend, { tables: [{ table: choresTable, entities: [repaired] }] });
  expect(await better.redrive('chores')).toEqual({ redriven: 4, left: 0 });
  const ask = 'select task_id, title from tasks order by 1';
  const all = [
    ['a', 'Task a'],
    ['b', 'second'],
    ['c', 'Task c'],
  ];
  expect((await better.query(ann, ask)).rows).toEqual(all);
  const counted = [{ status: 'pending', tasks: 3 }];
  expect((await better.insight(ann, 'tasks-by-status', 30)).data).toEqual(counted);
  await keep(better);
  expect((await better.query(ann, ask)).rows).toEqual(all);
  expect((await better.insight(ann, 'tasks-by-status', 30)).data).toEqual(counted);
  await expectEveryChangeOnce(backend);
  expect(await readObjects(backend.objects, 'dead-letters/')).toEqual([]);
});

test('a process with the fix retries letters on its own', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await keep(lake);
  await backend.store.put(chore, newChore('poison', 'a'));
  await capture(backend, lake);
  await backend.clock.advance(sweepMs);
  await keep(lake);
  expect((await readState(backend)).letters).toHaveLength(1);
  const repaired = follow(chore, { view: 'tasks', ownerOf: () => ({ account_id: 'usr_ann' }) });
  const better = openLake(backend, { tables: [{ table: choresTable, entities: [repaired] }] });
  await keep(better);
  expect((await readState(backend)).letters).toEqual([]);
  expect((await better.query(ann, 'select task_id from tasks')).rows).toEqual([['a']]);
});

test('a letter that mentions an erased user is removed with them', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await backend.store.put(chore, newChore('poison', 'b', { title: 'written by usr_ann' }));
  await backend.store.put(chore, newChore('poison', 'c'));
  await capture(backend, lake);
  expect(await lake.eraser.eraseAccount('usr_ann')).toBe('done');
  expect((await readState(backend)).letters).toHaveLength(1);
  expect(await readObjects(backend.objects, 'dead-letters/')).toHaveLength(1);
});

test('a letter that mentions an erased user in a key, where their id is encoded, is removed too', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  await backend.store.put(chore, newChore('poison', 'acme:ann%40example.com%2F%22a%22'));
  await capture(backend, lake);
  expect(await lake.eraser.eraseUser('acme', 'bob@example.com')).toBe('done');
  expect((await readState(backend)).letters).toHaveLength(1);
  expect(await lake.eraser.eraseUser('acme', 'ann@example.com/"a"')).toBe('done');
  expect((await readState(backend)).letters).toEqual([]);
});
