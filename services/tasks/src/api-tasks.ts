import { empty, endpoint, etagOf, expectedVersion, json, route } from '@stak/http';
import { z } from 'zod';
import { createTask } from './creation.ts';
import { enter, type Services } from './deps.ts';
import { listSubtasks, moveTask } from './ordering.ts';
import { newTask, showTask, taskPatch, wireTask } from './schema.ts';
import { getTask, updateTask } from './tasks.ts';
import { deleteTask } from './trash.ts';
import { idempotencyHeaders, place, taskParams } from './wire.ts';

const own = { auth: 'user' as const, tags: ['tasks'] };
const reading = { scope: 'read', endUserScope: 'tasks:read' } as const;
const writing = { scope: 'write', endUserScope: 'tasks:write' } as const;

// Its Idempotency-Key is no business of the HTTP layer: the record is written with the task, in one transaction.
const create = route({
  ...own,
  method: 'post',
  path: '/v1/tasks',
  ...writing,
  operationId: 'tasks.create',
  summary: 'Create a task',
  description:
    'With an `Idempotency-Key` it is created once in 24 hours: the same request gets the same answer again, ' +
    'with `Idempotency-Replayed: true`. With `parent_id` it becomes a subtask.',
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
  method: 'get',
  path: '/v1/tasks/{task_id}',
  ...reading,
  operationId: 'tasks.get',
  summary: 'Read a task',
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
  summary: 'Change a task',
  description:
    'What is not named stays; `null` takes an attribute away. Completing a task that recurs makes the next one.',
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
  summary: 'Move a task and its subtasks to the trash, for 30 days',
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
  summary: 'Move a task before or after another, or to the top or bottom',
  request: { params: taskParams, body: json(place) },
  responses: { 200: json(wireTask) },
  problems: ['tasks.task_not_found', 'tasks.order_refused'],
});

const subtasks = route({
  ...own,
  method: 'get',
  path: '/v1/tasks/{task_id}/subtasks',
  ...reading,
  operationId: 'tasks.subtasks',
  summary: 'The subtasks of a task, in order',
  request: { params: taskParams },
  responses: { 200: json(z.strictObject({ data: z.array(wireTask) })) },
  problems: ['tasks.task_not_found'],
});

export const taskEndpoints = (services: Services) =>
  [
    endpoint(create, async c => {
      const user_id = await enter(services, c.get('principal'));
      const key = c.req.valid('header')['idempotency-key'];
      const request =
        key === undefined ? undefined : { method: 'POST', route: create.path, key, body: c.get('body') };
      const answer = await createTask(services, user_id, c.req.valid('json'), request);
      c.header('Location', `/v1/tasks/${answer.task_id}`);
      c.header('ETag', etagOf(1));
      c.header('Content-Type', 'application/json');
      if (answer.isReplayed) c.header('Idempotency-Replayed', 'true');
      return c.body(answer.body, 201) as never;
    }),
    endpoint(read, async c => {
      const user_id = await enter(services, c.get('principal'));
      const found = await getTask(services, user_id, c.req.valid('param').task_id);
      c.header('ETag', etagOf(found.version));
      return c.json(showTask(found), 200);
    }),
    endpoint(update, async c => {
      const user_id = await enter(services, c.get('principal'));
      const { task_id } = c.req.valid('param');
      const updated = await updateTask(services, user_id, task_id, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(updated.version));
      return c.json(showTask(updated), 200);
    }),
    endpoint(remove, async c => {
      const user_id = await enter(services, c.get('principal'));
      await deleteTask(services, user_id, c.req.valid('param').task_id, expectedVersion(c));
      return c.body(null, 204);
    }),
    endpoint(move, async c => {
      const user_id = await enter(services, c.get('principal'));
      const { task_id } = c.req.valid('param');
      const moved = await moveTask(services, user_id, task_id, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(moved.version));
      return c.json(showTask(moved), 200);
    }),
    endpoint(subtasks, async c => {
      const user_id = await enter(services, c.get('principal'));
      const found = await listSubtasks(services, user_id, c.req.valid('param').task_id);
      return c.json({ data: found.map(showTask) }, 200);
    }),
  ] as const;
