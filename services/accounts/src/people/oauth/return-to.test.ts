import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveReturnTo } from './return-to.ts';

const settings = { publicUrl: 'https://stak.example', allowedOrigins: ['https://console.example:8443'] };
const resolve = (text?: string) => resolveReturnTo(text, settings);

describe('resolveReturnTo', () => {
  it.each([
    [undefined, 'https://stak.example/'],
    ['/', 'https://stak.example/'],
    ['/keys?tab=2#new', 'https://stak.example/keys?tab=2#new'],
    ['https://stak.example/keys', 'https://stak.example/keys'],
    ['https://console.example:8443/a', 'https://console.example:8443/a'],
    ['/..//evil.example', 'https://stak.example//evil.example'],
    ['https:evil.example', 'https://stak.example/evil.example'],
  ])('accepts %s', (text, href) => expect(resolve(text)).toBe(href));

  it.each([
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '\n//evil.example',
    'https://evil.example/',
    'http://stak.example/',
    'https://stak.example:444/',
    'https://console.example/',
    'https://stak.example.evil.example/',
    'https://stak.example@evil.example/',
    'https://ann:secret@stak.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://stak.example/1',
    'https://',
  ])('refuses %j', text =>
    expect(() => resolve(text)).toThrow(expect.objectContaining({ code: 'accounts.return_to_refused' })),
  );

  it('never leaves the allowed origins', () => {
    const pieces = fc.constantFrom(
      '/',
      '\\',
      ':',
      '@',
      '.',
      '\t',
      '%2f',
      'https',
      'stak.example',
      'evil.example',
    );
    const text = fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 8 });
    fc.assert(
      fc.property(text, parts => {
        let href: string;
        try {
          href = resolve(parts.join(''));
        } catch {
          return;
        }
        // What a browser makes of it while it shows our page.
        const { origin, username } = new URL(href, 'https://stak.example/v1/auth/github/callback');
        expect(['https://stak.example', 'https://console.example:8443']).toContain(origin);
        expect(username).toBe('');
      }),
    );
  });
});
