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
