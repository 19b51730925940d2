import { type ApiEnv, endpoint, json, raw, route } from '@stak/http';
import { z } from 'zod';
import type { HeaderPair } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import { type IngestDeps, ingest } from './ingest.ts';

const receiptSchema = z.strictObject({ eventId: z.string(), status: z.string(), duplicate: z.boolean() });

const receive = route({
  method: 'any',
  path: '/in/{source_id}',
  operationId: 'webhooks.receive',
  auth: 'public',
  summary: 'Send a webhook',
  description:
    'Takes any method and any content type. Responds once the event and its deliveries are stored on disk.',
  tags: ['webhooks'],
  request: { params: z.strictObject({ source_id: z.string().max(60) }), body: raw('The webhook') },
  responses: {
    200: {
      description: 'The event is stored. Plain text is the response to a handshake of the provider',
      content: { 'application/json': { schema: receiptSchema }, 'text/plain': { schema: z.string() } },
    },
    202: json(receiptSchema, 'The event is stored, and will be delivered when the source is resumed'),
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
  limits: { bodyBytes: limits.bodyBytes, isWebhook: true }, // the source and the account's plan have limits of their own
});

const sourceIdShape = /^src_[0-9a-z]{1,40}$/;

export function createIngestRoutes(deps: IngestDeps & { publicUrl: string }) {
  return [
    endpoint(receive, async c => {
      const sourceId = c.req.valid('param').source_id;
      const { pathname, search } = new URL(c.req.url);
      const query = queryOf(search, c.env);
      const response = await ingest(deps, {
        // A malformed id is answered like an unknown one.
        sourceId: sourceIdShape.test(sourceId) ? sourceId : 'src_0',
        method: c.req.method,
        headers: headersOf(c.req.raw.headers, c.env),
        query,
        body: c.get('body'),
        sourceIp: c.get('address'),
        url: `${deps.publicUrl}${pathname}${query === '' ? '' : `?${query}`}`,
      });
      if ('handshake' in response) {
        const { status, contentType, body } = response.handshake;
        return new Response(body, { status, headers: { 'Content-Type': contentType } }) as never;
      }
      const { eventId, status, isDuplicate, isHeld } = response.receipt;
      return c.json({ eventId, status, duplicate: isDuplicate }, isHeld ? 202 : 200);
    }),
  ] as const;
}

// As received over the wire. A parser encodes quotation marks and the like, which the sender may have signed as they are.
function queryOf(parsed: string, env: ApiEnv['Bindings'] | undefined): string {
  const { url = parsed } = env?.incoming ?? {};
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

// As received over the wire, in their order and spelling. A request made in process has neither.
function headersOf(headers: Headers, env: ApiEnv['Bindings'] | undefined): HeaderPair[] {
  const rawHeaders = env?.incoming?.rawHeaders;
  if (!rawHeaders) return [...headers];
  const pairs: HeaderPair[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) pairs.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
  return pairs;
}
