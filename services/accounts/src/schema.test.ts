import { expect, it } from 'vitest';
import { emailSchema } from './schema.ts';

it('accepts an address in any case', () => {
  expect(emailSchema.parse(' Kate@Example.COM ')).toBe('kate@example.com');
});

// A provider may have verified such an address: it must not open the account of the one it looks like.
it('refuses letters whose lower case is an ASCII letter', () => {
  const lookalike = '\u212aate@example.com';
  expect(lookalike.toLowerCase()).toBe('kate@example.com');
  expect(emailSchema.safeParse(lookalike).success).toBe(false);
});
