import { seededRandom } from '@stak/kit';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTask } from '../src/edit/create.ts';
import { moveTask } from '../src/edit/order.ts';
import { deleteTask, restoreTask } from '../src/edit/trash.ts';
import { updateTask } from '../src/edit/update.ts';
import { listTasks } from '../src/lists/list.ts';
import { readCounts } from '../src/lists/statistics.ts';
import { updateUser } from '../src/users/profile.ts';
import { followSettings } from '../src/users/settings.ts';
import { embedded, type Fixture, openTasks } from './tasks-fixture.ts';

// The user's own order, counts and expiry beside a plain list. DynamoDB removes expired tasks only when the history says
// so, which may be never.

// `plain` reads the same tables from a store that does not fail, and whose indexes are not late.
type Fixtures = { f: Fixture; plain: Fixture };
type Plain = { id: string; isDone: boolean; keptFromS: number };
type Trashed = Plain & { deletedAtS: number };
type Model = { order: Plain[]; trash: Trashed[]; retentionDays?: number };

const which = fc.nat(1000);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('create' as const), isDone: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      at: which,
      to: fc.constantFrom('top' as const, 'bottom' as const, 'before' as const, 'after' as const),
      anchor: which,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('complete' as const), at: which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reopen' as const), at: which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), at: which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('settings' as const),
      time_zone: fc.constantFrom('UTC', 'Asia/Tokyo', 'Europe/Berlin'),
      days: fc.constantFrom(undefined, undefined, 2, 5, null),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(0, 1, 30, 80) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const dayS = 24 * 60 * 60;
const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)];
const expiryOf = ({ retentionDays }: Model, { isDone, keptFromS }: Plain): number =>
  isDone && retentionDays !== undefined ? keptFromS + retentionDays * dayS : Number.POSITIVE_INFINITY;

async function take({ f, plain }: Fixtures, user_id: string, model: Model, one: Step): Promise<void> {
  const deps = f.writing;
  const nowS = Math.floor(f.clock.now() / 1000);
  const isGone = (task: Plain) => expiryOf(model, task) <= nowS;
  switch (one.kind) {
    case 'create': {
      const status = one.isDone ? ('completed' as const) : ('pending' as const);
      const { task_id: id } = await createTask(deps, user_id, { title: 'A task', status });
      model.order.push({ id, isDone: one.isDone, keptFromS: nowS });
      return;
    }
    case 'move': {
      const task = pick(model.order, one.at);
      const others = model.order.filter(other => other !== task);
      const anchor = pick(others, one.anchor);
      if (!task || !anchor) return;
      const isBeside = one.to === 'before' || one.to === 'after';
      const target = isBeside ? { [one.to]: anchor.id } : { to: one.to };
      await moveTask(deps, user_id, task.id, target as Parameters<typeof moveTask>[3]);
      const beside = others.indexOf(anchor) + (one.to === 'after' ? 1 : 0);
      const at = isBeside ? beside : one.to === 'top' ? 0 : others.length;
      model.order = others.toSpliced(at, 0, task);
      return;
    }
    case 'complete':
    case 'reopen': {
      const task = pick(model.order, one.at);
      const isDone = one.kind === 'complete';
      if (!task || task.isDone === isDone) return;
      await updateTask(deps, user_id, task.id, { status: isDone ? 'completed' : 'pending' });
      Object.assign(task, { isDone, keptFromS: nowS });
      return;
    }
    case 'delete': {
      const task = pick(model.order, one.at);
      if (!task) return;
      await deleteTask(deps, user_id, task.id);
      model.order = model.order.filter(other => other !== task);
      model.trash.push({ ...task, deletedAtS: nowS });
      return;
    }
    case 'restore': {
      const task = pick(model.trash, one.at);
      if (!task) return;
      const { position } = await restoreTask(deps, user_id, task.id);
      model.trash = model.trash.filter(other => other !== task);
      // It returns to its old position: behind the last task that has a lower one.
      const positions = await positionsOf(plain, user_id);
      const at = model.order.filter(({ id }) => positions.get(id)! < position!).length;
      const { id, isDone } = task;
      model.order = model.order.toSpliced(at, 0, { id, isDone, keptFromS: nowS });
      return;
    }
    case 'settings': {
      const before = await updateUser(deps, user_id, {});
      const patch = { time_zone: one.time_zone, ...(one.days !== undefined && { retention_days: one.days }) };
      const after = await updateUser(deps, user_id, patch);
      if (one.days !== undefined) model.retentionDays = one.days ?? undefined;
      for (const _ of ['once', 'again']) await followSettings(deps, before, after);
      model.order = model.order.filter(task => !isGone(task));
      return;
    }
    case 'wait': {
      await f.clock.advance(one.hours * 3_600_000);
      const laterS = Math.floor(f.clock.now() / 1000);
      model.order = model.order.filter(task => expiryOf(model, task) > laterS);
      model.trash = model.trash.filter(task => task.deletedAtS + 30 * dayS > laterS);
      return;
    }
    case 'sweep':
      await f.engine.sweep();
  }
}

async function positionsOf(f: Fixture, user_id: string): Promise<Map<string, string>> {
  const deps = { ...f.writing, cursors: f.cursors };
  const { data } = await listTasks(deps, user_id, { limit: 100, view: 'full' });
  return new Map(data.map(task => [task.task_id, 'position' in task ? (task.position ?? '') : '']));
}

async function check(f: Fixture, user_id: string, model: Model): Promise<void> {
  const deps = { ...f.writing, cursors: f.cursors };
  const { data } = await listTasks(deps, user_id, { limit: 100, sort: 'position' });
  expect(data.map(task => task.task_id)).toEqual(model.order.map(task => task.id));
  const { total, by_status } = await readCounts(f.writing, user_id);
  const done = model.order.filter(task => task.isDone).length;
  expect([total, by_status.completed]).toEqual([model.order.length, done]);
}

const seed = Number(process.env.STAK_ADVERSARY_SEED) || 1;
const adversarial = async () => {
  const backend = await embedded();
  const { clock } = backend;
  const faults = { ...passingFaults, lostAnswers: 0.1, staleIndexes: 0.3, clock, random: seededRandom(seed) };
  return { ...backend, isRestless: true, client: createAdversary(backend.client, faults) };
};

describe.each([
  { name: 'the embedded engine', open: embedded, runs: process.env.STAK_LONG_TESTS ? 200 : 40 },
  {
    name: 'a store that fails',
    open: adversarial,
    runs: process.env.STAK_LONG_TESTS ? 40 : 4,
    seeded: { seed },
  },
])("a user's order over $name", ({ open, runs, seeded }) => {
  let both: Fixtures;
  let users = 0;
  beforeAll(async () => {
    const backend = await open();
    const plain = await openTasks({ ...backend, client: backend.engine.client, seed: 8 });
    both = { f: await openTasks(backend), plain };
  });
  afterAll(() => both.f.close());

  it('agrees with a plain list, and so do counts and expiry', async () => {
    const histories = fc.array(step, { minLength: 10, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(histories, fc.constantFrom(undefined, 1, 5), async (steps, retentionDays) => {
        const user_id = `usr_order_${++users}`;
        const model: Model = { order: [], trash: [], retentionDays };
        if (retentionDays) await updateUser(both.f.writing, user_id, { retention_days: retentionDays });
        for (const step of steps) await take(both, user_id, model, step);
        await check(both.plain, user_id, model);
      }),
      { numRuns: runs, ...seeded },
    );
  });
});
