import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WireTask } from '../src/index.ts';
import { eventually, type Fixture, openTasks, startConsumers } from './tasks-fixture.ts';

// Tasks that another program writes exactly as the document describes.

let f: Fixture;
let stop: (() => Promise<void>) | undefined;
beforeEach(async () => {
  f = await openTasks();
});
afterEach(async () => {
  await stop?.();
  stop = undefined;
  await f.close();
});

const foreignId = 'V1StGXR8_Z5jdHi6';
const user = 'USER#usr_ann';
const putForeign = (task_id = foreignId, change: Record<string, unknown> = {}) =>
  f.client.put({
    TableName: 'todo-app-data',
    Item: {
      PK: 'TASK#usr_ann',
      SK: `TASK#${task_id}`,
      title: 'Foreign',
      status: 'pending',
      priority: 'high',
      category: 'home',
      due_date: '2026-02-01',
      created_at: 1767225600,
      updated_at: 1767225600,
      completed_at: null,
      GSI1PK: user,
      GSI1SK: `STATUS#${change.status ?? 'pending'}#${task_id}`,
      GSI2PK: user,
      GSI2SK: `DUEDATE#2026-02-01#${task_id}`,
      GSI3PK: user,
      GSI3SK: `PRIORITY#high#${task_id}`,
      GSI4PK: user,
      GSI4SK: `CATEGORY#home#${task_id}`,
      ...change,
    },
  });
const counts = () => f.ok<{ total: number; by_status: Record<string, number> }>('GET', '/v1/tasks/counts');
const list = async (query: string) =>
  (await f.ok<{ data: WireTask[] }>('GET', `/v1/tasks?${query}`)).data.map(one => one.task_id);
const path = `/v1/tasks/${foreignId}`;

it('are listed, counted and found, also if they are older than anything written here', async () => {
  await putForeign();
  expect(await counts()).toMatchObject({ total: 1, by_status: { pending: 1 } });
  for (const query of ['', 'view=full', 'sort=position', 'sort=priority', 'filter=category:home'])
    expect(await list(query), query).toEqual([foreignId]);
  expect((await f.ok<{ changed: WireTask[] }>('GET', '/v1/tasks/changes')).changed).toMatchObject([
    { task_id: foreignId, version: 1 },
  ]);
  expect((await f.ok<{ data: WireTask[] }>('GET', '/v1/tasks/search?q=foreign')).data).toHaveLength(1);
});

// The document says nothing of an id but that it has one.
it.each(['7', '-2ZgQ0mKJ1xS_dVb', '_V1StGXR8-Z5jdHi', '6f1ed002-ab5f-4a1b-9c35-3d8cf6a1e0b4'])(
  'may have the id %s, and are edited, moved and deleted by it',
  async id => {
    const own = await f.create({ title: 'Own' });
    await putForeign(id);
    const its = `/v1/tasks/${id}`;
    expect(await f.ok('PATCH', its, { send: { title: 'Edited' } })).toMatchObject({ task_id: id });
    await f.ok('PATCH', its, { send: { parent_id: own.task_id } });
    await f.ok('PATCH', its, { send: { parent_id: null } });
    const other = await f.create({ title: 'Other' });
    await f.ok('PUT', `/v1/tasks/${other.task_id}/position`, { send: { after: id } });
    expect(await list('sort=position')).toEqual([id, other.task_id, own.task_id].toSorted(byAge(id)));
    await f.ok('DELETE', its);
    expect(await counts()).toMatchObject({ total: 2 });
  },
);

// The foreign task is as old as the clock of the fixture, to the second: it is first.
const byAge = (first: string) => (a: string, b: string) => Number(b === first) - Number(a === first);

it('can be listed first', async () => {
  await putForeign();
  expect(await list('view=full')).toEqual([foreignId]);
});

it.each([
  ['GET', undefined, 1],
  ['PATCH', { title: 'Ours' }, 1],
  ['DELETE', undefined, 0],
])('can be the subject of %s before they are adopted', async (method, send, total) => {
  const own = await f.create({ title: 'Own' });
  await putForeign();
  expect((await f.call(method, path, { send })).status).toBe(method === 'DELETE' ? 204 : 200);
  expect(await counts()).toMatchObject({ total: total + 1 });
  expect((await list('sort=priority')).toSorted()).toEqual(
    [own.task_id, ...(total ? [foreignId] : [])].toSorted(),
  );
  if (total === 0) await f.ok('POST', `/v1/tasks/trash/${foreignId}/restore`);
  expect(await counts()).toMatchObject({ total: 2 });
});

it('are adopted by the stream, and counted once', async () => {
  stop = startConsumers(f);
  await f.create({ title: 'Own' });
  await putForeign();
  await eventually(async () => (await counts()).total === 2);
  // The other program replaces its task: the counts follow.
  await putForeign(foreignId, { status: 'completed', completed_at: 1767225700 });
  await eventually(async () => (await counts()).by_status.completed === 1);
  expect(await counts()).toMatchObject({ total: 2, by_status: { pending: 1, completed: 1 } });
});

it('are left alone if they are not what the document describes', async () => {
  await f.create({ title: 'Own' });
  await putForeign(foreignId, { status: 'someday', GSI1SK: `STATUS#someday#${foreignId}` });
  expect((await f.call('PATCH', path, { send: { title: 'x' } })).status).toBe(404);
  expect(await list('')).toHaveLength(1);
  expect(await counts()).toMatchObject({ total: 1 });
});
