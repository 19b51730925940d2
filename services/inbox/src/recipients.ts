import type { Service } from './deps.ts';
import type { UserPlace } from './places.ts';
import { done, untilDone } from './race.ts';
import { audienceOfSend, audiencePart, send } from './send-table.ts';

// A recipient who was erased. The places of the others stay as they are: a send that is under way counts them.
export const erasedRecipient = '';

export const without = (uids: readonly string[], uid: string): string[] =>
  uids.map(one => (one === uid ? erasedRecipient : one));

// Takes a user off the list of a send's recipients.
export async function forgetRecipient(service: Service, user: UserPlace, id: string): Promise<void> {
  const { store } = service;
  const { tenant_key, inbox_key, uid } = user;
  const key = { tenant_key, inbox_key, id };
  const isListed = await untilDone<boolean>(service, async () => {
    const found = await store.get(send, key, { consistent: true });
    const { uids } = found?.audiences ?? {};
    if (!found || !uids) return done(false);
    const audiences = { ...found.audiences, uids: without(uids, uid) };
    if (uids.includes(uid))
      await store.update(send, key, { set: { audiences } }, { if: { 'audiences.uids': uids } });
    return done(true);
  });
  if (isListed) return;
  for await (const { part, uids } of store.all(audienceOfSend, key))
    if (uids.includes(uid))
      await store.update(audiencePart, { ...key, part }, { set: { uids: without(uids, uid) } });
}
