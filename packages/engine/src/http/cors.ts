import type { IncomingHttpHeaders } from 'node:http';
import { DynamoError } from '../errors.ts';

// Web pages may call the server only from the origins in its options: signatures are not checked, so any page that its
// owner visits could otherwise read and write every table.

export type Origins = readonly string[];

const localName = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

// By an address, too: only a name can be pointed at another machine.
export const isLocalHost = (host = ''): boolean =>
  localName.test(host) || /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(host);

// Browsers send a preflight request before a page may call another site. But with DNS rebinding a page calls what looks
// like its own site: its Host header shows that, and so does the Origin header that only browsers send. `*` does not
// allow such a page.
export function refusePage({ origin, host }: IncomingHttpHeaders, origins: Origins): void {
  if (origin === undefined || localName.test(host ?? '') || origins.includes(origin)) return;
  throw new DynamoError('AccessDeniedException', 'Web pages may not call this address');
}

const allowedOrigin = ({ origin }: IncomingHttpHeaders, origins: Origins): string | undefined =>
  origin !== undefined && (origins.includes(origin) || origins.includes('*')) ? origin : undefined;

const exposed =
  'x-amzn-RequestId,x-amzn-ErrorType,x-amz-request-id,x-amz-id-2,x-amzn-ErrorMessage,x-amz-crc32,Date';

// Headers that let the page read the response.
export function pageHeaders(headers: IncomingHttpHeaders, origins: Origins): string[] {
  const origin = allowedOrigin(headers, origins);
  if (origin === undefined) return [];
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed, 'Vary', 'Origin'];
}

// The response to a preflight request; undefined if the page may not call.
export function preflightHeaders(headers: IncomingHttpHeaders, origins: Origins): string[] | undefined {
  const origin = allowedOrigin(headers, origins);
  if (origin === undefined) return undefined;
  refusePage(headers, origins);
  const answer = [
    'Access-Control-Allow-Origin',
    origin,
    'Access-Control-Max-Age',
    '172800',
    'Vary',
    'Origin',
  ];
  const asked = headers['access-control-request-headers'];
  const method = headers['access-control-request-method'];
  if (asked) answer.push('Access-Control-Allow-Headers', asked);
  if (method) answer.push('Access-Control-Allow-Methods', method);
  // Chromium also sends this if a page of the internet calls an address of a private network.
  if (headers['access-control-request-private-network'] === 'true')
    answer.push('Access-Control-Allow-Private-Network', 'true');
  return answer;
}
