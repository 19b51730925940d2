import { nameSchemas, pageOf, pageQuery } from '@stak/http';
import { isName } from '@stak/kit';
import { z } from 'zod';
import { retryConfigSchema } from './delivery/retry.ts';
import { filtersSchema } from './filters/schema.ts';
import { readWhere } from './filters/where.ts';
import * as limits from './limits.ts';
import { alertKinds, breakerStates, sourceProviders } from './main-table.ts';
import { hmacConfigSchema, signingAlgorithmSchema, toleranceSchema } from './signatures/schema.ts';
import { deliveryStates, type EventStatus, eventStatuses } from './tables.ts';
import { transformSchema } from './transforms/schema.ts';

// Requests and responses of the API.

// A prefix, then what `createIds` makes, or the nanoid that another program chose.
export const idSchema = z.string().regex(/^[a-z]+_[0-9A-Za-z_-]{1,40}$/, 'Not an id');
const name = z
  .string()
  .trim()
  .min(1)
  .max(limits.nameChars)
  .refine(isName, 'No control or invisible characters');
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
  .strictObject({ name: sourceName, provider: provider.default('custom') })
  .extend(z.strictObject(sourceOptions).partial().shape);
export type NewSource = z.input<typeof newSourceSchema>;

const removable = ['signingSecret', 'verifyToken', 'dedupeHeader', 'alertUrl', 'toleranceS'] as const;
export const sourceChangeSchema = z.strictObject({
  name: sourceName.optional(),
  status: z.enum(['active', 'paused']).optional(),
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
  sourceId: z.string(),
  name: z.string(),
  provider,
  status: z.enum(['active', 'paused', 'deleted']),
  signatures: sourceFields.signatures,
  hasSigningSecret: z.boolean(),
  signingAlgorithm: signingAlgorithmSchema.optional(),
  toleranceS: z.int().optional(),
  dedupeHeader: z.string().optional(),
  whilePaused: sourceFields.whilePaused,
  auditTrail: sourceFields.auditTrail,
  alertUrl: z.string().optional(),
  ingestUrl: z.string().optional().describe('The URL for the provider. Not set for the provider `stak`'),
  eventCount: z.int(),
  lastEventAt: z.string().optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type SourceView = z.infer<typeof sourceSchema>;
export const sourceWithSecretSchema = sourceSchema.extend({
  alertSecret: z.string().optional().describe('Signs alerts. Returned once, when it is created'),
});

const connectionFields = {
  name,
  destinationUrl: url,
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
  .strictObject({ name: connectionName, destinationUrl })
  .extend(z.strictObject(connectionOptions).partial().shape);
export type NewConnection = z.input<typeof newConnectionSchema>;

export const connectionChangeSchema = z.strictObject({
  ...z.strictObject(connectionFields).partial().shape,
  maxConcurrency: connectionFields.maxConcurrency.nullable().optional(),
  ratePerSecond: connectionFields.ratePerSecond.nullable().optional(),
  status: z.enum(['active', 'paused']).optional(),
});
export type ConnectionChange = z.infer<typeof connectionChangeSchema>;

export const connectionSchema = z.strictObject({
  connectionId: z.string(),
  sourceId: z.string(),
  name: z.string(),
  destinationUrl: z.string(),
  filters: filtersSchema,
  transform: transformSchema,
  retryConfig: retryConfigSchema,
  maxConcurrency: z.int(),
  ratePerSecond: z.int().optional(),
  ordered: z.boolean(),
  status: z.enum(['active', 'paused', 'disabled', 'deleted']),
  disabledReason: z.string().optional(),
  breaker: z.enum(breakerStates),
  deliveryCount: z.int(),
  failureCount: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type ConnectionView = z.infer<typeof connectionSchema>;
export const createdConnectionSchema = connectionSchema.extend({
  signingSecret: z.string().describe('Returned once, when it is created'),
});

export const deliverySchema = z.strictObject({
  connectionId: z.string(),
  run: z.int(),
  state: z.enum(deliveryStates),
  isHeld: z.boolean().describe('Whether it is held until its connection can take it'),
  attempts: z.int(),
  nextAttemptAt: z.int().optional(),
  statusCode: z.int().optional(),
  error: z.string().optional(),
  finishedAt: z.int().optional(),
});
export const attemptSchema = z.strictObject({
  connectionId: z.string(),
  run: z.int(),
  attemptNumber: z.int(),
  destinationUrl: z.string(),
  statusCode: z.int(),
  responseBody: z.string().optional(),
  latencyMs: z.int(),
  error: z.string().optional(),
  attemptedAt: z.int(),
});
const eventSchema = z.strictObject({
  eventId: z.string(),
  sourceId: z.string(),
  status: z.enum(eventStatuses),
  method: z.string(),
  query: z.string().optional(),
  contentType: z.string().optional(),
  eventType: z.string().optional().describe('What the sender calls the event, such as `invoice.paid`'),
  sourceIp: z.string().optional(),
  size: z.int(),
  dedupeId: z.string().optional(),
  rejection: z.string().optional(),
  receivedAt: z.int(),
  processedAt: z.int().optional(),
  deliveredAt: z.int().optional(),
  attempts: z.int().describe('Attempts of the latest run of each connection, added up'),
  connections: z.int().describe('Connections that it has deliveries for. 0 if its source had none yet'),
  expiresAt: z.int(),
});
export type EventView = z.infer<typeof eventSchema>;
const headerPairsSchema = z.array(z.tuple([z.string(), z.string()]));
export const eventDetailSchema = eventSchema.extend({
  headers: headerPairsSchema,
  deliveries: z.array(deliverySchema),
  attempts: z.array(attemptSchema),
});

const eventFilterSchema = z.strictObject({
  status: z.enum(eventStatuses).optional(),
  from: moment.optional(),
  to: moment.optional(),
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
export const replayOneSchema = z.strictObject({ connectionIds });
export const newJobSchema = z.strictObject({
  action: z.enum(['replay', 'cancel']).default('replay'),
  connectionIds,
  eventIds: z.array(idSchema).min(1).max(limits.replayEvents).optional(),
  ...eventFilterSchema.shape,
  expected: z
    .int()
    .min(0)
    .optional()
    .describe('How many events you have counted. The job returns it, so that progress has a total'),
});
export const jobSchema = z.strictObject({
  jobId: z.string(),
  sourceId: z.string(),
  action: z.enum(['replay', 'cancel']),
  state: z.enum(['running', 'done', 'failed', 'cancelled']),
  matched: z.int(),
  expected: z.int().optional().describe('How many events it will find, if that was known'),
  deliveries: z.int(),
  createdAt: z.int(),
  finishedAt: z.int().optional(),
});

export const alertSchema = z.strictObject({
  alertKind: z.enum(alertKinds),
  sourceId: z.string(),
  connectionId: z.string(),
  eventId: z.string().optional(),
  detail: z.string(),
  raisedAt: z.string(),
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

const count = z.int();
const statusCounts = z.strictObject(
  Object.fromEntries(eventStatuses.map(status => [status, count])) as Record<EventStatus, typeof count>,
);
export const analyticsQuery = z.strictObject({
  from: z.iso.date().optional().describe('The first day. Defaults to six days before the last'),
  to: z.iso.date().optional().describe('The last day. Defaults to today'),
  sourceId: idSchema.optional(),
});
export const analyticsSchema = z.strictObject({
  days: z.array(
    z.strictObject({
      day: z.string(),
      received: count,
      statuses: statusCounts,
      attempts: count,
      successes: count,
    }),
  ),
  received: count,
  statuses: statusCounts,
  attempts: count,
  successRate: z.number().nullable(),
  latency: z.strictObject({ p50: z.number().nullable(), p95: z.number().nullable() }),
  topSources: z.array(z.strictObject({ sourceId: z.string(), received: count })),
});

const rulesSampleSchema = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  headers: headerPairsSchema.max(limits.headerPairs).default([]),
  query: z.string().max(limits.queryChars).default(''),
  body: z.string().default('').describe('Text, or base64 if `isBase64` is true'),
  isBase64: z.boolean().default(false),
  eventId: idSchema
    .optional()
    .describe('A stored event of the source: its request is used instead of the other fields'),
});
export type RulesSample = z.infer<typeof rulesSampleSchema>;
export const sampleSchema = rulesSampleSchema.extend({
  send: z.boolean().default(false).describe('Whether to send the request to the destination'),
});
export const rulesTrialSchema = rulesSampleSchema.extend({
  filters: filtersSchema.default([]),
  transform: transformSchema.default({ type: 'passthrough' }),
});
export const testResultSchema = z.strictObject({
  filter: z.strictObject({
    matched: z.boolean(),
    steps: z.array(
      z.strictObject({ rule: z.string(), matched: z.boolean(), why: z.string(), depth: z.int() }),
    ),
  }),
  transform: z
    .strictObject({
      ok: z.boolean(),
      dropped: z.boolean().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
    })
    .optional(),
  request: z
    .strictObject({
      url: z.string(),
      method: z.string(),
      headers: headerPairsSchema,
      body: z.string().describe('Base64'),
    })
    .optional(),
  response: z
    .strictObject({
      statusCode: z.int(),
      latencyMs: z.number(),
      responseBody: z.string().optional(),
      error: z.string().optional(),
    })
    .optional(),
});
nameSchemas({
  EventStatusCounts: statusCounts,
  FilterResult: testResultSchema.shape.filter,
  TransformResult: testResultSchema.shape.transform.unwrap(),
});
export type TestResult = z.infer<typeof testResultSchema>;
export const rulesTrialResultSchema = testResultSchema
  .pick({ filter: true, transform: true })
  .extend({ body: z.string().optional().describe('What is left to send, in base64') });
