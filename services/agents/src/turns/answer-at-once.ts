import { failedCondition, is, isRefused, type NamedStep, type WriteStep, write } from '@stak/table';
import { type AgentRef, agentOf, refOf } from '../agents/current.ts';
import { type Draft, newHead, nextHead, nextNoted, putNextHead } from '../conversations/commit-turn.ts';
import type { Base, EnteredTenant, Service, SkillDeps } from '../deps.ts';
import { timestampOf, ttlAfter } from '../deps.ts';
import * as limits from '../limits.ts';
import { message, state, turn } from '../main-table.ts';
import { readAgentSettings } from '../settings.ts';
import { enabledSkills } from '../skills/enabled-skills.ts';
import type { Incoming } from '../state/accept-message.ts';
import type { Conversation } from '../state/conversation-memory.ts';
import {
  type ConversationKey,
  dueAt,
  dueWhenFree,
  keyOfConversation,
  readState,
  type StateItem,
} from '../state/lease.ts';
import { splitTurns, splitWritten } from '../state/message-format.ts';
import { isExternal, readHead } from '../state/reads.ts';
import { type Head, nextEpoch, type TurnItem } from '../state/turn-items.ts';
import { type Payer, quotaSteps } from '../usage/quota.ts';
import { type ReplyDraft, replyAtOnce } from './reply.ts';

export type AtOnce = {
  incoming: Incoming;
  tenant: EnteredTenant;
  head?: Head; // if already read
  asUser: string | undefined; // the conversation must exist and belong to this user
  draft(): Promise<Draft>; // of a new conversation
  hasKey: boolean; // the sender may repeat it, so it needs a receipt
  // Finds the quota to count it against, in the same transaction. Without it, the message is counted already.
  payerOf?(head: Head | undefined): Payer;
};

// A greeting, or a question that no model or skill can answer, needs no lease. It is accepted and answered by one write
// of turn, state and documented item, on the condition that no one works on the conversation or has changed it. A new
// conversation is created in the same write. Returns undefined if the condition fails or if there is more to do: then
// the message is accepted first and answered under a lease.
export async function answerAtOnce(
  service: Base & SkillDeps & Pick<Service, 'dueShards' | 'conversationMemory' | 'models'>,
  given: AtOnce,
): Promise<TurnItem | undefined> {
  const { incoming } = given;
  const reply = await replyAs(service, given, given.tenant);
  if (!reply) return undefined;
  const key = keyOfConversation(incoming);
  const remembered = given.payerOf && service.conversationMemory.recall(key);
  const answered =
    remembered && (await answerAs(service, given, reply, { ...remembered, isRemembered: true }));
  if (answered) return answered;
  const [state, head] = await Promise.all([readState(service, key), given.head ?? readHead(service, key)]);
  return answerAs(service, given, reply, { state, head, isRemembered: false });
}

type Answering = Base & SkillDeps & Pick<Service, 'dueShards' | 'conversationMemory' | 'models'>;

const replyAs = (service: Answering, { incoming: { content = '' } }: AtOnce, tenant: EnteredTenant) =>
  replyAtOnce(service, tenant, content, () => enabledSkills(service, tenant));

// A conversation of another agent than the settings of the tenant is answered as that agent answers, which may have
// more to do.
async function answerAs(
  service: Answering,
  given: AtOnce,
  reply: ReplyDraft,
  found: ConversationState,
): Promise<TurnItem | undefined> {
  const isNew = !found.state && !found.head && given.asUser === undefined;
  const draft = isNew ? await given.draft() : undefined;
  const tenant = await agentOf(service, given.tenant, found.state ?? draft ?? {});
  if (tenant === given.tenant) return answerIn(service, given, reply, { ...found, draft });
  const own = await replyAs(service, given, tenant);
  return own && answerIn(service, { ...given, tenant }, { ...own, ...refOf(tenant) }, { ...found, draft });
}

type ConversationState = { state: StateItem | undefined; head: Head | undefined; isRemembered: boolean };

async function answerIn(
  service: Pick<Service, 'store' | 'clock' | 'dueShards' | 'conversationMemory'>,
  given: AtOnce,
  { messages, ...reply }: ReplyDraft & AgentRef,
  { draft, ...found }: ConversationState & { draft: Draft | undefined }, // if it is new
): Promise<TurnItem | undefined> {
  const { tenant, asUser, incoming } = given;
  const key = keyOfConversation(incoming);
  const { isRemembered } = found;
  const isNew = draft !== undefined;
  const { state: known, head } = isNew
    ? beginConversation(key, draft, service.clock.now())
    : (found as Partial<Conversation>);
  if (!known || !head || !isIdle(known) || (!isRemembered && isExternal(head))) return undefined;
  if (head.epoch !== known.epoch || head.last_seq !== known.last_seq) return undefined;
  if (asUser !== undefined && known.user_id !== asUser) return undefined;

  const nowMs = service.clock.now();
  if (isRemembered && head.ttl * 1000 <= nowMs) return undefined; // it has expired since
  const item: TurnItem = {
    ...reply,
    ...key,
    epoch: known.epoch,
    seq: known.last_seq + 1,
    created_at: timestampOf(nowMs),
    messages: JSON.stringify([{ role: 'user', content: incoming.content ?? '' }, ...messages]),
    message_ids: [incoming.message_id],
    ...(!given.hasKey && incoming.cause !== undefined && { cause: incoming.cause }),
  };
  const settings = readAgentSettings(tenant.settings);
  const { max_conversation_history: mostMessages, memory } = settings;
  const remembers = memory === 'automatic' && known.user_id !== undefined && !known.is_temporary;
  const commit = { head, isNew, turns: [item], mostMessages, remembers };
  const before = splitTurns(splitWritten(head.messages));
  const next = nextHead({ ...commit, before }, [item], item.epoch, item.seq, nowMs);
  const counted = countTurn(service, known, commit, item.seq, nowMs, { isNew, isRemembered });
  const payer = given.payerOf?.(found.head);
  const quota = payer && quotaSteps(service, payer, settings);
  const noted = quota ? { ...incoming, reserved_on: quota.date, user_id: payer.user_id } : incoming;
  const first: NamedStep[] = [['the turn', write.put(turn, item, { ifAbsent: true })]];
  const steps: NamedStep[] = [
    ['the state', counted.step],
    ['the head', putNextHead(commit, next)],
    ...(given.hasKey ? ([['the message', putReceipt(noted, item, nowMs)]] satisfies NamedStep[]) : []),
    ...(quota?.steps ?? []),
  ];
  try {
    // The turn is invisible until the state counts it. If a crash leaves it uncounted, a turn under a lease replaces
    // it. A new conversation has no state to find it by, so its first turn is written in the same transaction.
    await service.store.writeInOrder(isNew ? [[...first, ...steps]] : [first, steps], {
      pattern: 'answer at once',
    });
  } catch (error) {
    const { conversationMemory } = service;
    if (isRemembered && (failedCondition(error, 'the state') ?? failedCondition(error, 'the head'))) {
      conversationMemory.lose(key);
      return undefined;
    }
    conversationMemory.forget(key);
    if (isRefused(error) && !quota?.refusalOf(error)) return undefined;
    throw quota?.refusalOf(error) ?? error;
  }
  if (quota) service.conversationMemory.keep(key, { head: next, state: counted.next });
  if (isRemembered) service.conversationMemory.confirm();
  return item;
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
  service: Pick<Service, 'dueShards'>,
  known: StateItem,
  commit: Parameters<typeof nextNoted>[1],
  last_seq: number,
  nowMs: number,
  { isNew, isRemembered }: { isNew: boolean; isRemembered: boolean },
): { step: WriteStep; next: StateItem } {
  const key = keyOfConversation(known);
  const noted = nextNoted(known, commit, last_seq, nowMs);
  const dueMs = dueWhenFree({ ...known, ...noted }, nowMs);
  const isSooner = isNew || known.due_at === undefined || dueMs < known.due_at;
  const set = { last_seq, ...noted, ...(isSooner && dueAt(service, key, dueMs)) };
  const next = { ...known, ...set };
  if (isNew) return { step: write.put(state, next, { ifAbsent: true }), next };
  const asKnown = {
    epoch: known.epoch,
    last_seq: known.last_seq,
    waiting_count: 0,
    fence: is.absent,
    paused: is.absent,
    ...(isRemembered && asRemembered(known)),
  };
  return { step: write.update(state, key, { set }, { if: asKnown }), next };
}

// The attributes that a worker changes without writing a turn. A state that was just read need not be compared as a
// whole.
const asRemembered = ({ user_id, is_deleted, due_at, quiet_at, noted_seq, reply, has_stale }: StateItem) => ({
  user_id: user_id ?? is.absent,
  is_deleted: is_deleted ?? is.absent,
  due_at: due_at ?? is.absent,
  quiet_at: quiet_at ?? is.absent,
  noted_seq: noted_seq ?? is.absent,
  reply: reply ?? is.absent,
  has_stale: has_stale ?? is.absent,
});

function putReceipt({ content: _, ...incoming }: Incoming, { epoch, seq }: TurnItem, nowMs: number) {
  const ttl = ttlAfter(nowMs, limits.receiptDays);
  const answered = { status: 'answered' as const, accepted_at: nowMs, epoch, seq, ttl };
  return write.put(message, { ...incoming, ...answered }, { ifAbsent: true });
}
