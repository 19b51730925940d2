import fc from 'fast-check';
import { deleteCompleted, runBulk, setStatusOfMany } from '../src/edit/bulk.ts';
import { createTask } from '../src/edit/create.ts';
import { deleteTask as discard, purgeTask, restoreTask as restore } from '../src/edit/trash.ts';
import { updateTask } from '../src/edit/update.ts';
import type { NewTask, Status, TaskPatch } from '../src/schema.ts';
import { addTask, advance, deleteTask, type Model, type Plain, restoreTask, setStatus } from './model.ts';
import type { Fixture } from './tasks-fixture.ts';

// What a user may do, made to the service and to the plain lists alike. Tasks are chosen by number, as far as there
// are any.

const status = fc.constantFrom('pending', 'in_progress', 'completed', 'cancelled');
const priority = fc.constantFrom('low', 'medium', 'high', 'urgent');
// Names that are easily confused in a key, or in an object.
export const categories = ['work', 'work#x', 'Work', 'home & garden', '🏠', '__proto__', '50%'];
const category = fc.constantFrom(...categories);
const due_date = fc.constantFrom('2025-12-30', '2026-01-01', '2026-01-02', '2026-02-28', '2026-12-31');
const labels = fc.uniqueArray(fc.constantFrom('a', 'b', 'blocked', 'é#'), { maxLength: 3 });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const clearable = <T>(one: fc.Arbitrary<T>) => fc.oneof(one, fc.constant(null), fc.constant(undefined));
const which = fc.nat(1000);

const some = { status: maybe(status), priority: maybe(priority), category: maybe(category) };
const patch = fc.record({
  status: maybe(status),
  priority: clearable(priority),
  category: clearable(category),
  due_date: clearable(due_date),
  labels: clearable(labels),
});

export const moves = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('create'),
        input: fc.record({ ...some, due_date: maybe(due_date), labels: maybe(labels) }),
        parent: maybe(which),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('patch'), at: which, patch }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), at: which }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore'), at: which }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge'), at: which }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('status of many'),
        many: fc.array(which, { maxLength: 8 }),
        status,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('delete many'), many: fc.array(which, { maxLength: 8 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear') }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), hours: fc.constantFrom(1, 30, 24 * 8) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('sync') }) },
  ) as fc.Arbitrary<Move>,
  { maxLength: 30 },
);

export type Move =
  | { kind: 'create'; input: Partial<NewTask>; parent?: number }
  | { kind: 'patch'; at: number; patch: TaskPatch }
  | { kind: 'delete' | 'restore' | 'purge'; at: number }
  | { kind: 'status of many'; many: number[]; status: Status }
  | { kind: 'delete many'; many: number[] }
  | { kind: 'clear' | 'sync' }
  | { kind: 'wait'; hours: number };

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)];
const pickMany = (model: Model, many: readonly number[]): Plain[] => [
  ...new Set(many.flatMap(at => pick(model.live, at) ?? [])),
];

export async function make(f: Fixture, user_id: string, model: Model, move: Move): Promise<void> {
  const deps = f.writing;
  const nowS = Math.floor(f.clock.now() / 1000);
  switch (move.kind) {
    case 'create': {
      const tops = model.live.filter(one => one.parent === undefined);
      const parent = move.parent === undefined ? undefined : pick(tops, move.parent)?.id;
      const input = {
        title: 'A task',
        status: 'pending' as const,
        ...defined(move.input),
        parent_id: parent,
      };
      const { task_id } = await createTask(deps, user_id, input);
      const { title: _, parent_id: __, ...plain } = input;
      addTask(model, { labels: [], ...plain, id: task_id, parent, subtasks: [] }, nowS);
      return;
    }
    case 'patch': {
      const task = pick(model.live, move.at);
      if (!task) return;
      await updateTask(deps, user_id, task.id, move.patch);
      const { status, ...rest } = defined(move.patch);
      Object.assign(task, rest, {
        labels: move.patch.labels === undefined ? task.labels : (rest.labels ?? []),
      });
      for (const name of ['priority', 'category', 'due_date'] as const) task[name] ??= undefined;
      setStatus(model, task, status ?? task.status, nowS);
      return;
    }
    case 'delete': {
      const task = pick(model.live, move.at);
      if (!task) return;
      await discard(deps, user_id, task.id);
      return deleteTask(model, task, nowS);
    }
    case 'restore': {
      const task = pick(model.trash, move.at);
      if (!task) return;
      await restore(deps, user_id, task.id);
      return restoreTask(model, task.id, nowS);
    }
    case 'purge': {
      const task = pick(model.trash, move.at);
      if (!task) return;
      await purgeTask(deps, user_id, task.id);
      model.trash = model.trash.filter(one => one !== task);
      return;
    }
    case 'status of many': {
      const tasks = pickMany(model, move.many);
      await setStatusOfMany(
        deps,
        user_id,
        tasks.map(task => task.id),
        move.status,
      );
      for (const task of tasks) setStatus(model, task, move.status, nowS);
      return;
    }
    case 'delete many': {
      const tasks = pickMany(model, move.many);
      const results = await runBulk(
        deps,
        user_id,
        tasks.map(task => ({ op: 'delete' as const, task_id: task.id })),
      );
      // One that went with its parent is not found any more.
      for (const [i, task] of tasks.entries()) {
        if (results[i]!.ok !== model.live.includes(task))
          throw new Error(`deleting ${task.id}: ${JSON.stringify(results[i])}`);
        if (results[i]!.ok) deleteTask(model, task, nowS);
      }
      return;
    }
    case 'clear':
      await deleteCompleted(deps, user_id);
      for (const task of model.live.filter(one => one.status === 'completed'))
        if (model.live.includes(task)) deleteTask(model, task, nowS);
      return;
    case 'wait':
      await f.clock.advance(move.hours * 3_600_000);
      return advance(model, Math.floor(f.clock.now() / 1000));
  }
}

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;
