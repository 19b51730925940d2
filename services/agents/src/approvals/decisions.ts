import { type AuditLine, callerOf } from '@stak/http';
import { failedCondition, is, write } from '@stak/table';
import { type Base, type Service, type StateDeps, timestampOf } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import { approval, state } from '../main-table.ts';
import type { Caller } from '../state/access.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import { type ConversationKey, dueAt, isLeased, keyOfConversation, readState } from '../state/lease.ts';
import type { ApprovalItem } from '../state/paused.ts';

export type Decision = { approved: boolean; reason?: string };

// How the audit trail of the account names who decides, by whichever way: the API, a chat in a page, a button in a channel.
export type Decider = Pick<AuditLine, 'via' | 'credentialId' | 'by' | 'address' | 'requestId'> & {
  account_id: string;
};
export const deciderOf = (
  c: { get(name: 'address' | 'requestId'): string | undefined },
  caller: Caller,
  account_id: string,
): Decider => {
  const [address, requestId] = [c.get('address'), c.get('requestId')];
  return {
    account_id,
    ...callerOf(caller),
    ...(address !== undefined && { address }),
    ...(requestId !== undefined && { requestId }),
  };
};

const noApproval = () => agentErrors.create('agents.approval_not_found', 'Approval not found.');

const isOwn = (caller: Caller, { user_id }: Pick<ApprovalItem, 'user_id'>): boolean =>
  caller.kind === 'endUser' && caller.userId === user_id;

// A host acts for its users, whose tokens it mints. An approval by an admin requires a key with the scope `admin`, or a
// user of the tenant who is an admin.
async function mayDecide(
  service: Pick<Service, 'roleOf'>,
  caller: Caller,
  item: ApprovalItem,
): Promise<boolean> {
  if (caller.kind === 'account') return item.approval === 'user' || caller.scope === 'admin';
  return item.approval === 'user' ? isOwn(caller, item) : isAdmin(service, caller, item.tenant_id);
}

export const isAdmin = async (
  service: Pick<Service, 'roleOf'>,
  caller: Caller,
  tenantId: string,
): Promise<boolean> =>
  caller.kind === 'account' || (await service.roleOf(tenantId, caller.userId)) === 'admin';

export async function findApproval(
  service: Pick<Service, 'store' | 'roleOf'>,
  caller: Caller,
  key: ConversationKey & { approval_id: string },
): Promise<ApprovalItem> {
  const item = await service.store.get(approval, key, { consistent: true, pattern: 'read an approval' });
  if (!item) throw noApproval();
  const isSeen = caller.kind === 'account' || isOwn(caller, item) || (await mayDecide(service, caller, item));
  if (!isSeen) throw noApproval(); // as if it did not exist
  return item;
}

// One transaction decides and wakes the turn. Of several decisions the first one counts; repeating it returns the same
// result, and any other one is refused.
export async function decide(
  service: Base & StateDeps & Pick<Service, 'roleOf' | 'audit'>,
  caller: Caller,
  key: ConversationKey & { approval_id: string },
  { approved, reason }: Decision,
  decider: Decider,
): Promise<ApprovalItem> {
  let isNew = false;
  const status = approved ? ('approved' as const) : ('refused' as const);
  const decided = await retryOnConflict<ApprovalItem>(service, async () => {
    const item = await findApproval(service, caller, key);
    if (!(await mayDecide(service, caller, item)))
      throw agentErrors.create('agents.approval_not_yours', 'An admin of the tenant has to decide this.');
    if (item.status === status) return item;
    if (item.status !== 'waiting') throw isDecided(item.status);
    const nowMs = service.clock.now();
    if (Date.parse(item.expires_at) <= nowMs) throw isDecided('expired');
    const known = await readState(service, key);
    if (known?.paused !== item.turn_id) throw isDecided('cancelled');
    const change = { status, decided_at: timestampOf(nowMs), decided_by: nameOf(caller), reason };
    // The holder of the lease sees it when they release it; due now, it would only be found leased.
    const due = isLeased(known, nowMs) ? {} : dueAt(service, key, nowMs);
    const fence = known.fence === undefined ? is.absent : known.fence;
    try {
      await service.store.transact(
        {
          'the approval': write.update(
            approval,
            key,
            { set: change, remove: ['waiting_since'] },
            { if: { status: 'waiting' } },
          ),
          'the state': write.update(
            state,
            keyOfConversation(key),
            { set: { paused_until: Math.floor(nowMs), ...due } },
            { if: { paused: item.turn_id, fence } },
          ),
        },
        { pattern: 'decide an approval' },
      );
    } catch (error) {
      if (!failedCondition(error)) throw error;
      return undefined; // another decision was first, or the lease moved: read again
    }
    isNew = true;
    const { waiting_since: _, ...rest } = item;
    return { ...rest, ...change };
  });
  service.notifier.notify();
  if (isNew) await recordDecision(service, key, decided, decider);
  return decided;
}

// If the trail cannot be written, the decision stays, and the log has it.
async function recordDecision(
  { audit, log }: Pick<Service, 'log' | 'audit'>,
  { tenant_id, conversation_id, approval_id }: ConversationKey & { approval_id: string },
  { status, name }: ApprovalItem,
  { account_id, ...by }: Decider,
): Promise<void> {
  const target = `/v1/tenants/${tenant_id}/conversations/${conversation_id}/approvals/${approval_id}`;
  const entry = { action: 'agents.decideApproval', target, detail: `${status} ${name}`, ...by };
  try {
    await audit(account_id, entry);
  } catch (error) {
    log.error({ err: error, account_id, ...entry }, 'the audit trail could not be written');
  }
}

const isDecided = (status: string) =>
  agentErrors.create('agents.approval_decided', `This approval is already ${status}.`, { status });

const nameOf = (caller: Caller): string =>
  caller.kind === 'account' ? `account:${caller.accountId}` : `user:${caller.userId}`;
