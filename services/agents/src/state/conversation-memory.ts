import { createRecentMap } from '@stak/kit';
import * as limits from '../limits.ts';
import type { ConversationKey, StateItem } from './lease.ts';
import type { Head } from './turn-items.ts';

// Conversations as this process wrote them last, so that the next turn need not read them. Its write has them as its
// condition: if anyone has written since, it is refused, and the conversation is read.
export type ConversationMemory = {
  recall(key: ConversationKey): Conversation | undefined;
  // After a write.
  keep(key: ConversationKey, written: Conversation): void;
  // A write on a remembered conversation was made, or refused.
  confirm(): void;
  lose(key: ConversationKey): void;
  // Before this process writes it otherwise.
  forget(key: ConversationKey): void;
};
export type Conversation = { readonly head: Head; readonly state: StateItem };

// A refused write costs as much as several reads. Where several processes answer in the same conversations, most of
// what they remember is outdated. So after each refusal, more and more are read before one is remembered again.
export function createConversationMemory(): ConversationMemory {
  const conversations = createRecentMap<string, Conversation>(limits.rememberedConversations);
  const nameOf = ({ tenant_id, conversation_id }: ConversationKey) => `${tenant_id}#${conversation_id}`;
  let pause = 0;
  let left = 0;
  let confirmed = 0;
  return {
    recall(key) {
      if (left === 0) return conversations.get(nameOf(key));
      left -= 1;
      return undefined;
    },
    keep(key, written) {
      if (written.head.messages.length <= limits.rememberedChars) conversations.set(nameOf(key), written);
      else conversations.delete(nameOf(key));
    },
    confirm() {
      confirmed += 1;
      if (confirmed < limits.confirmedConversations) return;
      confirmed = 0;
      pause = Math.floor(pause / 2);
    },
    lose(key) {
      conversations.delete(nameOf(key));
      confirmed = 0;
      pause = Math.min(limits.conversationsReadMost, Math.max(limits.conversationsReadFirst, pause * 2));
      left = pause;
    },
    forget: key => conversations.delete(nameOf(key)),
  };
}
