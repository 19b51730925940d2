import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeEach(async () => {
  f = await openTasks();
});
afterEach(() => f.close());

const due_date = '2025-12-01';
const count = async () => {
  f.ledger.clear();
  const { overdue } = await f.ok<{ overdue: number }>('GET', '/v1/tasks/counts');
  return { overdue, units: f.ledger.entries().reduce((sum, one) => sum + one.readUnits, 0) };
};
const add = async (many: number, task: object) => {
  for (let i = 0; i < many; i++) await f.create({ title: 'x'.repeat(400), ...task });
};

it('counting overdue tasks costs no more if many were completed in time', async () => {
  await add(3, { due_date });
  await add(5, { due_date, status: 'completed' });
  const before = await count();
  await add(60, { due_date, status: 'completed' });
  expect(await count()).toEqual(before);
  expect(before.overdue).toBe(3);
});

it('counting overdue tasks costs no more if many are not due yet', async () => {
  await add(3, { due_date });
  await add(10, { due_date: '2026-12-01' });
  const before = await count();
  await add(60, {});
  expect(await count()).toEqual(before);
  expect(before.overdue).toBe(3);
});

it('nothing is overdue if nothing is open', async () => {
  await add(2, { due_date, status: 'cancelled' });
  expect(await count()).toEqual({ overdue: 0, units: 1 });
});

it('counting very many overdue tasks lets other work run in between', async () => {
  const { task_id } = await f.create({ title: 'One of many', due_date });
  const { Items = [] } = await f.client.scan({ TableName: 'todo-app-data' });
  const stored = JSON.stringify(Items.find(item => item.task_id === task_id && item.title !== undefined));
  const copyOf = (n: number) =>
    JSON.parse(stored.replaceAll(task_id, task_id.slice(0, -4) + String(n).padStart(4, '0')));
  for (let from = 0; from < 2500; from += 25) {
    const copies = Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: copyOf(from + i) } }));
    await f.client.batchWrite({ RequestItems: { 'todo-app-data': copies } });
  }
  let iterations = 0;
  const tick = () => {
    iterations += 1;
    ticking = setImmediate(tick);
  };
  let ticking = setImmediate(tick);
  const { overdue } = await count();
  clearImmediate(ticking);
  expect(overdue).toBeGreaterThanOrEqual(2500);
  expect(iterations).toBeGreaterThanOrEqual(2);
});
