import { createMac, judge, readHeader, refuse } from './hmac.ts';
import type { Verifier } from './provider.ts';

// The older `X-Hub-Signature` is SHA-1 and not read: GitHub sends both.
export const verifyGithub: Verifier = ({ secrets, headers, rawBody }) => {
  const header = readHeader(headers, 'x-hub-signature-256');
  if (header === undefined) return refuse('missing_signature');
  if (!header.startsWith('sha256=')) return refuse('malformed_signature');
  const expected = secrets.map(secret => `sha256=${createMac('sha256', secret, [rawBody], 'hex')}`);
  return judge([header], expected, readHeader(headers, 'x-github-delivery'));
};
