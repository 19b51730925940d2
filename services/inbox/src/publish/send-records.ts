import { hashParts } from '@stak/http';
import { done, failedCondition, type InputOf, type ItemOf, type NamedStep, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import { inboxErrors, sendNotFound } from '../errors.ts';
import type { InboxId, MailboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import type { UserMessage } from '../mailbox/state.ts';
import {
  audienceOfSend,
  audiencePart,
  hostId,
  memberTotal,
  messageBody,
  requestKey,
  send,
  sendsOfHostId,
  sendsOfInbox,
  sharedHostId,
} from '../tables.ts';

export type Send = ItemOf<typeof send>;
export type NewSend = InputOf<typeof send>;

// A send that still has its message.
export type SendContent = NewSend & { message: NonNullable<NewSend['message']> };

export async function readSend({ store }: Pick<Deps, 'store'>, inbox: InboxId, id: string): Promise<Send> {
  const found = await store.get(send, { ...inbox, id }, { consistent: true });
  if (!found) throw sendNotFound();
  return found;
}

// What a send reserves besides its own record: the host_system_id, and the request that made it. `over` is a withdrawn
// send that had the host_system_id, which this one may take.
export type Claims = {
  unique: boolean;
  fingerprint: string;
  requestKey?: string;
  nowS: number;
  over?: string;
};

const takeHostId = 'take the host id';
const keepRequest = 'keep the request';

export function claimSteps(inbox: InboxId, made: NewSend, claims: Claims): NamedStep[] {
  const { id, host_system_id, expiredat } = made;
  const steps: NamedStep[] = [];
  if (host_system_id !== null) {
    const held = { ...inbox, host_system_id, id, expiredat };
    const guard = claims.over === undefined ? { ifAbsent: true } : { if: { id: claims.over } };
    steps.push(
      claims.unique
        ? [takeHostId, write.put(hostId, { ...held, fingerprint: claims.fingerprint }, guard)]
        : ['note the host id', write.put(sharedHostId, held)],
    );
  }
  if (claims.requestKey !== undefined) {
    const kept = { ...inbox, key: claims.requestKey, id, expiredat: claims.nowS + limits.idempotencyS };
    steps.push([keepRequest, write.put(requestKey, kept, { ifAbsent: true })]);
  }
  return steps;
}

// The earlier send of the same request or host_system_id. Or, if that one was withdrawn, its id, so that the new send
// can take its place. Undefined if the transaction failed for another reason.
export async function earlierSend(
  deps: Deps,
  inbox: InboxId,
  error: unknown,
  { fingerprint, deleting }: { fingerprint: string; deleting: readonly string[] },
): Promise<{ send: Send } | { over: string } | undefined> {
  const repeated = failedCondition(error, keepRequest)?.current as { id: string } | undefined;
  if (repeated) return { send: await readSend(deps, inbox, repeated.id) };
  const taken = failedCondition(error, takeHostId)?.current as
    | { id: string; fingerprint: string }
    | undefined;
  if (!taken) return undefined;
  const found = await deps.store.get(send, { ...inbox, id: taken.id }, { consistent: true });
  const category = found?.taxonomy?.category;
  const isGone = category !== undefined && deleting.includes(category);
  if (!found || withdrawn.has(found.status) || isGone) return { over: taken.id };
  if (taken.fingerprint !== fingerprint)
    throw inboxErrors.create(
      'inbox.host_system_id_taken',
      'Another message was sent with this host_system_id. Redact it to send a correction.',
      { id: taken.id },
    );
  return { send: found };
}

const withdrawn: ReadonlySet<Send['status']> = new Set(['redacting', 'redacted', 'cancelled']);

export const fingerprintOf = (request: object): string => hashParts(JSON.stringify(request));

export const audienceSteps = (
  { tenant_key, inbox_key, id, expiredat }: NewSend,
  uids: readonly string[],
): NamedStep[] =>
  Array.from({ length: Math.ceil(uids.length / limits.audiencePart) }, (_, part) => {
    const some = uids.slice(part * limits.audiencePart, (part + 1) * limits.audiencePart);
    const item = { tenant_key, inbox_key, id, part, uids: some, expiredat };
    return [`audience ${part}`, write.put(audiencePart, item)] as const;
  });

export async function audienceOf(
  { store }: Pick<Deps, 'store'>,
  { tenant_key, inbox_key, id, audiences }: Send,
): Promise<string[]> {
  if (audiences.uids) return audiences.uids;
  const uids: string[] = [];
  for await (const part of store.all(audienceOfSend, { tenant_key, inbox_key, id })) uids.push(...part.uids);
  return uids;
}

export async function idsOfHostId(
  { store }: Deps,
  inbox: InboxId,
  host_system_id: string,
): Promise<string[]> {
  const unique = await store.get(hostId, { ...inbox, host_system_id }, { consistent: true });
  const ids = unique ? [unique.id] : [];
  for await (const shared of store.all(sendsOfHostId, { ...inbox, host_system_id })) ids.push(shared.id);
  if (ids.length === 0) throw sendNotFound();
  return ids;
}

// A message to everyone was delivered to the members that the inbox had when it was sent. Older sends did not record
// them; they show the members it has now.
export function showSend(one: NewSend, membersNow: number) {
  const isPublic = one.audiences.kind === 'everyone';
  const members = one.members ?? (one.status === 'sent' ? membersNow : 0);
  const delivered = isPublic ? members : one.delivered;
  const { kind, label } = one.audiences;
  return {
    id: one.id,
    host_system_id: one.host_system_id,
    sender: one.sender,
    audiences: { kind, label },
    status: one.status,
    title: one.title,
    taxonomy: one.taxonomy,
    received: one.received,
    send_at: one.send_at,
    expiredat: one.expiredat,
    recipients: isPublic ? null : one.recipients,
    delivered,
    read: one.read,
    read_rate: delivered === 0 ? 0 : Math.min(1, one.read / delivered),
  };
}

export async function countMembers({ store }: Pick<Deps, 'store'>, inbox: InboxId): Promise<number> {
  return (await store.get(memberTotal, inbox, { consistent: true }))?.users ?? 0;
}

type ListOptions = { limit: number; cursor?: string; caller: string; scheduled: boolean };

export async function listSends(deps: Deps, inbox: InboxId, options: ListOptions) {
  const { limit, cursor, caller, scheduled } = options;
  const filter = scheduled ? { status: 'scheduled' as const } : undefined;
  const page = await deps.store.query(sendsOfInbox, inbox, { limit, cursor, caller, filter });
  const members = await countMembers(deps, inbox);
  return { items: page.items.map(one => showSend(one, members)), cursor: page.cursor };
}

// Replaces the uid of an erased recipient. The others keep their index, because a send in progress counts by it.
export const erasedRecipient = '';

const without = (uids: readonly string[], uid: string): string[] =>
  uids.map(one => (one === uid ? erasedRecipient : one));

// Removes a user from the recipients of a send. A shared body is deleted with its last recipient.
export async function forgetRecipient(
  deps: Deps,
  user: MailboxId,
  { id, body_bytes }: Pick<UserMessage, 'id' | 'body_bytes'>,
): Promise<void> {
  const { store } = deps;
  const { tenant_key, inbox_key, uid } = user;
  const key = { tenant_key, inbox_key, id };
  const left = await retry<readonly string[] | undefined>(deps, async () => {
    const found = await store.get(send, key, { consistent: true });
    const { uids } = found?.audiences ?? {};
    if (!found || !uids) return done(undefined);
    const others = without(uids, uid);
    const audiences = { ...found.audiences, uids: others };
    if (uids.includes(uid))
      await store.update(send, key, { set: { audiences } }, { if: { 'audiences.uids': uids } });
    return done(others);
  });
  const isAnyLeft = left ? hasRecipients(left) : await forgetInParts(deps, key, uid);
  if (body_bytes !== undefined && !isAnyLeft) await store.delete(messageBody, key);
}

const hasRecipients = (uids: readonly string[]): boolean => uids.some(uid => uid !== erasedRecipient);

async function forgetInParts(deps: Deps, key: InboxId & { id: string }, uid: string): Promise<boolean> {
  const { store } = deps;
  let isAnyLeft = false;
  for await (const { part } of store.all(audienceOfSend, key)) {
    const left = await retry<readonly string[]>(deps, async () => {
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
