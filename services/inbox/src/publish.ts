import { write } from '@stak/table';
import { checkBody } from './body-schema.ts';
import { broadcastSteps } from './broadcasts.ts';
import { registerCategory } from './categories.ts';
import { checkCtaUri } from './cta-uri.ts';
import { deliverySteps } from './delivery.ts';
import { type Service, secondsNow } from './deps.ts';
import { ttlSeconds } from './durations.ts';
import { categoryGoes, inboxErrors } from './errors.ts';
import * as limits from './limits.ts';
import type { Step } from './mailbox.ts';
import { idFor } from './message-id.ts';
import { type Place, placeText, userText } from './places.ts';
import { type Attempt, again, done, untilDone } from './race.ts';
import type { Draft } from './schema.ts';
import { send } from './send-table.ts';
import {
  audienceSteps,
  type Claims,
  claimSteps,
  earlierSend,
  fingerprintOf,
  type NewSend,
  type Send,
} from './sends.ts';
import { type InboxConfig, type Policies, readPolicies } from './settings.ts';
import { bytesOf, isShared, putBodySteps } from './shared-bodies.ts';

export type Origin = {
  sender: string; // unless the message names another
  requestKey?: string; // of an idempotent request
};
export type Published = { send: NewSend; isNew: boolean };

// Sends a message to some users, or to everyone if none are named; now or later. What it answers is decided: the
// same request, or the same id of the host, finds the send that is there.
export async function publish(
  service: Service,
  place: Place,
  draft: Draft & { uids?: readonly string[] },
  origin: Origin,
): Promise<Published> {
  const policies = await readPolicies(service, place);
  checkMessage(policies.config, draft);
  const made = makeSend(service, place, draft, origin, policies);
  const { category } = draft.taxonomy ?? {};
  const { deleting } = policies;
  if (category !== undefined && deleting.includes(category)) throw categoryGoes();
  if (category !== undefined)
    await registerCategory(service, place, category, { expiredat: made.expiredat, until: policies.until });

  const fingerprint = fingerprintOf(draft);
  const claims: Claims = {
    unique: policies.config.unique_host_system_ids,
    fingerprint,
    requestKey: origin.requestKey,
    nowS: secondsNow(service),
  };
  const keys = draft.uids?.map(uid => userText({ ...place, uid })) ?? [placeText(place)];
  const attempt = async (): Promise<Attempt<Send | undefined>> => {
    try {
      const steps = await contentSteps(service, made, draft, policies.config);
      const claim = claimSteps(place, made, claims);
      await service.store.transact([...claim, ...steps], { pattern: patternOf(made) });
      return done(undefined);
    } catch (error) {
      const found = await earlierSend(service, place, error, { fingerprint, deleting });
      claims.over = undefined;
      if (!found) throw error;
      if ('send' in found) return done(found.send);
      claims.over = found.over;
      return again;
    }
  };
  const earlier = await service.turns.take(made.status === 'sent' ? keys : [], () =>
    untilDone(service, attempt),
  );
  if (earlier) return { send: earlier, isNew: false };
  if (made.dueat !== undefined) service.due.ring();
  return { send: made, isNew: true };
}

const patternOf = ({ status, audiences }: NewSend): string =>
  status !== 'sent'
    ? 'write down a send'
    : audiences.kind === 'everyone'
      ? 'publish to everyone'
      : 'publish to users';

// A short list is delivered together with the record of it; a long one is written down first, for the worker. A
// message to everyone is short, whoever everyone is.
async function contentSteps(
  service: Service,
  made: NewSend,
  { message, uids }: Draft & { uids?: readonly string[] },
  config: InboxConfig,
): Promise<Step[]> {
  const body = putBodySteps(made, message.body);
  const record = (sent?: { seq: number; members: number }): Step => [
    'send',
    write.put(send, { ...made, ...sent }, { ifAbsent: true }),
  ];
  if (made.status !== 'sent') {
    const isLong = uids !== undefined && !made.audiences.uids;
    return [record(), ...body, ...(isLong ? audienceSteps(made, uids) : [])];
  }
  const content = Object.assign({}, made, { message: stored(message, made.body_bytes) });
  if (uids) return [record(), ...body, ...(await deliverySteps(service, content, uids, config))];
  const { sent, steps } = await broadcastSteps(service, content);
  made.members = sent.members;
  return [record(sent), ...steps];
}

// What the copies have of a message: all of it, unless they share the body.
const stored = ({ title, body, cta_uri }: Draft['message'], body_bytes?: number) =>
  body_bytes === undefined ? { title, body: body ?? null, cta_uri } : { title, cta_uri };

function checkMessage({ schema, cta_schemes }: InboxConfig, { message }: Draft): void {
  checkCtaUri(message.cta_uri, cta_schemes);
  if (Buffer.byteLength(JSON.stringify(message)) > limits.messageBytes)
    throw inboxErrors.create(
      'inbox.message_too_large',
      `A message has at most ${limits.messageBytes} bytes.`,
    );
  if (schema) checkBody(schema, message.body);
}

function makeSend(
  { clock, ids, random, recipientsTogether }: Service,
  place: Place,
  draft: Draft & { uids?: readonly string[] },
  { sender }: Origin,
  policies: Policies,
): NewSend {
  const nowMs = clock.now();
  const nowS = Math.floor(nowMs / 1000);
  const { message, taxonomy, host_system_id, label, send_at, uids } = draft;
  if (send_at !== undefined && (send_at <= nowS || send_at > nowS + limits.scheduleAheadS))
    throw inboxErrors.create(
      'inbox.schedule_invalid',
      'It can be sent from the next second to a year ahead.',
    );
  const isShort = uids !== undefined && uids.length <= limits.recipientsTogether;
  const bytes = bytesOf(message.body);
  const body_bytes = uids !== undefined && isShared(bytes, uids.length) ? bytes : undefined;
  const copied = stored(message, body_bytes);
  const isInline = uids === undefined || uids.length <= Math.min(recipientsTogether, roomFor(copied));
  const status = send_at !== undefined ? 'scheduled' : isInline ? 'sent' : 'delivering';
  return {
    id: send_at === undefined ? ids.next() : idFor(ids, send_at * 1000),
    ...place,
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
export const roomFor = (message: unknown): number => {
  const bytes = Buffer.byteLength(JSON.stringify(message)) + 4096;
  return Math.max(1, Math.min(limits.recipientsTogether, Math.floor(limits.transactionBytes / bytes)));
};

function expiryOf(draft: Draft, fromS: number, { config, tenantTtl }: Policies): number {
  if (draft.expiredat !== undefined) {
    if (draft.expiredat <= fromS || draft.expiredat > fromS + limits.messageTtlS)
      throw inboxErrors.create(
        'inbox.expiry_invalid',
        'A message expires after it is sent, and within 730 days.',
      );
    return draft.expiredat;
  }
  const { ttl: own, taxonomy } = draft;
  const policies = { own, category: taxonomy?.category, inboxTtl: config.ttl, tenantTtl };
  return fromS + ttlSeconds({ ...policies, defaultS: limits.defaultTtlS });
}
