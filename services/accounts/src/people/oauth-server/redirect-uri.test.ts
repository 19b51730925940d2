import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRedirectUri, matchesRedirectUri, redirectTo } from './redirect-uri.ts';

describe('a redirect URI', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example:8443/callback?from=stak',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:33418/',
    'http://[::1]:5000/callback',
    'http://localhost:3000/callback',
    'cursor://anysphere.cursor-retrieval/oauth/user-mcp/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'com.example.app:/callback',
    'com.example.app://callback?from=stak',
  ])('is %s', text => {
    expect(isRedirectUri(text)).toBe(true);
  });

  it.each([
    'http://app.example/callback', // anybody on the way reads the code
    'https://app.example/callback#part',
    'https://user@app.example/callback',
    'https://user:secret@app.example/callback',
    'https://app.example/a/../callback', // a browser reads another address than we compare
    'https://app.example\\@evil.example/callback',
    'https://APP.example/callback',
    ' https://app.example/callback',
    'https://app.example/call\tback',
    'http://127.0.0.1.evil.example/callback',
    'http://localhost.evil.example/callback',
    'http://0x7f000001/callback',
    'javascript:alert(1)',
    'data:text/html,hello',
    'vbscript:msgbox(1)',
    'blob:https://app.example/1',
    'file:///etc/passwd',
    'about:blank',
    'view-source:https://app.example/',
    'ws://127.0.0.1/callback',
    'ms-settings:privacy',
    'CURSOR://callback',
    'cursor://callback#part',
    'cursor://user@callback',
    'com..app:/callback',
    '/callback',
    '//app.example/callback',
    '*',
    '',
    `https://app.example/${'a'.repeat(500)}`,
  ])('is not %s', text => {
    expect(isRedirectUri(text)).toBe(false);
  });

  it('must equal a registered one, except for the port of a loopback address', () => {
    const registered = ['https://app.example/callback', 'http://127.0.0.1/callback?a=1'];
    const matches = (text: string) => matchesRedirectUri(registered, text);
    for (const text of [...registered, 'http://127.0.0.1:33418/callback?a=1'])
      expect(matches(text)).toBe(true);
    for (const text of [
      'https://app.example/callback/',
      'https://app.example/callback?x=1',
      'https://app.example:8443/callback',
      'https://app.example.evil.example/callback',
      'https://evil.example/callback',
      'http://127.0.0.1:33418/callback',
      'http://127.0.0.1:33418/callback?a=2',
      'http://localhost:33418/callback?a=1',
      'https://127.0.0.1:33418/callback?a=1',
      'http://127.0.0.1:33418@evil.example/callback?a=1',
    ])
      expect(matches(text), text).toBe(false);
  });

  it('never leads to a host that was not registered', () => {
    const registered = ['https://app.example/callback', 'http://127.0.0.1/callback'];
    const near = fc.tuple(
      fc.constantFrom('https://app.example', 'http://127.0.0.1', 'http://127.0.0.1:80'),
      fc.string({ maxLength: 3 }),
      fc.constantFrom('/callback', '@evil.example/callback', '.evil.example/callback', ''),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl(),
          near.map(parts => parts.join('')),
        ),
        text => {
          if (!matchesRedirectUri(registered, text)) return;
          const { hostname, pathname } = new URL(redirectTo(text, { code: 'x' }));
          expect(['app.example', '127.0.0.1']).toContain(hostname);
          expect(pathname).toBe('/callback');
        },
      ),
    );
  });

  it('keeps its parameters', () => {
    expect(redirectTo('https://app.example/cb?a=1', { code: 'x y', state: undefined })).toBe(
      'https://app.example/cb?a=1&code=x+y',
    );
  });
});
