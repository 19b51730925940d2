import { empty, etagOf, expectedVersion, json, pageOf, readsOnly, route } from '@stak/http';
import type { Ids } from '@stak/kit';
import type { Store } from '@stak/table';
import { z } from 'zod';
import { accountEndpoint } from '../account-endpoint.ts';
import { type Totals, totalsOf } from '../analytics/analytics.ts';
import type { SendDeps } from '../delivery/attempt.ts';
import { notFound } from '../errors.ts';
import type { Events } from '../events/events.ts';
import * as limits from '../limits.ts';
import type { Connection } from '../main-table.ts';
import { onceOf } from '../once.ts';
import {
  type ConnectionView,
  connectionChangeSchema,
  connectionSchema,
  createdConnectionSchema,
  idSchema,
  newConnectionSchema,
} from '../schema.ts';
import { ifVersionOf } from '../sources/routes.ts';
import type { Sources } from '../sources/sources.ts';
import type { Connections } from './connections.ts';
import { requestOf, testConnection, tryRules } from './test-run.ts';
import {
  type RulesSample,
  rulesTrialResultSchema,
  rulesTrialSchema,
  sampleSchema,
  testResultSchema,
} from './trial-schema.ts';

const tags = ['webhooks'];
const common = { auth: 'account', tenant: 'none', mcp: false, tags } as const;
const ofSource = z.strictObject({ sourceId: idSchema.describe('The id of the source.') });
const params = z.strictObject({ connectionId: idSchema.describe('The id of the connection.') });
const problems = ['webhooks.connection_not_found'];

const routes = {
  create: route({
    ...common,
    method: 'post',
    path: '/v1/sources/{sourceId}/connections',
    operationId: 'webhooks.createConnection',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'write',
    idempotent: true,
    summary: 'Connect a source to a destination',
    description: 'The response holds the signing secret. It is not shown again.',
    request: { params: ofSource, body: json(newConnectionSchema) },
    responses: { 201: json(createdConnectionSchema, 'The new connection') },
    problems: ['webhooks.source_not_found', 'webhooks.too_many_connections', 'webhooks.destination_refused'],
    limits: { bodyBytes: limits.bodyBytes },
  }),
  list: route({
    ...common,
    ...readsOnly,
    path: '/v1/sources/{sourceId}/connections',
    operationId: 'webhooks.listConnections',
    mcp: 'reads',
    scope: 'read',
    summary: 'List the connections of a source',
    description: 'Returns the connections of a source with their status and delivery counts.',
    request: { params: ofSource },
    responses: { 200: json(pageOf(connectionSchema)) },
    problems: ['webhooks.source_not_found'],
  }),
  read: route({
    ...common,
    ...readsOnly,
    path: '/v1/connections/{connectionId}',
    operationId: 'webhooks.readConnection',
    scope: 'read',
    summary: 'Get a connection',
    description: 'Returns a connection.',
    request: { params },
    responses: { 200: json(connectionSchema) },
    problems,
  }),
  edit: route({
    ...common,
    method: 'patch',
    path: '/v1/connections/{connectionId}',
    operationId: 'webhooks.editConnection',
    reaches: 'outside',
    audit: true,
    stores: 'edit',
    scope: 'write',
    conditional: 'optional',
    summary: 'Edit, pause or resume a connection',
    description:
      'Events received while it is paused are kept for at least seven days and delivered when it is resumed.',
    request: { params, body: json(connectionChangeSchema) },
    responses: { 200: json(connectionSchema) },
    problems: [...problems, 'webhooks.destination_refused'],
  }),
  rotate: route({
    ...common,
    method: 'post',
    path: '/v1/connections/{connectionId}/rotate-secret',
    operationId: 'webhooks.rotateSecret',
    reaches: 'nothing',
    audit: true,
    stores: 'edit',
    scope: 'write',
    idempotent: true,
    summary: 'Replace the signing secret',
    description: 'For 24 hours, deliveries are signed with both secrets.',
    request: { params },
    responses: { 200: json(createdConnectionSchema) },
    problems,
  }),
  test: route({
    ...common,
    method: 'post',
    path: '/v1/connections/{connectionId}/test',
    operationId: 'webhooks.testConnection',
    reaches: 'outside',
    audit: true,
    stores: 'edit',
    scope: 'write',
    summary: 'Run a sample request through a connection and see the result of every step',
    description: 'Returns what the filter and the transform make of the sample. Sends it only with `send`.',
    request: { params, body: json(sampleSchema) },
    responses: { 200: json(testResultSchema) },
    problems: [...problems, 'webhooks.event_not_found', 'webhooks.busy', 'webhooks.rules_failed'],
    limits: { bodyBytes: 2 * limits.bodyBytes, rate: { name: 'test', limit: 30, windowMs: 60_000 } },
  }),
  tryRules: route({
    ...common,
    method: 'post',
    path: '/v1/sources/{sourceId}/try',
    operationId: 'webhooks.tryRules',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    scope: 'write',
    summary: 'Run a request through rules before they are saved',
    description:
      'Says why each rule of a filter matches or not, and what a transform makes of the body. Stores and sends nothing.',
    request: { params: ofSource, body: json(rulesTrialSchema) },
    responses: { 200: json(rulesTrialResultSchema) },
    problems: [
      'webhooks.source_not_found',
      'webhooks.event_not_found',
      'webhooks.busy',
      'webhooks.rules_failed',
    ],
    limits: { bodyBytes: 2 * limits.bodyBytes, rate: { name: 'try', limit: 120, windowMs: 60_000 } },
  }),
  remove: route({
    ...common,
    method: 'delete',
    path: '/v1/connections/{connectionId}',
    operationId: 'webhooks.deleteConnection',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    conditional: 'optional',
    summary: 'Delete a connection and cancel its unfinished deliveries',
    description: 'Deletes a connection and cancels its waiting deliveries.',
    request: { params },
    responses: { 204: empty() },
    problems,
  }),
};

const noTotals: Totals = { count: 0, failures: 0 };

// A connection without its secret.
const showConnection = (connection: Connection, totals: Totals = noTotals): ConnectionView => ({
  connectionId: connection.connectionId,
  sourceId: connection.sourceId,
  name: connection.name,
  destinationUrl: connection.destinationUrl,
  filters: JSON.parse(connection.filters),
  transform: JSON.parse(connection.transform),
  retryConfig: JSON.parse(connection.retryConfig),
  maxConcurrency: connection.maxConcurrency,
  ratePerSecond: connection.ratePerSecond,
  ordered: connection.ordered,
  status: connection.status,
  disabledReason: connection.disabledReason,
  breaker: connection.breaker,
  deliveryCount: totals.count,
  failureCount: totals.failures,
  createdAt: connection.createdAt,
  updatedAt: connection.updatedAt,
});

export function createConnectionRoutes(deps: {
  store: Store;
  ids: Ids;
  sources: Sources;
  connections: Connections;
  events: Pick<Events, 'owned' | 'request'>;
  sending: SendDeps;
}) {
  const { store, ids, sources, connections, events, sending } = deps;
  // Takes the request of a stored event of the same source, or makes one of the fields.
  const requestFor = async (sample: RulesSample, of: { sourceId: string; userId: string }) => {
    if (sample.eventId === undefined) return requestOf(sample);
    const { sourceId } = await events.owned(sample.eventId, of.userId);
    const stored = sourceId === of.sourceId ? await events.request(sample.eventId) : undefined;
    if (!stored) throw notFound('event');
    return stored;
  };
  const totalOf = async (userId: string, connectionId: string) =>
    (await totalsOf(store, userId, connectionId)).get(connectionId);

  return [
    accountEndpoint(routes.create, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      const made = await connections.create({ ...c.req.valid('json'), sourceId, userId }, onceOf(c));
      c.header('Location', `/v1/connections/${made.connection.connectionId}`);
      c.header('ETag', etagOf(made.connection.version));
      return c.json({ ...showConnection(made.connection), signingSecret: made.signingSecret }, 201);
    }),
    accountEndpoint(routes.list, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      const [found, totals] = await Promise.all([
        connections.listBySource(sourceId),
        totalsOf(store, userId),
      ]);
      const data = found.map(one => showConnection(one, totals.get(one.connectionId)));
      return c.json({ data, next_cursor: null }, 200);
    }),
    accountEndpoint(routes.read, async (c, userId) => {
      const found = await connections.owned(c.req.valid('param').connectionId, userId);
      c.header('ETag', etagOf(found.version));
      return c.json(showConnection(found, await totalOf(userId, found.connectionId)), 200);
    }),
    accountEndpoint(routes.edit, async (c, userId) => {
      const { connectionId } = c.req.valid('param');
      await connections.owned(connectionId, userId);
      const guard = ifVersionOf(expectedVersion(c));
      const totals = await totalOf(userId, connectionId);
      const edited = await connections.update(connectionId, c.req.valid('json'), guard);
      c.header('ETag', etagOf(edited.version));
      return c.json(showConnection(edited, totals), 200);
    }),
    accountEndpoint(routes.rotate, async (c, userId) => {
      const { connectionId } = c.req.valid('param');
      await connections.owned(connectionId, userId);
      const totals = await totalOf(userId, connectionId); // before the change, which a failed read would hide
      const { connection, signingSecret } = await connections.rotateSecret(connectionId, onceOf(c));
      c.header('ETag', etagOf(connection.version));
      return c.json({ ...showConnection(connection, totals), signingSecret }, 200);
    }),
    accountEndpoint(routes.test, async (c, userId) => {
      const found = await connections.owned(c.req.valid('param').connectionId, userId);
      const { send: isSent, ...sample } = c.req.valid('json');
      const request = await requestFor(sample, found);
      const eventId = sample.eventId ?? ids.next('evt');
      return c.json(await testConnection(sending, found, request, { eventId, isSent }), 200);
    }),
    accountEndpoint(routes.tryRules, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      const owned = await sources.owned(sourceId, userId);
      const { filters, transform, ...sample } = c.req.valid('json');
      const request = await requestFor(sample, owned);
      const ruleSet = { filters: JSON.stringify(filters), transform: JSON.stringify(transform), userId };
      const { tried, passed } = await tryRules(sending, ruleSet, request);
      const body = passed && Buffer.from(passed.body).toString('base64');
      return c.json({ ...tried, ...(body !== undefined && { body }) }, 200);
    }),
    accountEndpoint(routes.remove, async (c, userId) => {
      const { connectionId } = c.req.valid('param');
      await connections.owned(connectionId, userId);
      await connections.delete(connectionId, ifVersionOf(expectedVersion(c)));
      return c.body(null, 204);
    }),
  ] as const;
}
