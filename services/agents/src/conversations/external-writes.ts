import { assertOwned } from '@stak/http';
import { failedCondition, isRefused, ref, write } from '@stak/table';
import type { Service, StateDeps } from '../deps.ts';
import { noConversation } from '../errors.ts';
import * as limits from '../limits.ts';
import { conversation, state } from '../main-table.ts';
import { type Caller, mayUse } from '../state/access.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueAt,
  keyOfConversation,
  type StateItem,
  withLease,
} from '../state/lease.ts';
import { cutBytes, type PlainMessage, readPlain } from '../state/message-format.ts';
import { isExternal, readHead, readTurns } from '../state/reads.ts';
import { type Head, nextEpoch, plainTurn, type TurnItem } from '../state/turn-items.ts';
import { commitTurns, newHead } from './commit-turn.ts';
import { deleteConversation } from './deletion.ts';
import { findNewMessages } from './external-diff.ts';
import { turnsOfMessages } from './imported-turns.ts';

// A program that knows only the documented item writes it whole and without a condition, and deletes it to clear. Its
// messages become turns of the log; turns that it did not know stay.

export type CurrentHead = { head: Head; tail: TurnItem[] };

// Under the lease: the documented item as it must be, and the newest turns. Undefined if the item is gone.
export async function readCurrentHead(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  mostTurns: number,
): Promise<CurrentHead | undefined> {
  const [head, tail] = await Promise.all([
    readHead(service, held.key),
    readTurns(service, held.key, held.state, mostTurns, limits.windowBytes),
  ]);
  if (!head || !isExternal(head)) return head && { head, tail };
  await mergeHead(service, held, head, true);
  return readCurrentHead(service, held, mostTurns);
}

async function mergeHead(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  head: Head,
  keepsLease: boolean,
): Promise<void> {
  const tail = await readTurns(service, held.key, held.state, limits.windowTurns, limits.windowBytes);
  const written = readPlain(head.messages);
  const { kind, messages } = findNewMessages(tail.map(plainTurn), written);
  await commitTurns(service, held, {
    head: withOurs(head, held.state),
    tail,
    turns: turnsOfMessages(messages.map(cutMessage)),
    mostMessages: written.length,
    replaces: kind === 'replace',
    keepsLease,
  });
}

// The other program wrote the item without the attributes that it does not know.
const withOurs = (
  head: Head,
  { user_id, title, channel, agent, agent_version, created_at }: StateItem,
): Head => ({
  ...head,
  ...(agent !== undefined && { agent }),
  ...(agent_version !== undefined && { agent_version }),
  user_id: head.user_id ?? user_id,
  title: head.title ?? title,
  is_named: (head.title ?? title) !== undefined,
  channel: head.channel ?? channel,
  created_at: head.created_at ?? created_at,
});

const cutMessage = ({ role, content }: PlainMessage): PlainMessage => ({
  role,
  content: cutBytes(content, limits.turnBytes / 2),
});

// The item expired, or another program deleted it, before the message to answer came: earlier turns do not count any
// more.
export async function restartConversation(
  service: Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  channel: string | undefined,
): Promise<void> {
  const nowMs = service.clock.now();
  const epoch = nextEpoch(held.state.epoch, nowMs);
  const { user_id, title, is_temporary, agent, agent_version } = held.state;
  const next = { epoch, last_seq: 0, noted_seq: 0, has_stale: true, recalled_by: user_id };
  try {
    await service.store.transact(
      {
        'the state': write.update(state, held.key, { set: next }, { if: { fence: held.fence } }),
        'the head': write.put(
          conversation,
          newHead(held.key, { user_id, title, channel, is_temporary, agent, agent_version }, epoch, nowMs),
          {
            ifAbsent: true,
          },
        ),
      },
      { pattern: 'begin anew' },
    );
    held.state = { ...held.state, ...next };
  } catch (error) {
    if (!failedCondition(error, 'the head')) throw error; // the other program was faster: there is an item again
  }
}

// For readers that find another program's changes and write no turn themselves. A writer of a turn holds the lease and
// merges them itself.
export async function mergeExternalWrites(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
): Promise<void> {
  const { head, known } = await service.store.transactGet(
    { head: ref(conversation, keyOfConversation(key)), known: ref(state, keyOfConversation(key)) },
    { pattern: 'look at a conversation' },
  );
  if (!head) {
    if (known && known.last_seq > 0) await deleteConversation(service, key);
    return;
  }
  if (!isExternal(head)) return;
  if (!known) await createState(service, key);
  await withLease(service, key, async held => {
    const current = await readHead(service, key); // another process may have merged it already
    if (current && isExternal(current)) await mergeHead(service, held, current, false);
  });
}

async function createState(
  service: Pick<Service, 'store' | 'clock' | 'dueShards'>,
  key: ConversationKey,
): Promise<void> {
  const nowMs = service.clock.now();
  const item = { ...keyOfConversation(key), epoch: nextEpoch(0, nowMs), last_seq: 0, waiting_count: 0 };
  try {
    await service.store.put(state, { ...item, ...dueAt(service, key, nowMs) }, { ifAbsent: true });
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
}

// The current conversation, also if another program wrote it last.
export async function findConversation(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  caller: Caller,
  key: ConversationKey,
): Promise<Head> {
  let head = await readHead(service, key);
  if (head && isExternal(head)) {
    await mergeExternalWrites(service, key);
    head = await readHead(service, key);
  }
  return assertOwned(head, found => mayUse(caller, found), noConversation);
}
