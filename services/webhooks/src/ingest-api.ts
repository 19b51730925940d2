import { type ApiEnv, endpoint, json, raw, route } from '@stak/http';
import { z } from 'zod';
import type { HeaderPair } from './filters/request-view.ts';
import { type IngestDeps, ingest } from './ingest.ts';
import * as limits from './limits.ts';

const receiptSchema = z.strictObject({ eventId: z.string(), status: z.string(), duplicate: z.boolean() });

const receive = route({
  method: 'any',
  path: '/in/{source_id}',
  operationId: 'webhooks.receive',
  auth: 'public',
  summary: 'Send a webhook',
  description:
    'Any method, any content type. The answer comes when the event is on disk together with the deliveries it owes.',
  tags: ['webhooks'],
  request: { params: z.strictObject({ source_id: z.string().max(60) }), body: raw('The webhook') },
  responses: {
    200: {
      description: 'It is stored; or what a provider wants to hear before it sends anything',
      content: { 'application/json': { schema: receiptSchema }, 'text/plain': { schema: z.string() } },
    },
    202: json(receiptSchema, 'It is stored, and delivered when the source is resumed'),
  },
  problems: [
    'webhooks.source_not_found',
    'webhooks.source_paused',
    'webhooks.signature_refused',
    'webhooks.body_too_large',
    'webhooks.headers_too_large',
    'webhooks.rate_limited',
    'webhooks.quota_exceeded',
    'webhooks.storage_limit_reached',
  ],
  limits: { bodyBytes: limits.bodyBytes, isWebhook: true }, // besides, its source and the account's plan are limits
});

const sourceIdShape = /^src_[0-9a-z]{1,40}$/;

export function createIngestApi(deps: IngestDeps & { publicUrl: string }) {
  return [
    endpoint(receive, async c => {
      const sourceId = c.req.valid('param').source_id;
      const url = new URL(c.req.url);
      const answer = await ingest(deps, {
        // A text that is no id is as unknown as an id that is none of ours.
        sourceId: sourceIdShape.test(sourceId) ? sourceId : 'src_0',
        method: c.req.method,
        headers: headersOf(c.req.raw.headers, c.env),
        query: url.search.slice(1),
        body: c.get('body'),
        sourceIp: c.get('address'),
        url: `${deps.publicUrl}${url.pathname}${url.search}`,
      });
      if ('handshake' in answer) {
        const { status, contentType, body } = answer.handshake;
        return new Response(body, { status, headers: { 'Content-Type': contentType } }) as never;
      }
      const { eventId, status, isDuplicate, isHeld } = answer.receipt;
      return c.json({ eventId, status, duplicate: isDuplicate }, isHeld ? 202 : 200);
    }),
  ] as const;
}

// As they came over the wire, in their order and spelling; a request that came by no wire has neither.
function headersOf(headers: Headers, env: ApiEnv['Bindings'] | undefined): HeaderPair[] {
  const rawHeaders = env?.incoming?.rawHeaders;
  if (!rawHeaders) return [...headers];
  const pairs: HeaderPair[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) pairs.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
  return pairs;
}
