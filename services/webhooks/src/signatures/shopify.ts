import { createMac, judge, readHeader, refuse } from './hmac.ts';
import type { Verifier } from './provider.ts';

export const verifyShopify: Verifier = ({ secrets, headers, rawBody }) => {
  const header = readHeader(headers, 'x-shopify-hmac-sha256');
  if (header === undefined) return refuse('missing_signature');
  const expected = secrets.map(secret => createMac('sha256', secret, [rawBody], 'base64'));
  return judge([header], expected, readHeader(headers, 'x-shopify-webhook-id'));
};
