import { createMac, isStale, judge, readBodyId, readHeader, readTimestamp, refuse } from './hmac.ts';
import type { Verifier } from './provider.ts';

// `Stripe-Signature: t=1492774577,v1=5257a8…,v1=6ffbb5…`: hex over `t.body`.
export const verifyStripe: Verifier = ({ secrets, headers, rawBody, nowMs, toleranceS }) => {
  const header = readHeader(headers, 'stripe-signature');
  if (header === undefined) return refuse('missing_signature');
  const fields = header.split(',').map(field => field.trim());
  const valuesOf = (name: string) =>
    fields.filter(field => field.startsWith(`${name}=`)).map(field => field.slice(name.length + 1));
  const [timestamp] = valuesOf('t');
  const given = valuesOf('v1');
  const timestampS = timestamp === undefined ? undefined : readTimestamp(timestamp);
  if (timestampS === undefined || given.length === 0) return refuse('malformed_signature');
  const expected = secrets.map(secret => createMac('sha256', secret, [`${timestamp}.`, rawBody], 'hex'));
  const verdict = judge(given, expected, readBodyId(rawBody, 'id'));
  return verdict.ok && isStale(timestampS, nowMs, toleranceS) ? refuse('stale') : verdict;
};
