import { endpoint, json, route } from '@stak/http';
import * as limits from './limits.ts';
import type { LakeReader } from './query/reader.ts';
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
// A query keeps a core busy.
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
    summary: 'Query your data with SQL',
    description:
      'Runs one SELECT in DuckDB over tables that hold your rows only. A query cannot read files or change data, and is stopped after ten seconds.',
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
    summary: 'Get the lag of the lake, and its tables',
    responses: { 200: json(lakeStatus, 'The tables that the lake follows, and the tables that SQL can use') },
  }),
  insights: route({
    method: 'get',
    path: '/v1/insights',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    tags,
    operationId: 'insights.list',
    summary: 'List insights',
    responses: { 200: json(insightList, 'The insights') },
  }),
  insight: route({
    method: 'get',
    path: '/v1/insights/{name}',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    tags,
    operationId: 'insights.read',
    summary: 'Get an insight: numbers about your data, seconds old',
    request: { params: insightParams, query: insightQuery },
    responses: { 200: json(insightAnswer, 'The numbers') },
    problems: ['lake.insight_not_found'],
  }),
};

type TableStatus = Awaited<ReturnType<LakeReader['status']>>['tables'][number];

const showTable = ({ table, last_commit_at, backfill, as_of, lag_ms, caught_up }: TableStatus) => ({
  table,
  last_commit_at,
  backfill,
  as_of,
  lag_ms,
  caught_up,
});

export const createLakeRoutes = (lake: LakeReader) =>
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
