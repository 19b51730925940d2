import { endpoint, json, route } from '@stak/http';
import * as limits from './limits.ts';
import type { Lake } from './query/reader.ts';
import {
  insightAnswer,
  insightList,
  insightParams,
  insightQuery,
  lakeStatus,
  queryBody,
  queryResult,
} from './schema.ts';

const tags = ['lake'];
// Each of them keeps a core busy; everything else of the server goes on beside it.
const rate = { name: 'lake', limit: limits.requestsPerMinute, windowMs: 60_000 };

const routes = {
  query: route({
    method: 'post',
    path: '/v1/lake/query',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    tags,
    operationId: 'lake.query',
    summary: 'Ask about your data in SQL',
    description:
      'DuckDB, over tables that hold your rows and nobody else’s. It reads no files, changes nothing, and ends after ten seconds.',
    request: { body: json(queryBody) },
    responses: { 200: json(queryResult, 'The rows') },
    problems: [
      'lake.sql_invalid',
      'lake.sql_forbidden',
      'lake.sql_failed',
      'lake.query_too_large',
      'lake.query_too_slow',
      'lake.busy',
    ],
    limits: { rate },
  }),
  status: route({
    method: 'get',
    path: '/v1/lake/status',
    auth: 'account',
    scope: 'read',
    tags,
    operationId: 'lake.status',
    summary: 'How far behind the lake is, and what it holds',
    responses: { 200: json(lakeStatus, 'Every table that is followed, and the tables SQL can name') },
  }),
  insights: route({
    method: 'get',
    path: '/v1/insights',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    tags,
    operationId: 'insights.list',
    summary: 'Which insights there are',
    responses: { 200: json(insightList, 'Their names') },
  }),
  insight: route({
    method: 'get',
    path: '/v1/insights/{name}',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    tags,
    operationId: 'insights.read',
    summary: 'Numbers about your data, seconds old',
    request: { params: insightParams, query: insightQuery },
    responses: { 200: json(insightAnswer, 'The numbers') },
    problems: ['lake.insight_not_found'],
  }),
};

type TableStatus = Awaited<ReturnType<Lake['status']>>['tables'][number];

const showTable = ({ table, last_commit_at, backfill, as_of, lag_ms, caught_up }: TableStatus) => ({
  table,
  last_commit_at,
  backfill,
  as_of,
  lag_ms,
  caught_up,
});

export const createLakeRoutes = (lake: Lake) =>
  [
    endpoint(routes.query, async c =>
      c.json(await lake.query(c.get('principal'), c.req.valid('json').sql), 200),
    ),
    endpoint(routes.status, async c => {
      const { tables, views } = await lake.status();
      return c.json({ tables: tables.map(showTable), views }, 200);
    }),
    endpoint(routes.insights, c => c.json({ data: lake.listInsights() }, 200)),
    endpoint(routes.insight, async c => {
      const { name } = c.req.valid('param');
      return c.json(await lake.insight(c.get('principal'), name, c.req.valid('query').days), 200);
    }),
  ] as const;
