import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WireTask } from '../src/index.ts';
import { embedded, type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeEach(async () => {
  f = await openTasks(await embedded());
});
afterEach(() => f.close());

const move = (id: string, parent_id: string) =>
  f.call('PATCH', `/v1/tasks/${id}`, { send: { parent_id }, etag: '*' });
const read = (id: string) => f.ok<WireTask>('GET', `/v1/tasks/${id}`);

it('subtasks have no subtasks, whichever of the two is moved', async () => {
  const [parent, other] = [await f.create({ title: 'Parent' }), await f.create({ title: 'Other' })];
  const child = await f.create({ title: 'Child', parent_id: parent.task_id });
  for (const [id, to] of [
    [other.task_id, child.task_id], // below a subtask
    [parent.task_id, other.task_id], // a task that has subtasks
    [other.task_id, other.task_id],
  ] as const) {
    const response = await move(id, to);
    const { code } = (await response.json()) as { code: string };
    expect([response.status, code]).toEqual([409, 'tasks.parent_refused']);
  }
  expect((await read(parent.task_id)).parent_id ?? null).toBeNull();
  expect((await read(other.task_id)).subtask_ids ?? []).toEqual([]);
});

it('a task whose parent has become a subtask is restored without it', async () => {
  const [parent, other] = [await f.create({ title: 'Parent' }), await f.create({ title: 'Other' })];
  const child = await f.create({ title: 'Child', parent_id: parent.task_id });
  await f.call('DELETE', `/v1/tasks/${child.task_id}`, { etag: '*' });
  expect((await move(parent.task_id, other.task_id)).status).toBe(200);
  await f.ok('POST', `/v1/tasks/trash/${child.task_id}/restore`);
  const restored = await read(child.task_id);
  expect([restored.title, restored.parent_id ?? null]).toEqual(['Child', null]);
  expect((await read(parent.task_id)).subtask_ids ?? []).toEqual([]);
});
