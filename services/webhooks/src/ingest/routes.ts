import { json, nameSchemas, plainEndpoint, raw, route } from '@stak/http';
import { z } from 'zod';
import * as limits from '../limits.ts';
import { type IngestDeps, ingest } from './ingest.ts';

const receiptSchema = z.strictObject({
  eventId: z.string().describe('The id of the event.'),
  status: z.string().describe('Whether the event is stored or was rejected.'),
  duplicate: z.boolean().describe('Whether the event was received before, by its id.'),
});
nameSchemas({ EventReceipt: receiptSchema });

const receive = route({
  method: 'any',
  path: '/in/{source_id}',
  operationId: 'webhooks.receive',
  reaches: 'nothing',
  audit: false,
  stores: 'handler',
  tenant: 'none',
  mcp: false,
  auth: 'public',
  summary: 'Send a webhook',
  description:
    'Takes any method and any content type. Responds once the event and its deliveries are stored on disk.',
  tags: ['webhooks'],
  request: {
    params: z.strictObject({ source_id: z.string().max(60).describe('The id of the source.') }),
    body: raw('The webhook'),
  },
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

const sourceIdShape = /^src_[0-9A-Za-z_-]{1,40}$/;

export function createIngestRoutes(deps: IngestDeps & { publicUrl: string }) {
  return [
    plainEndpoint(receive, async ({ params, method, path, query, headers, body, address }) => {
      const { source_id: sourceId = '' } = params;
      const response = await ingest(deps, {
        // A malformed id is answered like an unknown one.
        sourceId: sourceIdShape.test(sourceId) ? sourceId : 'src_0',
        method,
        headers,
        query,
        body,
        sourceIp: address,
        url: `${deps.publicUrl}${path}${query === '' ? '' : `?${query}`}`,
      });
      if ('handshake' in response) return response.handshake;
      const { eventId, status, isDuplicate, isHeld } = response.receipt;
      const receipt = { eventId, status, duplicate: isDuplicate } satisfies z.infer<typeof receiptSchema>;
      return { status: isHeld ? 202 : 200, contentType: 'application/json', body: JSON.stringify(receipt) };
    }),
  ] as const;
}
