import { answerPage, empty, endpoint, json, pageOf, pageQuery, recordLine, route } from '@stak/http';
import { z } from 'zod';
import type { Service } from '../deps.ts';
import { getErasure } from '../erasure/erasures.ts';
import * as limits from '../limits.ts';
import {
  acceptedInvitation,
  channelId,
  channelShape,
  channelType,
  erasureShape,
  invitationShape,
  newChannel,
  newInvitation,
  newToken,
  tenantId,
  tokenShape,
  userId,
  userShape,
} from '../schema.ts';
import { claimChannel, listChannels, releaseChannel } from '../tenants/channels.ts';
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  revokeInvitation,
} from '../users/invitations.ts';
import { manageScope, refuseFields } from './admins.ts';
import { enteredTenant } from './gate.ts';
import { mintToken, revokeTokens } from './tokens.ts';

const account = { auth: 'account', tags: ['tenants'] as string[], mcp: false } as const;
const managed = {
  auth: 'user',
  endUserScope: manageScope,
  tags: ['tenants'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const params = z.strictObject({ tenant_id: tenantId });
const onePath = '/v1/tenants/{tenant_id}';
const ownId = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{24}$`));

const routes = {
  claimChannel: route({
    ...managed,
    method: 'post',
    path: `${onePath}/channels`,
    operationId: 'tenants.claimChannel',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'write',
    idempotent: true,
    summary: 'Claim a channel',
    description:
      'A channel belongs to one tenant. Claiming a channel that the tenant already has returns 200.',
    request: { params, body: json(newChannel) },
    responses: {
      200: json(channelShape, 'The tenant already has the channel'),
      201: json(channelShape, 'The channel is claimed'),
    },
    problems: ['tenants.channel_taken'],
  }),
  listChannels: route({
    ...managed,
    method: 'get',
    path: `${onePath}/channels`,
    operationId: 'tenants.listChannels',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    scope: 'read',
    summary: 'List channels',
    description: 'Returns the channels that are connected to the tenant.',
    request: { params, query: pageQuery() },
    responses: { 200: json(pageOf(channelShape)) },
    problems: ['http.cursor_refused'],
  }),
  releaseChannel: route({
    ...managed,
    method: 'delete',
    path: `${onePath}/channels/{type}/{channel_id}`,
    operationId: 'tenants.releaseChannel',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    summary: 'Release a channel',
    description: 'Disconnects a channel from the tenant, so that another tenant can connect it.',
    request: { params: params.extend({ type: channelType, channel_id: channelId }) },
    responses: { 204: empty() },
    problems: ['tenants.channel_not_found'],
  }),
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
    method: 'get',
    path: `${onePath}/invitations`,
    operationId: 'tenants.listInvitations',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
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
    request: { params: params.extend({ invitation_id: ownId('inv') }) },
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
  mintToken: route({
    ...account,
    method: 'post',
    path: `${onePath}/tokens`,
    operationId: 'tenants.mintToken',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'path',
    scope: 'write',
    summary: 'Mint a token for an end user',
    description:
      'For any of your uids, whether or not it is a user of the tenant. Request only the scopes that the page or app needs. Without a scope, the token can read and mark the inbox, and nothing else.',
    request: { params, body: json(newToken) },
    responses: { 201: json(tokenShape, 'The token. It is not shown again') },
    problems: ['tenants.just_revoked'],
  }),
  revokeTokens: route({
    ...account,
    method: 'post',
    path: `${onePath}/tokens/revoke`,
    operationId: 'tenants.revokeTokens',
    reaches: 'nothing',
    audit: true,
    stores: 'line',
    tenant: 'path-suspended-too',
    scope: 'write',
    summary: 'Revoke the tokens of a user, or of all users',
    description: 'Revokes all tokens issued until now. Takes effect within seconds.',
    request: { params, body: json(z.strictObject({ sub: userId.optional() })) },
    responses: { 200: json(z.strictObject({ revoked_until: z.iso.datetime() })) },
  }),
  getErasure: route({
    ...account,
    method: 'get',
    path: `${onePath}/erasures/{erasure_id}`,
    operationId: 'tenants.getErasure',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'handler',
    scope: 'read',
    summary: 'Get the progress of an erasure',
    description: 'Returns which steps of an erasure are done.',
    request: { params: params.extend({ erasure_id: ownId('era') }) },
    responses: { 200: json(erasureShape) },
    problems: ['tenants.erasure_not_found'],
  }),
};

const asItIs = <T>(item: T): T => item;

export const createAccessRoutes = (deps: Service) =>
  [
    endpoint(routes.claimChannel, async c => {
      const { tenant_id } = c.req.valid('param');
      const { channel, isNew } = await claimChannel(deps, tenant_id, c.req.valid('json'));
      c.header(
        'Location',
        `/v1/tenants/${tenant_id}/channels/${channel.type}/${encodeURIComponent(channel.channel_id)}`,
      );
      return isNew ? c.json(channel, 201) : c.json(channel, 200);
    }),
    endpoint(routes.listChannels, async c => {
      const principal = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const read = listChannels.bind(null, deps, tenant_id);
      return c.json(await answerPage(principal, c.req.valid('query'), read, asItIs), 200);
    }),
    endpoint(routes.releaseChannel, async c => {
      const { tenant_id, ...channel } = c.req.valid('param');
      await releaseChannel(deps, tenant_id, channel);
      return c.body(null, 204);
    }),
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
    endpoint(routes.mintToken, async c => {
      const { tenant_id } = c.req.valid('param');
      return c.json(await mintToken(deps, tenant_id, c.req.valid('json')), 201);
    }),
    endpoint(routes.revokeTokens, async c => {
      const { tenant_id } = c.req.valid('param');
      return c.json(await revokeTokens(deps, tenant_id, c.req.valid('json').sub), 200);
    }),
    endpoint(routes.getErasure, async c => {
      const { tenant_id, erasure_id } = c.req.valid('param');
      return c.json(await getErasure(deps, tenant_id, erasure_id, c.get('principal').accountId), 200);
    }),
  ] as const;
