import { type Find, type Findings, type Ref, refOfCause, type Thing } from '@stak/kit';
import type { Store } from '@stak/table';
import { readRequest } from './delivery/payload.ts';
import type { Events } from './events/events.ts';
import * as limits from './limits.ts';
import { alert, connection, source } from './main-table.ts';
import type { SourceCache } from './sources/source-cache.ts';
import {
  type Attempt,
  attempt,
  attemptsOfEvent,
  type Delivery,
  dedupe,
  deliveriesOfEvent,
  delivery,
  type Event,
  isoTime,
  job,
} from './tables.ts';

// Why things happened to webhooks: an event, its deliveries, their attempts, and the alert of a failure. Each names the
// one before it in its key. docs/adr/0236-what-is-written-names-its-cause.md

type WhyDeps = {
  store: Store;
  events: Pick<Events, 'getById'>;
  sourceCache: Pick<SourceCache, 'listStakSources'>;
};

const ref = (kind: string, ...parts: (string | number)[]): Ref => ({ kind, parts: parts.map(String) });
const eventRef = (eventId: string) => ref('event', eventId);
const deliveryRef = ({ eventId, connectionId, run }: Pick<Delivery, 'eventId' | 'connectionId' | 'run'>) =>
  ref('delivery', eventId, connectionId, run);
const attemptRef = (of: Pick<Delivery, 'eventId' | 'connectionId' | 'run'>, number: number) =>
  ref('attempt', of.eventId, of.connectionId, of.run, number);

const numberOf = (part: string | undefined): number | undefined =>
  part !== undefined && /^\d{1,9}$/.test(part) ? Number(part) : undefined;

export function createWhy(deps: WhyDeps): Findings {
  const { store, events, sourceCache } = deps;

  const findDelivery = async (parts: readonly string[]): Promise<Delivery | undefined> => {
    const [eventId = '', connectionId = '', text] = parts;
    const run = numberOf(text);
    return run === undefined ? undefined : store.get(delivery, { eventId, connectionId, run });
  };

  const eventThing = async (found: Event): Promise<Thing> => {
    const { eventId, userId, sourceId, rejection, status } = found;
    const from = await store.get(source, { userId, sourceId });
    const { items, cursor } = await store.query(
      deliveriesOfEvent,
      { eventId },
      { limit: limits.followedListed },
    );
    return {
      ref: eventRef(eventId),
      at: found.receivedAt,
      what: `${found.eventType ?? found.method} from ${from?.name ?? sourceId}`,
      by: from?.provider,
      decided: rejection === undefined ? status : `refused: ${rejection}`,
      owner: { account: userId },
      cause: from?.provider === 'stak' ? await causeOfEmitted(deps, found) : undefined,
      followed: items.map(deliveryRef),
      hasMore: cursor !== undefined,
    };
  };

  const deliveryThing = async (found: Delivery): Promise<Thing> => {
    const { eventId, connectionId, run, userId, state, error } = found;
    const to = await store.get(connection, { sourceId: found.sourceId, connectionId });
    const attempts = await attemptsOf(store, found);
    const rules = (await events.getById(eventId))?.deliveries[connectionId]?.rulesVersion;
    const why = state === 'filtered' ? ` by the rules of version ${rules ?? '?'}` : error && `: ${error}`;
    return {
      ref: deliveryRef(found),
      at: found.finishedAt ?? found.receivedAt,
      what: `to ${to?.name ?? connectionId}${run > 0 ? `, run ${run + 1}` : ''}`,
      decided: `${state}${why ?? ''}`,
      owner: { account: userId },
      cause: causeOfDelivery(found),
      followed: [
        ...attempts.map(({ attemptNumber }) => attemptRef(found, attemptNumber)),
        ...(attempts.length === 0 ? alertsOf(found) : []),
      ],
    };
  };

  const attemptThing = (found: Attempt, of: Delivery): Thing => ({
    ref: attemptRef(found, found.attemptNumber),
    at: found.attemptedAt,
    what: `request to ${found.destinationUrl}`,
    decided: found.statusCode > 0 ? `answered ${found.statusCode}` : (found.error ?? 'no answer'),
    owner: { account: of.userId },
    cause: deliveryRef(of),
    followed: of.attempts === found.attemptNumber ? alertsOf(of) : [],
  });

  const findAlert: Find = async ([userId = '', hour = '', connectionId = '', kind = '', about]) => {
    const alertKind = kind as 'delivery_failed';
    const found = await store.get(alert, { userId, hour, connectionId, alertKind });
    if (!found) return [];
    const eventId = about ?? found.eventId;
    const run = eventId === found.eventId ? found.run : undefined;
    return [
      {
        ref: ref('alert', userId, hour, connectionId, kind, ...(eventId === undefined ? [] : [eventId])),
        at: Date.parse(found.raisedAt),
        what: kind.replaceAll('_', ' '),
        decided: eventId === found.eventId ? found.detail : undefined,
        owner: { account: userId },
        cause: eventId === undefined ? undefined : await causeOfAlert(deps, eventId, connectionId, run),
        followed: [ref('alerted', userId, `${hour}.${connectionId}.${kind}`, eventId ?? '-')],
      },
    ];
  };

  return {
    async event([eventId = '']) {
      const found = await events.getById(eventId);
      return found ? [await eventThing(found)] : [];
    },
    async delivery(parts) {
      const found = await findDelivery(parts);
      return found ? [await deliveryThing(found)] : [];
    },
    async attempt(parts) {
      const of = await findDelivery(parts);
      const attemptNumber = numberOf(parts[3]);
      if (!of || attemptNumber === undefined) return [];
      const { eventId, connectionId, run } = of;
      const found = await store.get(attempt, { eventId, connectionId, run, attemptNumber });
      return found ? [attemptThing(found, of)] : [];
    },
    alert: findAlert,
    async job([userId = '', jobId = '']) {
      const found = await store.get(job, { userId, jobId });
      if (!found) return [];
      const { eventIds = [], sourceId, matched, deliveries } = found;
      return [
        {
          ref: ref('job', userId, jobId),
          at: found.createdAt,
          what: `${found.action.replace('_', ' ')} of events of ${sourceId}`,
          decided: `${found.state}: ${deliveries} deliveries of ${matched} events`,
          owner: { account: userId },
          cause: refOfCause(found.cause, userId),
          followed: eventIds.slice(0, limits.followedListed).map(id => ref('replayed', id, jobId)),
          hasMore: found.eventIds === undefined || eventIds.length > limits.followedListed,
        },
      ];
    },
    // The deliveries of an event that a replay has started.
    async replayed([eventId = '', jobId]) {
      const { items } = await store.query(deliveriesOfEvent, { eventId }, { limit: limits.followedListed });
      return Promise.all(items.filter(one => isReplay(one) && one.jobId === jobId).map(deliveryThing));
    },
    // The events that something in Stak became, in the sources that the account has for them.
    async emitted([userId = '', dedupeId = '']) {
      const found: Thing[] = [];
      for (const { source: of } of await sourceCache.listStakSources(userId)) {
        const { sourceId } = of;
        const stored = await store.get(dedupe, { sourceId, dedupeId });
        const event = stored && (await events.getById(stored.eventId));
        if (event?.userId === userId) found.push(await eventThing(event));
      }
      return found;
    },
  };
}

async function attemptsOf(store: Store, { eventId, connectionId, run }: Delivery): Promise<Attempt[]> {
  const of = { eventId, connectionId, run };
  const { items } = await store.query(attemptsOfEvent, of, { limit: limits.followedListed });
  return items;
}

// The alert of a delivery that failed for good.
const alertsOf = ({ userId, connectionId, eventId, state, finishedAt }: Delivery): Ref[] =>
  state === 'failed' && finishedAt !== undefined
    ? [ref('alert', userId, isoTime(finishedAt).slice(0, 13), connectionId, 'delivery_failed', eventId)]
    : [];

// A later run is a replay, and so is a first one to a connection that is younger than the event. Replays of earlier
// versions name their job at most.
const isReplay = ({ run, cause }: Delivery): boolean => run > 0 || cause !== undefined;

function causeOfDelivery(found: Delivery): Ref {
  const { cause, jobId, userId, eventId } = found;
  if (!isReplay(found)) return eventRef(eventId);
  // The key of a call names its turn and itself.
  const [caller, call] = jobId?.split('.') ?? [];
  if (cause !== undefined && cause === caller && call !== undefined) return ref('call', caller, call);
  return refOfCause(cause ?? jobId, userId) ?? eventRef(eventId);
}

// An alert names the run only of the last failure of its hour.
async function causeOfAlert(
  { store, events }: WhyDeps,
  eventId: string,
  connectionId: string,
  known: number | undefined,
): Promise<Ref> {
  const run = known ?? (await events.getById(eventId))?.deliveries[connectionId]?.run;
  if (run === undefined) return eventRef(eventId);
  const of = await store.get(delivery, { eventId, connectionId, run });
  if (!of) return eventRef(eventId);
  return of.attempts > 0 ? attemptRef(of, of.attempts) : deliveryRef(of);
}

// An event of Stak has the id of what it is about.
async function causeOfEmitted({ store }: WhyDeps, { dedupeId = '', eventId, userId }: Event) {
  const [, audit] = /^audit\..+:([0-9a-z]{24})$/.exec(dedupeId) ?? [];
  if (audit !== undefined) return ref('audit', userId, audit);
  const [, task, due] = /^task\.reminder:(tsk_\w+):(\d+)$/.exec(dedupeId) ?? [];
  if (task === undefined || due === undefined) return undefined;
  const request = await readRequest(store, eventId);
  const { tenant_id, user_id } = request ? dataOf(request.body) : {};
  return typeof tenant_id === 'string' && typeof user_id === 'string'
    ? ref('reminded', task, due, tenant_id, user_id)
    : ref('reminded', task, due, userId);
}

function dataOf(body: Uint8Array): { tenant_id?: unknown; user_id?: unknown } {
  const { data } = JSON.parse(new TextDecoder().decode(body)) as { data?: object };
  return data ?? {};
}
