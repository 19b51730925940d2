import { failedCondition, type ItemOf, is, isRefused, type NamedStep, ref, write } from '@stak/table';
import type { Message } from '../conversations/message-format.ts';
import { type Service, timestampOf, ttlAfter } from '../deps.ts';
import { agentErrors, cleared } from '../errors.ts';
import * as limits from '../limits.ts';
import { message, state } from '../table.ts';
import { AnswerCancelled } from '../turns/cancel.ts';
import { type ConversationKey, dueAt, dueWhenFree, type Held, keyOfConversation } from '../turns/lease.ts';
import { approval, pausedTurn } from './table.ts';

export type ApprovalItem = ItemOf<typeof approval>;

export type PendingCall = {
  tool_call_id: string;
  name: string;
  input: unknown;
  approval?: 'user' | 'admin'; // without it, no approval is needed
  approval_id?: string;
  refused?: string; // why the call is refused without asking
  is_started?: boolean; // for a call that must not be made twice
  result?: { output: unknown; text: string; is_error?: boolean };
};

// The progress of a turn. From here on every call is made once, in any process.
export type Progress = Omit<
  ItemOf<typeof pausedTurn>,
  'tenant_id' | 'conversation_id' | 'messages' | 'calls'
> & {
  messages: Message[];
  calls: PendingCall[];
};

export async function readPaused({ store }: Service, key: ConversationKey): Promise<Progress | undefined> {
  const item = await store.get(pausedTurn, keyOfConversation(key), {
    consistent: true,
    pattern: 'read a paused turn',
  });
  if (!item) return undefined;
  const { tenant_id: _, conversation_id: __, ...rest } = item;
  return {
    ...rest,
    messages: JSON.parse(item.messages) as Message[],
    calls: JSON.parse(item.calls) as PendingCall[],
  };
}

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
  service: Service,
  held: Held,
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
  { key, state: { epoch, user_id } }: Held,
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
export async function saveCalls(service: Service, held: Held, progress: Progress): Promise<void> {
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

export async function readApprovals(
  { store }: Service,
  key: ConversationKey,
  { calls }: Pick<Progress, 'calls'>,
): Promise<ApprovalItem[]> {
  const refs = calls.flatMap(({ approval_id }) =>
    approval_id === undefined ? [] : [ref(approval, { ...keyOfConversation(key), approval_id })],
  );
  const found = await store.batchGet(refs, { consistent: true, pattern: 'read approvals' });
  return found.filter(one => one !== undefined);
}

export type Ready =
  | { isReady: true; approvals: ApprovalItem[] }
  | { isReady: false; approvals: ApprovalItem[]; untilMs: number };

// The decisions. Approvals whose time is up are refused; from then on they cannot be approved.
export async function settleApprovals(
  service: Service,
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
  const waiting = approvals.filter(one => one.status === 'waiting');
  if (waiting.length === 0) return { isReady: true, approvals };
  return { isReady: false, approvals, untilMs: Math.min(...waiting.map(one => Date.parse(one.expires_at))) };
}

// For a conversation that is cleared, or a turn that is given up: cancels everything pending.
export const cancelSteps = (
  key: ConversationKey,
  approvals: readonly ApprovalItem[],
  nowMs: number,
): NamedStep[] => [
  ['the paused turn', write.delete(pausedTurn, keyOfConversation(key))],
  ...approvals
    .filter(one => one.status === 'waiting')
    .map(
      (one): NamedStep => [
        one.approval_id,
        write.update(
          approval,
          one,
          { set: { status: 'cancelled', decided_at: timestampOf(nowMs) }, remove: ['waiting_since'] },
          { if: { status: 'waiting' } },
        ),
      ],
    ),
];

export const isPausedAs = (paused: string | undefined) =>
  paused === undefined ? { paused: is.absent } : { paused };
