import type { z } from 'zod';
import type { Totals } from './analytics.ts';
import { isoTime } from './deps.ts';
import type { EventDetail } from './events.ts';
import type { Attempt, Delivery, Event, Job } from './events-table.ts';
import { type Alert, type Connection, isFromOutside, type Source } from './main-table.ts';
import type {
  alertSchema,
  attemptSchema,
  ConnectionView,
  deliverySchema,
  EventView,
  eventDetailSchema,
  jobSchema,
  SourceView,
} from './schema.ts';
import { readSigningAlgorithm } from './signatures/schema.ts';

// Stored items as they are shown: secrets, keys, leases and versions stay here.

const none: Totals = { count: 0, failures: 0 };

export const showSource = (source: Source, publicUrl: string, totals: Totals = none): SourceView => ({
  sourceId: source.sourceId,
  name: source.name,
  provider: source.provider,
  status: source.status,
  signatures: source.signatures,
  hasSigningSecret: source.signingSecret !== undefined,
  signingAlgorithm: readSigningAlgorithm(source.signingAlgorithm),
  toleranceS: source.toleranceS,
  dedupeHeader: source.dedupeHeader,
  whilePaused: source.whilePaused,
  alertUrl: source.alertUrl,
  ingestUrl: isFromOutside(source) ? `${publicUrl}/in/${source.sourceId}` : undefined,
  eventCount: totals.count,
  lastEventAt: totals.lastAt === undefined ? undefined : isoTime(totals.lastAt),
  createdAt: source.createdAt,
  updatedAt: source.updatedAt,
});

export const showConnection = (connection: Connection, totals: Totals = none): ConnectionView => ({
  connectionId: connection.connectionId,
  sourceId: connection.sourceId,
  name: connection.name,
  destinationUrl: connection.destinationUrl,
  filters: JSON.parse(connection.filters),
  transform: JSON.parse(connection.transform),
  retryConfig: JSON.parse(connection.retryConfig),
  maxConcurrency: connection.maxConcurrency,
  ratePerSecond: connection.ratePerSecond,
  ordered: connection.ordered,
  status: connection.status,
  disabledReason: connection.disabledReason,
  breaker: connection.breaker,
  deliveryCount: totals.count,
  failureCount: totals.failures,
  createdAt: connection.createdAt,
  updatedAt: connection.updatedAt,
});

export const showEvent = (event: Event): EventView => ({
  eventId: event.eventId,
  sourceId: event.sourceId,
  status: event.status,
  method: event.method,
  query: event.query,
  contentType: event.contentType,
  sourceIp: event.sourceIp,
  size: event.size,
  dedupeId: event.dedupeId,
  rejection: event.rejection,
  receivedAt: event.receivedAt,
  processedAt: event.processedAt,
  deliveredAt: event.deliveredAt,
  expiresAt: event.expiresAt,
});

const showDelivery = (one: Delivery): z.infer<typeof deliverySchema> => ({
  connectionId: one.connectionId,
  run: one.run,
  state: one.state,
  isHeld: one.dueIn === one.connectionId,
  attempts: one.attempts,
  // While somebody works on it, its due time is the end of a lease.
  nextAttemptAt: one.owner || one.dueIn === one.connectionId ? undefined : one.dueAt,
  statusCode: one.statusCode,
  error: one.state === 'delivered' ? undefined : one.error, // deliveries of older versions kept it
  finishedAt: one.finishedAt,
});

const showAttempt = ({ eventId: _, expiresAt: _expiry, ...one }: Attempt): z.infer<typeof attemptSchema> =>
  one;

export const showDetail = (detail: EventDetail): z.infer<typeof eventDetailSchema> => ({
  ...showEvent(detail.event),
  headers: detail.headers.map(([name, value]) => [name, value]),
  deliveries: detail.deliveries.map(showDelivery),
  attempts: detail.attempts.map(showAttempt),
});

export const showJob = (job: Job): z.infer<typeof jobSchema> => ({
  jobId: job.jobId,
  sourceId: job.sourceId,
  action: job.action === 'cancel' ? 'cancel' : 'replay',
  state: job.state,
  matched: job.matched,
  deliveries: job.deliveries,
  createdAt: job.createdAt,
  finishedAt: job.finishedAt,
});

export const showAlert = (alert: Alert): z.infer<typeof alertSchema> => ({
  alertKind: alert.alertKind,
  sourceId: alert.sourceId,
  connectionId: alert.connectionId,
  eventId: alert.eventId,
  detail: alert.detail,
  raisedAt: alert.raisedAt,
});
