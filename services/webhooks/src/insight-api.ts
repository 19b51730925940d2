import { endpoint, json, pageOf, pageQuery, route, toPage } from '@stak/http';
import type { Clock } from '@stak/kit';
import type { Store } from '@stak/table';
import { z } from 'zod';
import { analyse } from './analytics.ts';
import { dayOf } from './counters.ts';
import { webhookErrors } from './errors.ts';
import type { Jobs } from './jobs.ts';
import * as limits from './limits.ts';
import { alertsOfUser } from './main-table.ts';
import { alertSchema, analyticsQuery, analyticsSchema, idSchema, jobSchema, newJobSchema } from './schema.ts';
import type { Sources } from './sources.ts';
import { showAlert, showJob } from './views.ts';

const tags = ['webhooks'];
const ofSource = z.strictObject({ sourceId: idSchema });
const ofJob = z.strictObject({ jobId: idSchema });
const dayMs = 24 * 60 * 60 * 1000;

const routes = {
  createJob: route({
    method: 'post',
    path: '/v1/sources/{sourceId}/jobs',
    operationId: 'webhooks.createJob',
    auth: 'account',
    scope: 'write',
    idempotent: true,
    summary: 'Replay or cancel many events: named ones, or all of a time and status',
    tags,
    request: { params: ofSource, body: json(newJobSchema) },
    responses: { 202: json(jobSchema, 'The job, which has just begun') },
    problems: ['webhooks.source_not_found', 'webhooks.connection_not_found', 'webhooks.too_many_jobs'],
  }),
  listJobs: route({
    method: 'get',
    path: '/v1/webhook-jobs',
    operationId: 'webhooks.listJobs',
    auth: 'account',
    scope: 'read',
    summary: 'List your replays and cancellations of many events',
    tags,
    responses: { 200: json(pageOf(jobSchema)) },
  }),
  readJob: route({
    method: 'get',
    path: '/v1/webhook-jobs/{jobId}',
    operationId: 'webhooks.readJob',
    auth: 'account',
    scope: 'read',
    summary: 'How far a job is',
    tags,
    request: { params: ofJob },
    responses: { 200: json(jobSchema) },
    problems: ['webhooks.job_not_found'],
  }),
  cancelJob: route({
    method: 'post',
    path: '/v1/webhook-jobs/{jobId}/cancel',
    operationId: 'webhooks.cancelJob',
    auth: 'account',
    scope: 'write',
    summary: 'Stop a job; what it has done stays done',
    tags,
    request: { params: ofJob },
    responses: { 200: json(jobSchema) },
    problems: ['webhooks.job_not_found'],
  }),
  analytics: route({
    method: 'get',
    path: '/v1/webhook-analytics',
    operationId: 'webhooks.analytics',
    auth: 'account',
    scope: 'read',
    summary: 'Events by day and status, success rate, latency and busiest sources',
    tags,
    request: { query: analyticsQuery },
    responses: { 200: json(analyticsSchema) },
    problems: ['webhooks.source_not_found', 'webhooks.range_too_long'],
  }),
  alerts: route({
    method: 'get',
    path: '/v1/webhook-alerts',
    operationId: 'webhooks.listAlerts',
    auth: 'account',
    scope: 'read',
    summary: 'What needed attention in the last 30 days',
    tags,
    request: { query: pageQuery() },
    responses: { 200: json(pageOf(alertSchema)) },
  }),
};

const msOf = (moment: string | undefined): number | undefined =>
  moment === undefined ? undefined : Date.parse(moment);

export function createInsightApi(deps: { store: Store; clock: Clock; sources: Sources; jobs: Jobs }) {
  const { store, clock, sources, jobs } = deps;
  return [
    endpoint(routes.createJob, async c => {
      const userId = c.get('principal').accountId;
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      const { from, to, ...given } = c.req.valid('json');
      const made = await jobs.create({ ...given, userId, sourceId, from: msOf(from), to: msOf(to) });
      c.header('Location', `/v1/webhook-jobs/${made.jobId}`);
      return c.json(showJob(made), 202);
    }),
    endpoint(routes.listJobs, async c => {
      const found = await jobs.list(c.get('principal').accountId);
      return c.json({ data: found.map(showJob), next_cursor: null }, 200);
    }),
    endpoint(routes.readJob, async c =>
      c.json(showJob(await jobs.get(c.req.valid('param').jobId, c.get('principal').accountId)), 200),
    ),
    endpoint(routes.cancelJob, async c =>
      c.json(showJob(await jobs.cancel(c.req.valid('param').jobId, c.get('principal').accountId)), 200),
    ),
    endpoint(routes.analytics, async c => {
      const userId = c.get('principal').accountId;
      const { to = dayOf(clock.now()), sourceId, ...given } = c.req.valid('query');
      const { from = dayOf(Date.parse(to) - 6 * dayMs) } = given;
      if (sourceId !== undefined) await sources.owned(sourceId, userId);
      if (Date.parse(to) - Date.parse(from) > limits.analyticsDays * dayMs)
        throw webhookErrors.create('webhooks.range_too_long', 'This is too many days at once.', {
          most: limits.analyticsDays,
        });
      return c.json(await analyse(store, { userId, sourceId, from, to }), 200);
    }),
    endpoint(routes.alerts, async c => {
      const userId = c.get('principal').accountId;
      const { limit, cursor } = c.req.valid('query');
      const page = await store.query(alertsOfUser, { userId }, { limit, cursor, caller: userId });
      return c.json(toPage({ items: page.items.map(showAlert), cursor: page.cursor }), 200);
    }),
  ] as const;
}
