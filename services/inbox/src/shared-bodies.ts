import { createRecentMap } from '@stak/kit';
import { ref, type Store, write } from '@stak/table';
import * as limits from './limits.ts';
import type { Step } from './mailbox.ts';
import { type Place, placeText } from './places.ts';
import { messageBody } from './send-table.ts';
import type { UserMessage } from './user-state.ts';

// A large body to several users is stored once, beside the record of its send. The copies say how large it is, and are
// as good as their body: where it is gone, the message was redacted in this moment, and so are they.

export const bytesOf = (body: unknown): number => Buffer.byteLength(JSON.stringify(body ?? null));

// Whether one body instead of many saves more than another read is worth.
export const isShared = (bytes: number, recipients: number): boolean =>
  bytes > limits.ownBodyBytes && bytes * (recipients - 1) > limits.savedBytes;

type Keyed = Place & { id: string; body_bytes?: number };

const keyOf = ({ tenant_key, inbox_key, id }: Keyed) => ({ tenant_key, inbox_key, id });

export const putBodySteps = (made: Keyed & { expiredat: number }, body: unknown): Step[] =>
  made.body_bytes === undefined
    ? []
    : [['body', write.put(messageBody, { ...keyOf(made), body: body ?? null, expiredat: made.expiredat })]];

export const deleteBodySteps = (made: Keyed): Step[] =>
  made.body_bytes === undefined ? [] : [['body', write.delete(messageBody, keyOf(made))]];

export type SharedBodies = {
  // The messages with their bodies, in one batch; without those whose body is gone.
  complete(place: Place, messages: readonly UserMessage[]): Promise<Map<string, UserMessage>>;
};

export function createSharedBodies({ store }: { store: Store }): SharedBodies {
  const bodies = createRecentMap<string, { body: unknown }>(limits.cachedBodies);

  return {
    async complete({ tenant_key, inbox_key }, messages) {
      const place = { tenant_key, inbox_key };
      const found = new Map<string, { body: unknown }>();
      const missing: string[] = [];
      for (const { id, body_bytes } of messages) {
        if (body_bytes === undefined) continue;
        const cached = bodies.get(`${placeText(place)}#${id}`);
        if (cached) found.set(id, cached);
        else missing.push(id);
      }
      if (missing.length > 0) {
        const refs = missing.map(id => ref(messageBody, { ...place, id }));
        for (const one of await store.batchGet(refs, { consistent: true, pattern: 'bodies of messages' })) {
          if (!one) continue;
          found.set(one.id, { body: one.body });
          if (bytesOf(one.body) <= limits.cachedTextChars)
            bodies.set(`${placeText(place)}#${one.id}`, { body: one.body });
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
