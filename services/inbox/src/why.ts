import type { Findings, Ref, Thing } from '@stak/kit';
import type { Deps } from './deps.ts';
import { bucketOf, isKey, isUid } from './inbox-id.ts';
import { findSend, type Send } from './publish/send-records.ts';
import { hostId, userMessage } from './tables.ts';

// Why there are messages. A message is what was sent; its copies have the same id. See
// docs/adr/0236-what-is-written-names-its-cause.md

export function createWhy(deps: Deps): Findings {
  const { store } = deps;

  // Of a list of recipients that is not in the send, only who asks is looked for.
  const usersOf = async ({ audiences, tenant_key, inbox_key, id }: Send, userId: string | undefined) => {
    if (audiences.kind === 'everyone') return userId === undefined ? [] : [userId];
    if (audiences.uids) return audiences.uids;
    if (userId === undefined || !isUid(userId)) return [];
    const copy = await store.get(userMessage, { tenant_key, inbox_key, uid: userId, id });
    return copy ? [userId] : [];
  };

  const thingOf = async (found: Send, userId: string | undefined): Promise<Thing> => {
    const { tenant_key, inbox_key, id, status, host_system_id, cause, title, sender } = found;
    const users = await usersOf(found, userId);
    const isGone = status === 'redacting' || status === 'redacted';
    return {
      ref: { kind: 'message', parts: [tenant_key, inbox_key, id] },
      at: found.received * 1000,
      what: isGone ? 'redacted' : (title ?? 'without a title'),
      by: sender,
      decided: `${status} to ${found.audiences.kind === 'everyone' ? 'everyone' : found.recipients}`,
      owner: { tenant: tenant_key, users },
      scope: 'inbox:read',
      cause: cause === undefined ? undefined : noticeRef(found, cause, host_system_id),
      followed: [],
    };
  };

  return {
    async message([tenant_key = '', inbox_key = '', id = ''], { userId }) {
      if (!isKey(tenant_key) || !isKey(inbox_key)) return [];
      const found = await findSend(deps, { tenant_key, inbox_key }, id);
      return found ? [await thingOf(found, userId)] : [];
    },
    // The message that the host knows by this id, if it has this cause.
    async hosted([tenant_key = '', inbox_key = '', host_system_id = '', cause], { userId }) {
      const inbox = { tenant_key, inbox_key };
      const bucket = bucketOf(inbox, host_system_id);
      const held = await store.get(hostId, { tenant_key, bucket, host_system_id });
      const found = held && (await findSend(deps, inbox, held.id));
      return found && (cause === undefined || found.cause === cause) ? [await thingOf(found, userId)] : [];
    },
  };
}

// What the id of the host says more about the cause, the sender knows.
const noticeRef = (
  { tenant_key, inbox_key, audiences }: Send,
  cause: string,
  hostId: string | null,
): Ref => ({
  kind: 'notice',
  parts: [cause, tenant_key, inbox_key, hostId ?? '', audiences.uids?.[0] ?? ''],
});
