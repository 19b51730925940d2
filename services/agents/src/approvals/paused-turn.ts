import { failedCondition, type ItemOf, is, isRefused, type NamedStep, write } from '@stak/table';
import { type Service, timestampOf, ttlAfter } from '../deps.ts';
import { AnswerCancelled, agentErrors, cleared } from '../errors.ts';
import * as limits from '../limits.ts';
import { approval, message, pausedTurn, state } from '../main-table.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueAt,
  dueWhenFree,
  keyOfConversation,
} from '../state/lease.ts';
import { type ApprovalItem, type PendingCall, type Progress, readApprovals } from '../state/paused.ts';

const itemOf = (key: ConversationKey, progress: Progress): ItemOf<typeof pausedTurn> => ({
  ...keyOfConversation(key),
  ...progress,
  messages: JSON.stringify(progress.messages),
  calls: JSON.stringify(progress.calls),
});

type Pausing = { hours: number; reply?: string };

// Stores the calls before any of them is made. If an approval is needed, the lease is released in the same transaction,
// and the turn rests until the decision or the end of its time. Returns the new approvals.
export async function pauseTurn(
  service: Pick<Service, 'store' | 'clock' | 'dueShards' | 'notifier'>,
  held: ConversationLease,
  progress: Progress,
  { hours, reply }: Pausing,
): Promise<ApprovalItem[]> {
  const item = itemOf(held.key, progress);
  if (Buffer.byteLength(item.messages) + Buffer.byteLength(item.calls) > limits.turnBytes)
    throw agentErrors.create('agents.model_failed', 'The turn is too large to wait for an approval.');
  const nowMs = service.clock.now();
  const firstMessage = { ...held.key, message_id: progress.message_ids[0]! }; // stopped with the others, or not at all
  const asked = progress.calls.filter(call => call.approval_id !== undefined);
  const untilMs = Math.floor(nowMs + hours * 60 * 60_000);
  const approvals = asked.map(call => newApproval(held, progress, call, nowMs, untilMs));
  const isWaiting = approvals.length > 0;
  const owed = reply ?? held.state.reply;
  const paused = { paused: progress.turn_id, paused_until: untilMs };
  const dueMs = dueWhenFree({ ...held.state, ...paused, reply: owed, ...(reply && { retry_at: 0 }) }, nowMs);
  const rest = isWaiting ? { paused_until: untilMs, ...dueAt(service, held.key, dueMs) } : {};
  const leaving = [
    ...(['fence', 'leased_until', 'attempts'] as const),
    ...(owed === reply ? (['retry_at'] as const) : []),
  ];
  const settle = write.update(
    state,
    held.key,
    {
      set: { paused: progress.turn_id, paused_until: Math.floor(nowMs), ...rest, ...(reply && { reply }) },
      ...(isWaiting && { remove: leaving }),
    },
    { if: { fence: held.fence, epoch: held.state.epoch } },
  );
  try {
    await service.store.transact(
      [
        ['the state', settle],
        ['the turn', write.put(pausedTurn, item)],
        [
          'the message',
          write.check(message, firstMessage, { present: true, if: { cancelled_at: is.absent } }),
        ],
        ...approvals.map((one): NamedStep => [one.approval_id, write.put(approval, one, { ifAbsent: true })]),
      ],
      { pattern: 'pause a turn' },
    );
  } catch (error) {
    if (failedCondition(error, 'the message')) throw new AnswerCancelled();
    throw isRefused(error) ? cleared() : error;
  }
  held.state = { ...held.state, paused: progress.turn_id, paused_until: Math.floor(nowMs), ...rest };
  if (isWaiting) {
    held.isReleased = true;
    service.notifier.notify();
  }
  return approvals;
}

function newApproval(
  { key, state: { epoch, user_id } }: ConversationLease,
  { turn_id, message_ids }: Progress,
  call: PendingCall,
  nowMs: number,
  untilMs: number,
): ApprovalItem {
  const at = timestampOf(nowMs);
  return {
    ...key,
    approval_id: call.approval_id!,
    turn_id,
    message_id: message_ids[0]!,
    epoch,
    ...(user_id !== undefined && { user_id }),
    tool_call_id: call.tool_call_id,
    name: call.name,
    input: JSON.stringify(call.input),
    approval: call.approval!,
    status: 'waiting',
    waiting_since: at,
    created_at: at,
    expires_at: timestampOf(untilMs),
    ttl: ttlAfter(untilMs, limits.receiptDays),
  };
}

// Called between two calls, so that a worker that resumes the turn knows what was done.
export async function saveCalls(
  service: Pick<Service, 'store'>,
  held: ConversationLease,
  progress: Progress,
): Promise<void> {
  try {
    await service.store.transact(
      {
        'the state': write.check(state, held.key, { present: true, if: { fence: held.fence } }),
        'the turn': write.update(
          pausedTurn,
          held.key,
          { set: { calls: JSON.stringify(progress.calls) } },
          { if: { turn_id: progress.turn_id } },
        ),
      },
      { pattern: 'keep what a call brought' },
    );
  } catch (error) {
    throw isRefused(error) ? cleared() : error;
  }
}

export type Ready =
  | { isReady: true; approvals: ApprovalItem[] }
  | { isReady: false; approvals: ApprovalItem[]; untilMs: number };

// The decisions. Approvals whose time is up are refused; from then on they cannot be approved.
export async function settleApprovals(
  service: Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
  progress: Progress,
): Promise<Ready> {
  const nowMs = service.clock.now();
  const late = (await readApprovals(service, key, progress)).filter(
    one => one.status === 'waiting' && Date.parse(one.expires_at) <= nowMs,
  );
  for (const one of late)
    await service.store
      .update(
        approval,
        one,
        { set: { status: 'expired', decided_at: timestampOf(nowMs) }, remove: ['waiting_since'] },
        { if: { status: 'waiting' }, pattern: 'expire an approval' },
      )
      .catch(error => {
        if (!isRefused(error)) throw error; // decided in the last moment
      });
  const approvals = await readApprovals(service, key, progress);
  const waiting = approvals.filter(approval => approval.status === 'waiting');
  if (waiting.length === 0) return { isReady: true, approvals };
  return { isReady: false, approvals, untilMs: Math.min(...waiting.map(one => Date.parse(one.expires_at))) };
}
