import { empty, endpoint, etagOf, expectedVersion, json, pageOf, route } from '@stak/http';
import type { Store } from '@stak/table';
import { z } from 'zod';
import { totalsOf } from './analytics.ts';
import {
  idSchema,
  newSourceSchema,
  sourceChangeSchema,
  sourceSchema,
  sourceWithSecretSchema,
} from './schema.ts';
import type { Sources } from './sources.ts';
import { showSource } from './views.ts';

const tags = ['webhooks'];
const params = z.strictObject({ sourceId: idSchema });
const problems = ['webhooks.source_not_found'];

const routes = {
  create: route({
    method: 'post',
    path: '/v1/sources',
    operationId: 'webhooks.createSource',
    auth: 'account',
    scope: 'write',
    idempotent: true,
    summary: 'Create a source: an address that takes webhooks',
    description:
      'A source of the provider `stak` has no address: it takes what Stak itself has to tell, such as reminders of tasks. Whatever is about signatures or ids of a sender is refused for it. With an `alertUrl`, the answer holds the secret that signs alerts, this once.',
    tags,
    request: { body: json(newSourceSchema) },
    responses: { 201: json(sourceWithSecretSchema, 'The new source') },
    problems: ['webhooks.too_many_sources', 'webhooks.destination_refused', 'webhooks.field_refused'],
  }),
  list: route({
    method: 'get',
    path: '/v1/sources',
    operationId: 'webhooks.listSources',
    auth: 'account',
    scope: 'read',
    summary: 'List your sources',
    tags,
    responses: { 200: json(pageOf(sourceSchema)) },
  }),
  read: route({
    method: 'get',
    path: '/v1/sources/{sourceId}',
    operationId: 'webhooks.readSource',
    auth: 'account',
    scope: 'read',
    summary: 'Read a source',
    tags,
    request: { params },
    responses: { 200: json(sourceSchema) },
    problems,
  }),
  edit: route({
    method: 'patch',
    path: '/v1/sources/{sourceId}',
    operationId: 'webhooks.editSource',
    auth: 'account',
    scope: 'write',
    conditional: 'optional',
    summary: 'Edit, pause or resume a source',
    description:
      'A new `signingSecret` is accepted beside the one it replaces for 24 hours. The first `alertUrl` makes the secret that signs alerts; without an address there is none.',
    tags,
    request: { params, body: json(sourceChangeSchema) },
    responses: { 200: json(sourceWithSecretSchema) },
    problems: [...problems, 'webhooks.destination_refused', 'webhooks.field_refused'],
  }),
  rotateAlertSecret: route({
    method: 'post',
    path: '/v1/sources/{sourceId}/rotate-alert-secret',
    operationId: 'webhooks.rotateAlertSecret',
    auth: 'account',
    scope: 'write',
    idempotent: true,
    summary: 'Replace the secret that signs alerts',
    description: 'For 24 hours alerts carry signatures of both.',
    tags,
    request: { params },
    responses: { 200: json(sourceWithSecretSchema) },
    problems,
  }),
  remove: route({
    method: 'delete',
    path: '/v1/sources/{sourceId}',
    operationId: 'webhooks.deleteSource',
    auth: 'account',
    scope: 'write',
    conditional: 'optional',
    summary: 'Delete a source; its events stay readable until their time is over',
    tags,
    request: { params },
    responses: { 204: empty() },
    problems,
  }),
};

export const ifVersionOf = (version: string | undefined): { ifVersion?: number } =>
  version === undefined ? {} : { ifVersion: Number(version) };

export function createSourceApi({
  store,
  sources,
  publicUrl,
}: {
  store: Store;
  sources: Sources;
  publicUrl: string;
}) {
  return [
    endpoint(routes.create, async c => {
      const userId = c.get('principal').accountId;
      const made = await sources.create({ ...c.req.valid('json'), userId });
      c.header('Location', `/v1/sources/${made.sourceId}`);
      c.header('ETag', etagOf(made.version));
      return c.json({ ...showSource(made, publicUrl), alertSecret: made.newAlertSecret }, 201);
    }),
    endpoint(routes.list, async c => {
      const userId = c.get('principal').accountId;
      const [found, totals] = await Promise.all([sources.listByUser(userId), totalsOf(store, userId)]);
      const data = found.map(one => showSource(one, publicUrl, totals.get(one.sourceId)));
      return c.json({ data, next_cursor: null }, 200);
    }),
    endpoint(routes.read, async c => {
      const userId = c.get('principal').accountId;
      const { sourceId } = c.req.valid('param');
      const found = await sources.owned(sourceId, userId);
      const totals = await totalsOf(store, userId, sourceId);
      c.header('ETag', etagOf(found.version));
      return c.json(showSource(found, publicUrl, totals.get(sourceId)), 200);
    }),
    endpoint(routes.edit, async c => {
      const userId = c.get('principal').accountId;
      const { sourceId } = c.req.valid('param');
      const guard = ifVersionOf(expectedVersion(c));
      const edited = await sources.update(sourceId, userId, c.req.valid('json'), guard);
      const totals = await totalsOf(store, userId, sourceId);
      c.header('ETag', etagOf(edited.version));
      const shown = showSource(edited, publicUrl, totals.get(sourceId));
      return c.json({ ...shown, alertSecret: edited.newAlertSecret }, 200);
    }),
    endpoint(routes.rotateAlertSecret, async c => {
      const userId = c.get('principal').accountId;
      const { sourceId } = c.req.valid('param');
      const edited = await sources.rotateAlertSecret(sourceId, userId);
      const totals = await totalsOf(store, userId, sourceId);
      c.header('ETag', etagOf(edited.version));
      const shown = showSource(edited, publicUrl, totals.get(sourceId));
      return c.json({ ...shown, alertSecret: edited.newAlertSecret }, 200);
    }),
    endpoint(routes.remove, async c => {
      const guard = ifVersionOf(expectedVersion(c));
      await sources.delete(c.req.valid('param').sourceId, c.get('principal').accountId, guard);
      return c.body(null, 204);
    }),
  ] as const;
}
