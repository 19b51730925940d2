import {
  answerPage,
  empty,
  endpoint,
  json,
  type PageRequest,
  pageOf,
  pageQuery,
  raw,
  readsOnly,
  route,
} from '@stak/http';
import { manageScope } from '@stak/tenants';
import { z } from 'zod';
import type { Base, ChannelDeps, Service, SkillDeps, StateDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { channelCredentials, channelStatus, tenantParams } from '../schema.ts';
import { channelTypes, type Delivery } from './channel.ts';
import { takeMessage, takePress } from './receive.ts';
import { deleteSecrets, noChannel, openSecrets, putSecrets } from './secrets.ts';
import { channelsOfTenant } from './tables.ts';

const tags = ['agents'] as string[];
const managed = { auth: 'user', endUserScope: manageScope, tags, tenant: 'path', mcp: false } as const;
const channelId = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]*$/, 'An id of the provider');
const webhookParams = z.strictObject({
  type: z.enum(channelTypes).describe('The type of channel, such as `whatsapp`.'),
  id: channelId.describe('The id of the channel at its provider.'),
});
const params = tenantParams.extend({
  type: z.enum(channelTypes).describe('The type of channel, such as `whatsapp`.'),
  channel_id: channelId.describe('The id of the channel at its provider.'),
});
const webhookPath = '/v1/channels/{type}/{id}/webhook';
const credentialsPath = '/v1/tenants/{tenant_id}/channels/{type}/{channel_id}/credentials';

const routes = {
  deliver: route({
    auth: 'provider',
    tags,
    method: 'post',
    path: webhookPath,
    operationId: 'agents.takeWebhook',
    reaches: 'model',
    audit: false,
    stores: 'handler',
    tenant: 'handler',
    mcp: false,
    summary: 'Receive messages from Slack, Teams, Telegram and WhatsApp',
    description:
      "Verified by the provider's signature. Responds once the message is stored. Approval buttons also use this address: in Slack, set it as the request URL for interactivity.",
    request: { params: webhookParams, body: raw("The provider's event") },
    responses: {
      200: json(
        z.strictObject({
          challenge: z.string().optional().describe('The text to answer the handshake with.'),
          statusCode: z.int().optional().describe('For a button in Teams, always 200'),
          type: z.string().optional().describe('The type of `value`, for Teams'),
          value: z
            .string()
            .optional()
            .describe('The result of the button, to show to the person who pressed it'),
        }),
      ),
    },
    limits: {
      bodyBytes: limits.webhookBytes,
      rate: { name: 'channel', limit: limits.webhooksPerMinute, windowMs: 60_000 },
    },
    problems: ['agents.conversation_busy'],
  }),
  greet: route({
    ...readsOnly,
    auth: 'public',
    tags,
    path: webhookPath,
    operationId: 'agents.verifyWebhook',
    tenant: 'none',
    mcp: false,
    summary: 'Answer the handshake of WhatsApp',
    description: 'Answers the handshake with which WhatsApp checks the address.',
    request: {
      params: webhookParams,
      query: z.looseObject({
        'hub.challenge': z.string().max(500).optional().describe('The text that WhatsApp expects back.'),
      }),
    },
    responses: { 200: { description: 'The challenge', content: { 'text/plain': { schema: z.string() } } } },
    problems: ['agents.channel_not_found'],
  }),
  list: route({
    ...managed,
    ...readsOnly,
    path: '/v1/tenants/{tenant_id}/channel-credentials',
    operationId: 'agents.listChannelCredentials',
    scope: 'read',
    summary: 'List the channels that have credentials',
    description: 'Returns which channels have credentials. The credentials are never shown.',
    request: { params: tenantParams, query: pageQuery() },
    responses: { 200: json(pageOf(channelStatus)) },
  }),
  put: route({
    ...managed,
    method: 'put',
    path: credentialsPath,
    operationId: 'agents.putChannelCredentials',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'write',
    summary: 'Set the secrets of a channel',
    description:
      'For a channel that the tenant has claimed. slack: signing_secret, bot_token. teams: app_password. telegram: secret_token, bot_token. whatsapp: app_secret, verify_token, access_token. They are stored encrypted, and never returned.',
    request: { params, body: json(channelCredentials) },
    responses: { 200: json(channelStatus) },
    problems: ['agents.channel_not_found', 'agents.credentials_refused', 'tenants.onboarding'],
  }),
  remove: route({
    ...managed,
    method: 'delete',
    path: credentialsPath,
    operationId: 'agents.deleteChannelCredentials',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    summary: 'Remove the secrets of a channel',
    description: 'Messages from the channel are refused from then on.',
    request: { params },
    responses: { 204: empty() },
    problems: ['agents.channel_not_found'],
  }),
};

export function createChannelRoutes(
  service: Base &
    StateDeps &
    SkillDeps &
    ChannelDeps &
    Pick<Service, 'roleOf' | 'audit' | 'hasRoom' | 'countMessage'>,
) {
  const deliveryOf = (
    c: { req: { header(name: string): string | undefined } },
    id: string,
    body: Uint8Array,
  ) => ({ channelId: id, header: name => c.req.header(name), body }) satisfies Delivery;

  return [
    endpoint(
      routes.deliver,
      async c => {
        const { type, id } = c.req.valid('param');
        const delivery = deliveryOf(c, id, c.get('body'));
        const channel = service.channels[type];
        const { messages, presses = [], challenge } = channel.read(delivery);
        const owner = c.get('principal').subject;
        const address = { type, channel_id: id };
        for (const message of messages) await takeMessage(service, owner, address, message);
        const texts: string[] = [];
        for (const press of presses) texts.push(await takePress(service, owner, address, press));
        const answer = texts[0] === undefined ? undefined : channel.answerPress?.(delivery, texts[0]);
        return c.json(challenge === undefined ? (answer ?? {}) : { challenge }, 200);
      },
      // Without secrets, nothing is verified.
      async c => {
        const { type, id } = webhookParams.parse(c.req.param());
        const opened = await openSecrets(service, { type, channel_id: id });
        if (!opened) return undefined;
        const delivery = deliveryOf(c, id, c.get('body'));
        const isProven = await service.channels[type].prove(service, delivery, opened.secrets);
        return isProven ? { kind: 'provider', provider: type, subject: opened.tenant_id } : undefined;
      },
    ),
    endpoint(routes.greet, async c => {
      const { type, id } = c.req.valid('param');
      const opened = await openSecrets(service, { type, channel_id: id });
      const challenge = opened && service.channels[type].greet?.(c.req.query(), opened.secrets);
      if (challenge === undefined) throw noChannel();
      return c.text(challenge, 200);
    }),
    endpoint(routes.list, async c => {
      const caller = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const read = (page: PageRequest) => service.store.query(channelsOfTenant, { tenant_id }, page);
      const show = ({
        type,
        channel_id,
        updated_at,
      }: {
        type: string;
        channel_id: string;
        updated_at: string;
      }) => ({
        type,
        channel_id,
        updated_at,
      });
      return c.json(await answerPage(caller, c.req.valid('query'), read, show), 200);
    }),
    endpoint(routes.put, async c => {
      const { tenant_id, type, channel_id } = c.req.valid('param');
      const { updated_at } = await putSecrets(service, tenant_id, { type, channel_id }, c.req.valid('json'));
      return c.json({ type, channel_id, updated_at }, 200);
    }),
    endpoint(routes.remove, async c => {
      const { tenant_id, type, channel_id } = c.req.valid('param');
      await deleteSecrets(service, tenant_id, { type, channel_id });
      return c.body(null, 204);
    }),
  ] as const;
}
