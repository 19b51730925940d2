import { describe, expect, it } from 'vitest';
import { nameSchema } from '../../schema.ts';
import { identityOf } from './github.ts';
import { displayName } from './identities.ts';

const named = (name: string | undefined) => ({ id: '1', email: undefined, isEmailVerified: false, name });

describe('displayName', () => {
  it.each([
    ['Ann', 'Ann'],
    ['  Ann\u0000\n Example ', 'Ann Example'],
    ['', 'ann'],
    [undefined, 'ann'],
    ['\u0007', 'ann'],
    ['x'.repeat(500), 'x'.repeat(100)],
    [`${'x'.repeat(99)}😀`, `${'x'.repeat(99)}\ufffd`],
  ])('turns %j into a name that sign-up would accept', (name, shown) => {
    const made = displayName(named(name), 'ann@example.com');
    expect(made).toBe(shown);
    expect(nameSchema.parse(made)).toBe(made);
  });
});

describe('identityOf', () => {
  const who = { id: 7, login: 'ann', name: null };
  const spare = { email: 'spare@example.com', primary: false, verified: true };

  it('uses only the primary address, verified or not', () => {
    const primary = { email: 'ann@example.com', primary: true, verified: false };
    expect(identityOf(who, [spare, primary])).toEqual({
      id: '7',
      email: 'ann@example.com',
      isEmailVerified: false,
      name: 'ann',
    });
    expect(identityOf(who, [spare])).toMatchObject({ email: undefined, isEmailVerified: false });
  });
});
