import { createMac, isStale, judge, readBodyId, readHeader, readTimestamp, refuse } from './hmac.ts';
import type { Verifier } from './provider.ts';

// `X-Slack-Signature: v0=…`: hex over `v0:timestamp:body`.
export const verifySlack: Verifier = ({ secrets, headers, rawBody, nowMs, toleranceS }) => {
  const header = readHeader(headers, 'x-slack-signature');
  const timestamp = readHeader(headers, 'x-slack-request-timestamp');
  if (header === undefined || timestamp === undefined) return refuse('missing_signature');
  const timestampS = readTimestamp(timestamp);
  if (timestampS === undefined || !header.startsWith('v0=')) return refuse('malformed_signature');
  const signed = [`v0:${timestamp}:`, rawBody];
  const expected = secrets.map(secret => `v0=${createMac('sha256', secret, signed, 'hex')}`);
  const verdict = judge([header], expected, readBodyId(rawBody, 'event_id'));
  return verdict.ok && isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : verdict;
};
