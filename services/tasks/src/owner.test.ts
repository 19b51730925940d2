import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Owner, ownerOf, tenantOf, userIdOf } from './owner.ts';

const part = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter(text => text.isWellFormed());
const owner: fc.Arbitrary<Owner> = fc.oneof(
  fc.record({ kind: fc.constant('account' as const), accountId: part }),
  fc.record({ kind: fc.constant('endUser' as const), tenantId: part, userId: part }),
);

describe('an owner', () => {
  it('has a unique id, which is legal in a key and can be parsed', () => {
    fc.assert(
      fc.property(owner, owner, (a, b) => {
        const id = userIdOf(a);
        expect(id).toMatch(/^[A-Za-z0-9._~%:-]+$/);
        expect(ownerOf(id)).toEqual(a);
        expect(userIdOf(b) === id).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });

  it('has the documented form', () => {
    expect(userIdOf({ kind: 'account', accountId: 'usr_0abc' })).toBe('usr_0abc');
    expect(userIdOf({ kind: 'endUser', tenantId: 'acme', userId: 'a:b#c' })).toBe('acme:a%3Ab%23c');
    expect([tenantOf('acme:a%3Ab'), tenantOf('usr_0abc')]).toEqual(['acme', undefined]);
  });

  it.each(['', '\ud800', 'x'.repeat(1001)])('refuses what cannot be kept', accountId => {
    expect(() => userIdOf({ kind: 'account', accountId })).toThrow(
      expect.objectContaining({ code: 'tasks.user_refused' }),
    );
  });
});
