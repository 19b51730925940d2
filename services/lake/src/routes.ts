import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { type AnyEndpoint, endpoint, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import type { TextsSetting } from './deps.ts';
import { type FileFormat, fileFormats } from './duckdb/duck.ts';
import * as limits from './limits.ts';
import type { LakeReader } from './reader.ts';
import {
  exportBody,
  historyAnswer,
  historyParams,
  insightAnswer,
  insightList,
  insightParams,
  insightQuery,
  lakeStatus,
  queryBody,
  queryResult,
  textsBody,
  textsSetting,
} from './schema.ts';

const tags = ['lake'];
const common = { tenant: 'none', mcp: false, tags } as const;
// A query keeps a core busy.
const rate = { name: 'lake', limit: limits.requestsPerMinute, windowMs: 60_000 };

const sqlProblems = [
  'lake.sql_invalid',
  'lake.sql_forbidden',
  'lake.sql_failed',
  'lake.query_too_large',
  'lake.query_too_slow',
  'lake.busy',
];

const mediaTypes: Readonly<Record<FileFormat, string>> = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
};
const bytes = z.string().meta({ format: 'binary' });

const routes = {
  query: route({
    ...common,
    method: 'post',
    path: '/v1/lake/query',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    operationId: 'lake.query',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'caller',
    mcp: 'reads',
    summary: 'Query your data with SQL',
    description:
      'Runs one SELECT in DuckDB over tables that hold your rows only. A query cannot read files or change data. How long it may take, and how much it may return, depends on the plan.',
    request: { body: json(queryBody) },
    responses: { 200: json(queryResult, 'The rows') },
    problems: sqlProblems,
    limits: { rate },
  }),
  export: route({
    ...common,
    method: 'post',
    path: '/v1/lake/query/export',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    operationId: 'lake.export',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'caller',
    summary: 'Query your data with SQL, into a file',
    description:
      'The same queries, answered as CSV, Arrow or Parquet, with as many rows as the plan allows. The header `Stak-Truncated` says whether there were more, `Stak-As-Of` and `Stak-Lag-Ms` how fresh they are.',
    request: { body: json(exportBody) },
    responses: {
      200: {
        description: 'The rows',
        content: Object.fromEntries(Object.values(mediaTypes).map(type => [type, { schema: bytes }])),
      },
    },
    problems: sqlProblems,
    limits: { rate },
  }),
  history: route({
    ...common,
    ...readsOnly,
    path: '/v1/lake/history/{table}/{id}',
    auth: 'account',
    scope: 'read',
    operationId: 'lake.history',
    summary: 'Get the changes of one row',
    description:
      'Returns what was written to the row, newest first: the fields that changed, with their values before and after. It goes back to `since`, 90 days at most. Who wrote it is not part of it. There is a history of `tasks`, by `task_id`, and of `events`, by `eventId`; the answer is empty for an id without changes.',
    request: { params: historyParams },
    responses: { 200: json(historyAnswer, 'The changes, 200 at most') },
    problems: ['lake.table_not_found', 'lake.busy'],
    limits: { rate },
  }),
  status: route({
    ...common,
    ...readsOnly,
    path: '/v1/lake/status',
    auth: 'account',
    scope: 'read',
    operationId: 'lake.status',
    mcp: 'reads',
    summary: 'Get the lag of the lake, and its tables',
    description: 'Returns how far the lake is behind each table.',
    responses: { 200: json(lakeStatus, 'The tables that the lake follows, and the tables that SQL can use') },
  }),
  insights: route({
    ...common,
    ...readsOnly,
    path: '/v1/insights',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    operationId: 'insights.list',
    mcp: 'reads',
    summary: 'List insights',
    description: 'Returns the insights with their names and columns.',
    responses: { 200: json(insightList, 'The insights') },
  }),
  insight: route({
    ...common,
    ...readsOnly,
    path: '/v1/insights/{name}',
    auth: 'user',
    endUserScope: 'lake:read',
    scope: 'read',
    operationId: 'insights.read',
    tenant: 'caller',
    mcp: 'reads',
    summary: 'Get an insight: numbers about your data, seconds old',
    description: 'Returns sums over the caller’s data that are kept up to date as it changes.',
    request: { params: insightParams, query: insightQuery },
    responses: { 200: json(insightAnswer, 'The numbers') },
    problems: ['lake.insight_not_found'],
  }),
};

const textRoutes = {
  read: route({
    ...common,
    ...readsOnly,
    path: '/v1/lake/texts',
    auth: 'account',
    scope: 'read',
    operationId: 'lake.readTexts',
    summary: 'Get whether texts are in the lake',
    description:
      'Texts are what is said in conversations, and the bodies of webhooks. They are off until an owner or an admin switches them on.',
    responses: { 200: json(textsSetting, 'The setting') },
  }),
  set: route({
    ...common,
    method: 'put',
    path: '/v1/lake/texts',
    auth: 'session',
    scope: 'admin',
    operationId: 'lake.setTexts',
    reaches: 'nothing',
    audit: 'own',
    stores: 'body',
    summary: 'Keep texts in the lake, or erase them',
    description:
      'On: what is said in conversations, and the bodies of webhooks, are kept in the tables `conversation_turns` and `event_bodies` from now on. Off, which is the default: nothing more is kept, and what was kept is erased.',
    request: { body: json(textsBody) },
    responses: { 200: json(textsSetting, 'The setting') },
  }),
};

const acceptedFormat = (accept = ''): FileFormat =>
  fileFormats.find(format => accept.includes(mediaTypes[format])) ?? 'csv';

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
    endpoint(routes.query, async c => {
      const { sql, params } = c.req.valid('json');
      return c.json(await lake.query(c.get('principal'), sql, params), 200);
    }),
    endpoint(routes.export, async c => {
      const { sql, params, format = acceptedFormat(c.req.header('Accept')) } = c.req.valid('json');
      const file = await lake.queryFile(c.get('principal'), sql, format, params);
      const content = createReadStream(file.path);
      content.once('close', () => void file.remove());
      c.header('Content-Type', mediaTypes[format]);
      c.header('Content-Length', String(file.bytes));
      c.header('Content-Disposition', `attachment; filename="query.${format}"`);
      c.header('Stak-Truncated', String(file.truncated));
      c.header('Stak-As-Of', file.as_of);
      c.header('Stak-Lag-Ms', String(file.lag_ms));
      return c.body(Readable.toWeb(content) as ReadableStream, 200) as never;
    }),
    endpoint(routes.history, async c => {
      const { table, id } = c.req.valid('param');
      return c.json(await lake.history(c.get('principal'), table, id), 200);
    }),
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

// The account's setting. Without a place to store it, there are no routes for it.
export function createTextRoutes(
  setting: TextsSetting,
  erase: (accountId: string) => Promise<void>,
): AnyEndpoint[] {
  const show = async (accountId: string) => {
    const sinceMs = await setting.read(accountId);
    return {
      enabled: sinceMs !== undefined,
      since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
    };
  };
  return [
    endpoint(textRoutes.read, async c => c.json(await show(c.get('principal').accountId), 200)),
    endpoint(textRoutes.set, async c => {
      const principal = c.get('principal');
      const { enabled } = c.req.valid('json');
      await setting.set(principal, enabled, { address: c.get('address'), requestId: c.get('requestId') });
      // Also if it was off before: repeating the request retries an erasure that could not be requested.
      if (!enabled) await erase(principal.accountId);
      return c.json(await show(principal.accountId), 200);
    }),
  ];
}
