import { json, pageOf, pageQuery, readsOnly, route, toPage } from '@stak/http';
import type { Clock } from '@stak/kit';
import type { Store } from '@stak/table';
import type { z } from 'zod';
import { accountEndpoint } from '../account-endpoint.ts';
import { webhookErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { type Alert, alertsOfUser } from '../main-table.ts';
import { alertSchema } from '../schema.ts';
import { analyse } from './analytics.ts';
import { dayOf } from './attempt-counts.ts';
import { analyticsQuery, analyticsSchema } from './schema.ts';

const tags = ['webhooks'];
const common = { auth: 'account', tenant: 'none', mcp: false, tags } as const;
const dayMs = 24 * 60 * 60 * 1000;

const routes = {
  analytics: route({
    ...common,
    ...readsOnly,
    path: '/v1/webhook-analytics',
    operationId: 'webhooks.analytics',
    mcp: 'reads',
    scope: 'read',
    summary: 'Get events by day and status, the success rate, latencies and the busiest sources',
    description: 'Returns numbers by day in UTC, of one source or all.',
    request: { query: analyticsQuery },
    responses: { 200: json(analyticsSchema) },
    problems: ['webhooks.source_not_found', 'webhooks.range_too_long'],
  }),
  alerts: route({
    ...common,
    ...readsOnly,
    path: '/v1/webhook-alerts',
    operationId: 'webhooks.listAlerts',
    mcp: 'reads',
    scope: 'read',
    summary: 'List the alerts of the last 30 days',
    description:
      'Returns failed deliveries, failing destinations and disabled connections of the last 30 days.',
    request: { query: pageQuery() },
    responses: { 200: json(pageOf(alertSchema)) },
  }),
};

const showAlert = (alert: Alert): z.infer<typeof alertSchema> => ({
  alertKind: alert.alertKind,
  sourceId: alert.sourceId,
  connectionId: alert.connectionId,
  eventId: alert.eventId,
  detail: alert.detail,
  raisedAt: alert.raisedAt,
});

type AnalyticsDeps = {
  store: Store;
  clock: Clock;
  sources: { owned(sourceId: string, userId: string): Promise<unknown> }; // throws if it is not the user's
};

export function createAnalyticsRoutes(deps: AnalyticsDeps) {
  const { store, clock, sources } = deps;
  return [
    accountEndpoint(routes.analytics, async (c, userId) => {
      const { to = dayOf(clock.now()), sourceId, ...given } = c.req.valid('query');
      const { from = dayOf(Date.parse(to) - 6 * dayMs) } = given;
      if (sourceId !== undefined) await sources.owned(sourceId, userId);
      if (Date.parse(to) - Date.parse(from) > limits.analyticsDays * dayMs)
        throw webhookErrors.create('webhooks.range_too_long', 'The time range has too many days.', {
          most: limits.analyticsDays,
        });
      return c.json(await analyse(store, { userId, sourceId, from, to }), 200);
    }),
    accountEndpoint(routes.alerts, async (c, userId) => {
      const { limit, cursor } = c.req.valid('query');
      const page = await store.query(alertsOfUser, { userId }, { limit, cursor, caller: userId });
      return c.json(toPage({ items: page.items.map(showAlert), cursor: page.cursor }), 200);
    }),
  ] as const;
}
