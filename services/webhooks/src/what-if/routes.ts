import { bindCursors, type CursorCodec, json, route } from '@stak/http';
import type { Attributes } from '@stak/table';
import { z } from 'zod';
import { accountEndpoint } from '../account-endpoint.ts';
import type { Connections } from '../connections/connections.ts';
import { notFound } from '../errors.ts';
import * as limits from '../limits.ts';
import { idSchema } from '../schema.ts';
import type { Sources } from '../sources/sources.ts';
import type { RuleSet } from '../transforms/rules.ts';
import { whatIfPageSchema, whatIfSchema } from './schema.ts';
import { type WhatIfCursor, type WhatIfDeps, whatIf } from './what-if.ts';

const whatIfRoute = route({
  method: 'post',
  path: '/v1/sources/{sourceId}/whatif',
  operationId: 'webhooks.whatIf',
  auth: 'account',
  tenant: 'none',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  mcp: false,
  scope: 'write',
  tags: ['webhooks'],
  summary: 'Run the stored events of a source through other rules',
  description:
    'Says, oldest events first, how many would be sent, filtered, dropped or fail by the present rules and by these, and which events differ, with the bodies of both. Stores and sends nothing. A page ends after a hundred events, two seconds or a megabyte of bodies: go on with `next_cursor` until there is none.',
  request: {
    params: z.strictObject({ sourceId: idSchema }),
    body: json(whatIfSchema),
  },
  responses: { 200: json(whatIfPageSchema) },
  problems: [
    'webhooks.source_not_found',
    'webhooks.connection_not_found',
    'webhooks.busy',
    'http.cursor_refused',
  ],
  limits: { bodyBytes: limits.bodyBytes, rate: { name: 'what-if', limit: 240, windowMs: 60_000 } },
});

const noRules = { filters: '[]', transform: '{"type":"passthrough"}' };

export function createWhatIfRoutes(
  deps: WhatIfDeps & { sources: Sources; connections: Connections; cursors: CursorCodec<Attributes> },
) {
  const { clock, sources, connections } = deps;

  const presentRules = async (
    sourceId: string,
    userId: string,
    connectionId: string | undefined,
  ): Promise<RuleSet> => {
    if (connectionId === undefined) return { ...noRules, userId };
    const connection = await connections.owned(connectionId, userId);
    if (connection.sourceId !== sourceId) throw notFound('connection');
    return connection;
  };

  return [
    accountEndpoint(whatIfRoute, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      const { filters, transform, connectionId, from, to, limit, cursor } = c.req.valid('json');
      const before = await presentRules(sourceId, userId, connectionId);
      const after = { filters: JSON.stringify(filters), transform: JSON.stringify(transform), userId };
      const cursors = bindCursors(c, deps.cursors as unknown as CursorCodec<WhatIfCursor>);
      const reached = cursors.open(cursor);
      const { next, differences, ...counts } = await whatIf(
        deps,
        { before, after },
        {
          sourceId,
          fromMs: from === undefined ? undefined : Date.parse(from),
          toMs: reached?.toMs ?? Math.min(to === undefined ? Infinity : Date.parse(to), clock.now() + 1),
          after: reached,
          limit,
        },
      );
      const data = differences.map(({ event, ...outcomes }) => ({ ...event, ...outcomes }));
      return c.json({ ...counts, data, next_cursor: cursors.seal(next) }, 200);
    }),
  ] as const;
}
