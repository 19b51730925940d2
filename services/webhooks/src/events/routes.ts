import {
  bindCursors,
  type CursorCodec,
  causeOf,
  json,
  nameSchemas,
  pageOf,
  readsOnly,
  route,
  sse,
} from '@stak/http';
import type { Attributes } from '@stak/table';
import { z } from 'zod';
import { accountEndpoint } from '../account-endpoint.ts';
import { notFound } from '../errors.ts';
import { readWhere } from '../filters/where.ts';
import * as limits from '../limits.ts';
import { onceOf } from '../once.ts';
import {
  allEventsQuery,
  type attemptSchema,
  type deliverySchema,
  type EventView,
  eventDetailSchema,
  eventListQuery,
  eventPageSchema,
  idSchema,
  jobSchema,
  newJobSchema,
  replayOneSchema,
} from '../schema.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import type { Sources } from '../sources/sources.ts';
import type { Attempt, Delivery, Event, Job } from '../tables.ts';
import type { EventDetail, Events } from './events.ts';
import type { Jobs } from './jobs.ts';
import type { EventCursor, EventFilter } from './list.ts';
import { cancelEvent, type ReplayDeps, replayOnce } from './replay.ts';
import type { Tail } from './tail.ts';

const tags = ['webhooks'];
const common = { auth: 'account', tenant: 'none', mcp: false, tags } as const;
const ofSource = z.strictObject({ sourceId: idSchema.describe('The id of the source.') });
const params = z.strictObject({ eventId: idSchema.describe('The id of the event.') });
const problems = ['webhooks.event_not_found'];
const ofJob = z.strictObject({ jobId: idSchema.describe('The id of the job.') });
const deliveriesSchema = z.strictObject({
  deliveries: z.int().describe('How many deliveries are tried again.'),
});
nameSchemas({ DeliveryCount: deliveriesSchema });

const routes = {
  list: route({
    ...common,
    ...readsOnly,
    path: '/v1/sources/{sourceId}/events',
    operationId: 'webhooks.listEvents',
    mcp: 'reads',
    scope: 'read',
    summary: 'List the events of a source, newest first',
    description: 'A search reads a limited number of events. `next_cursor` continues where it stopped.',
    request: { params: ofSource, query: eventListQuery },
    responses: { 200: json(eventPageSchema) },
    problems: ['webhooks.source_not_found'],
  }),
  listAll: route({
    ...common,
    ...readsOnly,
    path: '/v1/events',
    operationId: 'webhooks.listAllEvents',
    mcp: 'reads',
    scope: 'read',
    summary: 'List the events of several sources together, newest first',
    description:
      'Merges up to 25 sources. A search reads a limited number of events. `next_cursor` continues where it stopped.',
    request: { query: allEventsQuery },
    responses: { 200: json(eventPageSchema) },
    problems: ['webhooks.source_not_found'],
  }),
  tail: route({
    ...common,
    ...readsOnly,
    path: '/v1/sources/{sourceId}/tail',
    mcp: { watches: '/v1/sources/{sourceId}/events' },
    operationId: 'webhooks.tailEvents',
    scope: 'read',
    summary: 'Follow the events of a source as they arrive',
    description:
      'Server-sent events. `Last-Event-ID` resumes after a broken connection without missing an event.',
    request: {
      params: ofSource,
      query: z.strictObject({
        payload: z.enum(['true', 'false']).optional().describe('Whether the events carry their bodies.'),
      }),
    },
    responses: { 200: { description: 'Events', content: { 'text/event-stream': { schema: z.string() } } } },
    problems: ['webhooks.source_not_found'],
  }),
  read: route({
    ...common,
    ...readsOnly,
    path: '/v1/events/{eventId}',
    operationId: 'webhooks.readEvent',
    mcp: 'reads',
    scope: 'read',
    summary: 'Get an event with its deliveries and attempts',
    description: 'Returns an event as it was received, each delivery and each attempt.',
    request: { params },
    responses: { 200: json(eventDetailSchema) },
    problems,
  }),
  body: route({
    ...common,
    ...readsOnly,
    path: '/v1/events/{eventId}/body',
    operationId: 'webhooks.readBody',
    mcp: 'reads',
    scope: 'read',
    summary: 'Get the body of an event, byte for byte',
    description: 'Returns the exact bytes of the body.',
    request: { params },
    responses: { 200: { description: 'The bytes', content: { '*/*': { schema: z.unknown() } } } },
    problems,
  }),
  replay: route({
    ...common,
    method: 'post',
    path: '/v1/events/{eventId}/replay',
    operationId: 'webhooks.replayEvent',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    mcp: 'writes',
    scope: 'write',
    idempotent: true,
    summary: 'Deliver an event again, to all connections or to some of them',
    description: 'Delivers the event again. Destinations see the same event id.',
    request: { params, body: json(replayOneSchema) },
    responses: { 202: json(deliveriesSchema, 'The number of deliveries that are due now') },
    problems: [...problems, 'webhooks.connection_not_found'],
  }),
  cancel: route({
    ...common,
    method: 'post',
    path: '/v1/events/{eventId}/cancel',
    operationId: 'webhooks.cancelEvent',
    reaches: 'nothing',
    audit: true,
    stores: 'edit',
    scope: 'write',
    summary: 'Cancel the unfinished deliveries of an event',
    description: 'Cancels the deliveries of the event that have not succeeded yet.',
    request: { params, body: json(replayOneSchema) },
    responses: { 200: json(deliveriesSchema, 'The number of deliveries that were cancelled') },
    problems,
  }),
  createJob: route({
    ...common,
    method: 'post',
    path: '/v1/sources/{sourceId}/jobs',
    operationId: 'webhooks.createJob',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'write',
    idempotent: true,
    summary: 'Replay or cancel many events: by id, or all that match a filter',
    description: 'Starts a job that replays or cancels many events. Read it to see its progress.',
    request: { params: ofSource, body: json(newJobSchema) },
    responses: { 202: json(jobSchema, 'The new job') },
    problems: ['webhooks.source_not_found', 'webhooks.connection_not_found', 'webhooks.too_many_jobs'],
  }),
  listJobs: route({
    ...common,
    ...readsOnly,
    path: '/v1/webhook-jobs',
    operationId: 'webhooks.listJobs',
    scope: 'read',
    summary: 'List your replay and cancellation jobs',
    description: 'Returns the jobs of a source, newest first.',
    responses: { 200: json(pageOf(jobSchema)) },
  }),
  readJob: route({
    ...common,
    ...readsOnly,
    path: '/v1/webhook-jobs/{jobId}',
    operationId: 'webhooks.readJob',
    scope: 'read',
    summary: 'Get the progress of a job',
    description: 'Returns the state of a job and how many events it has handled.',
    request: { params: ofJob },
    responses: { 200: json(jobSchema) },
    problems: ['webhooks.job_not_found'],
  }),
  cancelJob: route({
    ...common,
    method: 'post',
    path: '/v1/webhook-jobs/{jobId}/cancel',
    operationId: 'webhooks.cancelJob',
    reaches: 'nothing',
    audit: true,
    stores: 'edit',
    scope: 'write',
    summary: 'Stop a job',
    description: 'What the job has already done is not undone.',
    request: { params: ofJob },
    responses: { 200: json(jobSchema) },
    problems: ['webhooks.job_not_found'],
  }),
};

// Stored items without their leases and versions.

const showEvent = (event: Event): EventView => ({
  eventId: event.eventId,
  sourceId: event.sourceId,
  status: event.status,
  method: event.method,
  query: event.query,
  contentType: event.contentType,
  eventType: event.eventType,
  sourceIp: event.sourceIp,
  size: event.size,
  dedupeId: event.dedupeId,
  rejection: event.rejection,
  receivedAt: event.receivedAt,
  processedAt: event.processedAt,
  deliveredAt: event.deliveredAt,
  attempts: Object.values(event.deliveries).reduce((sum, one) => sum + (one.attempts ?? 0), 0),
  connections: Object.keys(event.deliveries).length,
  expiresAt: event.expiresAt,
});

const showDelivery = (one: Delivery): z.infer<typeof deliverySchema> => ({
  connectionId: one.connectionId,
  run: one.run,
  state: one.state,
  isHeld: one.dueIn === one.connectionId,
  attempts: one.attempts,
  // While it is leased, its due time is the end of the lease.
  nextAttemptAt: one.owner || one.dueIn === one.connectionId ? undefined : one.dueAt,
  statusCode: one.statusCode,
  error: one.state === 'delivered' ? undefined : one.error, // older versions kept it
  finishedAt: one.finishedAt,
});

const showAttempt = ({ eventId: _, expiresAt: _expiry, ...one }: Attempt): z.infer<typeof attemptSchema> =>
  one;

const showDetail = (detail: EventDetail): z.infer<typeof eventDetailSchema> => ({
  ...showEvent(detail.event),
  headers: detail.headers.map(([name, value]) => [name, value]),
  deliveries: detail.deliveries.map(showDelivery),
  attempts: detail.attempts.map(showAttempt),
});

const showJob = (job: Job): z.infer<typeof jobSchema> => ({
  jobId: job.jobId,
  sourceId: job.sourceId,
  action: job.action === 'cancel' ? 'cancel' : 'replay',
  state: job.state,
  matched: job.matched,
  expected: job.expected,
  deliveries: job.deliveries,
  createdAt: job.createdAt,
  finishedAt: job.finishedAt,
});

const msOf = (moment: string | undefined): number | undefined =>
  moment === undefined ? undefined : Date.parse(moment);

type EventQuery = Omit<z.infer<typeof eventListQuery>, 'limit' | 'cursor'>;
const filterOf = ({ status, q, type, connectionId, where, from, to }: EventQuery): EventFilter => ({
  status,
  text: q,
  type,
  connectionId,
  where: where === undefined ? undefined : readWhere(where),
  fromMs: msOf(from),
  toMs: msOf(to),
});

export function createEventRoutes(deps: {
  cursors: CursorCodec<Attributes>;
  sourceCache: SourceCache;
  sources: Sources;
  events: Events;
  tail: Tail;
  jobs: Jobs;
  replay: ReplayDeps;
}) {
  const { sourceCache, sources, events, tail, jobs } = deps;

  const readPage = async (
    c: Parameters<typeof bindCursors>[0],
    sourceIds: string | readonly string[],
    { limit, cursor, ...query }: z.infer<typeof eventListQuery>,
  ) => {
    const cursors = bindCursors(c, deps.cursors as CursorCodec<EventCursor>);
    const page = await events.listBySource(sourceIds, {
      ...filterOf(query),
      limit,
      after: cursors.open(cursor),
    });
    return { data: page.events.map(showEvent), next_cursor: cursors.seal(page.next) };
  };

  return [
    accountEndpoint(routes.list, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      return c.json(await readPage(c, sourceId, c.req.valid('query')), 200);
    }),
    accountEndpoint(routes.listAll, async (c, userId) => {
      const { sourceIds: named, ...query } = c.req.valid('query');
      if (named) await Promise.all(named.map(sourceId => sources.owned(sourceId, userId)));
      const sourceIds = named ?? (await sources.lastActive(userId, limits.listedSources));
      return c.json(await readPage(c, sourceIds, query), 200);
    }),
    accountEndpoint(routes.tail, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      const enter = () => sources.owned(sourceId, userId);
      await enter();
      const options = { payload: c.req.valid('query').payload === 'true', show: showEvent };
      return sse(c, {
        enter,
        subscribe: (afterId, sink) => tail.follow(sourceId, afterId, options, sink),
      }) as never;
    }),
    accountEndpoint(routes.read, async (c, userId) => {
      const found = await events.owned(c.req.valid('param').eventId, userId);
      return c.json(showDetail(await events.detail(found)), 200);
    }),
    accountEndpoint(routes.body, async (c, userId) => {
      const found = await events.owned(c.req.valid('param').eventId, userId);
      const request = await events.request(found.eventId);
      if (!request) throw notFound('event');
      // Never with its own content type: a stranger chose the bytes, and this is our origin.
      const headers = {
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${found.eventId}"`,
      };
      return c.body(new Uint8Array(request.body).buffer, 200, headers) as never;
    }),
    accountEndpoint(routes.replay, async (c, userId) => {
      const found = await events.owned(c.req.valid('param').eventId, userId);
      const { connectionIds } = c.req.valid('json');
      const choose = async () => {
        const known = (await sourceCache.getFresh(found.sourceId))?.connections ?? [];
        if (connectionIds?.some(id => !known.some(one => one.connectionId === id)))
          throw notFound('connection');
        return known.filter(one => !connectionIds || connectionIds.includes(one.connectionId));
      };
      const isKeyed = c.get('idempotencyKey') !== undefined;
      const once = {
        replayId: isKeyed ? c.get('ids').next('replay') : undefined,
        isRepeated: c.get('isRepeated'),
        cause: causeOf(c),
      };
      return c.json({ deliveries: await replayOnce(deps.replay, found, choose, once) }, 202);
    }),
    accountEndpoint(routes.cancel, async (c, userId) => {
      const found = await events.owned(c.req.valid('param').eventId, userId);
      const { connectionIds } = c.req.valid('json');
      return c.json({ deliveries: await cancelEvent(deps.replay, found, connectionIds) }, 200);
    }),
    accountEndpoint(routes.createJob, async (c, userId) => {
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, userId);
      const { action, connectionIds, eventIds, from, to, status, expected, ...filter } = c.req.valid('json');
      const wanted = {
        ...{ userId, sourceId, action, connectionIds, eventIds, status, filter },
        from: msOf(from),
        to: msOf(to),
        expected: eventIds?.length ?? expected,
        cause: causeOf(c),
      };
      const made = await jobs.create(wanted, onceOf(c));
      c.header('Location', `/v1/webhook-jobs/${made.jobId}`);
      return c.json(showJob(made), 202);
    }),
    accountEndpoint(routes.listJobs, async (c, userId) => {
      const found = await jobs.list(userId);
      return c.json({ data: found.map(showJob), next_cursor: null }, 200);
    }),
    accountEndpoint(routes.readJob, async (c, userId) =>
      c.json(showJob(await jobs.get(c.req.valid('param').jobId, userId)), 200),
    ),
    accountEndpoint(routes.cancelJob, async (c, userId) =>
      c.json(showJob(await jobs.cancel(c.req.valid('param').jobId, userId)), 200),
    ),
  ] as const;
}
