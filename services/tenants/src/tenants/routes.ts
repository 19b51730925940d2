import {
  answerPage,
  empty,
  endpoint,
  etagOf,
  expectedVersion,
  json,
  pageOf,
  pageQuery,
  readsOnly,
  route,
} from '@stak/http';
import { z } from 'zod';
import { manageScope, refuseFields } from '../access/admins.ts';
import { type EnteredTenant, enteredTenant } from '../access/gate.ts';
import type { Service } from '../deps.ts';
import { jsonSchema, newTenant, tenantId, tenantPatch, tenantShape } from '../schema.ts';
import {
  isForAdmins,
  patchSettings,
  refuseAccountSkills,
  replaceSettings,
  settingsBody,
  settingsPatch,
  settingsShape,
} from '../settings.ts';
import { deleteSchema, getSchema, putSchema } from './custom-properties.ts';
import { createTenant, listTenants, patchTenant } from './tenants.ts';

const account = { auth: 'account', tags: ['tenants'] as string[], mcp: false } as const;
const managed = {
  auth: 'user',
  endUserScope: manageScope,
  tags: ['tenants'] as string[],
  mcp: false,
} as const;
const params = z.strictObject({ tenant_id: tenantId });
const onePath = '/v1/tenants/{tenant_id}';

const routes = {
  create: route({
    ...account,
    method: 'post',
    path: '/v1/tenants',
    operationId: 'tenants.create',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    tenant: 'none',
    scope: 'write',
    idempotent: true,
    summary: 'Create a tenant',
    description: 'You choose the id. It cannot be used again after the tenant is deleted.',
    request: { body: json(newTenant) },
    responses: { 201: json(tenantShape, 'The new tenant') },
    problems: ['tenants.id_taken', 'tenants.tenant_limit_reached'],
  }),
  list: route({
    ...account,
    ...readsOnly,
    path: '/v1/tenants',
    operationId: 'tenants.list',
    tenant: 'none',
    mcp: 'reads',
    scope: 'read',
    summary: 'List your tenants',
    description: 'Returns the tenants of the account, oldest first.',
    request: { query: pageQuery() },
    responses: { 200: json(pageOf(tenantShape)) },
    problems: ['http.cursor_refused'],
  }),
  get: route({
    ...managed,
    ...readsOnly,
    path: onePath,
    operationId: 'tenants.get',
    tenant: 'path-suspended-too',
    scope: 'read',
    summary: 'Get a tenant',
    description: 'Returns a tenant of the account.',
    request: { params },
    responses: { 200: json(tenantShape) },
  }),
  patch: route({
    ...account,
    method: 'patch',
    path: onePath,
    operationId: 'tenants.update',
    reaches: 'nothing',
    audit: true,
    stores: 'edit',
    tenant: 'path-suspended-too',
    scope: 'admin',
    conditional: 'optional',
    summary: 'Rename, activate or suspend a tenant',
    description: 'Changes the name or the status of a tenant. A suspended tenant’s users are refused.',
    request: { params, body: json(tenantPatch) },
    responses: { 200: json(tenantShape) },
    problems: ['tenants.status_refused'],
  }),
  getSettings: route({
    ...managed,
    ...readsOnly,
    path: `${onePath}/settings`,
    operationId: 'tenants.getSettings',
    tenant: 'path-suspended-too',
    scope: 'read',
    summary: 'Get the settings',
    description: 'Returns the settings of a tenant: model, channels, skills and limits.',
    request: { params },
    responses: { 200: json(settingsShape) },
  }),
  putSettings: route({
    ...account,
    method: 'put',
    path: `${onePath}/settings`,
    operationId: 'tenants.replaceSettings',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    tenant: 'path',
    scope: 'write',
    conditional: 'required',
    summary: 'Replace the settings',
    description: 'Fields that you leave out get their default. Undocumented fields are kept as they are.',
    request: { params, body: json(settingsBody) },
    responses: { 200: json(settingsShape) },
    problems: ['tenants.too_large', 'tenants.settings_refused'],
  }),
  patchSettings: route({
    ...managed,
    method: 'patch',
    path: `${onePath}/settings`,
    operationId: 'tenants.updateSettings',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    tenant: 'path',
    scope: 'write',
    conditional: 'required',
    summary: 'Change some settings',
    description:
      'A merge patch (RFC 7396): `null` resets a field to its default. An admin of the tenant can change how the agent and the portal behave, but not what the account pays for.',
    request: { params, body: json(settingsPatch) },
    responses: { 200: json(settingsShape) },
    problems: ['tenants.too_large', 'tenants.settings_refused', 'tenants.admin_refused'],
  }),
  getSchema: route({
    ...account,
    ...readsOnly,
    path: `${onePath}/properties-schema`,
    operationId: 'tenants.getPropertiesSchema',
    tenant: 'path',
    scope: 'read',
    summary: "Get the schema of users' custom properties",
    description: 'Returns the JSON Schema that custom properties of users must fit.',
    request: { params },
    responses: { 200: json(jsonSchema) },
    problems: ['tenants.schema_not_found'],
  }),
  putSchema: route({
    ...account,
    method: 'put',
    path: `${onePath}/properties-schema`,
    operationId: 'tenants.putPropertiesSchema',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    tenant: 'path',
    scope: 'admin',
    conditional: 'optional',
    summary: "Define users' custom properties",
    description:
      'JSON Schema 2020-12 without `pattern`, references and `uniqueItems`. Users are validated when they are written.',
    request: { params, body: json(jsonSchema) },
    responses: { 200: json(jsonSchema) },
    problems: ['tenants.schema_refused'],
  }),
  deleteSchema: route({
    ...account,
    method: 'delete',
    path: `${onePath}/properties-schema`,
    operationId: 'tenants.deletePropertiesSchema',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    tenant: 'path',
    scope: 'admin',
    summary: "Delete the schema of users' custom properties",
    description: 'Removes the schema: custom properties may hold anything.',
    request: { params },
    responses: { 204: empty() },
  }),
};

const show = ({ tenant_id, name, status, created_at, updated_at, version }: EnteredTenant) => ({
  tenant_id,
  name,
  status,
  created_at,
  updated_at,
  version,
});

export const createTenantRoutes = (deps: Service) =>
  [
    endpoint(routes.create, async c => {
      const { accountId } = c.get('principal');
      const made = await createTenant(deps, accountId, c.req.valid('json'), c.get('idempotencyKey'));
      c.header('Location', `/v1/tenants/${made.tenant_id}`);
      c.header('ETag', etagOf(made.version));
      return c.json(show(made), 201);
    }),
    endpoint(routes.list, async c => {
      const principal = c.get('principal');
      const read = listTenants.bind(null, deps, principal.accountId);
      return c.json(await answerPage(principal, c.req.valid('query'), read, show), 200);
    }),
    endpoint(routes.get, async c => {
      const entered = enteredTenant(c);
      c.header('ETag', etagOf(entered.version));
      return c.json(show(entered), 200);
    }),
    endpoint(routes.patch, async c => {
      const entered = enteredTenant(c);
      const changed = await patchTenant(deps, entered, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(changed.version));
      return c.json(show(changed), 200);
    }),
    endpoint(routes.getSettings, async c => {
      const entered = enteredTenant(c);
      c.header('ETag', etagOf(entered.settings_version));
      return c.json(entered.settings, 200);
    }),
    endpoint(routes.putSettings, async c => {
      const entered = enteredTenant(c);
      const body = c.req.valid('json');
      const { settings, version } = await replaceSettings(deps, entered, body, expectedVersion(c));
      c.header('ETag', etagOf(version));
      return c.json(settings, 200);
    }),
    endpoint(routes.patchSettings, async c => {
      const principal = c.get('principal');
      const entered = enteredTenant(c);
      const body = c.req.valid('json');
      refuseFields(principal, body, isForAdmins);
      if (principal.kind === 'endUser') refuseAccountSkills(deps, entered.settings, body);
      const { settings, version } = await patchSettings(deps, entered, body, expectedVersion(c));
      c.header('ETag', etagOf(version));
      return c.json(settings, 200);
    }),
    endpoint(routes.getSchema, async c => {
      const { tenant_id } = c.req.valid('param');
      const { schema, version } = await getSchema(deps, tenant_id);
      c.header('ETag', etagOf(version));
      return c.json(schema, 200);
    }),
    endpoint(routes.putSchema, async c => {
      const { tenant_id } = c.req.valid('param');
      const { schema, version } = await putSchema(deps, tenant_id, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(version));
      return c.json(schema, 200);
    }),
    endpoint(routes.deleteSchema, async c => {
      const { tenant_id } = c.req.valid('param');
      await deleteSchema(deps, tenant_id);
      return c.body(null, 204);
    }),
  ] as const;
