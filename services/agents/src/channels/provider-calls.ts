import { type HeaderPair, readRetryAfter } from '@stak/outbound';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import type { Outcome } from './channel.ts';
import { asObject, asText, readJson } from './signatures.ts';

export type Called = { status: number; json: Readonly<Record<string, unknown>>; retryMs?: number };

// Calls a provider's API with the guarded client: URLs of a tenant's channel may come from a message.
export async function callJson(
  { outbound, clock }: Pick<Service, 'clock' | 'outbound'>,
  url: string,
  headers: readonly HeaderPair[],
  body: unknown,
  method: 'POST' | 'PUT' = 'POST',
): Promise<Called | { failed: string }> {
  const isForm = body instanceof URLSearchParams;
  const result = await outbound.send({
    url,
    method,
    headers: [
      ['content-type', isForm ? 'application/x-www-form-urlencoded' : 'application/json; charset=utf-8'],
      ...headers,
    ],
    body: isForm ? body.toString() : JSON.stringify(body),
    timeoutMs: limits.replyMs,
  });
  if (!result.ok) return { failed: result.reason };
  const json = readJson(result.body);
  const asked = result.headers.find(([name]) => name === 'retry-after')?.[1];
  // Telegram says it in the body only.
  const { retry_after } = asObject(json.parameters);
  const retryMs = readRetryAfter(asked ?? asText(retry_after), clock.now());
  return { status: result.status, json, retryMs };
}

// Slack's words, with status 200.
const busy = new Set(['ratelimited', 'internal_error', 'service_unavailable', 'request_timeout']);

// Busy, or temporarily broken: can be retried. Any other refusal is permanent.
export function judge(
  called: Called | { failed: string },
  isFine: (json: Called['json']) => boolean,
): Outcome {
  if ('failed' in called) return { ok: false, retryMs: 0, reason: called.failed };
  const { status, json, retryMs = 0 } = called;
  const isBusy = status === 429 || status >= 500 || busy.has(asText(json.error));
  if (isBusy) return { ok: false, retryMs, reason: `it answered ${status}` };
  if (status >= 200 && status < 300 && isFine(json)) return { ok: true };
  return { ok: false, reason: `it answered ${status}` };
}
