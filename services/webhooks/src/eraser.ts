import { is, type Store, write } from '@stak/table';
import type { Config } from './config.ts';
import { dayCount, daysOfUser, totalCount, totalsOfUser } from './counter-table.ts';
import type { Base } from './deps.ts';
import { eventShardOf } from './due.ts';
import { walkEvents } from './event-list.ts';
import {
  attempt,
  attemptsOfEvent,
  bucket,
  dedupe,
  deliveriesOfEvent,
  delivery,
  type Event,
  event,
  job,
  jobsOfUser,
  lane,
  payload,
  payloadOfEvent,
  place,
} from './events-table.ts';
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
  sourcesOfUser,
} from './main-table.ts';

export type WebhookEraser = {
  name: string;
  eraseAccount(accountId: string): Promise<'done' | 'more'>;
};

// Everything webhooks know of an account, a bounded number of items a call. It can be stopped and repeated anywhere:
// a source is removed after all that is found through it.
export function createEraser(deps: Base & { config: Config }): WebhookEraser {
  const { store, clock, config } = deps;

  const eraseSource = async (found: Source): Promise<'done' | 'more'> => {
    const { userId, sourceId } = found;
    if (found.status !== 'deleted') {
      const set = { status: 'deleted' as const, updatedAt: new Date(clock.now()).toISOString() };
      await unlessLost(
        store.update(source, { userId, sourceId }, { set }, { if: { status: is.not('deleted') } }),
      );
      config.forget(sourceId);
      return 'more';
    }
    let left = limits.eraseEvents;
    for await (const one of walkEvents(store, sourceId, { pageItems: 25 })) {
      await eraseEvent(store, one);
      left -= 1;
      if (left === 0) return 'more';
    }
    // Another process may have taken an event just before it noticed that the source is gone.
    if (Date.parse(found.updatedAt) + limits.eraseGraceMs > clock.now()) return 'more';
    for await (const one of store.all(connectionsOfSource, { sourceId })) await eraseConnection(store, one);
    await store.delete(source, { userId, sourceId });
    return 'done';
  };

  return {
    name: 'webhooks',
    async eraseAccount(userId) {
      for await (const one of store.all(sourcesOfUser, { userId }))
        if ((await eraseSource(one)) === 'more') return 'more';
      for await (const one of store.all(daysOfUser, { userId })) await store.delete(dayCount, one);
      for await (const one of store.all(totalsOfUser, { userId })) await store.delete(totalCount, one);
      for await (const one of store.all(jobsOfUser, { userId })) await store.delete(job, one);
      for await (const one of store.all(alertsOfUser, { userId })) await store.delete(alert, one);
      return 'done';
    },
  };
}

// The event last: it is how the rest is found.
async function eraseEvent(store: Store, { sourceId, receivedAt, eventId, dedupeId }: Event): Promise<void> {
  const steps = [];
  for await (const one of store.all(attemptsOfEvent, { eventId })) steps.push(write.delete(attempt, one));
  for await (const one of store.all(deliveriesOfEvent, { eventId })) {
    steps.push(write.delete(delivery, one));
    const { connectionId, queueId } = one;
    if (queueId !== undefined) steps.push(write.delete(place, { connectionId, queueId }));
  }
  for await (const one of store.all(payloadOfEvent, { eventId })) steps.push(write.delete(payload, one));
  if (dedupeId !== undefined) steps.push(write.delete(dedupe, { sourceId, dedupeId }));
  await store.batchWrite(steps, { pattern: 'erase event' });
  await store.delete(event, { sourceId, shard: eventShardOf(eventId), receivedAt, eventId });
}

async function eraseConnection(store: Store, { sourceId, connectionId }: Connection): Promise<void> {
  await store.batchWrite(
    [
      write.delete(lane, { connectionId }),
      write.delete(bucket, { connectionId }),
      write.delete(connectionPointer, { connectionId }),
      write.delete(connection, { sourceId, connectionId }),
    ],
    { pattern: 'erase connection' },
  );
}
