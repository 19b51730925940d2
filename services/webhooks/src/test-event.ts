import { endpoint, json, route } from '@stak/http';
import { z } from 'zod';
import { inSeconds } from './deps.ts';
import { webhookErrors } from './errors.ts';
import type { HeaderPair } from './filters/request-view.ts';
import { type IngestDeps, ingest } from './ingest.ts';
import { isFromOutside, type OutsideSource } from './main-table.ts';
import { idSchema } from './schema.ts';
import { sourcePlace } from './secrets.ts';
import type { Provider } from './signatures/provider.ts';
import { hmacConfigOf, readSigningAlgorithm } from './signatures/schema.ts';
import { signRequest } from './signatures/sign-request.ts';
import type { Sources } from './sources.ts';

const sendTestEvent = route({
  method: 'post',
  path: '/v1/sources/{sourceId}/test-event',
  operationId: 'webhooks.sendTestEvent',
  auth: 'account',
  scope: 'write',
  summary: 'Send a test event to a source',
  description:
    'Sends a sample of what the provider sends, signed with the signing secret of the source, through everything a real webhook passes. It is stored, counted and delivered like any other event and carries the header `X-Stak-Test: true`. SendGrid signs with a key that only SendGrid has: where its signatures are checked, send a test from SendGrid instead.',
  tags: ['webhooks'],
  request: { params: z.strictObject({ sourceId: idSchema }) },
  responses: {
    200: json(
      z.strictObject({
        eventId: z.string().describe('The event that was stored'),
        status: z.string().describe('Its status as it arrived'),
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

export function createTestEventApi(deps: IngestDeps & { sources: Sources; publicUrl: string }) {
  return [
    endpoint(sendTestEvent, async c => {
      const { sourceId } = c.req.valid('param');
      const source = await deps.sources.owned(sourceId, c.get('principal').accountId);
      if (!isFromOutside(source)) throw cannotSign('Stak itself sends to this source.');
      const answer = await ingest(deps, { ...testRequest(deps, source), sourceIp: c.get('address') });
      if ('handshake' in answer) throw cannotSign('The provider checks this source first.');
      const { eventId, status } = answer.receipt;
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

  const [secret] = secrets.open(source.signingSecret, sourcePlace(sourceId, 'signingSecret'));
  if (!secret) throw cannotSign('The source checks signatures but has no signing secret. Set one first.');
  const proof = signRequest(provider, {
    secret,
    id,
    timestampS: inSeconds(clock.now()),
    headers,
    body,
    url,
    config: hmacConfigOf(readSigningAlgorithm(source.signingAlgorithm)),
  });
  if (!proof)
    throw cannotSign(
      provider === 'sendgrid'
        ? 'Only SendGrid can sign for this source: send a test from its own settings.'
        : 'The signing secret cannot be used as a key: check its encoding.',
    );
  return { ...request, headers: [...headers, ...proof] };
}

type Sample = { body: string; type?: string; headers?: HeaderPair[] };

const order = { id: 'order_1042', amount: 4200, currency: 'eur' };

// As each provider sends them: filters and transforms that read a real one read these.
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
