import { bindCursors, type CursorCodec, endpoint, json, pageOf, route, sse } from '@stak/http';
import type { Attributes } from '@stak/table';
import { z } from 'zod';
import type { Config } from './config.ts';
import { notFound } from './errors.ts';
import type { Position } from './event-list.ts';
import type { Events } from './events.ts';
import { cancelEvent, type ReplayDeps, replayEvent } from './replay.ts';
import { eventDetailSchema, eventListQuery, eventSchema, idSchema, replayOneSchema } from './schema.ts';
import type { Sources } from './sources.ts';
import type { Tails } from './tail.ts';
import { showDetail, showEvent } from './views.ts';

const tags = ['webhooks'];
const ofSource = z.strictObject({ sourceId: idSchema });
const params = z.strictObject({ eventId: idSchema });
const problems = ['webhooks.event_not_found'];
const dueSchema = z.strictObject({ deliveries: z.int() });

const routes = {
  list: route({
    method: 'get',
    path: '/v1/sources/{sourceId}/events',
    operationId: 'webhooks.listEvents',
    auth: 'account',
    scope: 'read',
    summary: 'List the events of a source, newest first',
    description: 'A search looks at a bounded number of events; `next_cursor` goes on where it stopped.',
    tags,
    request: { params: ofSource, query: eventListQuery },
    responses: { 200: json(pageOf(eventSchema)) },
    problems: ['webhooks.source_not_found'],
  }),
  tail: route({
    method: 'get',
    path: '/v1/sources/{sourceId}/tail',
    operationId: 'webhooks.tailEvents',
    auth: 'account',
    scope: 'read',
    summary: 'Follow the events of a source as they arrive',
    description: 'Server-sent events. `Last-Event-ID` goes on where a connection broke; nothing is missed.',
    tags,
    request: {
      params: ofSource,
      query: z.strictObject({ payload: z.enum(['true', 'false']).optional() }),
    },
    responses: { 200: { description: 'Events', content: { 'text/event-stream': { schema: z.string() } } } },
    problems: ['webhooks.source_not_found'],
  }),
  read: route({
    method: 'get',
    path: '/v1/events/{eventId}',
    operationId: 'webhooks.readEvent',
    auth: 'account',
    scope: 'read',
    summary: 'Read an event with its deliveries and attempts',
    tags,
    request: { params },
    responses: { 200: json(eventDetailSchema) },
    problems,
  }),
  body: route({
    method: 'get',
    path: '/v1/events/{eventId}/body',
    operationId: 'webhooks.readBody',
    auth: 'account',
    scope: 'read',
    summary: 'The body of an event, byte for byte',
    tags,
    request: { params },
    responses: { 200: { description: 'The bytes', content: { '*/*': { schema: z.unknown() } } } },
    problems,
  }),
  replay: route({
    method: 'post',
    path: '/v1/events/{eventId}/replay',
    operationId: 'webhooks.replayEvent',
    auth: 'account',
    scope: 'write',
    idempotent: true,
    summary: 'Deliver an event again, to all connections or to some',
    tags,
    request: { params, body: json(replayOneSchema) },
    responses: { 202: json(dueSchema, 'How many deliveries are due now') },
    problems: [...problems, 'webhooks.connection_not_found'],
  }),
  cancel: route({
    method: 'post',
    path: '/v1/events/{eventId}/cancel',
    operationId: 'webhooks.cancelEvent',
    auth: 'account',
    scope: 'write',
    summary: 'Cancel what an event has not delivered yet',
    tags,
    request: { params, body: json(replayOneSchema) },
    responses: { 200: json(dueSchema, 'How many deliveries were cancelled') },
    problems,
  }),
};

const msOf = (moment: string | undefined): number | undefined =>
  moment === undefined ? undefined : Date.parse(moment);

export function createEventApi(deps: {
  cursors: CursorCodec<Attributes>;
  config: Config;
  sources: Sources;
  events: Events;
  tails: Tails;
  replay: ReplayDeps;
}) {
  const { config, sources, events, tails } = deps;

  return [
    endpoint(routes.list, async c => {
      const { sourceId } = c.req.valid('param');
      await sources.owned(sourceId, c.get('principal').accountId);
      const { limit, cursor, status, q, from, to } = c.req.valid('query');
      const cursors = bindCursors(c, deps.cursors as CursorCodec<Position>);
      const filter = { status, text: q, fromMs: msOf(from), toMs: msOf(to) };
      const page = await events.listBySource(sourceId, { ...filter, limit, after: cursors.open(cursor) });
      return c.json({ data: page.events.map(showEvent), next_cursor: cursors.seal(page.next) }, 200);
    }),
    endpoint(routes.tail, async c => {
      const { sourceId } = c.req.valid('param');
      const enter = () => sources.owned(sourceId, c.get('principal').accountId);
      await enter();
      const options = { payload: c.req.valid('query').payload === 'true', show: showEvent };
      return sse(c, {
        enter,
        subscribe: (afterId, sink) => tails.follow(sourceId, afterId, options, sink),
      }) as never;
    }),
    endpoint(routes.read, async c => {
      const found = await events.owned(c.req.valid('param').eventId, c.get('principal').accountId);
      return c.json(showDetail(await events.detail(found)), 200);
    }),
    endpoint(routes.body, async c => {
      const found = await events.owned(c.req.valid('param').eventId, c.get('principal').accountId);
      const request = await events.request(found.eventId);
      if (!request) throw notFound('event');
      // Never as what it claims to be: this is our origin, and a stranger chose the bytes.
      const headers = {
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${found.eventId}"`,
      };
      return c.body(new Uint8Array(request.body).buffer, 200, headers) as never;
    }),
    endpoint(routes.replay, async c => {
      const found = await events.owned(c.req.valid('param').eventId, c.get('principal').accountId);
      const { connectionIds } = c.req.valid('json');
      const known = (await config.fresh(found.sourceId))?.connections ?? [];
      if (connectionIds?.some(id => !known.some(one => one.connectionId === id)))
        throw notFound('connection');
      const chosen = known.filter(one => !connectionIds || connectionIds.includes(one.connectionId));
      return c.json({ deliveries: await replayEvent(deps.replay, found, chosen) }, 202);
    }),
    endpoint(routes.cancel, async c => {
      const found = await events.owned(c.req.valid('param').eventId, c.get('principal').accountId);
      const { connectionIds } = c.req.valid('json');
      return c.json({ deliveries: await cancelEvent(deps.replay, found, connectionIds) }, 200);
    }),
  ] as const;
}
