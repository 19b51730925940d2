import * as limits from './limits.ts';

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && loopbackHosts.has(hostname);

// Where an app may have a browser sent: an address by https, or of the person's own machine. It is spelled as a
// browser reads it, so that what was compared is what the browser goes to.
export function isRedirectUri(text: string): boolean {
  if (text.length > limits.redirectUriChars || !URL.canParse(text)) return false;
  const url = new URL(text);
  const isSpelled = url.href === text || (url.pathname === '/' && url.href === `${text}/`);
  const hasMore = url.username !== '' || url.password !== '' || text.includes('#');
  return isSpelled && !hasMore && (url.protocol === 'https:' || isLoopback(url));
}

// The same text as one that was registered. On the own machine the port may be another: a program takes one that is
// free (RFC 8252, 7.3).
export function matchesRedirectUri(registered: readonly string[], text: string): boolean {
  if (registered.includes(text)) return true;
  if (!isRedirectUri(text)) return false;
  const url = new URL(text);
  if (!isLoopback(url)) return false;
  url.port = '';
  return registered.some(one => {
    const known = new URL(one);
    known.port = '';
    return isLoopback(known) && known.href === url.href;
  });
}

// With parameters added to those that it has.
export function redirectTo(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
