import { expect, test } from 'vitest';
import { eraseAgainMs } from '../src/limits.ts';
import { errand, newErrand } from './errands.ts';
import { expectSameAsTable, readBronze } from './evidence.ts';
import { ann, capture, guest, type House, keep, openHouse, openLake, readObjects } from './lake-fixture.ts';

const everything = async ({ objects }: House): Promise<string> => {
  let text = '';
  for (const key of await readObjects(objects, ''))
    text += `${key} ${Buffer.from((await objects.get(key))!).toString('latin1')}`;
  return text;
};

async function erase(call: () => Promise<'done' | 'more'>): Promise<number> {
  for (let calls = 1; calls < 50; calls++) if ((await call()) === 'done') return calls;
  throw new Error('it is never done');
}

test('erasing a user rewrites every file that holds him, and nobody else is missed', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  const { store } = house;
  await keep(lake);
  for (let i = 0; i < 30; i++) {
    await store.put(errand, newErrand('t1:u1', `mine-${i}`, { title: `very-private-${i}` }));
    await store.put(errand, newErrand('t1:u2', `other-${i}`));
    await capture(house, lake);
    if (i === 10) await keep(lake);
  }
  await store.put(errand, newErrand('usr_ann', 'own'));
  await capture(house, lake);
  expect(await everything(house)).toContain('very-private');

  // More than one call rewrites.
  expect(await erase(() => lake.eraser.eraseUser('t1', 'u1'))).toBeGreaterThan(1);
  expect(await everything(house)).not.toContain('very-private');
  expect((await lake.query(guest, 'select count(*) from tasks')).rows).toEqual([[0]]);
  expect((await lake.query(ann, 'select count(*) from tasks')).rows).toEqual([[31]]);
  expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([{ status: 'pending', tasks: 31 }]);
  const users = (await readBronze(house)).map(row => row.user_id);
  expect(users).not.toContain('u1');
  expect(users.filter(user => user === 'u2')).toHaveLength(30);

  // His items are removed from the table afterwards, and each removal brings an old image.
  for (let i = 0; i < 30; i++) await store.delete(errand, { user_id: 't1:u1', task_id: `mine-${i}` });
  await store.put(errand, newErrand('t1:u1', 'again', { title: 'He came back.' }));
  await capture(house, lake);
  expect(await everything(house)).toContain('very-private');
  expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([{ status: 'pending', tasks: 32 }]);
  await house.clock.advance(eraseAgainMs + 1000);
  while (await lake.eraseAgain());
  expect(await everything(house)).not.toContain('very-private');
  await expectSameAsTable(house, lake, ann, () => true);
  expect((await lake.query(guest, 'select title from tasks')).rows).toEqual([['He came back.']]);
  await keep(lake);
  await expectSameAsTable(house, lake, ann, () => true);
  expect((await lake.insight(ann, 'tasks-by-status', 30)).data).toEqual([{ status: 'pending', tasks: 32 }]);
  expect(await readObjects(house.objects, 'erasures/')).toEqual([]);
});

test('erasing a tenant takes all of its users, erasing an account what is its own', async () => {
  const house = await openHouse();
  const lake = openLake(house);
  for (const [user, title] of [
    ['t1:u1', 'of-tenant-1'],
    ['t1:u2', 'of-tenant-1'],
    ['t2:u1', 'of-tenant-2'],
    ['usr_ann', 'of-account'],
  ] as const)
    await house.store.put(errand, newErrand(user, 'x', { title }));
  await capture(house, lake);
  await keep(lake);
  await erase(() => lake.eraser.eraseTenant('t1'));
  expect(await everything(house)).not.toContain('of-tenant-1');
  expect(await everything(house)).toContain('of-tenant-2');
  await erase(() => lake.eraser.eraseAccount('usr_ann'));
  expect(await everything(house)).not.toContain('of-account');
  expect((await readBronze(house)).map(row => row.tenant_id)).toEqual(expect.arrayContaining(['t2']));
  // Nothing is left to do, and doing it again does no harm.
  expect(await lake.eraser.eraseTenant('t1')).toBe('done');
});
