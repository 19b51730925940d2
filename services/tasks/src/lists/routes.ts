import { endpoint, json, nameSchemas, pageOf, pageQuery, readsOnly, route, textStream } from '@stak/http';
import { z } from 'zod';
import { cursorsFor, type Deps, forCaller } from '../deps.ts';
import * as limits from '../limits.ts';
import { userIdOf } from '../owner.ts';
import { counts, foundTask, listedTask } from '../schema.ts';
import { exportFormats, exportTasks } from './export.ts';
import { listTasks, sorts } from './list.ts';
import { searchTasks } from './search.ts';
import { readCounts } from './statistics.ts';

const own = {
  auth: 'user' as const,
  scope: 'read' as const,
  endUserScope: 'tasks:read' as const,
  method: 'get' as const,
  tags: ['tasks'],
  tenant: 'caller' as const,
};

const listQuery = pageQuery(limits.listItemsMost).extend({
  filter: z
    .string()
    .max(limits.filterChars)
    .default('')
    .describe('Terms that tasks must match, such as `status:pending due<2026-12-01`.'),
  sort: z.enum(sorts).optional().describe('What to sort by.'),
  order: z.enum(['asc', 'desc']).default('asc').describe('Which end comes first.'),
  view: z
    .enum(['summary', 'full'])
    .default('summary')
    .describe('Whether to return summaries or whole tasks.'),
});

const listedPage = pageOf(listedTask);
nameSchemas({ TaskPage: listedPage });

const list = route({
  ...own,
  ...readsOnly,
  path: '/v1/tasks',
  operationId: 'tasks.list',
  mcp: 'reads',
  summary: 'List tasks',
  description:
    'Returns the tasks that match all terms of `filter`, as in `status:pending due<2026-12-01 category:work,"home & garden" ' +
    '-label:someday priority>=high is:overdue`. `view=full` returns whole tasks instead of summaries.',
  request: { query: listQuery },
  responses: { 200: json(listedPage) },
  problems: ['tasks.filter_refused'],
});

const listOfUser = route({
  ...readsOnly,
  path: '/v1/tenants/{tenant_id}/users/{user_id}/tasks',
  auth: 'account',
  scope: 'read',
  tags: ['tasks'],
  operationId: 'tasks.listOfUser',
  tenant: 'path',
  mcp: 'reads',
  summary: "List the tasks of a tenant's user",
  description:
    'For the account that owns the tenant. Takes the same filters as `GET /v1/tasks`; days are in the time zone of the user.',
  request: {
    params: z.strictObject({
      tenant_id: z.string().max(limits.userIdBytes).describe('The id of the tenant.'),
      user_id: z.string().min(1).max(limits.userIdBytes).describe('The id of the user.'),
    }),
    query: listQuery,
  },
  responses: { 200: json(listedPage) },
  problems: ['tasks.filter_refused', 'tasks.user_refused'],
});

const search = route({
  ...own,
  ...readsOnly,
  path: '/v1/tasks/search',
  operationId: 'tasks.search',
  mcp: 'reads',
  summary: 'Search titles, descriptions, categories and labels',
  description:
    'Returns the best matches first. Finds words by their beginning, and tolerates a wrong letter or two swapped ones.',
  request: {
    query: pageQuery(limits.listItemsMost).extend({
      q: z.string().trim().min(1).max(limits.queryChars).describe('The words to search for.'),
    }),
  },
  responses: { 200: json(pageOf(foundTask)) },
});

const count = route({
  ...own,
  ...readsOnly,
  path: '/v1/tasks/counts',
  operationId: 'tasks.counts',
  mcp: 'reads',
  summary: 'Count tasks by status, priority and category',
  description: 'Returns exact counts of the caller’s tasks.',
  responses: { 200: json(counts) },
});

const download = route({
  ...own,
  path: '/v1/tasks/export',
  operationId: 'tasks.export',
  reaches: 'nothing',
  audit: true,
  stores: 'line',
  mcp: false,
  summary: 'Export all tasks as a file',
  description: 'Streams all tasks of the caller as JSON or CSV.',
  request: {
    query: z.strictObject({
      format: z.enum(exportFormats).default('json').describe('The format of the file.'),
    }),
  },
  responses: {
    200: {
      description: 'A file',
      content: { 'application/json': { schema: z.unknown() }, 'text/csv': { schema: z.string() } },
    },
  },
  limits: { rate: { name: 'tasks-export', ...limits.exportRate } },
});

const mediaTypes = { json: 'application/json', csv: 'text/csv; charset=utf-8' };

export function createListRoutes(deps: Deps) {
  return [
    forCaller(list, async (c, user_id) => {
      return c.json(await listTasks(deps, user_id, c.req.valid('query')), 200);
    }),
    endpoint(listOfUser, async c => {
      const { tenant_id: tenantId, user_id: userId } = c.req.valid('param');
      const user_id = userIdOf({ kind: 'endUser', tenantId, userId });
      return c.json(await listTasks(deps, user_id, c.req.valid('query')), 200);
    }),
    forCaller(search, async (c, userId, accountId) => {
      const { q, limit, cursor } = c.req.valid('query');
      const cursors = cursorsFor<{ start: number }>(c, deps);
      const start = cursors.open(cursor)?.start ?? 0;
      const { items, next } = await searchTasks(deps, { userId, accountId }, q, { limit, start });
      const data = items.map(({ user_id: _, request_id: __, cause: ___, ...found }) => found);
      return c.json(
        { data, next_cursor: cursors.seal(next === undefined ? undefined : { start: next }) },
        200,
      );
    }),
    forCaller(count, async (c, user_id) => {
      return c.json(await readCounts(deps, user_id), 200);
    }),
    forCaller(download, async (c, user_id) => {
      const { format } = c.req.valid('query');
      c.header('Content-Type', mediaTypes[format]);
      c.header('Content-Disposition', `attachment; filename="tasks.${format}"`);
      return c.body(textStream(exportTasks(deps.store, user_id, format)), 200) as never;
    }),
  ] as const;
}
