import type { PageRequest } from '@stak/http';
import { ref } from '@stak/table';
import type { Service } from '../deps.ts';
import { approval, approvalsOfTenant, approvalsOfUser } from '../main-table.ts';
import type { Caller } from '../state/access.ts';
import { type ConversationKey, isPaused, readState } from '../state/lease.ts';
import { type ApprovalItem, readApprovals, readPaused } from '../state/paused.ts';
import { isAdmin } from './decisions.ts';
import { showApproval } from './views.ts';

// The pending approvals of a tenant, oldest first: all of them for a host; for an admin, those that need one and their
// own; for other users, their own.
export async function listApprovals(
  service: Pick<Service, 'store' | 'roleOf'>,
  caller: Caller,
  tenant_id: string,
  page: PageRequest,
): Promise<{ items: ApprovalItem[]; cursor?: string }> {
  const { store } = service;
  const seesAll = await isAdmin(service, caller, tenant_id);
  const own = caller.kind === 'endUser' ? caller.userId : undefined;
  const found = seesAll
    ? await store.query(approvalsOfTenant, { tenant_id }, page)
    : await store.query(approvalsOfUser, { tenant_id, user_id: own! }, page);
  const refs = found.items.map(({ conversation_id, approval_id }) =>
    ref(approval, { tenant_id, conversation_id, approval_id }),
  );
  // The index may be out of date; the items are not.
  const items = await store.batchGet(refs, { consistent: true, pattern: 'read approvals' });
  const isFor = (one: ApprovalItem) =>
    own === undefined || one.user_id === own || (seesAll && one.approval === 'admin');
  return {
    ...found,
    items: items.filter(item => item !== undefined).filter(item => item.status === 'waiting' && isFor(item)),
  };
}

// For a message without an answer: the pending approvals, if there are any.
export async function showWaiting(
  service: Pick<Service, 'store' | 'clock'>,
  address: ConversationKey & { message_id: string },
) {
  const { message_id, conversation_id } = address;
  const waiting = { message_id, conversation_id, status: 'waiting' as const };
  const known = await readState(service, address);
  if (!known || !isPaused(known, service.clock.now())) return waiting;
  const paused = await readPaused(service, address);
  const approvals = paused ? await readApprovals(service, address, paused) : [];
  return { ...waiting, approvals: approvals.map(showApproval) };
}
