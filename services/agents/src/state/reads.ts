import { ref } from '@stak/table';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { conversation, message, turnsOfConversation } from '../main-table.ts';
import { type ConversationKey, keyOfConversation, type StateItem } from './lease.ts';
import { digestOf } from './message-format.ts';
import type { Head, MessageItem, TurnItem } from './turn-items.ts';

// Written by a program that knows only the documented item: our attributes are missing, or our digest is of earlier
// messages.
export const isExternal = ({ version, digest, messages }: Head): boolean =>
  version === undefined || digest !== digestOf(String(messages));

export const readHead = ({ store }: Pick<Service, 'store'>, key: ConversationKey) =>
  store.get(conversation, keyOfConversation(key), { consistent: true, pattern: 'read a conversation' });

type Numbered = { epoch?: number; last_seq?: number };

// The newest turns that fit, at least one, oldest first. Turns after the last number were never committed.
export async function readTurns(
  { store }: Pick<Service, 'store'>,
  key: ConversationKey,
  { epoch, last_seq = 0 }: Numbered,
  most: number,
  mostBytes: number,
): Promise<TurnItem[]> {
  const turns: TurnItem[] = [];
  if (epoch === undefined) return turns;
  const range = { ...keyOfConversation(key), epoch };
  let bytes = 0;
  for (let seq = last_seq, left = Math.min(most, limits.windowTurns); seq > 0 && left > 0; ) {
    const limit = Math.min(left, limits.turnsRead);
    const page = { to: { seq }, newestFirst: true, limit };
    const { items } = await store.query(turnsOfConversation, range, page);
    for (const item of items) {
      bytes += Buffer.byteLength(item.messages);
      if (turns.length > 0 && bytes > mostBytes) return turns.toReversed();
      turns.push(item);
    }
    seq = items.length < limit ? 0 : items.at(-1)!.seq - 1;
    left -= items.length;
  }
  return turns.toReversed();
}

// Reads which of these messages wait for an answer, in order of arrival.
export async function readMessages(
  { store }: Pick<Service, 'store'>,
  { tenant_id, conversation_id }: ConversationKey,
  ids: Iterable<string>,
): Promise<MessageItem[]> {
  const refs = [...ids].map(message_id => ref(message, { tenant_id, conversation_id, message_id }));
  const found = await store.batchGet(refs, { consistent: true, pattern: 'read what waits' });
  return found
    .filter(item => item?.status === 'waiting')
    .map(item => item!)
    .sort((a, b) => a.accepted_at - b.accepted_at || (a.message_id < b.message_id ? -1 : 1));
}

// The waiting messages, as many as one turn takes.
export async function readWaiting(service: Pick<Service, 'store'>, state: StateItem): Promise<MessageItem[]> {
  const items = await readMessages(service, state, state.waiting ?? []);
  let bytes = 0;
  return items.filter((item, i) => {
    bytes += Buffer.byteLength(item.content ?? '');
    return i === 0 || bytes <= limits.burstBytes;
  });
}
