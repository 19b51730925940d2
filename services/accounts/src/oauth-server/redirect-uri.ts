import * as limits from './limits.ts';

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && loopbackHosts.has(hostname);

// Schemes of programs on the person's own machine. By RFC 8252, 7.1, such a scheme is a domain name turned around; those
// of some well-known programs are not. Any other one could be a browser's own, such as `javascript`.
const programSchemes: ReadonlySet<string> = new Set([
  'claude:',
  'cursor:',
  'vscode:',
  'vscode-insiders:',
  'windsurf:',
  'zed:',
]);
const domainScheme = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:$/;

const isProgram = ({ protocol }: URL): boolean => programSchemes.has(protocol) || domainScheme.test(protocol);

// Where an app may have a browser sent: an address by https, of the person's own machine, or of a program on it. It is
// spelled as a browser reads it, so that what was compared is what the browser goes to.
export function isRedirectUri(text: string): boolean {
  if (text.length > limits.redirectUriChars || !URL.canParse(text)) return false;
  const url = new URL(text);
  const isSpelled = url.href === text || (url.pathname === '/' && url.href === `${text}/`);
  const hasMore = url.username !== '' || url.password !== '' || text.includes('#');
  return isSpelled && !hasMore && (url.protocol === 'https:' || isLoopback(url) || isProgram(url));
}

/** What a person is told about where their answer goes. */
export function describeRedirect(uri: string): string {
  const url = new URL(uri);
  return isProgram(url) ? `the program that opens ${url.protocol} links` : url.host;
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
