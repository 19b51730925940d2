import { describe, expect, it } from 'vitest';
import { destinationOf, signInFor } from './destination.ts';

describe('the way to the sign-in page and back', () => {
  it('leaves a secret in the fragment, which no server sees', () => {
    const { search, hash } = signInFor('/join?from=mail#token=a.secret', { email: 'ann@example.com' });
    expect({ search, hash }).toEqual({
      search: { to: '/join?from=mail', email: 'ann@example.com' },
      hash: 'token=a.secret',
    });
    expect(destinationOf(search.to, hash)).toBe('/join?from=mail#token=a.secret');
  });

  it('takes nothing along where there is no fragment, or only the token of the demo', () => {
    expect(signInFor('/tasks')).toEqual({ to: '/sign-in', search: { to: '/tasks' }, hash: '' });
    expect(destinationOf('/tasks')).toBe('/tasks');
    expect(destinationOf(undefined, 'demo=a-token')).toBe('/');
  });
});
