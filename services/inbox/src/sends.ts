import { hashParts } from '@stak/http';
import { type InputOf, type ItemOf, write } from '@stak/table';
import type { Service } from './deps.ts';
import { inboxErrors, noSend } from './errors.ts';
import * as limits from './limits.ts';
import type { Step } from './mailbox.ts';
import type { Place } from './places.ts';
import { failureOf } from './race.ts';
import {
  audienceOfSend,
  audiencePart,
  hostId,
  memberTotal,
  requestKey,
  send,
  sendsOfHostId,
  sendsOfInbox,
  sharedHostId,
} from './send-table.ts';

export type Send = ItemOf<typeof send>;
export type NewSend = InputOf<typeof send>;

// A send with its message at hand.
export type SendContent = NewSend & { message: NonNullable<NewSend['message']> };

export async function readSend({ store }: Pick<Service, 'store'>, place: Place, id: string): Promise<Send> {
  const found = await store.get(send, { ...place, id }, { consistent: true });
  if (!found) throw noSend();
  return found;
}

// What a send claims besides its own record: the host's id for it, and the request that made it. `over` is the send
// that had the host's id and was taken back, so that it can be sent anew.
export type Claims = {
  unique: boolean;
  fingerprint: string;
  requestKey?: string;
  nowS: number;
  over?: string;
};

const takeHostId = 'take the host id';
const keepRequest = 'keep the request';

export function claimSteps(place: Place, made: NewSend, claims: Claims): Step[] {
  const { id, host_system_id, expiredat } = made;
  const steps: Step[] = [];
  if (host_system_id !== null) {
    const held = { ...place, host_system_id, id, expiredat };
    const guard = claims.over === undefined ? { ifAbsent: true } : { if: { id: claims.over } };
    steps.push(
      claims.unique
        ? [takeHostId, write.put(hostId, { ...held, fingerprint: claims.fingerprint }, guard)]
        : ['note the host id', write.put(sharedHostId, held)],
    );
  }
  if (claims.requestKey !== undefined) {
    const kept = { ...place, key: claims.requestKey, id, expiredat: claims.nowS + limits.idempotencyS };
    steps.push([keepRequest, write.put(requestKey, kept, { ifAbsent: true })]);
  }
  return steps;
}

// The send that was made before by the same request, or under the same id of the host; or the one that has this id and
// was taken back, which is in nobody's way. Undefined if the claim has failed for another reason.
export async function earlierSend(
  service: Service,
  place: Place,
  error: unknown,
  { fingerprint, deleting }: { fingerprint: string; deleting: readonly string[] },
): Promise<{ send: Send } | { over: string } | undefined> {
  const repeated = failureOf(error, keepRequest)?.current as { id: string } | undefined;
  if (repeated) return { send: await readSend(service, place, repeated.id) };
  const taken = failureOf(error, takeHostId)?.current as { id: string; fingerprint: string } | undefined;
  if (!taken) return undefined;
  const found = await service.store.get(send, { ...place, id: taken.id }, { consistent: true });
  const category = found?.taxonomy?.category;
  const isGone = category !== undefined && deleting.includes(category);
  if (!found || takenBack.has(found.status) || isGone) return { over: taken.id };
  if (taken.fingerprint !== fingerprint)
    throw inboxErrors.create(
      'inbox.host_system_id_taken',
      'Something else was sent under this host_system_id. Redact it to send a correction.',
      { id: taken.id },
    );
  return { send: found };
}

const takenBack: ReadonlySet<Send['status']> = new Set(['redacting', 'redacted', 'cancelled']);

export const fingerprintOf = (request: object): string => hashParts(JSON.stringify(request));

export const audienceSteps = (
  { tenant_key, inbox_key, id, expiredat }: NewSend,
  uids: readonly string[],
): Step[] =>
  Array.from({ length: Math.ceil(uids.length / limits.audiencePart) }, (_, part) => {
    const some = uids.slice(part * limits.audiencePart, (part + 1) * limits.audiencePart);
    const item = { tenant_key, inbox_key, id, part, uids: some, expiredat };
    return [`audience ${part}`, write.put(audiencePart, item)] as const;
  });

export async function audienceOf(
  { store }: Pick<Service, 'store'>,
  { tenant_key, inbox_key, id, audiences }: Send,
): Promise<string[]> {
  if (audiences.uids) return audiences.uids;
  const uids: string[] = [];
  for await (const part of store.all(audienceOfSend, { tenant_key, inbox_key, id })) uids.push(...part.uids);
  return uids;
}

export async function idsOfHostId(
  { store }: Service,
  place: Place,
  host_system_id: string,
): Promise<string[]> {
  const unique = await store.get(hostId, { ...place, host_system_id }, { consistent: true });
  const ids = unique ? [unique.id] : [];
  for await (const shared of store.all(sendsOfHostId, { ...place, host_system_id })) ids.push(shared.id);
  if (ids.length === 0) throw noSend();
  return ids;
}

// How a send is shown. A message to everyone has reached the members that the inbox had when it was sent; of one that
// was sent before this was written down, those it has now.
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

export async function countMembers({ store }: Pick<Service, 'store'>, place: Place): Promise<number> {
  return (await store.get(memberTotal, place, { consistent: true }))?.users ?? 0;
}

type ListOptions = { limit: number; cursor?: string; caller: string; scheduled: boolean };

export async function listSends(service: Service, place: Place, options: ListOptions) {
  const { limit, cursor, caller, scheduled } = options;
  const filter = scheduled ? { status: 'scheduled' as const } : undefined;
  const page = await service.store.query(sendsOfInbox, place, { limit, cursor, caller, filter });
  const members = await countMembers(service, place);
  return { items: page.items.map(one => showSend(one, members)), cursor: page.cursor };
}
