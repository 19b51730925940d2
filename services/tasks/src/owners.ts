import { ownedByItem, ownedByKey } from '@stak/table';
import { ownerOf } from './owner.ts';
import * as table from './table.ts';

function byUser({ user_id }: { user_id?: string }) {
  if (user_id === undefined) return undefined;
  const owner = ownerOf(user_id);
  return owner.kind === 'account'
    ? ({ kind: 'account', id: owner.accountId } as const)
    : ({ kind: 'tenant', id: owner.tenantId } as const);
}

// The key of the task is all that an answer kept for a repeated request says about its owner.
const byTask = ({ target_task_pk }: { target_task_pk?: string }) =>
  byUser({ user_id: target_task_pk?.slice('TASK#'.length) });

// Whose storage each item of tasks takes.
export const taskOwners = [
  ownedByKey(table.user, byUser),
  ownedByKey(table.task, byUser),
  ownedByKey(table.tally, byUser),
  ownedByKey(table.expiry, byUser),
  ownedByKey(table.change, byUser),
  ownedByKey(table.trashed, byUser),
  ownedByKey(table.reminder, byUser),
  ownedByItem(table.idempotency, byTask),
  ownedByItem(table.emailLock, byUser),
  ownedByItem(table.feed, byUser),
  ownedByKey(table.member, byUser),
];
