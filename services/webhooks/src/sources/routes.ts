import { empty, etagOf, expectedVersion, httpErrors, json, pageOf, readsOnly, route } from '@stak/http';
import type { Store } from '@stak/table';
import { z } from 'zod';
import { accountEndpoint } from '../account-endpoint.ts';
import { type Totals, totalsOf } from '../analytics/analytics.ts';
import type { Source } from '../main-table.ts';
import { onceOf } from '../once.ts';
import {
  idSchema,
  newSourceSchema,
  type SourceView,
  sourceChangeSchema,
  sourceSchema,
  sourceWithSecretSchema,
} from '../schema.ts';
import { readSigningAlgorithm } from '../signatures/custom.ts';
import { isoTime } from '../tables.ts';
import { isFromOutside } from './source-cache.ts';
import type { Sources } from './sources.ts';

const tags = ['webhooks'];
const common = { auth: 'account', tenant: 'none', mcp: false, tags } as const;
const params = z.strictObject({ sourceId: idSchema.describe('The id of the source.') });
const problems = ['webhooks.source_not_found'];

const routes = {
  create: route({
    ...common,
    method: 'post',
    path: '/v1/sources',
    operationId: 'webhooks.createSource',
    reaches: 'outside',
    reachesWith: ['alertUrl'],
    audit: true,
    stores: 'body',
    scope: 'write',
    idempotent: true,
    summary: 'Create a source: an address that receives webhooks',
    description:
      'A source with the provider `stak` has no address: it receives the events of Stak itself, such as task reminders and, with `auditTrail` (which needs the scope `admin`), every entry of the audit trail. Settings for signatures and sender ids are refused for it. With an `alertUrl`, the response holds the secret that signs alerts. It is not shown again.',
    request: { body: json(newSourceSchema) },
    responses: { 201: json(sourceWithSecretSchema, 'The new source') },
    problems: ['webhooks.too_many_sources', 'webhooks.destination_refused', 'webhooks.field_refused'],
  }),
  list: route({
    ...common,
    ...readsOnly,
    path: '/v1/sources',
    operationId: 'webhooks.listSources',
    mcp: 'reads',
    scope: 'read',
    summary: 'List your sources',
    description: 'Returns the sources of the account with their addresses and event counts.',
    responses: { 200: json(pageOf(sourceSchema)) },
  }),
  read: route({
    ...common,
    ...readsOnly,
    path: '/v1/sources/{sourceId}',
    operationId: 'webhooks.readSource',
    scope: 'read',
    summary: 'Get a source',
    description: 'Returns a source. Its signing secret is never shown.',
    request: { params },
    responses: { 200: json(sourceSchema) },
    problems,
  }),
  edit: route({
    ...common,
    method: 'patch',
    path: '/v1/sources/{sourceId}',
    operationId: 'webhooks.editSource',
    reaches: 'outside',
    reachesWith: ['alertUrl'],
    audit: true,
    stores: 'edit',
    scope: 'write',
    conditional: 'optional',
    summary: 'Edit, pause or resume a source',
    description:
      'The secret that a new `signingSecret` replaces stays valid for 24 hours. The first one also sets `signatures` to `reject`, unless the request says otherwise. Setting an `alertUrl` for the first time creates the secret that signs alerts; removing the URL deletes it.',
    request: { params, body: json(sourceChangeSchema) },
    responses: { 200: json(sourceWithSecretSchema) },
    problems: [...problems, 'webhooks.destination_refused', 'webhooks.field_refused'],
  }),
  rotateAlertSecret: route({
    ...common,
    method: 'post',
    path: '/v1/sources/{sourceId}/rotate-alert-secret',
    operationId: 'webhooks.rotateAlertSecret',
    reaches: 'nothing',
    audit: true,
    stores: 'edit',
    scope: 'write',
    idempotent: true,
    summary: 'Replace the secret that signs alerts',
    description: 'For 24 hours, alerts are signed with both secrets.',
    request: { params },
    responses: { 200: json(sourceWithSecretSchema) },
    problems,
  }),
  remove: route({
    ...common,
    method: 'delete',
    path: '/v1/sources/{sourceId}',
    operationId: 'webhooks.deleteSource',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    conditional: 'optional',
    summary: 'Delete a source',
    description: 'Its events stay readable until they expire.',
    request: { params },
    responses: { 204: empty() },
    problems,
  }),
};

// The audit trail is for admins: so is sending it on. From then on all who may read the source's events see it.
function checkTrail({ auditTrail }: { auditTrail?: boolean }, { scope }: { scope: string }): void {
  if (auditTrail && scope !== 'admin')
    throw httpErrors.create('http.scope_missing', 'Receiving the audit trail requires the scope "admin".');
}

const noTotals: Totals = { count: 0, failures: 0 };

// A source without its secrets.
const showSource = (source: Source, publicUrl: string, totals: Totals = noTotals): SourceView => ({
  sourceId: source.sourceId,
  name: source.name,
  provider: source.provider,
  status: source.status,
  signatures: source.signatures,
  hasSigningSecret: source.signingSecret !== undefined,
  signingAlgorithm:
    source.signingAlgorithm === undefined ? undefined : readSigningAlgorithm(source.signingAlgorithm),
  toleranceS: source.toleranceS,
  dedupeHeader: source.dedupeHeader,
  whilePaused: source.whilePaused,
  auditTrail: source.auditTrail ?? false,
  alertUrl: source.alertUrl,
  ingestUrl: isFromOutside(source) ? `${publicUrl}/in/${source.sourceId}` : undefined,
  eventCount: totals.count,
  lastEventAt: totals.lastAt === undefined ? undefined : isoTime(totals.lastAt),
  createdAt: source.createdAt,
  updatedAt: source.updatedAt,
});

export const ifVersionOf = (version: string | undefined): { ifVersion?: number } =>
  version === undefined ? {} : { ifVersion: Number(version) };

export function createSourceRoutes({
  store,
  sources,
  publicUrl,
}: {
  store: Store;
  sources: Sources;
  publicUrl: string;
}) {
  return [
    accountEndpoint(routes.create, async (c, userId) => {
      checkTrail(c.req.valid('json'), c.get('principal'));
      const made = await sources.create({ ...c.req.valid('json'), userId }, onceOf(c));
      c.header('Location', `/v1/sources/${made.sourceId}`);
      c.header('ETag', etagOf(made.version));
      return c.json({ ...showSource(made, publicUrl), alertSecret: made.newAlertSecret }, 201);
    }),
    accountEndpoint(routes.list, async (c, userId) => {
      const [found, totals] = await Promise.all([sources.listByUser(userId), totalsOf(store, userId)]);
      const data = found.map(one => showSource(one, publicUrl, totals.get(one.sourceId)));
      return c.json({ data, next_cursor: null }, 200);
    }),
    accountEndpoint(routes.read, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      const found = await sources.owned(sourceId, userId);
      const totals = await totalsOf(store, userId, sourceId);
      c.header('ETag', etagOf(found.version));
      return c.json(showSource(found, publicUrl, totals.get(sourceId)), 200);
    }),
    accountEndpoint(routes.edit, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      checkTrail(c.req.valid('json'), c.get('principal'));
      const guard = ifVersionOf(expectedVersion(c));
      const totals = await totalsOf(store, userId, sourceId);
      const edited = await sources.update(sourceId, userId, c.req.valid('json'), guard);
      c.header('ETag', etagOf(edited.version));
      const shown = showSource(edited, publicUrl, totals.get(sourceId));
      return c.json({ ...shown, alertSecret: edited.newAlertSecret }, 200);
    }),
    accountEndpoint(routes.rotateAlertSecret, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      const totals = await totalsOf(store, userId, sourceId); // before the change, which a failed read would hide
      const edited = await sources.rotateAlertSecret(sourceId, userId, onceOf(c));
      c.header('ETag', etagOf(edited.version));
      const shown = showSource(edited, publicUrl, totals.get(sourceId));
      return c.json({ ...shown, alertSecret: edited.newAlertSecret }, 200);
    }),
    accountEndpoint(routes.remove, async (c, userId) => {
      const guard = ifVersionOf(expectedVersion(c));
      await sources.delete(c.req.valid('param').sourceId, userId, guard);
      return c.body(null, 204);
    }),
  ] as const;
}
