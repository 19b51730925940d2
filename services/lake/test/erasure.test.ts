import { expect, test } from 'vitest';
import { eraseAgainMs, erasureSettlesMs } from '../src/limits.ts';
import { expectSameAsTable, mentions, readBronze } from './evidence.ts';
import { ann, capture, endUser, keep, openBackend, openLake, readObjects } from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

async function erase(call: () => Promise<'done' | 'more'>): Promise<number> {
  for (let calls = 1; calls < 50; calls++) if ((await call()) === 'done') return calls;
  throw new Error('it is never done');
}

test('erasing a user rewrites every file with their rows, and loses no others', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const { store } = backend;
  await keep(lake);
  for (let i = 0; i < 30; i++) {
    await store.put(chore, newChore('t1:u1', `mine-${i}`, { title: `very-private-${i}` }));
    await store.put(chore, newChore('t1:u2', `other-${i}`));
    await capture(backend, lake);
    if (i === 10) await keep(lake);
  }
  await store.put(chore, newChore('usr_ann', 'own'));
  await capture(backend, lake);
  expect(await mentions(backend, 'very-private')).toBe(true);

  // More than one call rewrites.
  expect(await erase(() => lake.eraser.eraseUser('t1', 'u1'))).toBeGreaterThan(1);
  expect(await mentions(backend, 'very-private')).toBe(false);
  expect((await lake.query(endUser, 'select count(*) from tasks')).rows).toEqual([[0]]);
  expect((await lake.query(ann, 'select count(*) from tasks')).rows).toEqual([[31]]);
  expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([{ status: 'pending', tasks: 31 }]);
  const users = (await readBronze(backend)).map(row => row.user_id);
  expect(users).not.toContain('u1');
  expect(users.filter(user => user === 'u2')).toHaveLength(30);

  // Their items are removed from the table afterwards, and each removal brings an old image.
  for (let i = 0; i < 30; i++) await store.delete(chore, { user_id: 't1:u1', task_id: `mine-${i}` });
  await store.put(chore, newChore('t1:u1', 'again', { title: 'They came back.' }));
  await capture(backend, lake);
  expect(await mentions(backend, 'very-private')).toBe(true);
  expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([{ status: 'pending', tasks: 32 }]);
  await backend.clock.advance(eraseAgainMs + 1000);
  while (await lake.eraseAgain());
  expect(await mentions(backend, 'very-private')).toBe(false);
  await expectSameAsTable(backend, lake, ann, () => true);
  expect((await lake.query(endUser, 'select title from tasks')).rows).toEqual([['They came back.']]);
  await keep(lake);
  await expectSameAsTable(backend, lake, ann, () => true);
  expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([{ status: 'pending', tasks: 32 }]);
  expect(await readObjects(backend.objects, 'erasures/')).toEqual([]);
});

test('erasing a tenant erases all its users, erasing an account its own data', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  for (const [user, title] of [
    ['t1:u1', 'of-tenant-1'],
    ['t1:u2', 'of-tenant-1'],
    ['t2:u1', 'of-tenant-2'],
    ['usr_ann', 'of-account'],
  ] as const)
    await backend.store.put(chore, newChore(user, 'x', { title }));
  await capture(backend, lake);
  await keep(lake);
  await erase(() => lake.eraser.eraseTenant('t1'));
  expect(await mentions(backend, 'of-tenant-1')).toBe(false);
  expect(await mentions(backend, 'of-tenant-2')).toBe(true);
  await erase(() => lake.eraser.eraseAccount('usr_ann'));
  expect(await mentions(backend, 'of-account')).toBe(false);
  expect((await readBronze(backend)).map(row => row.tenant_id)).toEqual(expect.arrayContaining(['t2']));
  // Nothing is left to do, and doing it again does no harm.
  expect(await lake.eraser.eraseTenant('t1')).toBe('done');
});

test('an item that its erased owner created again and removed does not come back', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const { store } = backend;
  await store.put(chore, newChore('t1:u1', 'x'));
  await capture(backend, lake);
  await erase(() => lake.eraser.eraseUser('t1', 'u1'));
  await store.put(chore, newChore('t1:u1', 'x', { title: 'again' }));
  await store.put(chore, newChore('t1:u1', 'stays'));
  await capture(backend, lake);
  await keep(lake);
  await store.delete(chore, { user_id: 't1:u1', task_id: 'x' });
  await capture(backend, lake);
  await backend.clock.advance(eraseAgainMs + 1000);
  while (await lake.eraseAgain());
  expect(await mentions(backend, 'again')).toBe(false);
  await expectSameAsTable(backend, lake, endUser, () => true);
  await keep(lake);
  await expectSameAsTable(backend, lake, endUser, () => true);
});

test('an item they create again under the same key stays, and the erased one does not', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const { store, clock } = backend;
  const key = { user_id: 't1:u1', task_id: 'profile' };
  await keep(lake);
  await store.put(chore, newChore(key.user_id, key.task_id, { title: 'very-private' }));
  await capture(backend, lake);
  // The removal comes by the stream after the lake was erased, with the old image.
  await store.delete(chore, key);
  await erase(() => lake.eraser.eraseUser('t1', 'u1'));
  await clock.advance(5000);
  await store.put(chore, newChore(key.user_id, key.task_id, { title: 'again' }));
  await store.delete(chore, key);
  await store.put(chore, newChore(key.user_id, key.task_id, { status: 'completed' }));
  await store.update(chore, key, { set: { status: 'pending' } });
  await capture(backend, lake);
  await clock.advance(eraseAgainMs + 1000);
  while (await lake.eraseAgain());
  expect(await mentions(backend, 'very-private')).toBe(false);
  await expectSameAsTable(backend, lake, endUser, () => true);
  expect((await readBronze(backend)).map(({ kind }) => kind)).toEqual(['modify']);
  await clock.advance(erasureSettlesMs + 1000);
  const counted = [{ status: 'pending', tasks: 1 }];
  expect((await lake.insight(endUser, 'tasks-by-status', 30)).data).toEqual(counted);
});

test('the second pass waits for changes still in the stream', async () => {
  const backend = await openBackend();
  const lake = openLake(backend);
  const { store, clock } = backend;
  await keep(lake);
  await store.put(chore, newChore('t1:u1', 'x', { title: 'very-private' }));
  await capture(backend, lake);
  await store.delete(chore, { user_id: 't1:u1', task_id: 'x' });
  await erase(() => lake.eraser.eraseUser('t1', 'u1'));
  expect(await mentions(backend, 'very-private')).toBe(false);
  // Nobody follows the stream for a while.
  await clock.advance(2 * eraseAgainMs);
  expect(await lake.eraseAgain()).toBe(false);
  await capture(backend, lake);
  expect(await mentions(backend, 'very-private')).toBe(true);
  while (await lake.eraseAgain());
  expect(await mentions(backend, 'very-private')).toBe(false);
  expect(await readObjects(backend.objects, 'erasures/')).toEqual([]);
});
