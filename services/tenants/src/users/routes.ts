import {
  answerPage,
  assertOwned,
  empty,
  endpoint,
  etagOf,
  expectedVersion,
  json,
  type PageRequest,
  type Principal,
  pageOf,
  pageQuery,
  readsOnly,
  route,
} from '@stak/http';
import { z } from 'zod';
import { manageScope, refuseFields } from '../access/admins.ts';
import { enteredTenant } from '../access/gate.ts';
import type { Service } from '../deps.ts';
import { noUser } from '../errors.ts';
import { channelId, channelType, email, newUser, tenantId, userId, userPatch, userShape } from '../schema.ts';
import {
  createUser,
  deleteUser,
  findByEmail,
  findByIdentity,
  getUser,
  listUsers,
  patchUser,
  type User,
} from './users.ts';

const account = { auth: 'account', tags: ['tenants'] as string[], mcp: false } as const;
const managed = {
  auth: 'user',
  endUserScope: manageScope,
  tags: ['tenants'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const params = z.strictObject({ tenant_id: tenantId });
const userParams = params.extend({ user_id: userId });
const listPath = '/v1/tenants/{tenant_id}/users';
const onePath = `${listPath}/{user_id}` as const;
const uniqueness = ['tenants.email_taken', 'tenants.identity_taken', 'tenants.properties_refused'];

const usersQuery = pageQuery()
  .extend({
    email: email.optional().describe('Only the user with this e-mail address.'),
    channel: channelType
      .optional()
      .describe('Only users who are known on this channel; goes with `identity`.'),
    identity: channelId.optional().describe('The id of the user on the channel.'),
  })
  .refine(({ channel, identity }) => (channel === undefined) === (identity === undefined), {
    message: 'A channel and the identity there belong together',
    path: ['identity'],
  })
  .refine(({ email: address, channel }) => address === undefined || channel === undefined, {
    message: 'Look for an e-mail address or for an identity, not for both',
    path: ['email'],
  });

const routes = {
  create: route({
    ...managed,
    method: 'post',
    path: listPath,
    operationId: 'tenants.createUser',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    scope: 'write',
    idempotent: true,
    summary: 'Create a user',
    description: 'Creates a user of the tenant.',
    request: { params, body: json(newUser) },
    responses: { 201: json(userShape, 'The new user') },
    problems: [...uniqueness, 'tenants.user_exists', 'tenants.user_limit_reached', 'tenants.admin_refused'],
  }),
  list: route({
    ...managed,
    ...readsOnly,
    path: listPath,
    operationId: 'tenants.listUsers',
    mcp: 'reads',
    scope: 'read',
    summary: 'List users, or find one',
    description: 'With `email`, or with `channel` and `identity`, returns the one matching user, if any.',
    request: { params, query: usersQuery },
    responses: { 200: json(pageOf(userShape)) },
    problems: ['http.cursor_refused'],
  }),
  get: route({
    ...account,
    ...readsOnly,
    auth: 'user',
    endUserScope: 'profile:read',
    path: onePath,
    operationId: 'tenants.getUser',
    tenant: 'path',
    scope: 'read',
    summary: 'Get a user',
    description: 'End users can only read themselves.',
    request: { params: userParams },
    responses: { 200: json(userShape) },
    problems: ['tenants.user_not_found'],
  }),
  patch: route({
    ...managed,
    method: 'patch',
    path: onePath,
    operationId: 'tenants.updateUser',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    scope: 'write',
    conditional: 'required',
    summary: 'Update a user',
    description:
      'A merge patch (RFC 7396): `null` removes a field. An admin of the tenant cannot change the addresses or identities of others. Another address, or another identity at the provider of the tenant, ends the sessions of the portal: who had the old one may be somebody else.',
    request: { params: userParams, body: json(userPatch) },
    responses: { 200: json(userShape) },
    problems: [...uniqueness, 'tenants.user_not_found', 'tenants.too_large', 'tenants.admin_refused'],
  }),
  delete: route({
    ...managed,
    method: 'delete',
    path: onePath,
    operationId: 'tenants.deleteUser',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    conditional: 'optional',
    summary: 'Remove a user',
    description: "Revokes the user's tokens. Data in other services stays; use the erasure to remove it.",
    request: { params: userParams },
    responses: { 204: empty() },
    problems: ['tenants.user_not_found'],
  }),
};

// Only the user and the account may set these. With them an admin could take over another user's identity, and read
// their data.
const newFields: ReadonlySet<string> = new Set([
  'email',
  'display_name',
  'role',
  'preferences',
  'custom_properties',
]);
const changedFields: ReadonlySet<string> = new Set([
  'display_name',
  'role',
  'preferences',
  'custom_properties',
]);

// The memory of a user is private to them.
const shownTo = (principal: Principal) => (found: User) => {
  if (principal.kind !== 'endUser') return found;
  const { memory_summary: _, memory_updated_at: __, ...rest } = found;
  return rest;
};

// An end user may only access their own record.
const isWithin = (principal: Principal, user_id: string): boolean =>
  principal.kind !== 'endUser' || principal.userId === user_id;

export const createUserRoutes = (deps: Service) =>
  [
    endpoint(routes.create, async c => {
      const principal = c.get('principal');
      const entered = enteredTenant(c);
      const body = c.req.valid('json');
      // Omitted fields have their defaults here.
      const { channel_identities, ...given } = body;
      const identities = Object.keys(channel_identities).length > 0 ? { channel_identities } : {};
      refuseFields(principal, { ...given, ...identities }, name => newFields.has(name));
      const made = await createUser(deps, entered, body, c.get('idempotencyKey'));
      c.header('Location', `/v1/tenants/${entered.tenant_id}/users/${encodeURIComponent(made.user_id)}`);
      c.header('ETag', etagOf(made.version));
      return c.json(made, 201);
    }),
    endpoint(routes.list, async c => {
      const principal = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const query = c.req.valid('query');
      const read = (page: PageRequest) => {
        if (query.email !== undefined) return findByEmail(deps, tenant_id, query.email);
        if (query.channel === undefined) return listUsers(deps, tenant_id, page);
        return findByIdentity(deps, tenant_id, query.channel, query.identity!);
      };
      return c.json(await answerPage(principal, query, read, shownTo(principal)), 200);
    }),
    endpoint(routes.get, async c => {
      const principal = c.get('principal');
      const { tenant_id, user_id } = c.req.valid('param');
      const asked = assertOwned(user_id, id => isWithin(principal, id), noUser);
      const found = await getUser(deps, tenant_id, asked);
      c.header('ETag', etagOf(found.version));
      return c.json(found, 200);
    }),
    endpoint(routes.patch, async c => {
      const principal = c.get('principal');
      const { tenant_id, user_id } = c.req.valid('param');
      const patch = c.req.valid('json');
      refuseFields(principal, patch, name => changedFields.has(name));
      const changed = await patchUser(deps, tenant_id, user_id, patch, expectedVersion(c));
      c.header('ETag', etagOf(changed.version));
      return c.json(shownTo(principal)(changed), 200);
    }),
    endpoint(routes.delete, async c => {
      const { tenant_id, user_id } = c.req.valid('param');
      await deleteUser(deps, tenant_id, user_id, expectedVersion(c));
      return c.body(null, 204);
    }),
  ] as const;
