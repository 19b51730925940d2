import { AppError } from '@stak/kit';
import { type Attempt, conflict, done, type NamedStep, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import { categoryBeingDeleted, inboxErrors } from '../errors.ts';
import { bucketOf, type InboxId, inboxText, mailboxText } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { bytesOf, isShared, putBodySteps } from '../mailbox/messages.ts';
import { checkBody, checkCtaUri, idAt, ttlSeconds } from '../message-rules.ts';
import type { Draft, PublishBody } from '../schema.ts';
import { type InboxConfig, type Policies, readInbox, readPolicies } from '../settings.ts';
import { send } from '../tables.ts';
import { broadcastSteps } from './broadcasts.ts';
import { registerCategory } from './categories.ts';
import { type Delivery, deliverySteps, writeDelivery } from './delivery.ts';
import {
  audienceSteps,
  type Claims,
  claimSteps,
  earlierSend,
  findSend,
  fingerprintOf,
  idOfEarlierVersion,
  type NewSend,
  type Send,
  sendOfEarlierVersion,
} from './send-records.ts';

export type Origin = {
  sender: string; // unless the message names a sender
  request?: KeyedRequest;
};
// Every attempt of the request has the same id for its message, which then is created once.
export type KeyedRequest = {
  key: string;
  id: string;
  isRepeated: boolean; // an earlier attempt may have made it
};
export type NewMessage = Draft & { uids?: readonly string[] }; // to everyone without uids
export type Published = { send: NewSend; isNew: boolean };

// Publishes a message to users, or to everyone without uids; now or later. A repeated request, or one with the same
// host_system_id, finds the first send.
export async function publish(
  deps: Deps,
  inbox: InboxId,
  draft: NewMessage,
  origin: Origin,
): Promise<Published> {
  const policies = await readPolicies(deps, inbox, draft);
  checkMessage(policies.config, draft);
  const made = makeSend(deps, inbox, draft, origin, policies);
  const { category } = draft.taxonomy ?? {};
  const { deleting } = policies;
  if (category !== undefined && deleting.includes(category)) throw categoryBeingDeleted();
  if (category !== undefined)
    await registerCategory(deps, inbox, category, { expiredat: made.expiredat, until: policies.until });

  const fingerprint = made.host_system_id === null ? '' : fingerprintOf(draft); // of what has the id
  const claims: Claims = {
    unique: policies.config.unique_host_system_ids,
    fingerprint,
  };
  const readDeleting = async () => (await deps.policies.categories(inbox))?.deleting ?? [];
  const rivals = { fingerprint, readDeleting };
  const keys = draft.uids?.map(uid => mailboxText({ ...inbox, uid })) ?? [inboxText(inbox)];
  const attempt = async (): Promise<Attempt<Send | undefined>> => {
    try {
      const { steps, delivery } = await makeContent(deps, made, draft, policies.config);
      const sent = [...claimSteps(inbox, made, claims), ...steps];
      const send = () => deps.store.writeInOrder([sent], { pattern: patternOf(made) });
      await (delivery ? writeDelivery(deps, inbox, delivery, send) : send());
      return done(undefined);
    } catch (error) {
      const found = await earlierSend(deps, inbox, error, rivals);
      claims.over = undefined;
      if (!found) throw error;
      if ('send' in found) return done(found.send);
      claims.over = found.over;
      return conflict;
    }
  };
  const earlier =
    (origin.request?.isRepeated ? await sendOfRequest(deps, inbox, made, origin.request.key) : undefined) ??
    (await sendOfEarlierVersion(deps, inbox, made, claims, rivals)) ??
    (await deps.lock.run(made.status === 'sent' ? keys : [], () => retry(deps, attempt)));
  if (earlier) return { send: earlier, isNew: false };
  if (made.dueat !== undefined) deps.due.notify();
  return { send: made, isNew: true };
}

// Finds the send that an earlier attempt of the same request has made.
async function sendOfRequest(
  deps: Deps,
  inbox: InboxId,
  made: NewSend,
  key: string,
): Promise<Send | undefined> {
  const id = await idOfEarlierVersion(deps, inbox, key);
  if (id !== undefined) Object.assign(made, { id, bucket: bucketOf(inbox, id) });
  return findSend(deps, inbox, made.id);
}

const patternOf = ({ status, audiences }: NewSend): string =>
  status !== 'sent'
    ? 'write down a send'
    : audiences.kind === 'everyone'
      ? 'publish to everyone'
      : 'publish to users';

// A short list is delivered in the transaction that records the send. A long one is recorded first, for the worker. A
// message to everyone takes one transaction, however many users there are.
async function makeContent(
  deps: Deps,
  made: NewSend,
  { message, uids }: NewMessage,
  config: InboxConfig,
): Promise<{ steps: NamedStep[]; delivery?: Delivery }> {
  const body = putBodySteps(made, message.body);
  const record = (sent?: { seq: number; members: number }): NamedStep => [
    'send',
    write.put(send, { ...made, ...sent }, { ifAbsent: true }),
  ];
  if (made.status !== 'sent') {
    const isLong = uids !== undefined && !made.audiences.uids;
    return { steps: [record(), ...body, ...(isLong ? audienceSteps(made, uids) : [])] };
  }
  const content = Object.assign({}, made, { message: stored(message, made.body_bytes) });
  if (uids) {
    const delivery = await deliverySteps(deps, content, uids, config);
    return { steps: [record(), ...body, ...delivery.steps], delivery };
  }
  const { sent, steps } = await broadcastSteps(deps, content);
  made.members = sent.members;
  return { steps: [record(sent), ...steps] };
}

// The content of each copy: without the body, if the recipients share it.
const stored = ({ title, body, cta_uri }: Draft['message'], body_bytes?: number) =>
  body_bytes === undefined ? { title, body: body ?? null, cta_uri } : { title, cta_uri };

function checkMessage({ schema, cta_schemes }: InboxConfig, { message }: Draft): void {
  checkCtaUri(message.cta_uri, cta_schemes);
  if (Buffer.byteLength(JSON.stringify(message)) > limits.messageBytes)
    throw inboxErrors.create(
      'inbox.message_too_large',
      `A message can have at most ${limits.messageBytes} bytes.`,
    );
  if (schema) checkBody(schema, message.body);
}

function makeSend(
  { clock, ids, random, recipientsTogether }: Deps,
  inbox: InboxId,
  draft: NewMessage,
  { sender, request }: Origin,
  policies: Policies,
): NewSend {
  const nowMs = clock.now();
  const nowS = Math.floor(nowMs / 1000);
  const { message, taxonomy, host_system_id, label, send_at, uids } = draft;
  if (send_at !== undefined && (send_at <= nowS || send_at > nowS + limits.scheduleAheadS))
    throw inboxErrors.create('inbox.schedule_invalid', '`send_at` must be in the future, and within a year.');
  const isShort = uids !== undefined && uids.length <= limits.recipientsTogether;
  const bytes = uids === undefined || uids.length === 1 ? 0 : bytesOf(message.body);
  const body_bytes = uids !== undefined && isShared(bytes, uids.length) ? bytes : undefined;
  const copied = stored(message, body_bytes);
  const isInline =
    uids === undefined ||
    uids.length <= Math.min(recipientsTogether, uids.length === 1 ? 1 : copiesPerTransaction(copied));
  const status = send_at !== undefined ? 'scheduled' : isInline ? 'sent' : 'delivering';
  const ownId = request?.id ?? ids.next();
  const id = send_at === undefined ? ownId : idAt(ownId, send_at * 1000);
  return {
    id,
    ...inbox,
    bucket: bucketOf(inbox, id),
    host_system_id,
    sender: draft.sender ?? sender,
    audiences: { kind: uids ? 'users' : 'everyone', label, ...(isShort && { uids: [...uids] }) },
    status,
    title: message.title,
    taxonomy,
    received: nowS,
    expiredat: expiryOf(draft, send_at ?? nowS, policies),
    recipients: uids?.length ?? 0,
    delivered: status === 'sent' ? (uids?.length ?? 0) : 0,
    removed: 0,
    read: 0,
    ...(body_bytes !== undefined && { body_bytes }),
    send_at,
    ...(status !== 'sent' && {
      message: copied,
      shard: Math.floor(random() * limits.dueShards),
      dueat: send_at === undefined ? nowMs : send_at * 1000,
    }),
  };
}

// How many copies of a message fit into one transaction.
export const copiesPerTransaction = (message: unknown): number => {
  const bytes = Buffer.byteLength(JSON.stringify(message)) + 4096;
  return Math.max(1, Math.min(limits.recipientsTogether, Math.floor(limits.transactionBytes / bytes)));
};

function expiryOf(draft: Draft, fromS: number, { config, tenantTtl }: Policies): number {
  if (draft.expiredat !== undefined) {
    if (draft.expiredat <= fromS || draft.expiredat > fromS + limits.messageTtlS)
      throw inboxErrors.create(
        'inbox.expiry_invalid',
        '`expiredat` must be after the message is sent, and within 730 days.',
      );
    return draft.expiredat;
  }
  const { ttl: own, taxonomy } = draft;
  const policies = { own, category: taxonomy?.category, inboxTtl: config.ttl, tenantTtl };
  return fromS + ttlSeconds({ ...policies, defaultS: limits.defaultTtlS });
}

export type BulkResult = { ok: true; published: Published } | { ok: false; code: string; detail: string };

// Publishes several messages, each on its own: one that is refused does not stop the others. With a request for each of
// them, a repetition finds the sends it made, so a busy table fails all of it; otherwise a repetition would send them
// twice.
export async function publishBulk(
  deps: Deps,
  inbox: InboxId,
  messages: readonly PublishBody[],
  { sender }: Origin,
  requests?: readonly KeyedRequest[],
): Promise<BulkResult[]> {
  await readInbox(deps, inbox);
  const results: BulkResult[] = [];
  for (const [i, message] of messages.entries()) {
    const request = requests?.[i];
    try {
      const origin = { sender, ...(request && { request }) };
      results.push({ ok: true, published: await publish(deps, inbox, message, origin) });
    } catch (error) {
      if (!(error instanceof AppError) || (isBusy(error) && request !== undefined)) throw error;
      results.push({ ok: false, code: error.code, detail: error.message });
    }
  }
  return results;
}

const isBusy = ({ code }: AppError): boolean => code === 'inbox.busy' || code === 'table.busy';
