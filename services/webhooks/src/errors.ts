import { defineErrors } from '@stak/kit';

export const webhookErrors = defineErrors({
  'webhooks.source_not_found': 404,
  'webhooks.connection_not_found': 404,
  'webhooks.event_not_found': 404,
  'webhooks.job_not_found': 404,
  'webhooks.too_many_sources': 409,
  'webhooks.too_many_connections': 409,
  'webhooks.too_many_jobs': 409,
  'webhooks.destination_refused': 422,
  'webhooks.field_refused': 422,
  'webhooks.range_too_long': 422,
  'webhooks.source_paused': 410,
  'webhooks.signature_refused': 401,
  'webhooks.cannot_sign': 409,
  'webhooks.body_too_large': 413,
  'webhooks.headers_too_large': 431,
  'webhooks.rate_limited': 429,
  'webhooks.quota_exceeded': 402,
  'webhooks.rules_failed': 422,
  'webhooks.busy': 503,
  'webhooks.storage_limit_reached': 402,
});

export const notFound = (what: 'source' | 'connection' | 'event' | 'job') =>
  webhookErrors.create(`webhooks.${what}_not_found`, `${what[0]!.toUpperCase()}${what.slice(1)} not found.`);
