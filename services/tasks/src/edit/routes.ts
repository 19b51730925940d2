import {
  causeOf,
  empty,
  etagOf,
  expectedVersion,
  json,
  pageOf,
  pageQuery,
  readsOnly,
  route,
  toPage,
} from '@stak/http';
import { z } from 'zod';
import { type Deps, forCaller, refuseCursor } from '../deps.ts';
import * as limits from '../limits.ts';
import {
  bulkRequest,
  bulkResults,
  cleared,
  emptied,
  idempotencyHeaders,
  moveTarget,
  newTask,
  showTask,
  taskParams,
  taskPatch,
  trashedTask,
  wireTask,
} from '../schema.ts';
import { deleteCompleted, runBulk } from './bulk.ts';
import { createTask } from './create.ts';
import { listSubtasks, moveTask } from './order.ts';
import { bulkBytes, updateBytes } from './stored-bytes.ts';
import { deleteTask, emptyTrash, listTrash, purgeTask, restoreTask, showTrashed } from './trash.ts';
import { getTask, updateTask } from './update.ts';

const own = { auth: 'user' as const, tags: ['tasks'], tenant: 'caller' as const, mcp: false as const };
const reading = { scope: 'read', endUserScope: 'tasks:read' } as const;
const writing = { scope: 'write', endUserScope: 'tasks:write' } as const;

// The HTTP layer leaves its Idempotency-Key alone: the record is written with the task, in one transaction.
const create = route({
  ...own,
  method: 'post',
  path: '/v1/tasks',
  ...writing,
  operationId: 'tasks.create',
  reaches: 'nothing',
  audit: false,
  stores: 'body',
  mcp: 'writes',
  summary: 'Create a task',
  description:
    'With an `Idempotency-Key`, the task is created once in 24 hours: the same request returns the same response, ' +
    'with `Idempotency-Replayed: true`. With `parent_id`, it becomes a subtask.',
  request: { headers: idempotencyHeaders, body: json(newTask) },
  responses: { 201: json(wireTask, 'The new task') },
  problems: [
    'http.idempotency_mismatch',
    'tasks.task_purged',
    'tasks.limit_reached',
    'tasks.parent_refused',
    'tasks.recurrence_refused',
    'tasks.reminder_refused',
  ],
});

const read = route({
  ...own,
  path: '/v1/tasks/{task_id}',
  ...reading,
  ...readsOnly,
  operationId: 'tasks.get',
  mcp: 'reads',
  summary: 'Get a task',
  description: 'Returns a task with all of its fields.',
  request: { params: taskParams },
  responses: { 200: json(wireTask) },
  problems: ['tasks.task_not_found'],
});

const update = route({
  ...own,
  method: 'patch',
  path: '/v1/tasks/{task_id}',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.update',
  reaches: 'nothing',
  audit: false,
  stores: updateBytes,
  mcp: 'writes',
  summary: 'Update a task',
  description:
    'Attributes that are left out stay as they are; `null` removes one. Completing a recurring task creates the next one.',
  request: { params: taskParams, body: json(taskPatch) },
  responses: { 200: json(wireTask) },
  problems: [
    'tasks.task_not_found',
    'tasks.limit_reached',
    'tasks.parent_refused',
    'tasks.recurrence_refused',
    'tasks.reminder_refused',
  ],
});

const remove = route({
  ...own,
  method: 'delete',
  path: '/v1/tasks/{task_id}',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.delete',
  reaches: 'nothing',
  audit: false,
  stores: 'deletes',
  summary: 'Move a task and its subtasks to the trash for 30 days',
  description: 'Moves a task to the trash, from where it can be restored for 30 days.',
  request: { params: taskParams },
  responses: { 204: empty() },
  problems: ['tasks.task_not_found'],
});

const move = route({
  ...own,
  method: 'put',
  path: '/v1/tasks/{task_id}/position',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.move',
  reaches: 'nothing',
  audit: false,
  stores: 'edit',
  summary: 'Move a task before or after another, or to the top or bottom',
  description: 'Changes the place of a task in the caller’s own order.',
  request: { params: taskParams, body: json(moveTarget) },
  responses: { 200: json(wireTask) },
  problems: ['tasks.task_not_found', 'tasks.order_refused'],
});

const subtasks = route({
  ...own,
  path: '/v1/tasks/{task_id}/subtasks',
  ...reading,
  ...readsOnly,
  operationId: 'tasks.subtasks',
  summary: 'List the subtasks of a task, in order',
  description: 'Returns the subtasks of a task.',
  request: { params: taskParams },
  responses: {
    200: json(z.strictObject({ data: z.array(wireTask).describe('The subtasks, in the user’s order.') })),
  },
  problems: ['tasks.task_not_found'],
});

const bulk = route({
  ...own,
  method: 'post',
  path: '/v1/tasks/bulk',
  ...writing,
  idempotent: true,
  operationId: 'tasks.bulk',
  reaches: 'nothing',
  audit: true,
  stores: bulkBytes,
  summary: 'Update, delete or restore up to 100 tasks',
  description: 'Each item succeeds or fails on its own. The results have the same order as the items.',
  request: { body: json(bulkRequest) },
  responses: { 200: json(bulkResults) },
});

const clear = route({
  ...own,
  method: 'post',
  path: '/v1/tasks/completed/clear',
  ...writing,
  operationId: 'tasks.clearCompleted',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Move completed tasks to the trash',
  description: 'Moves a limited number. Repeat the request while `has_more` is true.',
  responses: { 200: json(cleared) },
});

const trash = route({
  ...own,
  path: '/v1/tasks/trash',
  ...reading,
  ...readsOnly,
  operationId: 'tasks.listTrash',
  summary: 'List deleted tasks that can still be restored',
  description: 'Returns deleted tasks, the most recent first. They are kept for 30 days.',
  request: { query: pageQuery(limits.listItemsMost) },
  responses: { 200: json(pageOf(trashedTask)) },
});

const restore = route({
  ...own,
  method: 'post',
  path: '/v1/tasks/trash/{task_id}/restore',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.restore',
  reaches: 'nothing',
  audit: false,
  stores: 'edit',
  summary: 'Restore a deleted task and the subtasks deleted with it',
  description: 'Takes a task out of the trash.',
  request: { params: taskParams },
  responses: { 200: json(wireTask) },
  problems: ['tasks.task_not_found', 'tasks.limit_reached'],
});

const purge = route({
  ...own,
  method: 'delete',
  path: '/v1/tasks/trash/{task_id}',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.purge',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Delete a task permanently',
  description: 'Deletes a task in the trash for good.',
  request: { params: taskParams },
  responses: { 204: empty() },
  problems: ['tasks.task_not_found'],
});

const emptyAll = route({
  ...own,
  method: 'delete',
  path: '/v1/tasks/trash',
  ...writing,
  operationId: 'tasks.emptyTrash',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Empty the trash',
  description: 'Deletes a limited number of tasks. Repeat the request while `has_more` is true.',
  responses: { 200: json(emptied) },
});

// Paths without a parameter come first: `/v1/tasks/trash` is not a task.
export const createEditRoutes = (deps: Deps) =>
  [...createManyEndpoints(deps), ...createTaskEndpoints(deps)] as const;

function createTaskEndpoints(deps: Deps) {
  return [
    forCaller(create, async (c, user_id) => {
      const key = c.req.valid('header')['idempotency-key'];
      const request =
        key === undefined ? undefined : { method: 'POST', route: create.path, key, body: c.get('body') };
      const answer = await createTask(deps, user_id, c.req.valid('json'), { request, cause: causeOf(c) });
      // As plain values: `c.header` would make Headers, which cost as much as the rest of the response.
      const headers = {
        Location: `/v1/tasks/${answer.task_id}`,
        ETag: etagOf(1),
        'Content-Type': 'application/json',
        ...(answer.isReplayed && { 'Idempotency-Replayed': 'true' }),
      };
      return new Response(answer.body, { status: 201, headers }) as never;
    }),
    forCaller(read, async (c, user_id) => {
      const found = await getTask(deps, user_id, c.req.valid('param').task_id);
      c.header('ETag', etagOf(found.version));
      return c.json(showTask(found), 200);
    }),
    forCaller(update, async (c, user_id) => {
      const { task_id } = c.req.valid('param');
      const updated = await updateTask(deps, user_id, task_id, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(updated.version));
      return c.json(showTask(updated), 200);
    }),
    forCaller(remove, async (c, user_id) => {
      await deleteTask(deps, user_id, c.req.valid('param').task_id, expectedVersion(c));
      return c.body(null, 204);
    }),
    forCaller(move, async (c, user_id) => {
      const { task_id } = c.req.valid('param');
      const moved = await moveTask(deps, user_id, task_id, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(moved.version));
      return c.json(showTask(moved), 200);
    }),
    forCaller(subtasks, async (c, user_id) => {
      const found = await listSubtasks(deps, user_id, c.req.valid('param').task_id);
      return c.json({ data: found.map(showTask) }, 200);
    }),
  ] as const;
}

function createManyEndpoints(deps: Deps) {
  return [
    forCaller(bulk, async (c, user_id) => {
      const bulkId = c.get('idempotencyKey') === undefined ? undefined : c.get('ids').next();
      return c.json({ results: await runBulk(deps, user_id, c.req.valid('json').items, bulkId) }, 200);
    }),
    forCaller(clear, async (c, user_id) => c.json(await deleteCompleted(deps, user_id), 200)),
    forCaller(trash, async (c, user_id) => {
      const page = await listTrash(deps, user_id, c.req.valid('query')).catch(refuseCursor);
      return c.json(toPage({ ...page, items: page.items.map(showTrashed) }), 200);
    }),
    forCaller(emptyAll, async (c, user_id) => c.json({ has_more: !(await emptyTrash(deps, user_id)) }, 200)),
    forCaller(restore, async (c, user_id) => {
      const restored = await restoreTask(deps, user_id, c.req.valid('param').task_id, expectedVersion(c));
      c.header('ETag', etagOf(restored.version));
      return c.json(showTask(restored), 200);
    }),
    forCaller(purge, async (c, user_id) => {
      await purgeTask(deps, user_id, c.req.valid('param').task_id, expectedVersion(c));
      return c.body(null, 204);
    }),
  ] as const;
}
