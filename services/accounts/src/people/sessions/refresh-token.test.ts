import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isGenuine, parseRefreshToken, refreshToken } from './refresh-token.ts';

const id = (prefix: string) => fc.stringMatching(/^[a-z0-9]{1,24}$/).map(text => `${prefix}_${text}`);
const claim = fc.record({ userId: id('usr'), sessionId: id('ses'), generation: fc.nat(999_999_999) });

describe('a refresh token', () => {
  it('contains what it was created from', () => {
    fc.assert(
      fc.property(claim, given => {
        const key = randomBytes(32);
        const parsed = parseRefreshToken(refreshToken(key, given))!;
        expect(parsed).toMatchObject(given);
        expect(isGenuine(key, parsed)).toBe(true);
        expect(isGenuine(randomBytes(32), parsed)).toBe(false);
      }),
    );
  });

  it('proves one generation of one session only', () => {
    fc.assert(
      fc.property(claim, claim, (one, other) => {
        fc.pre(one.sessionId !== other.sessionId || one.generation !== other.generation);
        const key = randomBytes(32);
        const { code } = parseRefreshToken(refreshToken(key, one))!;
        expect(isGenuine(key, { ...other, code })).toBe(false);
      }),
    );
  });

  it('is not accepted in any other form', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(parseRefreshToken(text)).toBeUndefined();
      }),
    );
  });
});
