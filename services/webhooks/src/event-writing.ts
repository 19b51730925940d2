import { failedStep, type WriteStep, write } from '@stak/table';
import { type Base, inSeconds } from './deps.ts';
import { dueShardOf, eventShardOf } from './due.ts';
import { statusOf } from './event-status.ts';
import { type Delivery, dedupe, delivery, type EventStatus, event, payload, place } from './events-table.ts';
import type { HeaderPair, HookRequest } from './filters/request-view.ts';
import type { Intake } from './intake.ts';
import * as limits from './limits.ts';
import type { Connection, Source } from './main-table.ts';

export type Received = {
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

type Deps = Base & { intake: Intake };
type Step = readonly [name: string, step: WriteStep];
type Owed = { connection: Connection; delivery: Delivery; how: 'leased' | 'due' | 'backlog' };

// One transaction: the event, its payload, its provider's id, and a delivery for every connection. Nothing is
// enqueued afterwards: the deliveries are in the due index the moment they exist.
export async function writeEvent(
  deps: Deps,
  received: Received,
  connections: readonly Connection[],
): Promise<Receipt> {
  const { store, clock, ids, intake } = deps;
  const { source, request, rejection, dedupeId } = received;
  const eventId = ids.next('evt');
  const receivedAt = clock.now();
  const expiresAt = inSeconds(receivedAt) + received.retentionSeconds;
  const isHeld = source.status === 'paused';

  const owed = rejection ? [] : connections.map(one => owe(deps, one, { eventId, receivedAt, expiresAt, isHeld }));
  if (owed.length === 1) owed[0]!.delivery.eventVersion = 1;
  const deliveries = Object.fromEntries(
    owed.map(one => [one.connection.connectionId, { state: 'pending' as const, run: 0 }]),
  );
  const status = rejection ? 'rejected' : statusOf(deliveries);
  const steps: Step[] = [];
  if (dedupeId !== undefined) steps.push(['provider id', dedupeStep(source.sourceId, dedupeId, eventId, receivedAt)]);
  steps.push([
    'event',
    write.put(event, {
      sourceId: source.sourceId,
      shard: eventShardOf(eventId),
      receivedAt,
      eventId,
      userId: source.userId,
      status,
      method: request.method,
      query: request.query || undefined,
      contentType: contentTypeOf(request.headers),
      sourceIp: request.sourceIp,
      size: request.body.length,
      dedupeId,
      rejection,
      deliveries,
      expiresAt,
    }),
  ]);
  steps.push(...payloadSteps(request, { eventId, sourceId: source.sourceId, receivedAt, expiresAt }));
  for (const one of owed) steps.push(...deliverySteps(one.delivery));

  try {
    for (const one of owed) if (one.how === 'backlog' && !isHeld) await intake.ensureArmed(one.connection);
    await store.transact(steps, { pattern: 'ingest' });
  } catch (error) {
    for (const { how, connection } of owed) if (how === 'leased') intake.giveBack(connection.connectionId);
    const failure = failedStep(error);
    const first = failure?.step === 'provider id' ? (failure.current as { eventId?: string } | undefined) : undefined;
    if (!first?.eventId) throw error;
    return { eventId: first.eventId, status: 'received', receivedAt, isDuplicate: true, isHeld };
  }
  for (const { how, connection, delivery } of owed) {
    if (how === 'leased') intake.start(delivery, connection, request);
    else if (how === 'due') intake.offer(delivery);
  }
  return { eventId, status, receivedAt, isDuplicate: false, isHeld };
}

function owe(
  { ids, intake, clock }: Deps,
  connection: Connection,
  of: { eventId: string; receivedAt: number; expiresAt: number; isHeld: boolean },
): Owed {
  const { connectionId, sourceId, userId, ordered } = connection;
  const { isHeld, ...event } = of;
  const how = isHeld || connection.status !== 'active' ? 'backlog' : intake.place(connection);
  const made: Delivery = {
    ...event,
    connectionId,
    run: 0,
    sourceId,
    userId,
    state: 'pending',
    attempts: 0,
    dueIn: how === 'backlog' ? connectionId : dueShardOf(of.eventId),
    dueAt: of.receivedAt,
    version: 1,
  };
  if (ordered) made.queueId = ids.next();
  if (how === 'leased') {
    made.owner = intake.owner();
    made.dueAt = clock.now() + limits.leaseMs;
  }
  return { connection, delivery: made, how };
}

// A new delivery, and its place in line if the connection has one.
export function deliverySteps(made: Delivery): Step[] {
  const { connectionId, eventId, run, queueId, expiresAt } = made;
  const steps: Step[] = [[`delivery to ${connectionId}`, write.put(delivery, made, { ifAbsent: true })]];
  if (queueId !== undefined)
    steps.push([`place of ${connectionId}`, write.put(place, { connectionId, queueId, eventId, run, expiresAt })]);
  return steps;
}

const dedupeStep = (sourceId: string, dedupeId: string, eventId: string, nowMs: number): WriteStep =>
  write.put(
    dedupe,
    { sourceId, dedupeId, eventId, expiresAt: inSeconds(nowMs) + limits.dedupeS },
    { ifAbsent: true },
  );

type OfEvent = { eventId: string; sourceId: string; receivedAt: number; expiresAt: number };

function payloadSteps({ method, query, headers, body }: HookRequest, of: OfEvent): Step[] {
  const parts = Math.max(1, Math.ceil(body.length / limits.bodyPartBytes));
  return Array.from({ length: parts }, (_, part) => {
    const start = part * limits.bodyPartBytes;
    const bytes = parts === 1 ? body : body.slice(start, start + limits.bodyPartBytes);
    const item = {
      ...of,
      part,
      parts,
      ...(part === 0 && { method, query: query || undefined, headers: JSON.stringify(headers) }),
      ...(bytes.length > 0 && { body: bytes }),
    };
    return [`payload ${part}`, write.put(payload, item)] as const;
  });
}

const contentTypeOf = (headers: readonly HeaderPair[]): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
