import { ownedByItem, ownedByKey, ownedByNobody } from '@stak/table';
import { alert, connection, connectionPointer, source, sourcePointer } from './main-table.ts';
import {
  attempt,
  backlog,
  countCheckpoint,
  countStart,
  creation,
  dayCount,
  dedupe,
  delivery,
  dueShardCount,
  event,
  job,
  orderEntry,
  payload,
  rateBucket,
  totalCount,
} from './tables.ts';

const account = (id: string | undefined) =>
  id === undefined ? undefined : ({ kind: 'account', id } as const);
const byUser = ({ userId }: { userId?: string }) => account(userId);
const bySource = ({ sourceId }: { sourceId?: string }) =>
  sourceId === undefined ? undefined : ({ kind: 'source', id: sourceId } as const);
const byConnection = ({ connectionId }: { connectionId: string }) =>
  ({ kind: 'connection', id: connectionId }) as const;

// The account whose storage each item counts towards. Events, payloads and deliveries are read to find it.
export const webhookOwners = [
  ownedByKey(source, byUser),
  ownedByKey(alert, byUser),
  ownedByKey(sourcePointer, bySource),
  ownedByKey(connection, bySource),
  ownedByKey(connectionPointer, byConnection),
  ownedByItem(event, byUser, 'eventId'),
  ownedByItem(payload, bySource, 'eventId'),
  ownedByItem(delivery, byUser, 'eventId'),
  ownedByKey(attempt, byConnection),
  ownedByKey(dedupe, bySource),
  ownedByKey(orderEntry, byConnection),
  ownedByKey(backlog, byConnection),
  ownedByKey(rateBucket, byConnection),
  ownedByKey(job, byUser),
  ownedByKey(dayCount, byUser),
  ownedByKey(totalCount, byUser),
  ownedByNobody(countCheckpoint),
  ownedByNobody(countStart),
  ownedByNobody(dueShardCount),
  ownedByNobody(creation), // for an hour
];
