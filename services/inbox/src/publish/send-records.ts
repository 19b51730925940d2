import { hashParts } from '@stak/http';
import { done, failedCondition, type InputOf, type ItemOf, type NamedStep, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import { inboxErrors, sendNotFound } from '../errors.ts';
import { bucketOf, bucketsOf, type InboxId, type MailboxId } from '../inbox-id.ts';
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

export async function readSend(deps: Pick<Deps, 'store'>, inbox: InboxId, id: string): Promise<Send> {
  const found = await findSend(deps, inbox, id);
  if (!found) throw sendNotFound();
  return found;
}

export const keyOfSend = ({ tenant_key, bucket, id }: Pick<Send, 'tenant_key' | 'bucket' | 'id'>) => ({
  tenant_key,
  bucket,
  id,
});

export async function findSend(
  { store }: Pick<Deps, 'store'>,
  inbox: InboxId,
  id: string,
): Promise<Send | undefined> {
  const { tenant_key, inbox_key } = inbox;
  const read = (bucket: string) => store.get(send, { tenant_key, bucket, id }, { consistent: true });
  return (await read(bucketOf(inbox, id))) ?? read(inbox_key);
}

// Reads the sends of all partitions, newest first.
export async function* walkSends(
  { store }: Pick<Deps, 'store'>,
  { tenant_key, inbox_key }: InboxId,
  { before, pageItems, consistent }: { before?: string; pageItems: number; consistent?: boolean },
): AsyncGenerator<Send> {
  async function* walk(bucket: string): AsyncGenerator<Send, undefined> {
    let last = before;
    for (;;) {
      const range = last === undefined ? {} : { before: { id: last } };
      const page = await store.query(
        sendsOfInbox,
        { tenant_key, bucket },
        { ...range, limit: pageItems, consistent },
      );
      yield* page.items;
      last = page.items.at(-1)?.id ?? last;
      if (page.cursor === undefined || page.items.length === 0) return undefined;
    }
  }
  const heads = await Promise.all(
    bucketsOf({ inbox_key }).map(async bucket => {
      const sends = walk(bucket);
      return { sends, next: await sends.next() };
    }),
  );
  for (;;) {
    let newest: { head: (typeof heads)[number]; found: Send } | undefined;
    for (const head of heads)
      if (!head.next.done && (!newest || head.next.value.id > newest.found.id))
        newest = { head, found: head.next.value };
    if (!newest) return;
    yield newest.found;
    newest.head.next = await newest.head.sends.next();
  }
}

// A send is known by its host_system_id, too. `over` is a withdrawn send that had it, from which this one
// may take it.
export type Claims = {
  unique: boolean;
  fingerprint: string;
  over?: string;
};

const takeHostId = 'take the host id';

export function claimSteps(inbox: InboxId, made: NewSend, claims: Claims): NamedStep[] {
  const { id, host_system_id, expiredat } = made;
  const steps: NamedStep[] = [];
  if (host_system_id !== null) {
    const held = { ...inbox, bucket: bucketOf(inbox, host_system_id), host_system_id, id, expiredat };
    const guard = claims.over === undefined ? { ifAbsent: true } : { if: { id: claims.over } };
    steps.push(
      claims.unique
        ? [takeHostId, write.put(hostId, { ...held, fingerprint: claims.fingerprint }, guard)]
        : ['note the host id', write.put(sharedHostId, held)],
    );
  }
  return steps;
}

// The id that a request of an earlier version had for its send: it chose one for each attempt, and wrote it down first.
export async function idOfEarlierVersion(
  { store }: Pick<Deps, 'store'>,
  inbox: InboxId,
  key: string,
): Promise<string | undefined> {
  const { tenant_key, inbox_key } = inbox;
  for (const bucket of [bucketOf(inbox, key), inbox_key]) {
    const noted = await store.get(requestKey, { tenant_key, bucket, key }, { consistent: true });
    if (noted) return noted.id;
  }
  return undefined;
}

type Rivals = { fingerprint: string; readDeleting(): Promise<readonly string[]> };
type HeldHostId = { id: string; fingerprint: string };

// The earlier send with this id or host_system_id. Or, if that one was withdrawn, its id, so that the new send can take
// its place. Undefined if the transaction failed for another reason.
export async function earlierSend(
  deps: Deps,
  inbox: InboxId,
  error: unknown,
  rivals: Rivals,
): Promise<{ send: Send } | { over: string } | undefined> {
  const made = failedCondition(error, 'send')?.current as { id: string } | undefined;
  if (made) return { send: await readSend(deps, inbox, made.id) };
  const taken = failedCondition(error, takeHostId)?.current as HeldHostId | undefined;
  return taken && holderOf(deps, inbox, taken, rivals);
}

// Looks where earlier versions wrote. This version does not write there, so it need not be read consistently.
export async function sendOfEarlierVersion(
  deps: Deps,
  inbox: InboxId,
  { host_system_id }: NewSend,
  claims: Claims,
  rivals: Rivals,
): Promise<Send | undefined> {
  if (host_system_id === null || !claims.unique) return undefined;
  const partition = { tenant_key: inbox.tenant_key, bucket: inbox.inbox_key };
  const held = await deps.store.get(hostId, { ...partition, host_system_id });
  const holder = held && (await holderOf(deps, inbox, held, rivals));
  return holder && 'send' in holder ? holder.send : undefined;
}

async function holderOf(
  deps: Deps,
  inbox: InboxId,
  taken: HeldHostId,
  { fingerprint, readDeleting }: Rivals,
): Promise<{ send: Send } | { over: string }> {
  const found = await findSend(deps, inbox, taken.id);
  const category = found?.taxonomy?.category;
  const isGone = category !== undefined && (await readDeleting()).includes(category);
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
    const item = { tenant_key, inbox_key, bucket: inbox_key, id, part, uids: some, expiredat };
    return [`audience ${part}`, write.put(audiencePart, item)] as const;
  });

export async function audienceOf(
  { store }: Pick<Deps, 'store'>,
  { tenant_key, inbox_key, id, audiences }: Send,
): Promise<string[]> {
  if (audiences.uids) return audiences.uids;
  const uids: string[] = [];
  for await (const part of store.all(audienceOfSend, { tenant_key, bucket: inbox_key, id }))
    uids.push(...part.uids);
  return uids;
}

export async function idsOfHostId(
  { store }: Deps,
  inbox: InboxId,
  host_system_id: string,
): Promise<string[]> {
  const ids = new Set<string>();
  for (const bucket of [bucketOf(inbox, host_system_id), inbox.inbox_key]) {
    const partition = { tenant_key: inbox.tenant_key, bucket, host_system_id };
    const unique = await store.get(hostId, partition, { consistent: true });
    if (unique) ids.add(unique.id);
    for await (const shared of store.all(sendsOfHostId, partition)) ids.add(shared.id);
  }
  if (ids.size === 0) throw sendNotFound();
  return [...ids];
}

// The record of the host's id that a send holds, in any partition.
export async function heldHostId(
  { store }: Pick<Deps, 'store'>,
  { tenant_key, inbox_key, host_system_id, id }: Send,
): Promise<{ tenant_key: string; bucket: string; host_system_id: string } | undefined> {
  if (host_system_id === null) return undefined;
  for (const bucket of [bucketOf({ inbox_key }, host_system_id), inbox_key]) {
    const key = { tenant_key, bucket, host_system_id };
    if ((await store.get(hostId, key, { consistent: true }))?.id === id) return key;
  }
  return undefined;
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

export type SendPosition = { id: string };
type ListOptions = { limit: number; after?: SendPosition; scheduled: boolean };

export async function listSends(deps: Deps, inbox: InboxId, { limit, after, scheduled }: ListOptions) {
  const found: Send[] = [];
  let looked = 0;
  let last: SendPosition | undefined;
  let next: SendPosition | undefined;
  // A page is spread over the partitions about evenly.
  const pageItems = Math.ceil((2 * limit) / limits.sendBuckets) + 1;
  for await (const one of walkSends(deps, inbox, { before: after?.id, pageItems })) {
    if (found.length === limit || looked === limits.sendsListed) {
      next = last;
      break;
    }
    looked += 1;
    last = { id: one.id };
    if (!scheduled || one.status === 'scheduled') found.push(one);
  }
  const members = await countMembers(deps, inbox);
  return { items: found.map(one => showSend(one, members)), next };
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
  const inFirst = { tenant_key, bucket: inbox_key, id };
  const left = await retry<readonly string[] | undefined>(deps, async () => {
    const found = await findSend(deps, { tenant_key, inbox_key }, id);
    const { uids } = found?.audiences ?? {};
    if (!found || !uids) return done(undefined);
    const others = without(uids, uid);
    const audiences = { ...found.audiences, uids: others };
    if (uids.includes(uid))
      await store.update(send, keyOfSend(found), { set: { audiences } }, { if: { 'audiences.uids': uids } });
    return done(others);
  });
  const isAnyLeft = left ? hasRecipients(left) : await forgetInParts(deps, inFirst, uid);
  if (body_bytes !== undefined && !isAnyLeft) await store.delete(messageBody, inFirst);
}

const hasRecipients = (uids: readonly string[]): boolean => uids.some(uid => uid !== erasedRecipient);

async function forgetInParts(
  deps: Deps,
  key: { tenant_key: string; bucket: string; id: string },
  uid: string,
): Promise<boolean> {
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
