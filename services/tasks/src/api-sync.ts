import {
  empty,
  endpoint,
  etagOf,
  expectedVersion,
  json,
  pageOf,
  pageQuery,
  route,
  sse,
  toPage,
} from '@stak/http';
import { z } from 'zod';
import { deleteCompleted, runBulk } from './bulk.ts';
import { readChanges, tokenShape } from './changes.ts';
import { enter, refuseCursor, type Services } from './deps.ts';
import { followChanges } from './events.ts';
import * as limits from './limits.ts';
import { showTask, wireTask } from './schema.ts';
import { emptyTrash, listTrash, purgeTask, restoreTask, showTrashed } from './trash.ts';
import { bulkRequest, bulkResults, changesPage, cleared, emptied, taskParams, trashedTask } from './wire.ts';

const own = { auth: 'user' as const, tags: ['tasks'] };
const reading = { scope: 'read', endUserScope: 'tasks:read' } as const;
const writing = { scope: 'write', endUserScope: 'tasks:write' } as const;

const changes = route({
  ...own,
  method: 'get',
  path: '/v1/tasks/changes',
  ...reading,
  operationId: 'tasks.changes',
  summary: 'What has changed since a token',
  description:
    'Without a token: everything. Ask again with the token of each answer while it has more, and later for what is ' +
    'new. A token is good for 30 days; then it is 410, and you begin without one.',
  request: {
    query: z.strictObject({
      since: z.string().regex(tokenShape, 'This is no token of ours').optional(),
      limit: z.coerce.number().int().min(1).max(limits.listItemsMost).default(limits.listItemsMost),
    }),
  },
  responses: { 200: json(changesPage) },
  problems: ['tasks.token_expired'],
});

const events = route({
  ...own,
  method: 'get',
  path: '/v1/tasks/events',
  ...reading,
  operationId: 'tasks.events',
  summary: 'Changes as they happen',
  description:
    'Events `open` first, from where on nothing is missed, `changed` with the task, `deleted` with its id, and `resync` for a client that was away too long.',
  responses: {
    200: { description: 'An event stream', content: { 'text/event-stream': { schema: z.string() } } },
  },
});

const bulk = route({
  ...own,
  method: 'post',
  path: '/v1/tasks/bulk',
  ...writing,
  idempotent: true,
  operationId: 'tasks.bulk',
  summary: 'Change, delete or restore up to 100 tasks',
  description:
    'Every item has a result of its own, in the same order; one that is refused does not stop the others.',
  request: { body: json(bulkRequest) },
  responses: { 200: json(bulkResults) },
});

const clear = route({
  ...own,
  method: 'post',
  path: '/v1/tasks/completed/clear',
  ...writing,
  operationId: 'tasks.clearCompleted',
  summary: 'Move completed tasks to the trash',
  description: 'As many as one request may; ask again while there are more.',
  responses: { 200: json(cleared) },
});

const trash = route({
  ...own,
  method: 'get',
  path: '/v1/tasks/trash',
  ...reading,
  operationId: 'tasks.listTrash',
  summary: 'Deleted tasks that can still be restored',
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
  summary: 'Restore a deleted task and the subtasks deleted with it',
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
  summary: 'Delete a task for good',
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
  summary: 'Empty the trash',
  description: 'As much as one request may; ask again while there is more.',
  responses: { 200: json(emptied) },
});

export const syncEndpoints = (services: Services) =>
  [
    endpoint(changes, async c => {
      const user_id = await enter(services, c.get('principal'));
      const { since, limit } = c.req.valid('query');
      return c.json(await readChanges(services, user_id, since, limit), 200);
    }),
    endpoint(events, async c => {
      const enterAgain = () => enter(services, c.get('principal'));
      const user_id = await enterAgain();
      return sse(c, {
        enter: enterAgain,
        subscribe: (afterId, sink) => followChanges(services, user_id, afterId, sink),
      }) as never;
    }),
    endpoint(bulk, async c => {
      const user_id = await enter(services, c.get('principal'));
      return c.json({ results: await runBulk(services, user_id, c.req.valid('json').items) }, 200);
    }),
    endpoint(clear, async c => {
      const user_id = await enter(services, c.get('principal'));
      return c.json(await deleteCompleted(services, user_id), 200);
    }),
    endpoint(trash, async c => {
      const user_id = await enter(services, c.get('principal'));
      const page = await listTrash(services, user_id, c.req.valid('query')).catch(refuseCursor);
      return c.json(toPage({ ...page, items: page.items.map(showTrashed) }), 200);
    }),
    endpoint(emptyAll, async c => {
      const user_id = await enter(services, c.get('principal'));
      return c.json({ has_more: !(await emptyTrash(services, user_id)) }, 200);
    }),
    endpoint(restore, async c => {
      const user_id = await enter(services, c.get('principal'));
      const restored = await restoreTask(services, user_id, c.req.valid('param').task_id, expectedVersion(c));
      c.header('ETag', etagOf(restored.version));
      return c.json(showTask(restored), 200);
    }),
    endpoint(purge, async c => {
      const user_id = await enter(services, c.get('principal'));
      await purgeTask(services, user_id, c.req.valid('param').task_id, expectedVersion(c));
      return c.body(null, 204);
    }),
  ] as const;
