import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HeaderPair } from '../filters/request-view.ts';
import * as limits from './limits.ts';

export const providers = [
  'stripe',
  'github',
  'shopify',
  'slack',
  'twilio',
  'sendgrid',
  'standard-webhooks',
  'custom',
] as const;

export type Provider = (typeof providers)[number];

// How a `custom` source signs: HMAC over the body, or over a template with a timestamp or an id as well.
export type HmacConfig = {
  algorithm: 'sha1' | 'sha256' | 'sha512';
  header: string;
  encoding: 'hex' | 'base64' | 'base64url';
  prefix?: string | undefined; // before the signature, such as `sha256=`
  secretEncoding?: 'utf8' | 'hex' | 'base64' | undefined;
  timestampHeader?: string | undefined; // unix seconds or milliseconds; checked against the tolerance
  idHeader?: string | undefined; // the sender's own id for a delivery: `{id}` and the dedupe id
  template?: string | undefined; // the signed text, with `{body}`, `{timestamp}` and `{id}`
};

export type VerifyInput = {
  secrets: readonly string[]; // two while a secret is being rotated; any may match
  headers: readonly HeaderPair[];
  rawBody: Uint8Array;
  url: string; // as the sender has it, with the query: Twilio signs it
  nowMs: number;
  toleranceS?: number | undefined; // how far a timestamp may be from our clock
  config?: HmacConfig | undefined; // of a custom source
};

export type RefusalReason =
  | 'no_secret' // the source has none that can be used as a key
  | 'missing_signature'
  | 'malformed_signature'
  | 'mismatch'
  | 'stale'; // a valid signature with an old timestamp

export type Verification = { ok: true; dedupeId?: string } | { ok: false; reason: RefusalReason };

export type Verifier = (input: VerifyInput) => Verification;

type Part = string | Uint8Array;

export function createMac(
  algorithm: HmacConfig['algorithm'],
  key: Part,
  parts: readonly Part[],
  encoding: HmacConfig['encoding'],
): string {
  const mac = createHmac(algorithm, key);
  for (const part of parts) mac.update(part);
  return mac.digest(encoding);
}

// In constant time. Only the lengths, which are public, end it early.
export function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const refuse = (reason: RefusalReason): Verification => ({ ok: false, reason });

// Any of the sent signatures may match any of our keys: both sides rotate them.
export function judge(
  given: readonly string[],
  expected: readonly string[],
  dedupeId: string | undefined,
): Verification {
  if (expected.length === 0) return refuse('no_secret');
  let matched = false;
  for (const one of given.slice(0, limits.signatures))
    for (const other of expected) matched = isSame(one, other) || matched;
  return matched ? accept(dedupeId) : refuse('mismatch');
}

export function accept(dedupeId: string | undefined): Verification {
  if (!dedupeId) return { ok: true };
  if (dedupeId.length <= limits.dedupeIdChars) return { ok: true, dedupeId };
  return { ok: true, dedupeId: `sha256:${createHash('sha256').update(dedupeId).digest('hex')}` };
}

// The first header with that name, or undefined if there is none or it is longer than any real one.
export function readHeader(headers: readonly HeaderPair[], name: string): string | undefined {
  const found = headers.find(([one]) => one.toLowerCase() === name)?.[1].trim();
  return found === undefined || found.length > limits.signatureChars ? undefined : found;
}

// Unix seconds, as most senders use, or milliseconds.
export function readTimestamp(text: string): number | undefined {
  if (!/^\d{1,13}$/.test(text)) return undefined;
  return text.length >= 12 ? Number(text) / 1000 : Number(text);
}

export function isStale(timestampS: number, nowMs: number, toleranceS = limits.toleranceS): boolean {
  return Math.abs(nowMs / 1000 - timestampS) > toleranceS;
}

// A field at the top of a JSON body, where some senders put their id.
export function readBodyId(rawBody: Uint8Array, field: string): string | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(rawBody).toString());
    const id: unknown = Object.entries(value ?? {}).find(([name]) => name === field)?.[1];
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

const secretPrefix = 'whsec_';
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function signStandard(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  return `v1,${createMac('sha256', standardKey(secret), [`${id}.${timestamp}.`, body], 'base64')}`;
}

// The libraries expect a secret in base64, with or without the prefix. Any other text is used as its own bytes.
export function standardKey(secret: string): Uint8Array {
  const text = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret;
  return Buffer.from(text, base64.test(text) ? 'base64' : 'utf8');
}

export type SignedDelivery = {
  secrets: readonly string[]; // the current one first; two while it is being rotated
  eventId: string; // the same for every attempt: receivers use it to deduplicate
  timestampS: number; // of this attempt
  body: Uint8Array;
};

// Receivers of before 0.2.0 read the second name. It goes with 0.3.0.
const headerPrefixes = ['X-Stak', 'X-Ferryhook'];

// Signs one attempt twice: in Stripe's format, and as Standard Webhooks. During a rotation each carries a signature by
// either secret, so that a receiver may switch at any time.
export function signDelivery({ secrets, eventId, timestampS, body }: SignedDelivery): HeaderPair[] {
  const timestamp = String(timestampS);
  const headers = signStandardHeaders({ secrets, id: eventId, timestampS, body });
  const hex = secrets.map(secret => createMac('sha256', secret, [`${timestamp}.`, body], 'hex'));
  const signature = [`t=${timestamp}`, ...hex.map(one => `v1=${one}`)].join(',');
  for (const prefix of headerPrefixes) {
    headers.push([`${prefix}-Event-Id`, eventId], [`${prefix}-Timestamp`, timestamp]);
    if (hex.length > 0) headers.push([`${prefix}-Signature`, signature]);
  }
  return headers;
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

// In the format of the Standard Webhooks libraries. Stripe's format uses the whole text as the key.
export function createSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
