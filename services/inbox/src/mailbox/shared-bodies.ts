import { createRecentMap } from '@stak/kit';
import { type NamedStep, ref, type Store, write } from '@stak/table';
import { type InboxId, inboxText } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { messageBody } from '../tables.ts';
import type { UserMessage } from './state.ts';

// A large body with several recipients is stored once, beside the record of its send. The copies hold its size. A copy
// whose body is gone has just been redacted.

export const bytesOf = (body: unknown): number => Buffer.byteLength(JSON.stringify(body ?? null));

// Whether sharing the body saves enough to be worth another read.
export const isShared = (bytes: number, recipients: number): boolean =>
  bytes > limits.ownBodyBytes && bytes * (recipients - 1) > limits.savedBytes;

type Keyed = InboxId & { id: string; body_bytes?: number };

const keyOf = ({ tenant_key, inbox_key, id }: Keyed) => ({ tenant_key, inbox_key, bucket: inbox_key, id });

export const putBodySteps = (made: Keyed & { expiredat: number }, body: unknown): NamedStep[] =>
  made.body_bytes === undefined
    ? []
    : [['body', write.put(messageBody, { ...keyOf(made), body: body ?? null, expiredat: made.expiredat })]];

export const deleteBodySteps = (made: Keyed): NamedStep[] =>
  made.body_bytes === undefined ? [] : [['body', write.delete(messageBody, keyOf(made))]];

export type SharedBodies = {
  // Adds the bodies to the messages, in one batch. Leaves out messages whose body is gone.
  complete(inbox: InboxId, messages: readonly UserMessage[]): Promise<Map<string, UserMessage>>;
};

export function createSharedBodies({ store }: { store: Store }): SharedBodies {
  const bodies = createRecentMap<string, { body: unknown }>(limits.cachedBodies);

  return {
    async complete({ tenant_key, inbox_key }, messages) {
      const inbox = { tenant_key, inbox_key };
      const found = new Map<string, { body: unknown }>();
      const missing: string[] = [];
      for (const { id, body_bytes } of messages) {
        if (body_bytes === undefined) continue;
        const cached = bodies.get(`${inboxText(inbox)}#${id}`);
        if (cached) found.set(id, cached);
        else missing.push(id);
      }
      if (missing.length > 0) {
        const refs = missing.map(id => ref(messageBody, keyOf({ ...inbox, id })));
        for (const one of await store.batchGet(refs, { consistent: true, pattern: 'bodies of messages' })) {
          if (!one) continue;
          found.set(one.id, { body: one.body });
          if (bytesOf(one.body) <= limits.cachedTextChars)
            bodies.set(`${inboxText(inbox)}#${one.id}`, { body: one.body });
        }
      }
      const completed = new Map<string, UserMessage>();
      for (const message of messages) {
        const { id, body_bytes } = message;
        if (body_bytes === undefined) completed.set(id, message);
        const shared = found.get(id);
        if (shared) completed.set(id, { ...message, message: { ...message.message, body: shared.body } });
      }
      return completed;
    },
  };
}
