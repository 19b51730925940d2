import * as limits from './limits.ts';

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && loopbackHosts.has(hostname);

// Schemes of well-known programs on the person's own machine. RFC 8252, 7.1, asks for a reversed domain name, but these
// programs use a plain word. Other plain words are refused, because browsers handle some themselves: `javascript`.
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

// Accepts https addresses, loopback addresses and the schemes of programs. The text must be in the normal form that a
// browser parses it to, so that the browser goes to exactly the address that was compared.
export function isRedirectUri(text: string): boolean {
  if (text.length > limits.redirectUriChars || !URL.canParse(text)) return false;
  const url = new URL(text);
  const isSpelled = url.href === text || (url.pathname === '/' && url.href === `${text}/`);
  const hasMore = url.username !== '' || url.password !== '' || text.includes('#');
  return isSpelled && !hasMore && (url.protocol === 'https:' || isLoopback(url) || isProgram(url));
}

/** Describes for a person where the redirect URI leads: its host, or the program that opens its scheme. */
export function describeRedirect(uri: string): string {
  const url = new URL(uri);
  return isProgram(url) ? `the program that opens ${url.protocol} links` : url.host;
}

// Redirect URIs must match a registered one exactly, except for the port of a loopback address: programs listen on any
// free port (RFC 8252, 7.3).
export function matchesRedirectUri(registered: readonly string[], text: string): boolean {
  if (registered.includes(text)) return true;
  if (!isRedirectUri(text)) return false;
  const url = new URL(text);
  if (!isLoopback(url)) return false;
  url.port = '';
  return registered.some(uri => {
    const registeredUrl = new URL(uri);
    registeredUrl.port = '';
    return isLoopback(registeredUrl) && registeredUrl.href === url.href;
  });
}

// Adds parameters to those that the URI already has.
export function redirectTo(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
