import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { parseUrl } from './url.ts';

it('parses what the platform parses', () => {
  const schemes = fc.constantFrom('https:', 'http:', 'mailto:', ' ws:', '');
  const rest = fc.constantFrom('/', '\\', 'a.example', 'ü', ':80', '?', '#', ' ', '\n');
  fc.assert(
    fc.property(schemes, fc.array(rest, { maxLength: 8 }), (scheme, parts) => {
      const text = scheme + parts.join('');
      expect(parseUrl(text)?.href).toBe(URL.canParse(text) ? new URL(text).href : undefined);
    }),
  );
});

it('parses long paths, queries and addresses without a host', () => {
  for (const text of [
    `https://a.example/${'x'.repeat(5000)}?${'y'.repeat(5000)}`,
    `mailto:${'ann@a.example,'.repeat(100)}bob@a.example`,
  ])
    expect(parseUrl(text)?.href).toBe(text);
});

it('refuses an overlong host before parsing it, however it is written', () => {
  const parse = vi.spyOn(URL, 'canParse');
  onTestFinished(() => parse.mockRestore());
  const host = '\u4e00\u4e01\u4e02'.repeat(40_000);
  for (const before of ['https://', 'HTTPS:', 'http:\\\\', ' \u0001http:/', 'ht\ntp:\t/\r/', 'ws://me@'])
    expect(parseUrl(before + host)).toBeUndefined();
  expect(parse).not.toHaveBeenCalled();
});
