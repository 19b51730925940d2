import { randomBytes } from 'node:crypto';
import type { HeaderPair } from '../filters/request-view.ts';
import { createMac } from './hmac.ts';
import { signStandard } from './standard-webhooks.ts';

export type SignedDelivery = {
  secrets: readonly string[]; // the current one first; a second one while it is being rotated
  eventId: string; // the same for every attempt: receivers dedupe by it
  timestampS: number; // of this attempt
  body: Uint8Array;
};

// Proof for one attempt, twice: as Ferryhook has always sent it, in Stripe's form, and as Standard Webhooks. During
// a rotation each carries a signature by either secret, so that a receiver may switch whenever it likes.
export function signDelivery({ secrets, eventId, timestampS, body }: SignedDelivery): HeaderPair[] {
  const timestamp = String(timestampS);
  const headers: HeaderPair[] = [
    ['X-Ferryhook-Event-Id', eventId],
    ['X-Ferryhook-Timestamp', timestamp],
    ...signStandardHeaders({ secrets, id: eventId, timestampS, body }),
  ];
  if (secrets.length === 0) return headers;
  const hex = secrets.map(secret => createMac('sha256', secret, [`${timestamp}.`, body], 'hex'));
  return [
    ...headers,
    ['X-Ferryhook-Signature', [`t=${timestamp}`, ...hex.map(one => `v1=${one}`)].join(',')],
  ];
}

// The three headers of Standard Webhooks.
export function signStandardHeaders({
  secrets,
  id,
  timestampS,
  body,
}: {
  secrets: readonly string[];
  id: string; // the same for every attempt; without a dot, which separates what is signed
  timestampS: number;
  body: Uint8Array;
}): HeaderPair[] {
  const timestamp = String(timestampS);
  const headers: HeaderPair[] = [
    ['webhook-id', id],
    ['webhook-timestamp', timestamp],
  ];
  if (secrets.length === 0) return headers;
  const signatures = secrets.map(secret => signStandard(secret, id, timestamp, body));
  return [...headers, ['webhook-signature', signatures.join(' ')]];
}

// As Standard Webhooks libraries expect it. Stripe's form takes the whole text for the key.
export function createSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
