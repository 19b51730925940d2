import { bindCursors, endpoint, events, httpErrors, json, type Principal, route, sse } from '@stak/http';
import type { Logger } from '@stak/kit';
import type { AnyTable, Cursors } from '@stak/table';
import { z } from 'zod';
import type { NodeRequest } from '../../config/loopback.ts';
import type { Changes } from './changes.ts';
import type { Operators } from './operators.ts';
import { type ReadingDeps, readItems } from './reading.ts';
import { changeSchema, itemPageSchema, itemsQuery, tableDetailsSchema, tableListSchema } from './schema.ts';
import type { Tables } from './tables.ts';

export type ApiDeps = ReadingDeps & {
  operators: Operators;
  tables: Tables;
  changes: Changes;
  cursors: Cursors;
  log: Logger;
};

// Open to every caller in the HTTP layer, so that a caller who is not an operator gets our 404 rather than a 403.
const shared = {
  method: 'get' as const,
  auth: 'user' as const,
  scope: 'read' as const,
  endUserScope: 'any' as const,
  tags: ['tables'],
  tenant: 'none' as const,
  mcp: false as const,
};
const forOperators = 'For operators of this server who are signed in. Anyone else gets a 404.';
const params = z.strictObject({ table: z.string().min(1).max(255) });

const list = route({
  ...shared,
  path: '/v1/tables',
  operationId: 'tables.list',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  summary: 'List the tables and their consumed capacity',
  description: forOperators,
  responses: { 200: json(tableListSchema) },
  problems: ['http.not_found'],
});

const get = route({
  ...shared,
  path: '/v1/tables/{table}',
  operationId: 'tables.get',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  summary: 'Get the design of a table and the capacity of its access patterns',
  description: forOperators,
  request: { params },
  responses: { 200: json(tableDetailsSchema) },
});

const items = route({
  ...shared,
  path: '/v1/tables/{table}/items',
  operationId: 'tables.items',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  summary: 'List items as they are stored, in key order',
  description: `${forOperators} Returns items of all customers, including expired ones. Credentials are masked, and encrypted values stay encrypted. A page can be short or empty and still have a next one.`,
  request: { params, query: itemsQuery },
  responses: { 200: json(itemPageSchema) },
  problems: ['table.key_refused', 'table.busy'],
});

const changes = route({
  ...shared,
  path: '/v1/tables/{table}/changes',
  operationId: 'tables.changes',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  summary: 'Follow the stream of a table',
  description: `${forOperators} Events \`change\`; \`ready\` when nothing is missed from then on, and \`gap\` when something was.`,
  request: { params },
  responses: { 200: events(changeSchema) },
});

export type Called = {
  get(name: 'principal'): Principal;
  env?: { incoming?: NodeRequest };
  req?: { path: string };
};

export function explorerEndpoints(deps: ApiDeps) {
  const { operators, tables, log } = deps;

  function enter(c: Called): void {
    operators.assertOperator({ principal: c.get('principal'), request: c.env?.incoming });
  }

  function enterTable(c: Called, name: string): AnyTable {
    enter(c);
    const table = tables.find(name);
    if (!table) throw httpErrors.create('http.not_found', 'Table not found.');
    return table;
  }

  // Every access to customers' data is logged, but not the search: that may itself be a person's address.
  function enterItems(c: Called, name: string): AnyTable {
    const table = enterTable(c, name);
    const principal = c.get('principal');
    if (principal.kind === 'account')
      log.info({ operator: principal.accountId, table: name }, 'an operator looks');
    return table;
  }

  return [
    endpoint(list, async c => {
      enter(c);
      const { data, since } = await tables.list();
      return c.json({ data, next_cursor: null, since }, 200);
    }),
    endpoint(get, async c => {
      const table = enterTable(c, c.req.valid('param').table);
      return c.json(await tables.describe(table), 200);
    }),
    endpoint(items, async c => {
      const table = enterItems(c, c.req.valid('param').table);
      const { cursor, ...query } = c.req.valid('query');
      const bound = bindCursors(c, deps.cursors);
      const page = await readItems(deps, table, { ...query, start: bound.open(cursor) });
      const next_cursor = bound.seal(page.end);
      return c.json({ data: page.items, next_cursor, read: page.read, read_units: page.units }, 200);
    }),
    endpoint(changes, c => {
      const enter = () => enterItems(c, c.req.valid('param').table);
      const table = enter();
      if (!table.stream) throw httpErrors.create('http.not_found', 'This table has no stream.');
      return sse(c, { enter, subscribe: (afterId, sink) => deps.changes.follow(table, afterId, sink) });
    }),
  ] as const;
}
