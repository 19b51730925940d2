import { currentTraceparent } from '@stak/kit';
import { failedStep, type WriteStep, write } from '@stak/table';
import type { Backlogs } from '../delivery/backlog.ts';
import type { Assignment, Dispatcher } from '../delivery/dispatcher.ts';
import { extendWhileHeld } from '../delivery/retention.ts';
import type { BaseDeps } from '../deps.ts';
import type { HeaderPair, HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Connection, Source } from '../main-table.ts';
import {
  type Delivery,
  type DeliverySummary,
  dedupe,
  delivery,
  type EventStatus,
  event,
  eventShardOf,
  inSeconds,
  orderEntry,
  payload,
  statusOf,
} from '../tables.ts';
import { eventTypeOf } from './event-type.ts';

export type NewEvent = {
  request: HookRequest & { sourceIp?: string };
  source: Source;
  dedupeId?: string;
  rejection?: string;
  retentionSeconds: number;
};

export type Receipt = {
  eventId: string;
  status: EventStatus;
  receivedAt: number;
  isDuplicate: boolean;
  isHeld: boolean;
};

export type WriteDeps = BaseDeps & {
  dispatcher: Pick<Dispatcher, 'assign' | 'offer'>;
  backlogs: Pick<Backlogs, 'ensureScheduled'>;
};
type Step = readonly [name: string, step: WriteStep];
type Planned = { connection: Connection; delivery: Delivery; assignment: Assignment };
type Stamp = { eventId: string; receivedAt: number; expiresAt: number };

// The payload, then the event with its provider's id and a delivery for every connection. Nothing is enqueued afterwards:
// a delivery is in the queue the moment it exists. See `inOrder` for what a crash may leave behind. The source and its
// connections are as old as `renew` of the source cache allows: see `settledMs`.
export async function writeEvent(
  deps: WriteDeps,
  received: NewEvent,
  connections: readonly Connection[],
): Promise<Receipt> {
  const { source, rejection } = received;
  const receivedAt = deps.clock.now();
  const isHeld = source.status === 'paused';
  const assignments = rejection
    ? []
    : connections.map(connection => assignmentOf(deps, connection, isHeld, received.request));
  const expiry = inSeconds(receivedAt) + received.retentionSeconds;
  const isWaiting = assignments.some(({ how }) => how === 'backlog');
  const expiresAt = isWaiting ? extendWhileHeld(receivedAt, expiry) : expiry;
  const stamp = { eventId: deps.ids.next('evt'), receivedAt, expiresAt };
  const planned = assignments.map((assignment, i) => planDelivery(deps, connections[i]!, assignment, stamp));
  if (planned.length === 1) planned[0]!.delivery.eventVersion = 1;
  const deliveries: Record<string, DeliverySummary> = {};
  for (const { connection } of planned) deliveries[connection.connectionId] = { state: 'pending', run: 0 };
  const status = rejection ? 'rejected' : statusOf(deliveries);
  try {
    if (isWaiting && !isHeld) await scheduleBacklogs(deps, planned);
    const event = eventStep(received, stamp, status, deliveries);
    const owed = planned.flatMap(one => deliverySteps(one.delivery, { ifNew: true }));
    const groups = inOrder(payloadSteps(received, stamp), dedupeSteps(received, stamp), owed, event);
    await deps.store.writeInOrder(groups, { pattern: 'ingest' });
  } catch (error) {
    for (const { assignment } of planned) if (assignment.how === 'leased') assignment.cancel();
    const first = firstEventId(error);
    if (first === undefined) throw error;
    return { eventId: first, status, receivedAt, isDuplicate: true, isHeld };
  }
  for (const { assignment, delivery } of planned) {
    if (assignment.how === 'leased') assignment.start(delivery, received.request);
    else if (assignment.how === 'due') deps.dispatcher.offer(delivery);
  }
  return { eventId: stamp.eventId, status, receivedAt, isDuplicate: false, isHeld };
}

// A payload without an event expires. So does a single delivery without one: workers look for its event before they
// attempt it. That spares most events a transaction. What consists of more is made together.
function inOrder(
  payload: readonly Step[],
  dedupe: readonly Step[],
  owed: readonly Step[],
  event: WriteStep,
): (readonly Step[])[] {
  const last: Step = ['event', event];
  const apart = payload.map(step => [step]);
  return dedupe.length === 0 && owed.length <= 1
    ? [...apart, owed, [last]]
    : [...apart, [...dedupe, last, ...owed]];
}

const assignmentOf = (
  { dispatcher }: WriteDeps,
  connection: Connection,
  isHeld: boolean,
  request: HookRequest,
): Assignment =>
  isHeld || connection.status !== 'active' ? { how: 'backlog' } : dispatcher.assign(connection, request);

function planDelivery(
  { ids, clock, dueShards }: WriteDeps,
  connection: Connection,
  assignment: Assignment,
  stamp: Stamp,
): Planned {
  const { connectionId, sourceId, userId, ordered } = connection;
  const { eventId, receivedAt, expiresAt } = stamp;
  const made: Delivery = {
    eventId,
    receivedAt,
    expiresAt,
    connectionId,
    run: 0,
    sourceId,
    userId,
    state: 'pending',
    attempts: 0,
    dueIn: assignment.how === 'backlog' ? connectionId : dueShards.of(eventId),
    dueAt: receivedAt,
    version: 1,
  };
  const trace = currentTraceparent();
  if (trace !== undefined) made.trace = trace;
  if (ordered) made.queueId = ids.next();
  if (assignment.how === 'leased') {
    made.owner = assignment.owner;
    made.dueAt = clock.now() + limits.leaseMs;
  }
  return { connection, delivery: made, assignment };
}

// The backlog of a paused source or connection is scheduled when it is resumed.
async function scheduleBacklogs({ backlogs }: WriteDeps, planned: readonly Planned[]): Promise<void> {
  // At the same time: deliveries have to be in their backlogs before those are given up as empty.
  await Promise.all(
    planned.map(async ({ assignment, connection }) => {
      if (assignment.how === 'backlog' && connection.status === 'active')
        await backlogs.ensureScheduled(connection);
    }),
  );
}

// The event that has this provider id already.
function firstEventId(error: unknown): string | undefined {
  const failure = failedStep(error);
  if (failure?.step !== 'provider id') return undefined;
  return (failure.current as { eventId?: string } | undefined)?.eventId;
}

const eventStep = (
  { source, request, dedupeId, rejection }: NewEvent,
  { eventId, receivedAt, expiresAt }: Stamp,
  status: EventStatus,
  deliveries: Record<string, DeliverySummary>,
): WriteStep =>
  write.put(
    event,
    {
      eventId,
      receivedAt,
      expiresAt,
      sourceId: source.sourceId,
      shard: eventShardOf(eventId),
      userId: source.userId,
      status,
      method: request.method,
      query: request.query || undefined,
      contentType: contentTypeOf(request.headers),
      // The body of an unverified sender is not parsed.
      eventType: rejection === undefined ? eventTypeOf(source.provider, request) : undefined,
      sourceIp: request.sourceIp,
      size: request.body.length,
      dedupeId,
      rejection,
      deliveries,
    },
    { ifNew: true },
  );

// A new delivery, and its order entry if the connection is ordered.
export function deliverySteps(made: Delivery, guard: { ifNew: true } | { ifAbsent: true }): Step[] {
  const { connectionId, eventId, run, queueId, expiresAt } = made;
  const steps: Step[] = [[`delivery to ${connectionId}`, write.put(delivery, made, guard)]];
  if (queueId !== undefined)
    steps.push([
      `order entry of ${connectionId}`,
      write.put(orderEntry, { connectionId, queueId, eventId, run, expiresAt }),
    ]);
  return steps;
}

function dedupeSteps({ source, dedupeId }: NewEvent, { eventId, receivedAt }: Stamp): Step[] {
  if (dedupeId === undefined) return [];
  const expiresAt = inSeconds(receivedAt) + limits.dedupeS;
  const item = { sourceId: source.sourceId, dedupeId, eventId, expiresAt };
  return [['provider id', write.put(dedupe, item, { ifAbsent: true })]];
}

function payloadSteps({ source, request }: NewEvent, { eventId, receivedAt, expiresAt }: Stamp): Step[] {
  const { method, query, headers, body } = request;
  const parts = Math.max(1, Math.ceil(body.length / limits.bodyPartBytes));
  return Array.from({ length: parts }, (_, part) => {
    const start = part * limits.bodyPartBytes;
    const bytes = parts === 1 ? body : body.slice(start, start + limits.bodyPartBytes);
    const isFirst = part === 0;
    const item = {
      eventId,
      receivedAt,
      expiresAt,
      sourceId: source.sourceId,
      part,
      parts,
      method: isFirst ? method : undefined,
      query: (isFirst && query) || undefined,
      headers: isFirst ? JSON.stringify(headers) : undefined,
      body: bytes.length > 0 ? bytes : undefined,
    };
    return [`payload ${part}`, write.put(payload, item)] as const;
  });
}

const contentTypeOf = (headers: readonly HeaderPair[]): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
