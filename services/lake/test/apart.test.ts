import { rm } from 'node:fs/promises';
import { createConsumer } from '@stak/streams';
import { expect, onTestFinished, test } from 'vitest';
import type { ObjectStore } from '../src/index.ts';
import { errand, newErrand } from './errands.ts';
import {
  ann,
  capture,
  type House,
  keep,
  openApart,
  openHouse,
  readObjects,
  silent,
  until,
} from './lake-fixture.ts';

// Lets the keeper work, and everything that was captured with it, until the test is over.
function run(
  house: House,
  { workers, subscriptions }: Pick<ReturnType<typeof openApart>['keeper'], 'workers' | 'subscriptions'>,
) {
  const stopping = new AbortController();
  const { source, client, clock } = house;
  const all = [
    ...workers,
    ...subscriptions.map(subscription =>
      createConsumer({ subscription, source, client, clock, log: silent }),
    ),
  ];
  const ended = all.map(one => one.run(stopping.signal).catch(() => {}));
  onTestFinished(async () => {
    stopping.abort();
    await Promise.all(ended);
  });
}

async function settle<T>(house: House, asked: Promise<T>): Promise<T> {
  let isSettled = false;
  const over = () => {
    isSettled = true;
  };
  asked.then(over, over);
  await until(house, () => isSettled, 100);
  return asked;
}

test('who answers sees what the other has captured, and an erasure is asked for and done elsewhere', async () => {
  const house = await openHouse();
  const { reader, keeper } = openApart(house, () => keeper.wake());
  await house.store.put(errand, newErrand('usr_ann', 'a'));
  await house.store.put(errand, newErrand('usr_bob', 'b'));
  await capture(house, keeper);
  await keep(keeper);
  const count = 'select count(*) from tasks';
  expect((await reader.query(ann, count)).rows).toEqual([[1]]);

  // Nobody keeps the lake at the moment: the request stays.
  expect(await settle(house, reader.eraser.eraseAccount('usr_ann'))).toBe('more');
  expect(await readObjects(house.objects, 'requests/')).toHaveLength(1);
  expect((await reader.query(ann, count)).rows).toEqual([[1]]);

  run(house, keeper);
  let answer = 'more';
  while (answer === 'more') answer = await settle(house, reader.eraser.eraseAccount('usr_ann'));
  expect((await reader.query(ann, count)).rows).toEqual([[0]]);
  expect(await readObjects(house.objects, 'requests/')).toEqual([]);
  // To be looked for once more, as ever.
  expect(await readObjects(house.objects, 'erasures/')).toHaveLength(1);
});

test('a file that the reader misses is found to be lost by the keeper, and comes back', async () => {
  const house = await openHouse();
  const { reader, keeper } = openApart(house, () => keeper.wake());
  await house.store.put(errand, newErrand('usr_ann', 'a'));
  await capture(house, keeper);
  await keep(keeper);
  const [lost] = (await readObjects(house.objects, 'silver/')) as [string];
  await rm((await house.objects.locate(lost))!);
  const count = 'select count(*) from tasks';
  await expect(reader.query(ann, count)).rejects.toMatchObject({ code: 'lake.busy' });
  run(house, keeper);
  await until(house, async () => {
    const rows = await reader.query(ann, count).then(
      answer => answer.rows,
      () => [],
    );
    return rows[0]?.[0] === 1;
  });
});

test('a lake where nothing happens asks less than once a second for anything', async () => {
  const house = await openHouse();
  let asked = 0;
  const counted: ObjectStore = {
    ...house.objects,
    get: key => {
      asked += 1;
      return house.objects.get(key);
    },
    async *list(prefix) {
      asked += 1;
      yield* house.objects.list(prefix);
    },
  };
  const { keeper } = openApart({ ...house, objects: counted });
  await house.store.put(errand, newErrand('usr_ann', 'a'));
  await capture(house, keeper);
  await keep(keeper);
  run(house, keeper);
  const tables = 6; // that a server follows; this one follows one
  const minute = async () => {
    const [before, untilMs] = [asked, house.clock.now() + 60_000];
    await until(house, () => house.clock.now() >= untilMs);
    return asked - before;
  };
  await minute();
  expect((await minute()) + (await minute())).toBeLessThan(120 / tables);
});
