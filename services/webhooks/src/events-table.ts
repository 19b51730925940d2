import { defineQuery, defineTable, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';

export const ferryhookEvents = defineTable({
  name: 'ferryhook-events',
  description: 'Events, what they owe to whom, every attempt, and the counters of all that.',
  keys: { partition: 'PK', sort: 'SK' },
  indexes: {
    GSI1: { partition: 'GSI1PK', sort: 'GSI1SK', project: 'KEYS_ONLY' },
    // Sparse: only what waits for its time, or for its connection, is in it.
    GSI2: { partition: 'GSI2PK', sort: 'GSI2SK', project: ['dueAt'] },
  },
  ttl: 'expiresAt',
  stream: 'NEW_AND_OLD_IMAGES',
});

const ms = z.int().describe('Unix timestamp (ms)');
const bytes = z.custom<Uint8Array>(value => value instanceof Uint8Array, 'Not bytes');
const expiresAt = z.int().describe('The second after which it is gone');

// A shard of the due index, or the id of the connection in whose backlog it is. Without it nothing is due.
const dueIn = z.string().optional();
const dueAt = ms.optional();
// A lease is an owner and a due time ahead: whoever dies leaves behind what becomes due by itself.
const lease = { dueIn, dueAt, owner: z.string().optional(), version: z.int() };

export const eventStatuses = [
  'received',
  'processing',
  'filtered',
  'delivered',
  'partial',
  'retrying',
  'failed',
  'rejected',
] as const;
export type EventStatus = (typeof eventStatuses)[number];

export const deliveryStates = [
  'pending',
  'retrying',
  'delivered',
  'failed',
  'filtered',
  'cancelled',
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

const summary = z.object({
  state: z.enum(deliveryStates),
  run: z.int(),
  jobId: z.string().optional().describe('The replay that began the run'),
});

export const event = entity(ferryhookEvents, {
  name: 'event',
  description: 'What arrived, and what became of it. Small, because every result rewrites it.',
  schema: z.object({
    sourceId: z.string(),
    shard: z.int(),
    receivedAt: ms,
    eventId: z.string(),
    userId: z.string(),
    status: z.enum(eventStatuses),
    method: z.string(),
    query: z.string().optional(),
    contentType: z.string().optional(),
    sourceIp: z.string().optional(),
    size: z.int().describe('Bytes of the body'),
    dedupeId: z.string().optional().describe("The provider's own id"),
    rejection: z.string().optional().describe('Why the signature was refused'),
    deliveries: z.record(z.string(), summary).describe('The latest run of each connection'),
    processedAt: ms.optional(),
    deliveredAt: ms.optional(),
    version: z.int(),
    expiresAt,
  }),
  key: { partition: 'SRC#{sourceId}#{shard}', sort: 'EVT#{receivedAt:13}#{eventId}' },
  indexes: { GSI1: { partition: 'EVTID#{eventId}', sort: 'EVENT' } },
  version: 'version',
});
export type Event = ItemOf<typeof event>;
export type DeliverySummary = z.infer<typeof summary>;

export const payload = entity(ferryhookEvents, {
  name: 'payload',
  description: 'Headers and body as they arrived. Never written again.',
  schema: z.object({
    eventId: z.string(),
    part: z.int(),
    sourceId: z.string(),
    receivedAt: ms,
    method: z.string().optional().describe('Like query and headers, in the first part'),
    query: z.string().optional(),
    headers: z.string().optional().describe('JSON: ordered pairs'),
    body: bytes.optional(),
    parts: z.int(),
    expiresAt,
  }),
  key: { partition: 'EVT#{eventId}', sort: 'BODY#{part:3}' },
});
export type Payload = ItemOf<typeof payload>;

export const delivery = entity(ferryhookEvents, {
  name: 'delivery',
  description: 'What an event owes to a connection: when it is due, who works on it, how far it got.',
  schema: z.object({
    eventId: z.string(),
    connectionId: z.string(),
    run: z.int().describe('0 for the first; each replay is another one'),
    sourceId: z.string(),
    userId: z.string(),
    receivedAt: ms.describe('Of the event'),
    state: z.enum(deliveryStates),
    attempts: z.int(),
    queueId: z.string().optional().describe('Its place in line, if the connection is ordered'),
    eventVersion: z.int().optional().describe('Of the event, if this is all it owes'),
    statusCode: z.int().optional(),
    error: z.string().optional(),
    finishedAt: ms.optional(),
    ...lease,
    expiresAt,
  }),
  key: { partition: 'EVT#{eventId}', sort: 'DLV#{connectionId}#{run:4}' },
  indexes: { GSI2: { partition: 'DUE#{dueIn}', sort: '{dueAt:13}#{eventId}' } },
  version: 'version',
});
export type Delivery = ItemOf<typeof delivery>;

export const attempt = entity(ferryhookEvents, {
  name: 'attempt',
  schema: z.object({
    eventId: z.string(),
    connectionId: z.string(),
    run: z.int(),
    attemptNumber: z.int(),
    destinationUrl: z.string(),
    statusCode: z.int().describe('0 if there was no answer'),
    responseBody: z.string().optional().describe('Its first 1,000 characters'),
    latencyMs: z.int(),
    error: z.string().optional(),
    attemptedAt: ms,
    expiresAt,
  }),
  key: { partition: 'EVT#{eventId}', sort: 'ATT#{connectionId}#{run:4}#{attemptNumber:4}' },
});
export type Attempt = ItemOf<typeof attempt>;

export const dedupe = entity(ferryhookEvents, {
  name: 'provider id',
  description: 'Which event a provider has already sent under this id.',
  schema: z.object({ sourceId: z.string(), dedupeId: z.string(), eventId: z.string(), expiresAt }),
  key: { partition: 'DEDUPE#{sourceId}#{dedupeId:text}', sort: 'EVENT' },
});

export const place = entity(ferryhookEvents, {
  name: 'place in line',
  description: 'Of a delivery to an ordered connection. The first in line is the only one that may be tried.',
  schema: z.object({
    connectionId: z.string(),
    queueId: z.string(),
    eventId: z.string(),
    run: z.int(),
    expiresAt,
  }),
  key: { partition: 'LANE#{connectionId}', sort: 'Q#{queueId}' },
});

export const lane = entity(ferryhookEvents, {
  name: 'lane',
  description: 'Somebody has to look after the backlog of this connection: release it, or probe.',
  schema: z.object({
    connectionId: z.string(),
    sourceId: z.string(),
    userId: z.string(),
    emptyAt: ms.optional().describe('When the backlog was first seen empty'),
    ...lease,
  }),
  key: { partition: 'LANE#{connectionId}', sort: 'STATE' },
  indexes: { GSI2: { partition: 'DUE#{dueIn}', sort: '{dueAt:13}#{connectionId}' } },
  version: 'version',
});
export type Lane = ItemOf<typeof lane>;

export const bucket = entity(ferryhookEvents, {
  name: 'rate bucket',
  description: 'What all processes together have sent to a connection with a rate limit.',
  schema: z.object({ connectionId: z.string(), used: z.number(), atMs: ms, version: z.int(), expiresAt }),
  key: { partition: 'LANE#{connectionId}', sort: 'RATE' },
  version: 'version',
});

export const job = entity(ferryhookEvents, {
  name: 'job',
  description: 'A replay or a cancellation of many events, and how far it is.',
  schema: z.object({
    userId: z.string(),
    jobId: z.string(),
    sourceId: z.string(),
    action: z.enum(['replay', 'cancel', 'catch_up']),
    connectionIds: z.array(z.string()).optional(),
    eventIds: z.array(z.string()).optional(),
    from: ms.optional(),
    to: ms.optional(),
    status: z.enum(eventStatuses).optional(),
    state: z.enum(['running', 'done', 'failed', 'cancelled']),
    position: z.string().optional().describe('JSON: the last event it has looked at'),
    matched: z.int(),
    deliveries: z.int(),
    failures: z.int().describe('In a row'),
    createdAt: ms,
    finishedAt: ms.optional(),
    ...lease,
    expiresAt,
  }),
  key: { partition: 'JOBS#{userId}', sort: 'JOB#{jobId}' },
  indexes: { GSI2: { partition: 'DUE#{dueIn}', sort: '{dueAt:13}#{jobId}' } },
  version: 'version',
});
export type Job = ItemOf<typeof job>;

export const eventsOfShard = defineQuery('events of a source, newest first', {
  of: event,
  newestFirst: true,
  consistent: true,
});
export const eventById = defineQuery('event by id', { of: event, index: 'GSI1' });
export const payloadOfEvent = defineQuery('payload of an event', { of: payload, consistent: true });
export const deliveriesOfEvent = defineQuery('deliveries of an event', { of: delivery, consistent: true });
export const attemptsOfEvent = defineQuery('attempts of an event', { of: attempt, consistent: true });
export const placesOfConnection = defineQuery('line of a connection', { of: place, consistent: true });
export const dueWork = defineQuery('what is due', { of: [delivery, lane, job], index: 'GSI2' });
export const backlogOfConnection = defineQuery('backlog of a connection', { of: delivery, index: 'GSI2' });
export const jobsOfUser = defineQuery('jobs of a user', { of: job, newestFirst: true, consistent: true });
