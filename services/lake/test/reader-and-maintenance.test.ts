import { rm } from 'node:fs/promises';
import { createConsumer } from '@stak/streams';
import { expect, onTestFinished, test } from 'vitest';
import type { ObjectStore } from '../src/index.ts';
import {
  ann,
  type Backend,
  capture,
  keep,
  openApart,
  openBackend,
  readObjects,
  silent,
  until,
} from './lake-fixture.ts';
import { chore, newChore } from './test-table.ts';

// Runs the maintenance and its subscriptions until the test is over.
function run(
  backend: Backend,
  { workers, subscriptions }: Pick<ReturnType<typeof openApart>['maintenance'], 'workers' | 'subscriptions'>,
) {
  const stopping = new AbortController();
  const { source, client, clock } = backend;
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

async function settle<T>(backend: Backend, asked: Promise<T>): Promise<T> {
  let isSettled = false;
  const over = () => {
    isSettled = true;
  };
  asked.then(over, over);
  await until(backend, () => isSettled, 100);
  return asked;
}

test('the reader sees what another process captured, and an erasure requested there is done elsewhere', async () => {
  const backend = await openBackend();
  const { reader, maintenance } = openApart(backend, () => maintenance.wake());
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  await backend.store.put(chore, newChore('usr_bob', 'b'));
  await capture(backend, maintenance);
  await keep(maintenance);
  const count = 'select count(*) from tasks';
  expect((await reader.query(ann, count)).rows).toEqual([[1]]);

  // Nobody keeps the lake at the moment: the request stays.
  expect(await settle(backend, reader.eraser.eraseAccount('usr_ann'))).toBe('more');
  expect(await readObjects(backend.objects, 'requests/')).toHaveLength(1);
  expect((await reader.query(ann, count)).rows).toEqual([[1]]);

  run(backend, maintenance);
  let answer = 'more';
  while (answer === 'more') answer = await settle(backend, reader.eraser.eraseAccount('usr_ann'));
  expect((await reader.query(ann, count)).rows).toEqual([[0]]);
  expect(await readObjects(backend.objects, 'requests/')).toEqual([]);
  // To be looked for once more, as ever.
  expect(await readObjects(backend.objects, 'erasures/')).toHaveLength(1);
});

test('a file that the reader misses is repaired by maintenance', async () => {
  const backend = await openBackend();
  const { reader, maintenance } = openApart(backend, () => maintenance.wake());
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  await capture(backend, maintenance);
  await keep(maintenance);
  const [lost] = (await readObjects(backend.objects, 'silver/')) as [string];
  await rm((await backend.objects.locate(lost))!);
  const count = 'select count(*) from tasks';
  await expect(reader.query(ann, count)).rejects.toMatchObject({ code: 'lake.busy' });
  run(backend, maintenance);
  await until(backend, async () => {
    const rows = await reader.query(ann, count).then(
      answer => answer.rows,
      () => [],
    );
    return rows[0]?.[0] === 1;
  });
});

test('a finished request can be made again', async () => {
  const backend = await openBackend();
  const { reader, maintenance } = openApart(backend);
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  await capture(backend, maintenance);
  await keep(maintenance);
  const requests = () => readObjects(backend.objects, 'requests/');
  const finish = async () => {
    for (const key of await requests()) await backend.objects.delete(key);
  };
  const [lost] = (await readObjects(backend.objects, 'silver/')) as [string];
  await rm((await backend.objects.locate(lost))!);
  for (let time = 0; time < 2; time++) {
    await expect(reader.query(ann, 'select count(*) from tasks')).rejects.toMatchObject({
      code: 'lake.busy',
    });
    await until(backend, async () => (await requests()).length === 1);
    await finish();
  }

  const erase = () => settle(backend, reader.eraser.eraseAccount('usr_ann'));
  expect(await erase()).toBe('more');
  await finish();
  expect(await erase()).toBe('done'); // that was the answer to the first one
  expect(await erase()).toBe('more');
  await finish();
  await backend.clock.advance(24 * 60 * 60_000); // nobody came back for the answer
  expect(await erase()).toBe('more');
  expect(await requests()).toHaveLength(1);
});

test('an idle lake makes less than one request a second', async () => {
  const backend = await openBackend();
  let asked = 0;
  const counted: ObjectStore = {
    ...backend.objects,
    get: key => {
      asked += 1;
      return backend.objects.get(key);
    },
    async *list(prefix) {
      asked += 1;
      yield* backend.objects.list(prefix);
    },
  };
  const { maintenance } = openApart({ ...backend, objects: counted });
  await backend.store.put(chore, newChore('usr_ann', 'a'));
  await capture(backend, maintenance);
  await keep(maintenance);
  run(backend, maintenance);
  const tables = 6; // that a server follows; this one follows one
  const countIn = async (seconds: number) => {
    const [before, untilMs] = [asked, backend.clock.now() + seconds * 1000];
    await until(backend, () => backend.clock.now() >= untilMs);
    return asked - before;
  };
  await countIn(60);
  expect(await countIn(600)).toBeLessThan(600 / tables);
});
