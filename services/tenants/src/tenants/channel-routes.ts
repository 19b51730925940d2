import { answerPage, empty, endpoint, json, pageOf, pageQuery, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { manageScope } from '../access/admins.ts';
import type { Service } from '../deps.ts';
import { channelId, channelShape, channelType, newChannel, tenantId } from '../schema.ts';
import { claimChannel, listChannels, releaseChannel } from './channels.ts';

const managed = {
  auth: 'user',
  endUserScope: manageScope,
  tags: ['tenants'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const params = z.strictObject({ tenant_id: tenantId });
const onePath = '/v1/tenants/{tenant_id}';

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
    ...readsOnly,
    path: `${onePath}/channels`,
    operationId: 'tenants.listChannels',
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
};

const asItIs = <T>(item: T): T => item;

export const createChannelRoutes = (deps: Service) =>
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
  ] as const;
