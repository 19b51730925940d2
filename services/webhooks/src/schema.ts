import { nameSchemas, pageOf, pageQuery } from '@stak/http';
import { isName } from '@stak/kit';
import { z } from 'zod';
import { retryConfigSchema } from './delivery/retry.ts';
import { filtersSchema } from './filters/schema.ts';
import { readWhere } from './filters/where.ts';
import * as limits from './limits.ts';
import { alertKinds, breakerStates, sourceProviders } from './main-table.ts';
import { hmacConfigSchema, signingAlgorithmSchema, toleranceSchema } from './signatures/schema.ts';
import { deliveryStates, eventStatuses } from './tables.ts';
import { transformSchema } from './transforms/schema.ts';

// Requests and responses of the API.

// A prefix, then what `createIds` makes, or the nanoid that another program chose.
export const idSchema = z.string().regex(/^[a-z]+_[0-9A-Za-z_-]{1,40}$/, 'Not an id');
const name = z
  .string()
  .trim()
  .min(1)
  .max(limits.nameChars)
  .refine(isName, 'No control or invisible characters')
  .describe('A name for people.');
const url = z.string().max(limits.urlChars);
const secret = z.string().min(1).max(limits.secretChars);
const headerName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/, 'Not a header name');
const moment = z.iso.datetime({ offset: true });

const sourceFields = {
  name,
  signingSecret: secret.describe('The secret of the provider. Stored encrypted, never returned'),
  signingAlgorithm: signingAlgorithmSchema,
  signatures: z
    .enum(['off', 'reject', 'store'])
    .describe(
      'Without a valid signature, `reject` responds with 401, and `store` keeps the event as rejected',
    ),
  toleranceS: toleranceSchema,
  verifyToken: secret.describe('For handshakes with a verify token'),
  dedupeHeader: headerName.describe('Header with an id of the sender, used to detect duplicates'),
  whilePaused: z
    .enum(['hold', 'refuse'])
    .describe('`hold` responds with 202 and delivers later, `refuse` responds with 410'),
  alertUrl: url.describe('Receives each alert as a signed POST'),
  auditTrail: z
    .boolean()
    .describe('Whether a source of the provider `stak` also receives the audit trail of the account'),
};
const { name: sourceName, ...sourceOptions } = sourceFields;
const provider = z.enum(sourceProviders).describe('The sender. `stak` for the events of Stak itself');

export const newSourceSchema = z
  .strictObject({
    name: sourceName,
    provider: provider.default('custom'),
  })
  .extend(z.strictObject(sourceOptions).partial().shape);
export type NewSource = z.input<typeof newSourceSchema>;

const removable = ['signingSecret', 'verifyToken', 'dedupeHeader', 'alertUrl', 'toleranceS'] as const;
export const sourceChangeSchema = z.strictObject({
  name: sourceName.optional(),
  status: z.enum(['active', 'paused']).optional().describe('`paused` stops deliveries.'),
  signatures: sourceFields.signatures.optional(),
  signingAlgorithm: sourceFields.signingAlgorithm.optional(),
  whilePaused: sourceFields.whilePaused.optional(),
  auditTrail: sourceFields.auditTrail.optional(),
  signingSecret: sourceFields.signingSecret.nullable().optional(),
  verifyToken: sourceFields.verifyToken.nullable().optional(),
  dedupeHeader: sourceFields.dedupeHeader.nullable().optional(),
  alertUrl: sourceFields.alertUrl.nullable().optional(),
  toleranceS: sourceFields.toleranceS.nullable().optional(),
} satisfies Record<(typeof removable)[number], unknown> & Record<string, unknown>);
export type SourceChange = z.infer<typeof sourceChangeSchema>;

export const sourceSchema = z.strictObject({
  sourceId: z.string().describe('The id of the source.'),
  name: z.string().describe('A name for people.'),
  provider: provider,
  status: z.enum(['active', 'paused', 'deleted']).describe('Whether it takes and delivers events.'),
  signatures: sourceFields.signatures,
  hasSigningSecret: z
    .boolean()
    .describe('Whether the source has a signing secret. The secret itself is never shown.'),
  signingAlgorithm: signingAlgorithmSchema.optional(),
  toleranceS: z.int().optional().describe('How many seconds a signed timestamp may be off.'),
  dedupeHeader: z
    .string()
    .optional()
    .describe('The header in which the sender puts its own id. Events with the same id are stored once.'),
  whilePaused: sourceFields.whilePaused,
  auditTrail: sourceFields.auditTrail,
  alertUrl: z.string().optional().describe('Where alerts are sent, as a signed POST.'),
  ingestUrl: z.string().optional().describe('The URL for the provider. Not set for the provider `stak`'),
  eventCount: z.int().describe('How many events the source has received.'),
  lastEventAt: z.string().optional().describe('When the last event arrived, as an ISO 8601 time.'),
  createdAt: z.string().describe('When it was created, as an ISO 8601 time.'),
  updatedAt: z.string().describe('When it was last changed, as an ISO 8601 time.'),
});
export type SourceView = z.infer<typeof sourceSchema>;
export const sourceWithSecretSchema = sourceSchema.extend({
  alertSecret: z.string().optional().describe('Signs alerts. Returned once, when it is created'),
});

const connectionFields = {
  name,
  destinationUrl: url.describe('Where events are delivered.'),
  filters: filtersSchema,
  transform: transformSchema,
  retryConfig: retryConfigSchema,
  maxConcurrency: z
    .int()
    .min(1)
    .max(limits.concurrencyMost)
    .describe('Requests in flight at a time, in each process'),
  ratePerSecond: z
    .int()
    .min(1)
    .max(limits.ratePerSecondMost)
    .describe('Attempts per second, over all processes'),
  ordered: z.boolean().describe('Whether an event waits until the one before it is finished'),
};
const { name: connectionName, destinationUrl, ...connectionOptions } = connectionFields;

export const newConnectionSchema = z
  .strictObject({
    name: connectionName,
    destinationUrl,
  })
  .extend(z.strictObject(connectionOptions).partial().shape);
export type NewConnection = z.input<typeof newConnectionSchema>;

export const connectionChangeSchema = z.strictObject({
  ...z.strictObject(connectionFields).partial().shape,
  maxConcurrency: connectionFields.maxConcurrency.nullable().optional(),
  ratePerSecond: connectionFields.ratePerSecond.nullable().optional(),
  status: z.enum(['active', 'paused']).optional().describe('`paused` stops deliveries.'),
});
export type ConnectionChange = z.infer<typeof connectionChangeSchema>;

export const connectionSchema = z.strictObject({
  connectionId: z.string().describe('The id of the connection.'),
  sourceId: z.string().describe('The id of the source.'),
  name: z.string().describe('A name for people.'),
  destinationUrl: z.string().describe('Where events are delivered.'),
  filters: filtersSchema,
  transform: transformSchema,
  retryConfig: retryConfigSchema,
  maxConcurrency: z.int().describe('Requests in flight at a time, in each process'),
  ratePerSecond: z.int().optional().describe('Attempts per second, over all processes'),
  ordered: z.boolean().describe('Whether an event waits for the one before it.'),
  status: z.enum(['active', 'paused', 'disabled', 'deleted']).describe('Whether it delivers events.'),
  disabledReason: z.string().optional().describe('Why Stak disabled the connection.'),
  breaker: z
    .enum(breakerStates)
    .describe('The circuit breaker: `closed` delivers, `open` waits, `half` tries again.'),
  deliveryCount: z.int().describe('How many deliveries succeeded.'),
  failureCount: z.int().describe('How many deliveries failed.'),
  createdAt: z.string().describe('When it was created, as an ISO 8601 time.'),
  updatedAt: z.string().describe('When it was last changed, as an ISO 8601 time.'),
});
export type ConnectionView = z.infer<typeof connectionSchema>;
export const createdConnectionSchema = connectionSchema.extend({
  signingSecret: z.string().describe('Returned once, when it is created'),
});

export const deliverySchema = z.strictObject({
  connectionId: z.string().describe('The id of the connection.'),
  run: z.int().describe('The number of the run: 1 at first, one more with each replay.'),
  state: z.enum(deliveryStates).describe('How far the delivery is.'),
  isHeld: z.boolean().describe('Whether it is held until its connection can take it'),
  attempts: z.int().describe('How many attempts were made.'),
  nextAttemptAt: z.int().optional().describe('When the next attempt is due, in milliseconds since 1970.'),
  statusCode: z.int().optional().describe('The HTTP status of the response; 0 if there was none.'),
  error: z.string().optional().describe('Why there was no response.'),
  finishedAt: z.int().optional().describe('When it succeeded or was given up, in milliseconds since 1970.'),
});
export const attemptSchema = z.strictObject({
  connectionId: z.string().describe('The id of the connection.'),
  run: z.int().describe('The number of the run: 1 at first, one more with each replay.'),
  attemptNumber: z.int().describe('The number of the attempt, from 1.'),
  destinationUrl: z.string().describe('The address that was called.'),
  statusCode: z.int().describe('The HTTP status of the response; 0 if there was none.'),
  responseBody: z.string().optional().describe('The beginning of the response body.'),
  latencyMs: z.int().describe('How long the destination took, in milliseconds.'),
  error: z.string().optional().describe('Why there was no response.'),
  attemptedAt: z.int().describe('When the attempt was made, in milliseconds since 1970.'),
});
const eventSchema = z.strictObject({
  eventId: z.string().describe('The id of the event.'),
  sourceId: z.string().describe('The id of the source.'),
  status: z.enum(eventStatuses).describe('How far the event is.'),
  method: z.string().describe('The HTTP method.'),
  query: z.string().optional().describe('The query string, without the question mark.'),
  contentType: z.string().optional().describe('The media type of the body.'),
  eventType: z.string().optional().describe('What the sender calls the event, such as `invoice.paid`'),
  sourceIp: z.string().optional().describe('The address that sent the event.'),
  size: z.int().describe('The size of the body in bytes.'),
  dedupeId: z.string().optional().describe('The sender’s own id of the event.'),
  rejection: z.string().optional().describe('Why the signature was not accepted.'),
  receivedAt: z.int().describe('When it was received, in milliseconds since 1970.'),
  processedAt: z.int().optional().describe('When its deliveries were decided, in milliseconds since 1970.'),
  deliveredAt: z.int().optional().describe('When all deliveries had succeeded, in milliseconds since 1970.'),
  attempts: z.int().describe('Attempts of the latest run of each connection, added up'),
  connections: z.int().describe('Connections that it has deliveries for. 0 if its source had none yet'),
  expiresAt: z.int().describe('When it is deleted, in seconds since 1970.'),
});
export type EventView = z.infer<typeof eventSchema>;
export const headerPairsSchema = z.array(z.tuple([z.string(), z.string()]));
export const eventDetailSchema = eventSchema.extend({
  headers: headerPairsSchema.describe('The headers, in order, as pairs of name and value.'),
  deliveries: z.array(deliverySchema).describe('One entry per connection.'),
  attempts: z.array(attemptSchema).describe('The attempts, in order.'),
});

const eventFilterSchema = z.strictObject({
  status: z.enum(eventStatuses).optional().describe('Events with this status.'),
  from: moment.optional().describe('Events from this moment on.'),
  to: moment.optional().describe('Events before this moment.'),
  q: z
    .string()
    .min(2)
    .max(limits.searchChars)
    .optional()
    .describe('Searches the headers and the body for this text'),
  type: z.string().min(1).max(limits.eventTypeChars).optional().describe('Events of this type'),
  connectionId: idSchema.optional().describe('Events that this connection was to get'),
  where: z
    .string()
    .max(limits.searchChars, { abort: true }) // reading a long one backtracks
    .refine(text => readWhere(text) !== undefined, 'Not of the form body.path = value')
    .optional()
    .describe('A value of the body or of a header: `body.customer.id = cus_1`, `headers.x-shop = 7`'),
});
export const eventListQuery = pageQuery(limits.listItems).extend(eventFilterSchema.shape);
export const allEventsQuery = eventListQuery.extend({
  sourceIds: z
    .string()
    .max(limits.listedSources * 46)
    .transform(text => text.split(','))
    .pipe(z.array(idSchema).min(1).max(limits.listedSources))
    .optional()
    .describe('Ids of sources, separated by commas. Without it, the 25 sources that received an event last'),
});

const connectionIds = z.array(idSchema).min(1).max(limits.connectionsPerSource).optional();
export const replayOneSchema = z.strictObject({
  connectionIds: connectionIds.describe('The connections to deliver to; all of the source if absent.'),
});
export const newJobSchema = z.strictObject({
  action: z
    .enum(['replay', 'cancel'])
    .default('replay')
    .describe('Whether to deliver again, or to stop what is being delivered.'),
  connectionIds: connectionIds.describe('The connections it applies to; all of the source if absent.'),
  eventIds: z
    .array(idSchema)
    .min(1)
    .max(limits.replayEvents)
    .optional()
    .describe('The events it applies to; those that match the other fields if absent.'),
  ...eventFilterSchema.shape,
  expected: z
    .int()
    .min(0)
    .optional()
    .describe('How many events you have counted. The job returns it, so that progress has a total'),
});
export const jobSchema = z.strictObject({
  jobId: z.string().describe('The id of the job.'),
  sourceId: z.string().describe('The id of the source.'),
  action: z
    .enum(['replay', 'cancel'])
    .describe('Whether to deliver again, or to stop what is being delivered.'),
  state: z.enum(['running', 'done', 'failed', 'cancelled']).describe('How far the job is.'),
  matched: z.int().describe('How many events it has found so far.'),
  expected: z.int().optional().describe('How many events it will find, if that was known'),
  deliveries: z.int().describe('How many deliveries it has changed so far.'),
  createdAt: z.int().describe('When it was created, in milliseconds since 1970.'),
  finishedAt: z.int().optional().describe('When it ended, in milliseconds since 1970.'),
});

export const alertSchema = z.strictObject({
  alertKind: z.enum(alertKinds).describe('What happened.'),
  sourceId: z.string().describe('The id of the source.'),
  connectionId: z.string().describe('The id of the connection.'),
  eventId: z.string().optional().describe('The id of the event.'),
  detail: z.string().describe('What happened, in a sentence.'),
  raisedAt: z.string().describe('When it was raised, as an ISO 8601 time.'),
});
export const eventPageSchema = pageOf(eventSchema);
nameSchemas({
  Source: sourceSchema,
  SourceWithSecret: sourceWithSecretSchema,
  Connection: connectionSchema,
  ConnectionWithSecret: createdConnectionSchema,
  Delivery: deliverySchema,
  Attempt: attemptSchema,
  Event: eventSchema,
  Job: jobSchema,
  Alert: alertSchema,
  RetryConfig: retryConfigSchema,
  HmacConfig: hmacConfigSchema,
  ChosenConnections: replayOneSchema,
  EventPage: eventPageSchema,
});
