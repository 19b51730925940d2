import { createRecentMap, parseUrl } from '@stak/kit';
import { headerNames, knownChars, urlChars } from './limits.ts';
import type { HeaderPair, OutboundFailureReason } from './outcome.ts';

// `host` is a name or an address without brackets.
export type Destination = { origin: string; host: string; path: string };
export type Refusal = { reason: OutboundFailureReason; message: string };

// The URL parser has already turned `0x7f.1`, `2130706433` and `0177.0.0.1` into 127.0.0.1, and full-width digits and
// dots into plain ones: what remains is a plain address or a name.
export function readDestination(text: string, permitsPort: (port: number) => boolean): Destination | Refusal {
  if (text.length > urlChars)
    return { reason: 'invalid_url', message: `The address is longer than ${urlChars} characters` };
  const url = parseUrl(text);
  if (!url) return { reason: 'invalid_url', message: 'The address is not a URL' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { reason: 'invalid_url', message: `${url.protocol} is not http: or https:` };
  if (url.username !== '' || url.password !== '')
    return { reason: 'invalid_url', message: 'The address holds credentials' };
  // `example.com.` is the same host, and no certificate is issued for that spelling.
  const host = url.hostname.replace(/\.+$/, '');
  if (host === '') return { reason: 'invalid_url', message: 'The address has no host' };
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (!permitsPort(port)) return { reason: 'blocked_port', message: `Port ${port} is not for webhooks` };
  return {
    host: host.replace(/^\[|\]$/g, ''),
    origin: `${url.protocol}//${host}${url.port === '' ? '' : `:${url.port}`}`,
    path: url.pathname + url.search,
  };
}

// The ports above 1023 that browsers refuse: services that could take a request for commands.
const foreignPorts: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

export function permitsWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !foreignPorts.has(port));
}

// Methods that are not ordinary requests: a tunnel, or an echo of our own headers.
const refusedMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);

// Headers of the connection or of the message's framing, which we set ourselves.
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

// Callers use the same few names again and again.
const knownHeaders = createRecentMap<string, boolean>(headerNames);

// Whether a header chosen by a user, or of the original request, may be sent.
export function maySendHeader(name: string): boolean {
  const header = knownHeaders.get(name);
  if (header !== undefined) return header;
  const may = permitsHeader(name);
  if (name.length <= knownChars) knownHeaders.set(name, may);
  return may;
}

function permitsHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return !ownHeaders.has(lower) && !lower.startsWith('proxy-') && /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower);
}

export function findBadPart(method: string, headers: readonly HeaderPair[]): Refusal | undefined {
  if (!/^[A-Z]{1,20}$/.test(method) || refusedMethods.has(method))
    return { reason: 'invalid_request', message: 'The method may not be sent' };
  const bad = headers.find(([name]) => !maySendHeader(name));
  return (
    bad && { reason: 'invalid_request', message: `The header ${JSON.stringify(bad[0])} may not be sent` }
  );
}
