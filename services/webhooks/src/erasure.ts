import { is, type Store, write } from '@stak/table';
import type { BaseDeps } from './deps.ts';
import { walkEvents } from './events/list.ts';
import * as limits from './limits.ts';
import { unlessLost } from './lost-write.ts';
import {
  alert,
  alertsOfUser,
  type Connection,
  connection,
  connectionPointer,
  connectionsOfSource,
  type Source,
  source,
  sourcePointer,
  sourcesOfUser,
} from './main-table.ts';
import type { SourceCache } from './sources/source-cache.ts';
import {
  attempt,
  attemptsOfEvent,
  backlog,
  countPartitions,
  creation,
  dayCount,
  daysOfUser,
  dedupe,
  deliveriesOfEvent,
  delivery,
  type Event,
  event,
  eventKey,
  isoTime,
  job,
  jobsOfUser,
  orderEntry,
  payload,
  payloadOfEvent,
  rateBucket,
  totalCount,
  totalsOfUser,
} from './tables.ts';

export type WebhookEraser = {
  name: string;
  eraseAccount(accountId: string): Promise<'done' | 'more'>;
};

// Erases all data of an account, a limited number of items in each call. It can be interrupted and repeated at any point: a
// source is removed after everything that is found through it.
export function createEraser(deps: BaseDeps & { sourceCache: SourceCache }): WebhookEraser {
  const { store, clock, sourceCache } = deps;

  const eraseSource = async (found: Source): Promise<'done' | 'more'> => {
    const { userId, sourceId } = found;
    if (found.status !== 'deleted') {
      const set = { status: 'deleted' as const, updatedAt: isoTime(clock.now()) };
      await unlessLost(
        store.update(source, { userId, sourceId }, { set }, { if: { status: is.not('deleted') } }),
      );
      sourceCache.invalidate(sourceId);
      return 'more';
    }
    const startedMs = clock.now();
    let left = limits.eraseEvents;
    for await (const one of walkEvents(store, sourceId, { pageItems: 25 })) {
      await eraseEvent(store, one);
      left -= 1;
      if (left === 0) return 'more';
    }
    // Another process may have stored an event just before its cache noticed that the source is deleted. One that takes
    // longer than this erases the event itself.
    if (Date.parse(found.updatedAt) + limits.eraseGraceMs > startedMs) return 'more';
    for await (const one of store.all(connectionsOfSource, { sourceId })) await eraseConnection(store, one);
    await store.delete(creation, { of: `connections of ${sourceId}` });
    await store.delete(sourcePointer, { sourceId });
    await store.delete(source, { userId, sourceId });
    return 'done';
  };

  return {
    name: 'webhooks',
    async eraseAccount(userId) {
      for await (const one of store.all(sourcesOfUser, { userId }))
        if ((await eraseSource(one)) === 'more') return 'more';
      await eraseCounts(store, userId);
      for await (const one of store.all(jobsOfUser, { userId })) await store.delete(job, one);
      for (const what of ['jobs', 'sources']) await store.delete(creation, { of: `${what} of ${userId}` });
      for await (const one of store.all(alertsOfUser, { userId })) await store.delete(alert, one);
      return 'done';
    },
  };
}

async function eraseCounts(store: Store, userId: string): Promise<void> {
  for (const partition of countPartitions) {
    const of = { userId, partition };
    for await (const one of store.all(daysOfUser, of)) await store.delete(dayCount, one);
    for await (const one of store.all(totalsOfUser, of)) await store.delete(totalCount, one);
  }
}

// The event last: the rest is found through it.
export async function eraseEvent(
  store: Store,
  found: Pick<Event, 'sourceId' | 'eventId' | 'receivedAt' | 'dedupeId'>,
): Promise<void> {
  const { sourceId, eventId, dedupeId } = found;
  const steps = [];
  for await (const one of store.all(attemptsOfEvent, { eventId })) steps.push(write.delete(attempt, one));
  for await (const one of store.all(deliveriesOfEvent, { eventId })) {
    steps.push(write.delete(delivery, one));
    const { connectionId, queueId } = one;
    if (queueId !== undefined) steps.push(write.delete(orderEntry, { connectionId, queueId }));
  }
  for await (const one of store.all(payloadOfEvent, { eventId })) steps.push(write.delete(payload, one));
  if (dedupeId !== undefined) steps.push(write.delete(dedupe, { sourceId, dedupeId }));
  await store.batchWrite(steps, { pattern: 'erase event' });
  await store.delete(event, eventKey(found));
}

async function eraseConnection(store: Store, { sourceId, connectionId }: Connection): Promise<void> {
  await store.batchWrite(
    [
      write.delete(backlog, { connectionId }),
      write.delete(rateBucket, { connectionId }),
      write.delete(connectionPointer, { connectionId }),
      write.delete(connection, { sourceId, connectionId }),
    ],
    { pattern: 'erase connection' },
  );
}
