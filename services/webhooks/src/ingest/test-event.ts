import { json, route } from '@stak/http';
import { z } from 'zod';
import { accountEndpoint } from '../account-endpoint.ts';
import { webhookErrors } from '../errors.ts';
import type { HeaderPair } from '../filters/request-view.ts';
import { idSchema } from '../schema.ts';
import { readHmacConfig } from '../signatures/custom.ts';
import { sourceSecretContext } from '../signatures/secrets.ts';
import { signRequest } from '../signatures/sign-request.ts';
import type { Provider } from '../signatures/signing.ts';
import { isFromOutside, type OutsideSource } from '../sources/source-cache.ts';
import type { Sources } from '../sources/sources.ts';
import { inSeconds } from '../tables.ts';
import { type IngestDeps, ingest } from './ingest.ts';

const sendTestEvent = route({
  method: 'post',
  path: '/v1/sources/{sourceId}/test-event',
  operationId: 'webhooks.sendTestEvent',
  reaches: 'nothing',
  audit: true,
  stores: 'body',
  tenant: 'none',
  mcp: false,
  auth: 'account',
  scope: 'write',
  summary: 'Send a test event to a source',
  description:
    'Sends a sample event of the provider, signed with the signing secret of the source. It is verified, stored, counted and delivered like any other event, and has the header `X-Stak-Test: true`. Only SendGrid can sign its events: if the source checks signatures, send a test from SendGrid instead.',
  tags: ['webhooks'],
  request: { params: z.strictObject({ sourceId: idSchema.describe('The id of the source.') }) },
  responses: {
    200: json(
      z.strictObject({
        eventId: z.string().describe('The event that was stored'),
        status: z.string().describe('Its status when it was stored'),
      }),
      'The test event is stored',
    ),
  },
  problems: [
    'webhooks.source_not_found',
    'webhooks.source_paused',
    'webhooks.cannot_sign',
    'webhooks.rate_limited',
    'webhooks.quota_exceeded',
    'webhooks.storage_limit_reached',
  ],
  limits: { rate: { name: 'test-event', limit: 30, windowMs: 60_000 } },
});

export function createTestEventRoutes(deps: IngestDeps & { sources: Sources; publicUrl: string }) {
  return [
    accountEndpoint(sendTestEvent, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      const source = await deps.sources.owned(sourceId, userId);
      if (!isFromOutside(source)) throw cannotSign('Stak itself sends to this source.');
      const response = await ingest(deps, { ...testRequest(deps, source), sourceIp: c.get('address') });
      if ('handshake' in response) throw cannotSign('The sample is a handshake of the provider.');
      const { eventId, status } = response.receipt;
      return c.json({ eventId, status }, 200);
    }),
  ] as const;
}

const cannotSign = (message: string) => webhookErrors.create('webhooks.cannot_sign', message);

function testRequest(
  { clock, ids, secrets, publicUrl }: IngestDeps & { publicUrl: string },
  source: OutsideSource,
) {
  const { sourceId, provider } = source;
  const id = ids.next('test');
  const sample = samples[provider](id);
  const headers: HeaderPair[] = [
    ['Content-Type', sample.type ?? 'application/json'],
    ...(sample.headers ?? []),
    ['X-Stak-Test', 'true'],
  ];
  const body = Buffer.from(sample.body);
  const url = `${publicUrl}/in/${sourceId}`;
  const request = { sourceId, method: 'POST', headers, query: '', body, url };
  if (source.signatures === 'off') return request;

  const [secret] = secrets.open(source.signingSecret, sourceSecretContext(sourceId, 'signingSecret'));
  if (!secret) throw cannotSign('The source checks signatures but has no signing secret. Set one first.');
  const signed = signRequest(provider, {
    secret,
    id,
    timestampS: inSeconds(clock.now()),
    headers,
    body,
    url,
    config: provider === 'custom' ? readHmacConfig(source.signingAlgorithm) : undefined,
  });
  if (!signed)
    throw cannotSign(
      provider === 'sendgrid'
        ? 'Only SendGrid can sign for this source: send a test from its own settings.'
        : 'The signing secret cannot be used as a key: check its encoding.',
    );
  return { ...request, headers: [...headers, ...signed] };
}

type Sample = { body: string; type?: string; headers?: HeaderPair[] };

const order = { id: 'order_1042', amount: 4200, currency: 'eur' };

// In the format of each provider, so that filters and transforms for real events work with them.
const samples: Readonly<Record<Provider, (id: string) => Sample>> = {
  stripe: id => ({
    body: JSON.stringify({
      id: `evt_${id}`,
      object: 'event',
      type: 'payment_intent.succeeded',
      livemode: false,
      data: { object: { object: 'payment_intent', ...order } },
    }),
  }),
  github: id => ({
    headers: [
      ['X-GitHub-Event', 'push'],
      ['X-GitHub-Delivery', id],
    ],
    body: JSON.stringify({
      ref: 'refs/heads/main',
      repository: { full_name: 'example/shop' },
      head_commit: { message: 'Test event' },
    }),
  }),
  shopify: id => ({
    headers: [
      ['X-Shopify-Topic', 'orders/paid'],
      ['X-Shopify-Webhook-Id', id],
    ],
    body: JSON.stringify({ id: 1042, total_price: '42.00', currency: 'EUR', test: true }),
  }),
  slack: id => ({
    body: JSON.stringify({
      type: 'event_callback',
      event_id: id,
      event: { type: 'message', text: 'Test event', user: 'U0000000000' },
    }),
  }),
  twilio: id => ({
    type: 'application/x-www-form-urlencoded',
    headers: [['I-Twilio-Idempotency-Token', id]],
    body: new URLSearchParams({ MessageSid: id, From: '+15005550006', Body: 'Test event' }).toString(),
  }),
  sendgrid: id => ({
    body: JSON.stringify([{ event: 'delivered', email: 'ann@example.com', sg_event_id: id }]),
  }),
  'standard-webhooks': () => ({ body: JSON.stringify({ type: 'order.paid', data: order }) }),
  custom: () => ({ body: JSON.stringify({ type: 'order.paid', ...order }) }),
};
