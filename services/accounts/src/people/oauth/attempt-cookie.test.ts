import { describe, expect, it } from 'vitest';
import { attemptCookie } from './attempt-cookie.ts';
import { newAttemptSecret, secretsOf } from './attempt-secrets.ts';

describe('the cookie of an attempt', () => {
  const secret = newAttemptSecret();

  it('is bound to the host over https', () => {
    const set = attemptCookie('https://stak.example').set(secret);
    expect(set).toBe(`__Host-stak-sign-in=${secret}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure`);
  });

  it('is found among other cookies', () => {
    const cookie = attemptCookie('http://127.0.0.1:1');
    expect(cookie.read(`a=b; stak-sign-in=${secret}; c=d`)).toBe(secret);
    expect(cookie.read(`xstak-sign-in=${secret}`)).toBeUndefined();
    expect(cookie.read('stak-sign-in=')).toBeUndefined();
    expect(cookie.read('stak-sign-in=%00; ;;=')).toBeUndefined();
    expect(cookie.read(undefined)).toBeUndefined();
  });

  it('derives secrets that reveal nothing about each other', () => {
    const { state, verifier, nonce } = secretsOf(secret);
    expect(new Set([secret, state, verifier, nonce]).size).toBe(4);
    expect(secretsOf(secret)).toEqual({ state, verifier, nonce });
    expect(verifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
