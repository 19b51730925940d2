import type { HeaderPair } from '../filters/request-view.ts';

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

// How a `custom` source signs: HMAC over the body, or over a template that also holds a timestamp or an id.
export type HmacConfig = {
  algorithm: 'sha1' | 'sha256' | 'sha512';
  header: string;
  encoding: 'hex' | 'base64' | 'base64url';
  prefix?: string | undefined; // before the signature in its header, such as `sha256=`
  secretEncoding?: 'utf8' | 'hex' | 'base64' | undefined;
  timestampHeader?: string | undefined; // unix seconds or milliseconds; checked against the tolerance
  idHeader?: string | undefined; // the sender's own id for a delivery: `{id}` and the dedupe id
  template?: string | undefined; // what is signed: `{body}`, `{timestamp}` and `{id}` are replaced
};

export type VerifyInput = {
  secrets: readonly string[]; // two while a secret is being rotated; any may match
  headers: readonly HeaderPair[];
  rawBody: Uint8Array;
  url: string; // as the sender saw it, with query: Twilio signs it
  nowMs: number;
  toleranceS?: number | undefined; // how old, or ahead of our clock, a timestamp may be
  config?: HmacConfig | undefined; // of a custom source
};

export type RefusalReason =
  | 'no_secret' // the source has none, or none that can be a key
  | 'missing_signature'
  | 'malformed_signature'
  | 'mismatch'
  | 'stale'; // a true signature of another time

export type Verification = { ok: true; dedupeId?: string } | { ok: false; reason: RefusalReason };

export type Verifier = (input: VerifyInput) => Verification;
