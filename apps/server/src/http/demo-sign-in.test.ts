import { expect, it } from 'vitest';
import { signInLink } from './demo-sign-in.ts';

it('leads to a name, for which browsers have passkeys', () => {
  expect(signInLink('http://127.0.0.1:8787', 'a-token')).toBe(
    'http://localhost:8787/console/sign-in#demo=a-token',
  );
  expect(signInLink('http://[::1]:80', 'a')).toBe('http://localhost/console/sign-in#demo=a');
  expect(signInLink('https://stak.example', 'a')).toBe('https://stak.example/console/sign-in#demo=a');
});
