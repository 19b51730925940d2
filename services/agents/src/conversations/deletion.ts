import { is, type NamedStep, write } from '@stak/table';
import { type Service, type StateDeps, timestampOf, ttlAfter } from '../deps.ts';
import * as limits from '../limits.ts';
import {
  approval,
  approvalsOfConversation,
  conversation,
  message,
  messagesOfConversation,
  state,
  turn,
  turnsOfConversation,
} from '../main-table.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueAt,
  keptDays,
  keyOfConversation,
  readState,
  type StateItem,
} from '../state/lease.ts';
import { digestOf } from '../state/message-format.ts';
import { cancelSteps, isPausedAs, readApprovals, readPaused } from '../state/paused.ts';
import { isExternal, readHead, readWaiting } from '../state/reads.ts';
import { type Head, type MessageItem, nextEpoch } from '../state/turn-items.ts';
import { refundMessage } from '../usage/quota.ts';

// One write ends the epoch: from then on its turns are invisible, and a turn in progress cannot commit. Waiting
// messages are dropped with it. The worker removes the log, however long that takes.
export const clearConversation = (
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
  forgets?: string,
): Promise<void> => endEpoch(service, key, false, forgets);

// The same, and deletes the documented item too. Also for a conversation that has expired, or that another program
// deleted.
export const deleteConversation = (
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
  forgets?: string,
): Promise<void> => endEpoch(service, key, true, forgets);

async function endEpoch(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
  deletes: boolean,
  forgets: string | undefined, // the user; what was learnt from the conversation is deleted too
): Promise<void> {
  const dropped = await retryOnConflict(service, async () => {
    const [head, known] = await Promise.all([readHead(service, key), readState(service, key)]);
    if (!known && (!head || !deletes)) return [];
    const waiting = known ? await readAllWaiting(service, known) : [];
    const nowMs = service.clock.now();
    const epoch = nextEpoch(known?.epoch ?? 0, nowMs);
    const ended =
      known &&
      endState(known, {
        ...{ epoch, is_deleted: deletes, forgets, recalled_by: known.user_id },
        ...dueAt(service, key, nowMs),
      });
    const steps: NamedStep[] = ended ? [['the state', ended]] : [];
    if (head) steps.push(['the head', deletes ? deleteHead(head) : emptyHead(head, epoch, nowMs)]);
    steps.push(...dropSteps(waiting, deletes ? 'deleted' : 'cleared', nowMs));
    if (known?.paused !== undefined) steps.push(...(await cancelPaused(service, key, nowMs)));
    await service.store.transact(steps, { pattern: 'clear a conversation' });
    return waiting;
  });
  for (const one of dropped) await refundMessage(service, one, one.reserved_on);
  for (const one of dropped) service.hub.settle(one);
  service.notifier.notify();
}

// A pending call is no longer made, even if it is approved.
async function cancelPaused(
  service: Pick<Service, 'store'>,
  key: ConversationKey,
  nowMs: number,
): Promise<NamedStep[]> {
  const paused = await readPaused(service, key);
  return cancelSteps(key, paused ? await readApprovals(service, key, paused) : [], nowMs);
}

async function readAllWaiting(service: Pick<Service, 'store'>, known: StateItem): Promise<MessageItem[]> {
  const all: MessageItem[] = [];
  const left = new Set(known.waiting);
  while (left.size > 0) {
    const some = await readWaiting(service, { ...known, waiting: left });
    if (some.length === 0) break;
    all.push(...some);
    for (const { message_id } of some) left.delete(message_id);
  }
  return all;
}

function endState(
  known: StateItem,
  ended: Pick<StateItem, 'epoch' | 'is_deleted' | 'forgets' | 'recalled_by' | 'due_lane' | 'due_at'>,
) {
  const owner = ended.is_deleted
    ? (['user_id', 'title', 'channel', 'agent', 'agent_version', 'variables'] as const)
    : [];
  return write.update(
    state,
    keyOfConversation(known),
    {
      set: { ...ended, last_seq: 0, noted_seq: 0, waiting_count: 0, has_stale: true },
      remove: [
        'fence',
        'leased_until',
        'waiting',
        'attempts',
        'retry_at',
        'reply',
        'paused',
        'paused_until',
        'quiet_at',
        'creation_id', // a repeated import must not bring back what was cleared
        ...owner,
      ],
    },
    {
      if: {
        epoch: known.epoch,
        waiting_count: known.waiting_count,
        last_seq: known.last_seq,
        ...isPausedAs(known.paused),
      },
    },
  );
}

const asRead = (head: Head) =>
  head.version === undefined
    ? { version: is.absent, updated_at: head.updated_at }
    : { version: head.version, updated_at: head.updated_at };

const deleteHead = (head: Head) => write.delete(conversation, keyOfConversation(head), { if: asRead(head) });

function emptyHead(head: Head, epoch: number, nowMs: number) {
  const messages = '[]';
  const version = isExternal(head) ? 1 : head.version + 1;
  const emptied = { messages, digest: digestOf(messages), epoch, last_seq: 0, version };
  const times = { updated_at: timestampOf(nowMs), ttl: ttlAfter(nowMs, keptDays(head)) };
  const { title, ...rest } = head;
  const kept = head.is_named ? { ...rest, title } : rest; // the first words are no longer its title
  return write.put(conversation, { ...kept, ...emptied, ...times }, { if: asRead(head) });
}

const dropSteps = (waiting: readonly MessageItem[], reason: string, nowMs: number): NamedStep[] =>
  waiting.map(({ tenant_id, conversation_id, message_id }) => [
    `message ${message_id}`,
    write.update(
      message,
      { tenant_id, conversation_id, message_id },
      {
        set: { status: 'dropped', reason, ttl: ttlAfter(nowMs, limits.receiptDays) },
        remove: ['content', 'options', 'reply_to'],
      },
      { if: { status: 'waiting' } },
    ),
  ]);

// Gives up messages that cannot be answered, together with the lease.
export async function dropMessages(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  dropped: readonly MessageItem[],
  reason: string,
  { reply, retryMs }: { reply?: string; retryMs?: number } = {}, // when the rest is tried again
): Promise<void> {
  await retryOnConflict(service, async () => {
    const known = await readState(service, held.key);
    if (known?.fence !== held.fence) return true;
    const nowMs = service.clock.now();
    const left = known.waiting_count - dropped.length;
    const settle = write.update(
      state,
      held.key,
      {
        set: {
          waiting_count: left,
          reply,
          ...(retryMs !== undefined && { attempts: 1, retry_at: retryMs }),
          ...dueAt(service, held.key, retryMs ?? nowMs),
        },
        deleteFrom: { waiting: new Set(dropped.map(one => one.message_id)) },
        remove: [
          'fence',
          'leased_until',
          'paused',
          'paused_until',
          ...(retryMs === undefined ? (['attempts', 'retry_at'] as const) : []),
        ],
      },
      { if: { fence: held.fence, waiting_count: known.waiting_count } },
    );
    const steps: NamedStep[] = [['the state', settle], ...dropSteps(dropped, reason, nowMs)];
    if (known.paused !== undefined) steps.push(...(await cancelPaused(service, held.key, nowMs)));
    await service.store.transact(steps, { pattern: 'give up messages' });
    for (const one of dropped) await refundMessage(service, one, one.reserved_on);
    return true;
  });
  held.isReleased = true;
  for (const one of dropped) service.hub.settle(one);
  service.notifier.notify();
}

// Removes turns of earlier epochs, and the receipts of a deleted conversation. Returns whether there may be more.
// Epochs are never reused, so new turns are not affected.
export async function purge(
  service: Pick<Service, 'store'>,
  { state: known }: ConversationLease,
): Promise<'done' | 'more'> {
  const { store } = service;
  const key = keyOfConversation(known);
  const limit = limits.purgeTogether;
  const turns = await store.query(turnsOfConversation, key, { before: { epoch: known.epoch }, limit });
  const receipts = known.is_deleted
    ? (await store.query(messagesOfConversation, key, { limit })).items.filter(
        item => item.status !== 'waiting',
      )
    : [];
  const decided = [];
  for await (const item of store.all(approvalsOfConversation, key))
    if (item.epoch < known.epoch && item.turn_id !== known.paused && decided.length < limit)
      decided.push(item);
  const steps = [
    ...turns.items.map(item => write.delete(turn, item)),
    ...receipts.map(item => write.delete(message, item)),
    ...decided.map(item => write.delete(approval, item)),
  ];
  if (steps.length > 0) await store.batchWrite(steps, { pattern: 'purge a conversation' });
  return steps.length > 0 ? 'more' : 'done';
}
