import { inboxErrors } from './errors.ts';

// Links that readers' programs open with one click. A scheme may start a program, and what it does is not ours to know:
// so there is a short list, and an inbox adds the schemes of its own apps.

const usual: ReadonlySet<string> = new Set(['https', 'http', 'mailto']);
// These run code in the page that shows the link, or show what the sender wrote as if it were the page's.
const refused: ReadonlySet<string> = new Set([
  ...['javascript', 'vbscript', 'data', 'blob', 'filesystem', 'about', 'view-source'],
]);
const schemeShape = /^[a-z][a-z0-9+.-]{1,31}$/;

export const isScheme = (scheme: string): boolean => schemeShape.test(scheme) && !refused.has(scheme);
export const schemeHint =
  'A scheme in lower case without the colon, like "tel" or "acme-app"; none that runs code or holds data';

const schemeOf = (uri: string): string => new URL(uri).protocol.slice(0, -1);

// Parsers differ in which spaces and control characters they leave out, so such a link means different things to them.
const hasGaps = (uri: string): boolean => /[\s\p{Cc}\p{Cf}\\]/u.test(uri);

export const isUri = (uri: string): boolean =>
  !hasGaps(uri) && URL.canParse(uri) && !refused.has(schemeOf(uri));

export function checkCtaUri(uri: string | null, allowed: readonly string[] = []): void {
  if (uri === null) return;
  const scheme = schemeOf(uri);
  if (usual.has(scheme) || allowed.includes(scheme)) return;
  const detail = `A link begins with https:, http: or mailto:, or with one of the inbox's cta_schemes. "${scheme}:" is none of them.`;
  throw inboxErrors.create('inbox.cta_uri_refused', detail, {
    errors: [{ in: 'body', pointer: '#/message/cta_uri', code: 'scheme', detail }],
  });
}
