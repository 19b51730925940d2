import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { accept, isStale, readHeader, readTimestamp, refuse } from './hmac.ts';
import type { Verifier } from './provider.ts';

// ECDSA over `timestamp + body`. What the source keeps as its secret is SendGrid's public key: base64 of its
// DER form, or PEM. A batch of events has no id of its own.
export const verifySendgrid: Verifier = ({ secrets, headers, rawBody, nowMs, toleranceS }) => {
  const signature = readHeader(headers, 'x-twilio-email-event-webhook-signature');
  const timestamp = readHeader(headers, 'x-twilio-email-event-webhook-timestamp');
  if (signature === undefined || timestamp === undefined) return refuse('missing_signature');
  const timestampS = readTimestamp(timestamp);
  if (timestampS === undefined) return refuse('malformed_signature');
  const keys = secrets.map(readPublicKey).filter(key => key !== undefined);
  if (keys.length === 0) return refuse('no_secret');
  const signed = Buffer.concat([Buffer.from(timestamp), rawBody]);
  const bytes = Buffer.from(signature, 'base64');
  if (!keys.some(key => verify('sha256', signed, key, bytes))) return refuse('mismatch');
  return isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : accept(undefined);
};

function readPublicKey(text: string): KeyObject | undefined {
  try {
    const key = text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ec' ? key : undefined;
  } catch {
    return undefined;
  }
}
