import { cutText } from '@stak/kit';
import { failedCondition, is, type NamedStep, type WriteStep, write } from '@stak/table';
import type { AgentRef } from '../agents/current.ts';
import { type Service, type StateDeps, timestampOf, ttlAfter } from '../deps.ts';
import { cleared } from '../errors.ts';
import * as limits from '../limits.ts';
import { conversation, message, state, turn } from '../main-table.ts';
import { defaultAgent } from '../settings.ts';
import { tokensOf } from '../state/context-window.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueAt,
  dueWhenFree,
  keptDays,
  keyOfConversation,
  pauseAsSeen,
  type StateItem,
} from '../state/lease.ts';
import {
  digestOf,
  headMessages,
  type PlainMessage,
  type WrittenMessage,
  writeMessage,
} from '../state/message-format.ts';
import { type ApprovalItem, cancelSteps, type Progress } from '../state/paused.ts';
import {
  type Head,
  isNotice,
  type MessageItem,
  type NewTurn,
  nextEpoch,
  plainTurn,
  type TurnItem,
} from '../state/turn-items.ts';

export type Commit = {
  head: Head; // as it was read
  tail: readonly TurnItem[]; // the newest turns before the new ones, for the documented item
  turns: readonly NewTurn[];
  mostMessages: number; // in the documented item
  mostTokens?: number; // in the window of a model
  answered?: readonly MessageItem[];
  reply?: string; // for a channel
  remembers?: boolean; // the turns may be summarised
  agent?: string; // that answers from now on: the conversation was handed over
  paused?: Progress; // the turn was stored earlier, and is finished now
  cancels?: readonly ApprovalItem[]; // those of them that are no longer asked for
  replacesLast?: boolean; // the new turn takes the place of the last one
  replaces?: boolean; // these turns replace the whole conversation
  keepsLease?: boolean;
};

// The documented item changed during the turn, and must be read again first.
export class HeadMoved extends Error {
  override readonly name = 'HeadMoved';
}

// Writes turns, the documented item and the receipts together, on the condition that the lease is still held and the
// conversation was not cleared. If the turns do not fit in one transaction, the earlier ones stay invisible until the
// last transaction counts them all.
export async function commitTurns(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  commit: Commit,
): Promise<TurnItem[]> {
  service.conversationMemory.forget(held.key);
  const nowMs = service.clock.now();
  const epoch = commit.replaces ? nextEpoch(held.state.epoch, nowMs) : held.state.epoch;
  const before = commit.replaces ? 0 : held.state.last_seq - (commit.replacesLast ? 1 : 0);
  const created_at = timestampOf(nowMs);
  const items = commit.turns.map(
    (turn, i): TurnItem => ({
      ...turn,
      ...held.key,
      epoch,
      seq: before + 1 + i,
      created_at,
    }),
  );
  const last_seq = before + items.length;
  const chunks = chunkTurns(items);
  const last = chunks.pop() ?? [];
  for (const chunk of chunks) {
    const check = write.check(state, held.key, { present: true, if: { fence: held.fence } });
    await transact(service, held, [['the state', check], ...chunk.map(putTurn)]);
  }
  for (let lost = 0; lost < limits.raceAttempts; lost++) {
    const next = { ...nextState(service, held, commit, last_seq, nowMs), epoch, last_seq };
    const committed = [items, epoch, last_seq, nowMs] as const;
    const isWritten = await transact(service, held, [
      ...last.map(putTurn),
      ['the state', settleState(held, commit, next)],
      ['the head', putHead({ ...commit, head: handHead(commit), before: writtenTail(commit) }, ...committed)],
      ...receipts(commit.answered ?? [], items.at(-1), nowMs),
      ...(commit.paused ? cancelSteps(held.key, commit.cancels ?? [], nowMs) : []),
    ]);
    if (!isWritten) continue;
    held.state = { ...held.state, ...next };
    if (commit.paused) {
      delete held.state.paused;
      delete held.state.paused_until;
    }
    if (!commit.keepsLease) {
      held.isReleased = true;
      if (next.due_at <= nowMs) service.notifier.notify(); // more has arrived meanwhile, or must be removed
    }
    return items;
  }
  throw cleared();
}

const isNamed = (agent: string | undefined): agent is string => agent !== undefined && agent !== defaultAgent;

// A conversation that was handed over belongs to another agent, in the version that is published.
function handHead({ head, agent }: Commit): Head {
  if (agent === undefined) return head;
  const { agent: _, agent_version: __, ...rest } = head;
  return isNamed(agent) ? { ...rest, agent } : rest;
}

const putTurn = (item: TurnItem): NamedStep => [`turn ${item.seq}`, write.put(turn, item)];

function chunkTurns(items: readonly TurnItem[]): TurnItem[][] {
  const chunks: TurnItem[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(item.messages);
    const isFull = chunks.at(-1)?.length === limits.turnsTogether || bytes + size > limits.turnBytesTogether;
    if (chunks.length === 0 || isFull) {
      chunks.push([]);
      bytes = 0;
    }
    bytes += size;
    chunks.at(-1)!.push(item);
  }
  return chunks;
}

// Returns whether it was written. A message that arrived meanwhile is not a reason to give up; a lost lease is.
async function transact(
  { store }: Pick<Service, 'store'>,
  held: ConversationLease,
  steps: readonly NamedStep[],
): Promise<boolean> {
  try {
    await store.transact(steps, { pattern: 'commit a turn' });
    return true;
  } catch (error) {
    const refused = failedCondition(error, 'the state');
    const current = refused?.current as StateItem | undefined;
    if (refused && (current?.fence !== held.fence || current.epoch !== held.state.epoch)) throw cleared();
    if (failedCondition(error, 'the head')) throw new HeadMoved('The documented item was changed');
    if (!current) throw error;
    held.state = current;
    return false;
  }
}

function nextState(
  service: Pick<Service, 'dueShards'>,
  { key, state: current }: ConversationLease,
  commit: Commit,
  last_seq: number,
  nowMs: number,
) {
  const noted = nextNoted(commit.replacesLast ? withoutLast(current) : current, commit, last_seq, nowMs);
  const waiting_count = current.waiting_count - (commit.answered?.length ?? 0);
  const has_stale = commit.replaces || current.has_stale;
  const reply = commit.reply ?? current.reply;
  const dueMs = commit.keepsLease
    ? (current.leased_until ?? nowMs)
    : dueWhenFree(
        {
          ...(commit.paused ? {} : pauseOf(current)),
          waiting_count,
          reply,
          has_stale,
          quiet_at: noted.quiet_at,
          is_temporary: current.is_temporary,
          retry_at: hasEarlierReply(current, commit) ? current.retry_at : undefined,
        },
        nowMs,
      );
  return { waiting_count, ...noted, ...(has_stale && { has_stale }), ...dueAt(service, key, dueMs) };
}

// As before the turn that is replaced: the new one may be worth remembering.
const withoutLast = (current: StateItem): StateItem => ({
  ...current,
  last_seq: current.last_seq - 1,
  noted_seq: Math.min(current.noted_seq ?? current.last_seq, current.last_seq - 1),
});

// A reply to a channel that was rejected keeps its time.
const hasEarlierReply = (current: StateItem, { reply }: Commit): boolean =>
  reply === undefined && current.reply !== undefined;

// Greetings and commands are not worth remembering.
const isMemorable = (item: NewTurn): boolean => item.routing !== 'rule' || isNotice(item);

// Memorable turns are summarised when the conversation has been quiet for a while, or when they leave the window.
type Noting = Pick<Commit, 'turns' | 'mostMessages' | 'mostTokens' | 'remembers' | 'replaces'> &
  Partial<Pick<Commit, 'tail'>>;

export function nextNoted(current: StateItem, commit: Noting, last_seq: number, nowMs: number) {
  const { quiet_at, last_seq: before, noted_seq = before } = current;
  if (commit.replaces) return { noted_seq: last_seq };
  if (!commit.remembers || !commit.turns.some(isMemorable))
    return noted_seq === before ? { noted_seq: last_seq } : { quiet_at };
  const since = [...(commit.tail ?? []).filter(({ seq }) => seq > noted_seq), ...commit.turns];
  const tokens = since.reduce((sum, { messages }) => sum + tokensOf(messages), 0);
  const isOverflowing =
    (last_seq - noted_seq) * 2 > commit.mostMessages || tokens > (commit.mostTokens ?? Infinity);
  return { noted_seq, quiet_at: Math.floor(isOverflowing ? nowMs : nowMs + limits.quietMs) };
}

const pauseOf = ({ paused, paused_until }: StateItem) => ({ paused, paused_until });

function settleState(held: ConversationLease, commit: Commit, next: Partial<StateItem>): WriteStep {
  const { answered = [], reply, keepsLease, agent } = commit;
  const { epoch, waiting_count } = held.state;
  const leaving = [
    ...(agent === undefined ? [] : (['agent_version'] as const)),
    ...(agent === undefined || isNamed(agent) ? [] : (['agent'] as const)),
    ...(keepsLease ? [] : (['fence', 'leased_until', 'attempts'] as const)),
    ...(commit.paused ? (['paused', 'paused_until'] as const) : []),
    ...(keepsLease || hasEarlierReply(held.state, commit) ? [] : (['retry_at'] as const)),
  ];
  return write.update(
    state,
    held.key,
    {
      set: { ...next, reply, ...(isNamed(agent) && { agent }) },
      ...(answered.length > 0 && { deleteFrom: { waiting: new Set(answered.map(one => one.message_id)) } }),
      ...(leaving.length > 0 && { remove: leaving }),
    },
    { if: { fence: held.fence, epoch, waiting_count, ...pauseAsSeen(held.state) } },
  );
}

export type Draft = AgentRef & {
  title?: string;
  user_id?: string;
  channel?: string;
  is_temporary?: boolean;
  variables?: string; // in the state only
};

export function newHead(
  key: ConversationKey,
  { variables: _, ...draft }: Draft,
  epoch: number,
  nowMs: number,
): Head {
  const messages = '[]';
  const at = timestampOf(nowMs);
  return {
    ...keyOfConversation(key),
    ...draft,
    is_named: draft.title !== undefined,
    messages,
    digest: digestOf(messages),
    epoch,
    last_seq: 0,
    created_at: at,
    updated_at: at,
    ttl: ttlAfter(nowMs, keptDays(draft)),
    version: 1,
  };
}

const writtenTail = ({ tail, replaces }: Commit): WrittenMessage[][] =>
  replaces ? [] : tail.map(writtenTurn);

type NewHead = Pick<Commit, 'head' | 'mostMessages'> & {
  before: readonly WrittenMessage[][];
  isNew?: boolean; // newly made, not read
};

const putHead = (given: NewHead, ...committed: Readonly<Committed>): WriteStep =>
  putNextHead(given, nextHead(given, ...committed));

type Committed = [items: readonly TurnItem[], epoch: number, last_seq: number, nowMs: number];

// The documented item with new turns.
export function nextHead(
  { head, before, mostMessages, isNew }: NewHead,
  ...[items, epoch, last_seq, nowMs]: Readonly<Committed>
): Head {
  const turns = [...before, ...items.map(writtenTurn)];
  const messages = headMessages(turns, mostMessages);
  return {
    ...head,
    messages,
    digest: digestOf(messages),
    epoch,
    last_seq,
    title: head.title ?? titleOf(turns),
    created_at: head.created_at ?? timestampOf(nowMs),
    updated_at: timestampOf(nowMs),
    ttl: ttlAfter(nowMs, keptDays(head)),
    version: isNew || head.version === undefined ? 1 : head.version + 1,
  };
}

export function putNextHead({ head, isNew }: Pick<NewHead, 'head' | 'isNew'>, next: Head): WriteStep {
  if (isNew) return write.put(conversation, next, { ifAbsent: true });
  // Another program sets `updated_at` without counting a version, so either one shows that it wrote.
  const asRead = { updated_at: head.updated_at };
  return head.version === undefined
    ? write.put(conversation, next, { if: { ...asRead, version: is.absent } })
    : write.put(conversation, next, { ifVersion: head.version, if: asRead });
}

const writtenTurn = (item: TurnItem): WrittenMessage[] => plainTurn(item).map(writeMessage);

const titleOf = (turns: readonly WrittenMessage[][]): string | undefined => {
  const question = turns[0]?.find(({ role }) => role === 'user');
  const asked = question ? (JSON.parse(question.json) as PlainMessage).content : '';
  return cutText(asked.replace(/\s+/g, ' ').trim(), 80) || undefined;
};

const receipts = (answered: readonly MessageItem[], last: TurnItem | undefined, nowMs: number): NamedStep[] =>
  answered.map(({ tenant_id, conversation_id, message_id }) => [
    `message ${message_id}`,
    write.update(
      message,
      { tenant_id, conversation_id, message_id },
      {
        set: {
          status: 'answered',
          epoch: last?.epoch,
          seq: last?.seq,
          ttl: ttlAfter(nowMs, limits.receiptDays),
        },
        remove: ['content', 'options', 'reply_to'],
      },
    ),
  ]);
