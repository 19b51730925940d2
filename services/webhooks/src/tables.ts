import { createHash } from 'node:crypto';
import { defineQuery, defineTable, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import {
  countCheckpoint,
  countStart,
  dayCount,
  daysOfUser,
  totalCount,
  totalsOfUser,
} from './count-tables.ts';
import { type EventStatus, eventStatuses, eventsKeys } from './events-keys.ts';
import * as limits from './limits.ts';

// The table `ferryhook-events`; its counters are in count-tables.ts. The entities that webhooks add to `ferryhook-main`
// are in main-table.ts.
export * from './count-tables.ts';
export { type EventStatus, eventStatuses } from './events-keys.ts';
export * from './main-table.ts';
export { findOwnerOfSource } from './source-owner.ts';

const ms = z.int().describe('Unix timestamp (ms)');
const bytes = z.custom<Uint8Array>(value => value instanceof Uint8Array, 'Not bytes');
const expiresAt = z.int().describe('Unix timestamp (s) of its expiry');

// A shard of the queue, or the id of the connection whose backlog it is in. An item without it is not queued.
const dueIn = z.string().optional();
const dueAt = ms.optional();
// A lease is an owner and a due time in the future: when the owner dies, the item becomes due again by itself.
const lease = { dueIn, dueAt, owner: z.string().optional(), version: z.int() };

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
  jobId: z.string().optional().describe('The replay that started the run, or made it due'),
  attempts: z.int().min(0).optional().describe('Of this run, so far'),
  rulesVersion: z.int().optional().describe('Version of the connection whose rules filtered it'),
});

export const event = entity(eventsKeys, {
  name: 'event',
  description:
    'A webhook that was received, and its status. Small, because every delivery result rewrites it.',
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
    eventType: z.string().optional().describe('What the sender calls it, such as invoice.paid'),
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

export const payload = entity(eventsKeys, {
  name: 'payload',
  description: 'Headers and body as received. Written once.',
  schema: z.object({
    eventId: z.string(),
    part: z.int(),
    sourceId: z.string(),
    receivedAt: ms,
    method: z.string().optional().describe('In the first part only, like query and headers'),
    query: z.string().optional(),
    headers: z.string().optional().describe('JSON: ordered pairs'),
    body: bytes.optional(),
    parts: z.int(),
    expiresAt,
  }),
  key: { partition: 'EVT#{eventId}', sort: 'BODY#{part:3}' },
});
export type Payload = ItemOf<typeof payload>;

export const delivery = entity(eventsKeys, {
  name: 'delivery',
  description: 'One event for one connection: when it is due, which worker holds its lease, and its state.',
  schema: z.object({
    eventId: z.string(),
    connectionId: z.string(),
    run: z.int().describe('0 for the first; each replay adds one'),
    sourceId: z.string(),
    userId: z.string(),
    receivedAt: ms.describe('When the event was received'),
    state: z.enum(deliveryStates),
    attempts: z.int().min(0),
    queueId: z.string().optional().describe('Its position in the order of an ordered connection'),
    jobId: z.string().optional().describe('The replay that started the run, or last made it due'),
    eventVersion: z.int().optional().describe('Version of the event, if this is its only delivery'),
    statusCode: z.int().optional(),
    error: z.string().optional(),
    finishedAt: ms.optional(),
    cause: z.string().optional().describe('Of a replay: what started it'),
    trace: z.string().optional().describe('The traceparent of the request that brought the event'),
    ...lease,
    expiresAt,
  }),
  key: { partition: 'EVT#{eventId}', sort: 'DLV#{connectionId}#{run:4}' },
  indexes: { GSI2: { partition: 'DUE#{dueIn}', sort: '{dueAt:13}#{eventId}' } },
  version: 'version',
});
export type Delivery = ItemOf<typeof delivery>;

export const attempt = entity(eventsKeys, {
  name: 'attempt',
  description: 'One request to a destination, and its outcome.',
  schema: z.object({
    eventId: z.string(),
    connectionId: z.string(),
    run: z.int(),
    attemptNumber: z.int(),
    destinationUrl: z.string(),
    statusCode: z.int().describe('0 if there was no response'),
    responseBody: z.string().optional().describe('Its first 1,000 characters'),
    latencyMs: z.int(),
    error: z.string().optional(),
    attemptedAt: ms,
    expiresAt,
  }),
  key: { partition: 'EVT#{eventId}', sort: 'ATT#{connectionId}#{run:4}#{attemptNumber:4}' },
});
export type Attempt = ItemOf<typeof attempt>;

export const dedupe = entity(eventsKeys, {
  name: 'provider id',
  description: 'The event that was stored for this id of a provider.',
  schema: z.object({ sourceId: z.string(), dedupeId: z.string(), eventId: z.string(), expiresAt }),
  key: { partition: 'DEDUPE#{sourceId}#{dedupeId:text}', sort: 'EVENT' },
});

export const orderEntry = entity(eventsKeys, {
  name: 'order entry',
  description: 'The position of a delivery to an ordered connection. Only the first one may be attempted.',
  schema: z.object({
    connectionId: z.string(),
    queueId: z.string(),
    eventId: z.string(),
    run: z.int(),
    expiresAt,
  }),
  key: { partition: 'LANE#{connectionId}', sort: 'Q#{queueId}' },
});

export const backlog = entity(eventsKeys, {
  name: 'backlog',
  description:
    'Schedules the release of the deliveries held for a connection, or a probe of its destination.',
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
export type Backlog = ItemOf<typeof backlog>;

export const rateBucket = entity(eventsKeys, {
  name: 'rate bucket',
  description: 'Token bucket of a connection with a rate limit, shared by all processes.',
  schema: z.object({ connectionId: z.string(), used: z.number(), atMs: ms, version: z.int(), expiresAt }),
  key: { partition: 'LANE#{connectionId}', sort: 'RATE' },
  version: 'version',
});

export const job = entity(eventsKeys, {
  name: 'job',
  description: 'A replay or a cancellation of many events, and its progress.',
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
    filter: z
      .object({
        q: z.string().optional(),
        type: z.string().optional(),
        connectionId: z.string().optional(),
        where: z.string().optional(),
      })
      .optional()
      .describe('Which events it is for, beyond their time and status'),
    expected: z.int().optional().describe('Events that its author has counted'),
    rulesVersion: z
      .int()
      .optional()
      .describe('Of a catch-up: events that older versions of the connection have filtered'),
    state: z.enum(['running', 'done', 'failed', 'cancelled']),
    position: z.string().optional().describe('JSON: cursor of the last event it has processed'),
    matched: z.int(),
    deliveries: z.int(),
    failures: z.int().describe('In a row'),
    createdAt: ms,
    finishedAt: ms.optional(),
    cause: z.string().optional().describe('What it was started because of'),
    ...lease,
    expiresAt,
  }),
  key: { partition: 'JOBS#{userId}', sort: 'JOB#{jobId}' },
  indexes: { GSI2: { partition: 'DUE#{dueIn}', sort: '{dueAt:13}#{jobId}' } },
  version: 'version',
});
export type Job = ItemOf<typeof job>;

export const creation = entity(eventsKeys, {
  name: 'creation',
  description:
    'The last creation of something whose number is limited. Of two concurrent ones, one must count again.',
  schema: z.object({
    of: z.string().describe('Such as the jobs of an account'),
    version: z.int(),
    expiresAt,
  }),
  key: { partition: 'CREATION#{of:text}', sort: 'LAST' },
  version: 'version',
});

export const dueShardCount = entity(eventsKeys, {
  name: 'number of due shards',
  description: 'The number of shards of the queue, once it exceeds the initial number. It only increases.',
  schema: z.object({ shards: z.int() }),
  key: { partition: 'DUE', sort: 'SHARDS' },
});

export const eventsOfShard = defineQuery('events of a source, newest first', {
  of: event,
  newestFirst: true,
  consistent: true,
});
export const eventById = defineQuery('event by id', { of: event, index: 'GSI1' });
export const payloadOfEvent = defineQuery('payload of an event', { of: payload, consistent: true });
export const deliveriesOfEvent = defineQuery('deliveries of an event', { of: delivery, consistent: true });
export const attemptsOfEvent = defineQuery('attempts of an event', { of: attempt, consistent: true });
export const orderOfConnection = defineQuery('order of a connection', { of: orderEntry, consistent: true });
export const dueWork = defineQuery('what is due', { of: [delivery, backlog, job], index: 'GSI2' });
export const backlogOfConnection = defineQuery('backlog of a connection', { of: delivery, index: 'GSI2' });
export const jobsOfUser = defineQuery('jobs of a user', { of: job, newestFirst: true, consistent: true });

export const ferryhookEvents = defineTable(eventsKeys, {
  entities: [
    event,
    payload,
    delivery,
    attempt,
    dedupe,
    orderEntry,
    backlog,
    rateBucket,
    job,
    creation,
    dueShardCount,
    dayCount,
    totalCount,
    countCheckpoint,
    countStart,
  ],
  queries: [
    eventsOfShard,
    eventById,
    payloadOfEvent,
    deliveriesOfEvent,
    attemptsOfEvent,
    orderOfConnection,
    dueWork,
    backlogOfConnection,
    jobsOfUser,
    daysOfUser,
    totalsOfUser,
  ],
});

const finishedStates: ReadonlySet<DeliveryState> = new Set(['delivered', 'failed', 'filtered', 'cancelled']);

export const isFinished = (state: DeliveryState): boolean => finishedStates.has(state);

// The status of an event follows from the latest run of each connection. Filtered deliveries count only if there is
// nothing else. An event without deliveries is `filtered` too: no connection wanted it.
export function statusOf(deliveries: Readonly<Record<string, DeliverySummary>>): EventStatus {
  const has = {
    pending: false,
    retrying: false,
    delivered: false,
    failed: false,
    filtered: false,
    cancelled: false,
  };
  let isStarted = false;
  for (const { state } of Object.values(deliveries)) {
    has[state] = true;
    isStarted ||= isFinished(state);
  }
  if (has.retrying) return 'retrying';
  if (has.pending) return isStarted ? 'processing' : 'received';
  const hasFailed = has.failed || has.cancelled;
  if (has.delivered) return hasFailed ? 'partial' : 'delivered';
  return hasFailed ? 'failed' : 'filtered';
}

// How the tables write a time.
export const isoTime = (nowMs: number): string => new Date(nowMs).toISOString();
export const inSeconds = (ms: number): number => Math.floor(ms / 1000);

// The end of an id is random.
export function idHash(id: string): number {
  const tail = Number.parseInt(id.slice(-4), 36);
  return Number.isNaN(tail) ? createHash('sha256').update(id).digest().readUInt16BE() : tail;
}

// Shards of the queue, and of a source's events.
export const dueShardName = (shard: number): string => `s${shard}`;
export const eventShardOf = (eventId: string): number => idHash(eventId) % limits.eventShards;

// Partitions of an account's counts, by the id of the source or connection that is counted.
export const countPartitions = Array.from({ length: limits.countPartitions }, (_, i) => i);
export const countPartitionOf = (id: string): number => idHash(id) % limits.countPartitions;

export const eventKey = (of: { sourceId: string; eventId: string; receivedAt: number }) => ({
  sourceId: of.sourceId,
  shard: eventShardOf(of.eventId),
  receivedAt: of.receivedAt,
  eventId: of.eventId,
});
