import { type ItemOf, is, type NamedStep, ref, write } from '@stak/table';
import { type Service, timestampOf } from '../deps.ts';
import { approval, pausedTurn } from '../main-table.ts';
import { type ConversationKey, keyOfConversation } from './lease.ts';
import type { Message } from './message-format.ts';

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

export async function readPaused(
  { store }: Pick<Service, 'store'>,
  key: ConversationKey,
): Promise<Progress | undefined> {
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

export async function readApprovals(
  { store }: Pick<Service, 'store'>,
  key: ConversationKey,
  { calls }: Pick<Progress, 'calls'>,
): Promise<ApprovalItem[]> {
  const refs = calls.flatMap(({ approval_id }) =>
    approval_id === undefined ? [] : [ref(approval, { ...keyOfConversation(key), approval_id })],
  );
  const found = await store.batchGet(refs, { consistent: true, pattern: 'read approvals' });
  return found.filter(one => one !== undefined);
}

// For a conversation that is cleared, or a turn that is given up: cancels everything pending.
export const cancelSteps = (
  key: ConversationKey,
  approvals: readonly ApprovalItem[],
  nowMs: number,
): NamedStep[] => [
  ['the paused turn', write.delete(pausedTurn, keyOfConversation(key))],
  ...approvals
    .filter(approval => approval.status === 'waiting')
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
