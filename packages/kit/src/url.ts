import { hostChars } from './limits.ts';

// Matches the host of a web address as a parser sees it: line breaks are ignored, and slashes are not needed.
const webHost = /^(?:https?|wss?|ftp|file):[/\\]*([^/\\?#]*)/i;

/**
 * Parses a URL that a stranger sent; undefined if it is not one. A host that is longer than DNS allows is refused before
 * it is parsed: encoding one that is not ASCII takes time that grows with the square of its length.
 *
 * @example
 * parseUrl('https://example.com/hooks')?.hostname; // 'example.com'
 */
export function parseUrl(text: string): URL | undefined {
  const plain = text.replace(/[\t\n\r]/g, '').replace(/^[^a-z]+/i, '');
  const [, host = ''] = webHost.exec(plain) ?? [];
  return host.length <= hostChars && URL.canParse(text) ? new URL(text) : undefined;
}
