import { createMac, isStale, judge, readHeader, readTimestamp, refuse } from './hmac.ts';
import type { Verifier, VerifyInput } from './provider.ts';

const secretPrefix = 'whsec_';
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

// Senders that grew up with Svix still use its name for the same three headers.
const families = ['webhook', 'svix'];

// `webhook-signature: v1,K5oZ… v1,G9Da…`: base64 over `id.timestamp.body`.
export const verifyStandardWebhooks: Verifier = input => {
  const { secrets, rawBody, nowMs, toleranceS } = input;
  const found = families.map(family => readFamily(input, family)).find(one => one !== undefined);
  if (!found) return refuse('missing_signature');
  const { id, timestamp, signature } = found;
  const timestampS = readTimestamp(timestamp);
  const given = signature.split(' ').filter(one => one.startsWith('v1,'));
  if (timestampS === undefined || given.length === 0) return refuse('malformed_signature');
  const usable = secrets.filter(secret => readKey(secret).length > 0);
  const expected = usable.map(secret => signStandard(secret, id, timestamp, rawBody));
  const verdict = judge(given, expected, id);
  return verdict.ok && isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : verdict;
};

export function signStandard(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  return `v1,${createMac('sha256', readKey(secret), [`${id}.${timestamp}.`, body], 'base64')}`;
}

// The libraries take a secret for base64, with or without its prefix. One that is not is its own bytes.
function readKey(secret: string): Uint8Array {
  const text = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret;
  return Buffer.from(text, base64.test(text) ? 'base64' : 'utf8');
}

function readFamily({ headers }: VerifyInput, family: string) {
  const id = readHeader(headers, `${family}-id`);
  const timestamp = readHeader(headers, `${family}-timestamp`);
  const signature = readHeader(headers, `${family}-signature`);
  return id && timestamp && signature ? { id, timestamp, signature } : undefined;
}
