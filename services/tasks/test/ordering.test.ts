import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTask } from '../src/edit/create.ts';
import { moveTask } from '../src/edit/order.ts';
import { updateTask } from '../src/edit/update.ts';
import type { WireTask } from '../src/index.ts';
import { readQueries } from '../src/lists/list.ts';
import { tasksInOrder } from '../src/queries/access-patterns.ts';
import { task, tasksByPosition } from '../src/tables.ts';
import { updateUser } from '../src/users/profile.ts';
import { embedded, type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
let users = 0;
beforeAll(async () => {
  f = await openTasks();
});
afterAll(() => f.close());

type List = { data: WireTask[] };
const order = async (reading: { user_id: string }) => {
  const { items } = await readQueries(tasksInOrder({ store: f.store, ...reading }), 100);
  return items.map(item => item.task_id);
};

const moves = fc.array(fc.tuple(fc.nat(7), fc.nat(7), fc.constantFrom('before', 'after', 'top', 'bottom')), {
  maxLength: 20,
});

function moveInList(list: string[], id: string, anchor: string, where: string): string[] {
  const others = list.filter(one => one !== id);
  const at = others.indexOf(anchor);
  if (where === 'top') return [id, ...others];
  if (where === 'bottom') return [...others, id];
  return others.toSpliced(where === 'before' ? at : at + 1, 0, id);
}

describe('tasks in the user’s order', () => {
  it('match a plain list after the same moves, top-level tasks and subtasks alike', async () => {
    await fc.assert(
      fc.asyncProperty(moves, fc.boolean(), async (all, areSubtasks) => {
        const user_id = `usr_${++users}`;
        const parent = await createTask(f.writing, user_id, { title: 'p', status: 'pending' });
        const parent_id = areSubtasks ? parent.task_id : undefined;
        let list: string[] = [];
        for (let i = 0; i < 8; i++)
          list.push(
            (await createTask(f.writing, user_id, { title: `${i}`, status: 'pending', parent_id })).task_id,
          );
        const ids = [...list];
        for (const [which, other, where] of all) {
          const [id, anchor] = [ids[which]!, ids[other]!];
          if (id === anchor) continue;
          const target =
            where === 'before'
              ? { before: anchor }
              : where === 'after'
                ? { after: anchor }
                : { to: where as 'top' };
          await moveTask(f.writing, user_id, id, target);
          list = moveInList(list, id, anchor, where);
        }
        const found = areSubtasks
          ? (await f.store.get(task, { user_id, task_id: parent.task_id }))!.subtask_ids
          : (await order({ user_id })).filter(id => id !== parent.task_id);
        expect(found).toEqual(list);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 15 : 8 },
    );
  });

  it('are filtered, paged and reversed like any other list', async () => {
    const made: WireTask[] = [];
    for (const title of ['a', 'b', 'c', 'd'])
      made.push(await f.create({ title, category: title === 'b' ? 'no' : 'yes' }));
    await f.ok('PUT', `/v1/tasks/${made[3]!.task_id}/position`, { send: { to: 'top' }, etag: '"v1"' });
    const first = await f.ok<List & { next_cursor: string }>(
      'GET',
      '/v1/tasks?sort=position&filter=category:yes&limit=2',
    );
    expect(first.data.map(one => one.title)).toEqual(['d', 'a']);
    const query = `sort=position&filter=category:yes&limit=2&cursor=${first.next_cursor}`;
    expect((await f.ok<List>('GET', `/v1/tasks?${query}`)).data.map(one => one.title)).toEqual(['c']);
    const turned = await f.ok<List>('GET', '/v1/tasks?sort=position&order=desc');
    expect(turned.data.map(one => one.title)).toEqual(['c', 'b', 'a', 'd']);
  });

  it.each([
    ['itself', (a: WireTask) => ({ before: a.task_id }), 409],
    ['nothing', () => ({ after: 'tsk_000000000000000000000000' }), 409],
    ['a stale version', () => ({ to: 'top' }), 412],
  ])('cannot be moved next to %s', async (what, target, status) => {
    const task = await f.create({ title: 'x' });
    const etag = what === 'a stale version' ? '"v7"' : undefined;
    const response = await f.call('PUT', `/v1/tasks/${task.task_id}/position`, { send: target(task), etag });
    expect(response.status).toBe(status);
  });
});

describe('subtasks', () => {
  it('have one level, thirty to a task, and move with their task', async () => {
    const parent = await f.create({ title: 'p' });
    const path = `/v1/tasks/${parent.task_id}`;
    const children: WireTask[] = [];
    for (let i = 0; i < 30; i++) {
      const reminder = { at: '2027-01-01T00:00:00Z' };
      children.push(await f.create({ title: `${i}`, parent_id: parent.task_id, reminder }));
    }
    const refused = async (method: string, where: string, send: object) =>
      expect((await f.call(method, where, { send })).status).toBe(409);
    await refused('POST', '/v1/tasks', { title: 'x', parent_id: parent.task_id });
    await refused('POST', '/v1/tasks', { title: 'x', parent_id: children[0]!.task_id });
    await refused('PATCH', path, { parent_id: children[0]!.task_id });
    await refused('PATCH', path, { parent_id: parent.task_id });
    const other = await f.create({ title: 'other' });
    await refused('PATCH', path, { parent_id: other.task_id });

    const moved = await f.ok('PATCH', `/v1/tasks/${children[3]!.task_id}`, {
      send: { parent_id: other.task_id },
    });
    expect(moved).toMatchObject({ parent_id: other.task_id });
    expect((await f.ok('GET', path)).subtask_ids).toHaveLength(29);
    const freed = await f.ok('PATCH', `/v1/tasks/${children[3]!.task_id}`, { send: { parent_id: null } });
    expect(freed.position).toEqual(expect.any(String));

    await f.ok('DELETE', path);
    expect((await f.call('GET', `/v1/tasks/${children[0]!.task_id}`)).status).toBe(404);
    const restored = await f.ok('POST', `/v1/tasks/trash/${parent.task_id}/restore`);
    expect(restored.subtask_ids).toHaveLength(29);
    expect((await f.ok<List>('GET', `${path}/subtasks`)).data.map(one => one.title).slice(0, 4)).toEqual([
      '0',
      '1',
      '2',
      '4',
    ]);
  });

  it('that were deleted separately are not restored together, even if one request deleted them', async () => {
    const parent = await f.create({ title: 'parent' });
    const child = await f.create({ title: 'child', parent_id: parent.task_id });
    const items = [child, parent].map(({ task_id }) => ({ op: 'delete', task_id }));
    await f.ok('POST', '/v1/tasks/bulk', { send: { items } });
    const restored = await f.ok('POST', `/v1/tasks/trash/${parent.task_id}/restore`);
    expect(restored).not.toHaveProperty('subtask_ids');
    const back = await f.ok('POST', `/v1/tasks/trash/${child.task_id}/restore`);
    expect(back.parent_id).toBe(parent.task_id);
  });
});

it('a tally of an older version does not know the ends of the order: they are read', async () => {
  const user_id = 'usr_older';
  const add = async () => (await createTask(f.writing, user_id, { title: 'x', status: 'pending' })).task_id;
  const forgetEnds = () =>
    f.client.update({
      TableName: 'todo-app-data',
      Key: { PK: `USER#${user_id}`, SK: 'COUNTS' },
      UpdateExpression: 'REMOVE first_position, last_position',
    });
  const [a, b, c] = [await add(), await add(), await add()];
  await forgetEnds();
  await moveTask(f.writing, user_id, c, { to: 'top' });
  expect(await order({ user_id })).toEqual([c, a, b]);
  await forgetEnds();
  for (let i = 0; i < 5; i++) await moveTask(f.writing, user_id, i % 2 ? a : c, { to: 'bottom' });
  await forgetEnds();
  const d = await add();
  expect(await order({ user_id })).toEqual([b, a, c, d]);
});

it('a task is moved beside its anchor while many expired neighbours wait to be removed', async () => {
  const own = await openTasks();
  const user_id = 'usr_expired';
  await updateUser(own.writing, user_id, { retention_days: 1 });
  const add = async (status: 'pending' | 'completed') =>
    (await createTask(own.writing, user_id, { title: 'x', status })).task_id;
  const first = await add('pending');
  for (let i = 0; i < 12; i++) await add('completed');
  const [last, moved] = [await add('pending'), await add('pending')];
  await own.clock.advance(2 * 24 * 60 * 60 * 1000);
  const list = async () =>
    (await readQueries(tasksInOrder({ store: own.store, user_id }), 100)).items.map(item => item.task_id);
  await moveTask(own.writing, user_id, moved, { after: first });
  expect(await list()).toEqual([first, moved, last]);
  await moveTask(own.writing, user_id, moved, { before: last });
  expect(await list()).toEqual([first, moved, last]);
  await moveTask(own.writing, user_id, moved, { to: 'top' });
  expect(await list()).toEqual([moved, first, last]);
  await own.close();
});

// A store whose index answers as it was when it was frozen, as DynamoDB's may for seconds.
async function openLate() {
  const backend = await embedded();
  const frozen = await embedded();
  let isLate = false;
  const f = await openTasks({
    ...backend,
    wrap: client => ({
      ...client,
      query: input => (isLate && input.IndexName ? frozen.client : backend.client).query(input),
    }),
  });
  return {
    ...f,
    async freeze() {
      const { Items = [] } = await backend.client.scan({ TableName: 'todo-app-data' });
      for (const Item of Items) await frozen.client.put({ TableName: 'todo-app-data', Item });
      isLate = true;
    },
    catchUp: () => {
      isLate = false;
    },
    async close() {
      await f.close();
      await frozen.close();
    },
  };
}

it('tasks are moved beside each other while the index has none of the moves', async () => {
  const late = await openLate();
  const user_id = 'usr_late';
  const ids: string[] = [];
  for (let i = 0; i < 4; i++)
    ids.push((await createTask(late.writing, user_id, { title: `${i}`, status: 'pending' })).task_id);
  const [a, b, c, d] = ids as [string, string, string, string];
  await late.freeze();
  await moveTask(late.writing, user_id, d, { before: b });
  for (let i = 0; i < 8; i++) await updateTask(late.writing, user_id, a, { title: `edited ${i}` });
  await moveTask(late.writing, user_id, c, { before: b });
  const expected = [a, d, c, b];
  late.catchUp();
  const { items } = await readQueries(tasksInOrder({ store: late.store, user_id }), 100);
  expect(items.map(item => item.task_id)).toEqual(expected);
  await late.close();
});

it('a task is not put in the wrong place if too many expired ones are in between', async () => {
  const own = await openTasks();
  const user_id = 'usr_crowded';
  const add = async () => (await createTask(own.writing, user_id, { title: 'x', status: 'pending' })).task_id;
  const [first, last, moved] = [await add(), await add(), await add()];
  const { position } = (await own.store.get(task, { user_id, task_id: first }))!;
  const expired = Array.from({ length: 3100 }, (_, i) => ({
    PutRequest: { Item: expiredItem(user_id, i, `${position}${String(i).padStart(5, '0')}`) },
  }));
  for (let i = 0; i < expired.length; i += 25)
    await own.client.batchWrite({ RequestItems: { 'todo-app-data': expired.slice(i, i + 25) } });
  for (const target of [{ before: last }, { after: first }])
    await expect(moveTask(own.writing, user_id, moved, target)).rejects.toThrow('expired');
  await moveTask(own.writing, user_id, moved, { to: 'top' });
  const { items } = await own.store.query(tasksByPosition, { user_id }, { limit: 1 });
  expect(items).toMatchObject([{ task_id: moved }]);
  await own.close();
});

const expiredItem = (user_id: string, number: number, position: string) => {
  const task_id = `tsk_${String(number).padStart(24, '0')}`;
  const index = { GSI5PK: `USER#${user_id}`, GSI5SK: `POSITION#${position}#${task_id}` };
  return { PK: `TASK#${user_id}`, SK: `TASK#${task_id}`, ...index, user_id, task_id, position, ttl: 1 };
};
