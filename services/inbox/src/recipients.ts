import type { Service } from './deps.ts';
import type { Place, UserPlace } from './places.ts';
import { done, untilDone } from './race.ts';
import { audienceOfSend, audiencePart, messageBody, send } from './send-table.ts';
import type { UserMessage } from './user-state.ts';

// A recipient who was erased. The places of the others stay as they are: a send that is under way counts them.
export const erasedRecipient = '';

export const without = (uids: readonly string[], uid: string): string[] =>
  uids.map(one => (one === uid ? erasedRecipient : one));

// Takes a user off the list of a send's recipients. A body that nobody is left to read goes with the last of them.
export async function forgetRecipient(
  service: Service,
  user: UserPlace,
  { id, body_bytes }: Pick<UserMessage, 'id' | 'body_bytes'>,
): Promise<void> {
  const { store } = service;
  const { tenant_key, inbox_key, uid } = user;
  const key = { tenant_key, inbox_key, id };
  const left = await untilDone<readonly string[] | undefined>(service, async () => {
    const found = await store.get(send, key, { consistent: true });
    const { uids } = found?.audiences ?? {};
    if (!found || !uids) return done(undefined);
    const others = without(uids, uid);
    const audiences = { ...found.audiences, uids: others };
    if (uids.includes(uid))
      await store.update(send, key, { set: { audiences } }, { if: { 'audiences.uids': uids } });
    return done(others);
  });
  const isAnyLeft = left ? hasRecipients(left) : await forgetInParts(service, key, uid);
  if (body_bytes !== undefined && !isAnyLeft) await store.delete(messageBody, key);
}

const hasRecipients = (uids: readonly string[]): boolean => uids.some(uid => uid !== erasedRecipient);

async function forgetInParts(service: Service, key: Place & { id: string }, uid: string): Promise<boolean> {
  const { store } = service;
  let isAnyLeft = false;
  for await (const { part } of store.all(audienceOfSend, key)) {
    const left = await untilDone<readonly string[]>(service, async () => {
      const found = await store.get(audiencePart, { ...key, part }, { consistent: true });
      if (!found?.uids.includes(uid)) return done(found?.uids ?? []);
      const uids = without(found.uids, uid);
      await store.update(audiencePart, { ...key, part }, { set: { uids } }, { if: { uids: found.uids } });
      return done(uids);
    });
    isAnyLeft ||= hasRecipients(left);
  }
  return isAnyLeft;
}
