import { is, isRefused, type NamedStep, write } from '@stak/table';
import { splitTurns, splitWritten } from '../conversations/message-format.ts';
import { isExternal, readHead } from '../conversations/reads.ts';
import type { Entered, Service } from '../deps.ts';
import { timestampOf, ttlAfter } from '../deps.ts';
import * as limits from '../limits.ts';
import { readAgentSettings } from '../settings.ts';
import { enabledSkills } from '../skills/enabled-skills.ts';
import { message, state, turn } from '../table.ts';
import type { Incoming } from './accept-message.ts';
import {
  type Draft,
  type Head,
  newHead,
  nextEpoch,
  nextNoted,
  putHead,
  type TurnItem,
} from './commit-turn.ts';
import {
  type ConversationKey,
  dueAt,
  dueWhenFree,
  keyOfConversation,
  readState,
  type StateItem,
} from './lease.ts';
import { replyAtOnce } from './reply.ts';

export type AtOnce = {
  incoming: Incoming;
  tenant: Entered;
  head: Head | undefined; // if already read
  asUser: string | undefined; // the conversation must exist and belong to this user
  draft: Draft; // of a new conversation
  hasKey: boolean; // the sender may repeat it, so it needs a receipt
};

// A greeting, or a question that no model or skill can answer, needs no lease. It is accepted and answered by one write
// of turn, state and documented item, on the condition that no one works on the conversation or has changed it. A new
// conversation is created in the same write. Returns undefined if the condition fails or if there is more to do: then
// the message is accepted first and answered under a lease.
export async function answerAtOnce(
  service: Service,
  { incoming, ...given }: AtOnce,
): Promise<TurnItem | undefined> {
  const { tenant, asUser, hasKey } = given;
  const { content = '' } = incoming;
  const key = keyOfConversation(incoming);
  const reply = await replyAtOnce(service, tenant, content, () => enabledSkills(service, tenant));
  if (!reply) return undefined;
  const [found, foundHead] = await Promise.all([
    readState(service, key),
    given.head ?? readHead(service, key),
  ]);
  const isNew = !found && !foundHead && asUser === undefined;
  const begun = isNew ? beginConversation(key, given.draft, service.clock.now()) : undefined;
  const known = begun?.state ?? found;
  const head = begun?.head ?? foundHead;
  if (!known || !head || !isIdle(known) || isExternal(head)) return undefined;
  if (head.epoch !== known.epoch || head.last_seq !== known.last_seq) return undefined;
  if (asUser !== undefined && known.user_id !== asUser) return undefined;

  const nowMs = service.clock.now();
  const { messages, ...rest } = reply;
  const item: TurnItem = {
    ...rest,
    ...key,
    epoch: known.epoch,
    seq: known.last_seq + 1,
    created_at: timestampOf(nowMs),
    messages: JSON.stringify([{ role: 'user', content }, ...messages]),
    message_ids: [incoming.message_id],
  };
  const { max_conversation_history: mostMessages, memory } = readAgentSettings(tenant.settings);
  const remembers = memory === 'automatic' && known.user_id !== undefined;
  const turns = splitTurns(splitWritten(head.messages));
  const commit = { head, turns: [item], mostMessages, remembers };
  const receipt: NamedStep[] = hasKey ? [['the message', putReceipt(incoming, item, nowMs)]] : [];
  const first: NamedStep[] = [['the turn', write.put(turn, item, { ifAbsent: true })]];
  const steps: NamedStep[] = [
    ['the state', countTurn(service, known, commit, item.seq, nowMs, isNew)],
    ['the head', putHead({ ...commit, before: turns, isNew }, [item], item.epoch, item.seq, nowMs)],
    ...receipt,
  ];
  try {
    // The turn is invisible until the state counts it. If a crash leaves it uncounted, a turn under a lease replaces
    // it. A new conversation has no state to find it by, so its first turn is written in the same transaction.
    await service.store.writeInOrder(isNew ? [[...first, ...steps]] : [first, steps], {
      pattern: 'answer at once',
    });
    return item;
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

const isIdle = ({ fence, paused, waiting_count, is_deleted }: StateItem): boolean =>
  fence === undefined && paused === undefined && waiting_count === 0 && !is_deleted;

function beginConversation(key: ConversationKey, draft: Draft, nowMs: number) {
  const epoch = nextEpoch(0, nowMs);
  const head = newHead(key, draft, epoch, nowMs);
  const { created_at } = head;
  const state: StateItem = { ...key, ...draft, created_at, epoch, last_seq: 0, waiting_count: 0 };
  return { head, state };
}

// Sets the next time for a worker only if it is earlier, because writing the index costs as much as writing the item.
function countTurn(
  service: Service,
  known: StateItem,
  commit: Parameters<typeof nextNoted>[1],
  last_seq: number,
  nowMs: number,
  isNew: boolean,
) {
  const key = keyOfConversation(known);
  const noted = nextNoted(known, commit, last_seq, nowMs);
  const dueMs = dueWhenFree({ ...known, ...noted }, nowMs);
  if (isNew)
    return write.put(
      state,
      { ...known, last_seq, ...noted, ...dueAt(service, key, dueMs) },
      { ifAbsent: true },
    );
  const isSooner = known.due_at === undefined || dueMs < known.due_at;
  return write.update(
    state,
    key,
    { set: { last_seq, ...noted, ...(isSooner && dueAt(service, key, dueMs)) } },
    {
      if: {
        epoch: known.epoch,
        last_seq: known.last_seq,
        waiting_count: 0,
        fence: is.absent,
        paused: is.absent,
      },
    },
  );
}

function putReceipt({ content: _, ...incoming }: Incoming, { epoch, seq }: TurnItem, nowMs: number) {
  const ttl = ttlAfter(nowMs, limits.receiptDays);
  const answered = { status: 'answered' as const, accepted_at: nowMs, epoch, seq, ttl };
  return write.put(message, { ...incoming, ...answered }, { ifAbsent: true });
}
