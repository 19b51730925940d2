import { empty, endpoint, etagOf, expectedVersion, json, pageOf, route } from '@stak/http';
import type { Ids } from '@stak/kit';
import type { Store } from '@stak/table';
import { z } from 'zod';
import { totalsOf } from './analytics.ts';
import type { Connections } from './connections.ts';
import * as limits from './limits.ts';
import type { PipelineDeps } from './pipeline.ts';
import {
  connectionChangeSchema,
  connectionSchema,
  createdConnectionSchema,
  idSchema,
  newConnectionSchema,
  sampleSchema,
  trialSchema,
} from './schema.ts';
import { ifVersionOf } from './source-api.ts';
import type { Sources } from './sources.ts';
import { tryConnection } from './trial.ts';
import { showConnection } from './views.ts';

const tags = ['webhooks'];
const ofSource = z.strictObject({ sourceId: idSchema });
const params = z.strictObject({ connectionId: idSchema });
const problems = ['webhooks.connection_not_found'];

const routes = {
  create: route({
    method: 'post',
    path: '/v1/sources/{sourceId}/connections',
    operationId: 'webhooks.createConnection',
    auth: 'account',
    scope: 'write',
    idempotent: true,
    summary: 'Connect a source to a destination',
    description: 'The signing secret is shown in this answer only.',
    tags,
    request: { params: ofSource, body: json(newConnectionSchema) },
    responses: { 201: json(createdConnectionSchema, 'The new connection') },
    problems: ['webhooks.source_not_found', 'webhooks.too_many_connections', 'webhooks.destination_refused'],
    limits: { bodyBytes: limits.bodyBytes },
  }),
  list: route({
    method: 'get',
    path: '/v1/sources/{sourceId}/connections',
    operationId: 'webhooks.listConnections',
    auth: 'account',
    scope: 'read',
    summary: 'List the connections of a source',
    tags,
    request: { params: ofSource },
    responses: { 200: json(pageOf(connectionSchema)) },
    problems: ['webhooks.source_not_found'],
  }),
  read: route({
    method: 'get',
    path: '/v1/connections/{connectionId}',
    operationId: 'webhooks.readConnection',
    auth: 'account',
    scope: 'read',
    summary: 'Read a connection',
    tags,
    request: { params },
    responses: { 200: json(connectionSchema) },
    problems,
  }),
  edit: route({
    method: 'patch',
    path: '/v1/connections/{connectionId}',
    operationId: 'webhooks.editConnection',
    auth: 'account',
    scope: 'write',
    conditional: 'optional',
    summary: 'Edit, pause or resume a connection',
    description:
      'What arrives while it is paused is kept for seven days at least, and delivered when it is resumed.',
    tags,
    request: { params, body: json(connectionChangeSchema) },
    responses: { 200: json(connectionSchema) },
    problems: [...problems, 'webhooks.destination_refused'],
  }),
  rotate: route({
    method: 'post',
    path: '/v1/connections/{connectionId}/rotate-secret',
    operationId: 'webhooks.rotateSecret',
    auth: 'account',
    scope: 'write',
    idempotent: true,
    summary: 'Replace the signing secret',
    description: 'For 24 hours deliveries carry signatures of both.',
    tags,
    request: { params },
    responses: { 200: json(createdConnectionSchema) },
    problems,
  }),
  test: route({
    method: 'post',
    path: '/v1/connections/{connectionId}/test',
    operationId: 'webhooks.testConnection',
    auth: 'account',
    scope: 'write',
    summary: 'Run a sample through a connection and see every step',
    tags,
    request: { params, body: json(sampleSchema) },
    responses: { 200: json(trialSchema) },
    problems: [...problems, 'webhooks.busy', 'webhooks.rules_failed'],
    limits: { bodyBytes: 2 * limits.bodyBytes, rate: { name: 'test', limit: 30, windowMs: 60_000 } },
  }),
  remove: route({
    method: 'delete',
    path: '/v1/connections/{connectionId}',
    operationId: 'webhooks.deleteConnection',
    auth: 'account',
    scope: 'write',
    conditional: 'optional',
    summary: 'Delete a connection; what it has not delivered is cancelled',
    tags,
    request: { params },
    responses: { 204: empty() },
    problems,
  }),
};

export function createConnectionApi(deps: {
  store: Store;
  ids: Ids;
  sources: Sources;
  connections: Connections;
  pipeline: PipelineDeps;
}) {
  const { store, ids, sources, connections, pipeline } = deps;
  const totalOf = async (userId: string, connectionId: string) =>
    (await totalsOf(store, userId, connectionId)).get(connectionId);

  return [
    endpoint(routes.create, async c => {
      const userId = c.get('principal').accountId;
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      const made = await connections.create({ ...c.req.valid('json'), sourceId, userId });
      c.header('Location', `/v1/connections/${made.connection.connectionId}`);
      c.header('ETag', etagOf(made.connection.version));
      return c.json({ ...showConnection(made.connection), signingSecret: made.signingSecret }, 201);
    }),
    endpoint(routes.list, async c => {
      const userId = c.get('principal').accountId;
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      const [found, totals] = await Promise.all([
        connections.listBySource(sourceId),
        totalsOf(store, userId),
      ]);
      const data = found.map(one => showConnection(one, totals.get(one.connectionId)));
      return c.json({ data, next_cursor: null }, 200);
    }),
    endpoint(routes.read, async c => {
      const userId = c.get('principal').accountId;
      const found = await connections.owned(c.req.valid('param').connectionId, userId);
      c.header('ETag', etagOf(found.version));
      return c.json(showConnection(found, await totalOf(userId, found.connectionId)), 200);
    }),
    endpoint(routes.edit, async c => {
      const userId = c.get('principal').accountId;
      const { connectionId } = c.req.valid('param');
      await connections.owned(connectionId, userId);
      const guard = ifVersionOf(expectedVersion(c));
      const edited = await connections.update(connectionId, c.req.valid('json'), guard);
      c.header('ETag', etagOf(edited.version));
      return c.json(showConnection(edited, await totalOf(userId, connectionId)), 200);
    }),
    endpoint(routes.rotate, async c => {
      const userId = c.get('principal').accountId;
      const { connectionId } = c.req.valid('param');
      await connections.owned(connectionId, userId);
      const { connection, signingSecret } = await connections.rotateSecret(connectionId);
      const totals = await totalOf(userId, connectionId);
      c.header('ETag', etagOf(connection.version));
      return c.json({ ...showConnection(connection, totals), signingSecret }, 200);
    }),
    endpoint(routes.test, async c => {
      const found = await connections.owned(c.req.valid('param').connectionId, c.get('principal').accountId);
      return c.json(await tryConnection(pipeline, found, c.req.valid('json'), ids.next('evt')), 200);
    }),
    endpoint(routes.remove, async c => {
      const { connectionId } = c.req.valid('param');
      await connections.owned(connectionId, c.get('principal').accountId);
      await connections.delete(connectionId, ifVersionOf(expectedVersion(c)));
      return c.body(null, 204);
    }),
  ] as const;
}
