import {
  answerPage,
  empty,
  endpoint,
  json,
  pageOf,
  pageQuery,
  readsOnly,
  recordLine,
  route,
} from '@stak/http';
import { z } from 'zod';
import { manageScope, refuseFields } from '../access/admins.ts';
import { enteredTenant } from '../access/gate.ts';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { acceptedInvitation, invitationShape, newInvitation, tenantId, userShape } from '../schema.ts';
import { acceptInvitation, createInvitation, listInvitations, revokeInvitation } from './invitations.ts';

const managed = {
  auth: 'user',
  endUserScope: manageScope,
  tags: ['tenants'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const params = z.strictObject({ tenant_id: tenantId });
const onePath = '/v1/tenants/{tenant_id}';
const invitationId = z.string().regex(/^inv_[0-9a-z]{24}$/);

const routes = {
  // Not idempotent by key: the stored response would keep the token readable for a day.
  invite: route({
    ...managed,
    method: 'post',
    path: `${onePath}/invitations`,
    operationId: 'tenants.createInvitation',
    reaches: 'mail',
    audit: true,
    stores: 'body',
    scope: 'write',
    summary: 'Invite a user',
    description:
      'Returns the token, which is not shown again. With `mail`, it is sent to the address with a link to the portal. Invitations by an admin of the tenant are always sent by mail, and the token is not returned to them. A new invitation replaces the previous one.',
    request: { params, body: json(newInvitation) },
    responses: {
      201: json(
        invitationShape.extend({
          token: z.string().describe('Empty for an admin of the tenant: it is only in the mail'),
        }),
        'The invitation and its token',
      ),
    },
    problems: [
      'tenants.email_taken',
      'tenants.user_limit_reached',
      'tenants.admin_refused',
      'tenants.no_mail',
    ],
  }),
  listInvitations: route({
    ...managed,
    ...readsOnly,
    path: `${onePath}/invitations`,
    operationId: 'tenants.listInvitations',
    scope: 'read',
    summary: 'List open invitations',
    description: 'Returns the invitations that have not been accepted yet.',
    request: { params, query: pageQuery() },
    responses: { 200: json(pageOf(invitationShape)) },
    problems: ['http.cursor_refused'],
  }),
  revokeInvitation: route({
    ...managed,
    method: 'delete',
    path: `${onePath}/invitations/{invitation_id}`,
    operationId: 'tenants.revokeInvitation',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    summary: 'Revoke an invitation',
    description: 'Makes the link of an invitation useless.',
    request: { params: params.extend({ invitation_id: invitationId.describe('The id of the invitation.') }) },
    responses: { 204: empty() },
    problems: ['tenants.invitation_not_found'],
  }),
  accept: route({
    auth: 'public',
    tags: ['tenants'],
    method: 'post',
    path: '/v1/invitations/accept',
    operationId: 'tenants.acceptInvitation',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    tenant: 'handler',
    mcp: false,
    summary: 'Accept an invitation',
    description: 'Makes the holder of the invitation a user of the tenant.',
    request: { body: json(acceptedInvitation) },
    responses: { 201: json(userShape, 'The user that you have become') },
    problems: [
      'tenants.invitation_not_found',
      'tenants.suspended',
      'tenants.email_taken',
      'tenants.user_exists',
      'tenants.user_limit_reached',
    ],
    limits: {
      bodyBytes: 4096,
      rate: { name: 'accept', limit: limits.acceptsPerMinute, windowMs: 60_000, by: 'address' },
    },
  }),
};

const asItIs = <T>(item: T): T => item;

export const createInvitationRoutes = (deps: Service) =>
  [
    endpoint(routes.invite, async c => {
      const principal = c.get('principal');
      const entered = enteredTenant(c);
      const body = c.req.valid('json');
      // Ids are generated: a new user with the id of a former one would see what they left.
      refuseFields(principal, body, name => name !== 'user_id');
      const isAdmin = principal.kind === 'endUser';
      const by = isAdmin
        ? { isMailed: true, invited_by: principal.userId }
        : { isMailed: body.mail === true };
      const { token, ...made } = await createInvitation(deps, entered, body, by);
      c.header('Location', `/v1/tenants/${entered.tenant_id}/invitations/${made.invitation_id}`);
      // The holder of the token becomes the user, so only people who can read mail to that address may get it.
      return c.json({ ...made, token: isAdmin ? '' : token }, 201);
    }),
    endpoint(routes.listInvitations, async c => {
      const principal = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const read = listInvitations.bind(null, deps, tenant_id);
      return c.json(await answerPage(principal, c.req.valid('query'), read, asItIs), 200);
    }),
    endpoint(routes.revokeInvitation, async c => {
      const { tenant_id, invitation_id } = c.req.valid('param');
      await revokeInvitation(deps, tenant_id, invitation_id);
      return c.body(null, 204);
    }),
    endpoint(routes.accept, async c => {
      const { user, invitation, account_id } = await acceptInvitation(deps, c.req.valid('json'));
      const location = `/v1/tenants/${user.tenant_id}/users/${encodeURIComponent(user.user_id)}`;
      await recordLine(deps, c, account_id, {
        via: 'invitation',
        credentialId: invitation.invitation_id,
        action: routes.accept.operationId,
        target: location,
      });
      c.header('Location', location);
      return c.json(user, 201);
    }),
  ] as const;
