import { ownedByItem, ownedByKey, ownedByNobody } from '@stak/table';
import { countMark, countStart, dayCount, totalCount } from './counter-table.ts';
import { attempt, bucket, dedupe, delivery, event, job, lane, payload, place } from './events-table.ts';
import { alert, connection, connectionPointer, source } from './main-table.ts';

const account = (id: string | undefined) =>
  id === undefined ? undefined : ({ kind: 'account', id } as const);
const byUser = ({ userId }: { userId?: string }) => account(userId);
const bySource = ({ sourceId }: { sourceId?: string }) =>
  sourceId === undefined ? undefined : ({ kind: 'source', id: sourceId } as const);
const byConnection = ({ connectionId }: { connectionId: string }) =>
  ({ kind: 'connection', id: connectionId }) as const;

// Whose storage each item of webhooks takes. Of an event, its payload and its deliveries, one is read to tell.
export const webhookOwners = [
  ownedByKey(source, byUser),
  ownedByKey(alert, byUser),
  ownedByKey(connection, bySource),
  ownedByKey(connectionPointer, byConnection),
  ownedByItem(event, byUser, 'eventId'),
  ownedByItem(payload, bySource, 'eventId'),
  ownedByItem(delivery, byUser, 'eventId'),
  ownedByKey(attempt, byConnection),
  ownedByKey(dedupe, bySource),
  ownedByKey(place, byConnection),
  ownedByKey(lane, byConnection),
  ownedByKey(bucket, byConnection),
  ownedByKey(job, byUser),
  ownedByKey(dayCount, byUser),
  ownedByKey(totalCount, byUser),
  ownedByNobody(countMark),
  ownedByNobody(countStart),
];
