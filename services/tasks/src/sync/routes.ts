import { json, readsOnly, route, sse } from '@stak/http';
import { z } from 'zod';
import { type Deps, forCaller } from '../deps.ts';
import * as limits from '../limits.ts';
import { changesPage } from '../schema.ts';
import { readChanges, tokenShape } from './changes.ts';
import { followChanges } from './event-stream.ts';

const reading = {
  auth: 'user' as const,
  tags: ['tasks'],
  method: 'get' as const,
  scope: 'read' as const,
  endUserScope: 'tasks:read' as const,
  tenant: 'caller' as const,
  mcp: false as const,
};

const changes = route({
  ...reading,
  ...readsOnly,
  path: '/v1/tasks/changes',
  operationId: 'tasks.changes',
  summary: 'List the changes since a token',
  description:
    'Without a token, lists all tasks. Repeat the request with the returned token while `has_more` is true, and later ' +
    'to get what is new. A token is valid for 30 days. After that the response is 410: start again without a token.',
  request: {
    query: z.strictObject({
      since: z
        .string()
        .regex(tokenShape, 'Not a valid token')
        .optional()
        .describe('The `token` of the page before; all tasks if absent.'),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(limits.listItemsMost)
        .default(limits.listItemsMost)
        .describe('How many changes the page has at most.'),
    }),
  },
  responses: { 200: json(changesPage) },
  problems: ['tasks.token_expired'],
});

const events = route({
  ...reading,
  ...readsOnly,
  path: '/v1/tasks/events',
  mcp: { watches: '/v1/tasks' },
  operationId: 'tasks.events',
  summary: 'Stream changes',
  description:
    'Server-sent events: `open` first, after which no change is missed; `changed` with the task; `deleted` with its id; and `resync` for a client that was away too long.',
  responses: {
    200: { description: 'An event stream', content: { 'text/event-stream': { schema: z.string() } } },
  },
});

export function createSyncRoutes(deps: Deps) {
  return [
    forCaller(changes, async (c, user_id) => {
      const { since, limit } = c.req.valid('query');
      return c.json(await readChanges(deps, user_id, since, limit), 200);
    }),
    forCaller(
      events,
      (c, user_id) =>
        sse(c, { subscribe: (afterId, sink) => followChanges(deps, user_id, afterId, sink) }) as never,
    ),
  ] as const;
}
