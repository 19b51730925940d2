import { endpoint, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { enteredTenant } from '../access/gate.ts';
import type { Service } from '../deps.ts';
import { erasureShape, tenantId, userId } from '../schema.ts';
import type { Eraser } from './erasers.ts';
import { deleteTenant, eraseUser, getErasure } from './erasures.ts';
import { exportUser } from './user-export.ts';

const account = { auth: 'account', tags: ['tenants'] as string[], mcp: false } as const;
const params = z.strictObject({ tenant_id: tenantId });
const onePath = '/v1/tenants/{tenant_id}';
const userParams = params.extend({ user_id: userId });
const userPath = `${onePath}/users/{user_id}` as const;
const erasureId = z.string().regex(/^era_[0-9a-z]{24}$/);

const routes = {
  delete: route({
    ...account,
    method: 'delete',
    path: onePath,
    operationId: 'tenants.delete',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    tenant: 'handler',
    scope: 'admin',
    summary: 'Delete a tenant and everything in it',
    description:
      'Closes the tenant at once, and erases its data in the background. Returns the erasure, which shows the progress. Repeating the request has no further effect.',
    request: { params },
    responses: { 202: json(erasureShape, 'The job that erases it') },
    problems: ['tenants.not_found', 'tenants.erasure_not_found'],
  }),
  export: route({
    ...account,
    method: 'get',
    path: `${userPath}/export`,
    operationId: 'tenants.exportUser',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'path-suspended-too',
    scope: 'read',
    summary: 'Export all data of a user',
    description:
      'Lines of JSON, from every service. The last line is `{"kind":"end"}`. Without it, the export is incomplete.',
    request: { params: userParams },
    responses: {
      200: { description: 'Lines of JSON', content: { 'application/x-ndjson': { schema: z.unknown() } } },
    },
  }),
  erase: route({
    ...account,
    method: 'post',
    path: `${userPath}/erasure`,
    operationId: 'tenants.eraseUser',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'path-suspended-too',
    scope: 'admin',
    idempotent: true,
    summary: 'Erase a user in every service',
    description:
      "Revokes the user's tokens at once. The uid need not be a user of the tenant: other services may have data of it.",
    request: { params: userParams },
    responses: { 202: json(erasureShape, 'The erasure job') },
  }),
  getErasure: route({
    ...account,
    ...readsOnly,
    path: `${onePath}/erasures/{erasure_id}`,
    operationId: 'tenants.getErasure',
    tenant: 'handler',
    scope: 'read',
    summary: 'Get the progress of an erasure',
    description: 'Returns which steps of an erasure are done.',
    request: { params: params.extend({ erasure_id: erasureId.describe('The id of the erasure.') }) },
    responses: { 200: json(erasureShape) },
    problems: ['tenants.erasure_not_found'],
  }),
};

export const createErasureRoutes = (deps: Service & { ownEraser: Eraser }) =>
  [
    // The write itself checks the tenant: deleting one that is deleted already returns its job.
    endpoint(routes.delete, async c => {
      const { tenant_id } = c.req.valid('param');
      const job = await deleteTenant(deps, tenant_id, c.get('principal').accountId);
      c.header('Location', `/v1/tenants/${tenant_id}/erasures/${job.erasure_id}`);
      return c.json(job, 202);
    }),
    endpoint(routes.export, async c => {
      const { tenant_id, user_id } = c.req.valid('param');
      return new Response(exportUser(deps, tenant_id, user_id), {
        headers: { 'Content-Type': 'application/x-ndjson' },
      }) as never;
    }),
    endpoint(routes.erase, async c => {
      const { tenant_id, user_id } = c.req.valid('param');
      const { account_id } = enteredTenant(c);
      const job = await eraseUser(deps, { tenant_id, account_id, user_id });
      c.header('Location', `/v1/tenants/${tenant_id}/erasures/${job.erasure_id}`);
      return c.json(job, 202);
    }),
    endpoint(routes.getErasure, async c => {
      const { tenant_id, erasure_id } = c.req.valid('param');
      return c.json(await getErasure(deps, tenant_id, erasure_id, c.get('principal').accountId), 200);
    }),
  ] as const;
