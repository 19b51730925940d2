import { expect, test } from 'vitest';
import { depthsOf, whyId } from './lines.ts';

test('an id holds any text', () => {
  expect(whyId('turn', 'acme', 'a/b %', 7)).toBe('turn:acme/a%2Fb%20%25/7');
});

test('what followed is below what caused it, and below the chain', () => {
  const chain = [{ id: 'root' }, { id: 'thing' }];
  const followed = [
    { id: 'a', because_of: 'thing' },
    { id: 'b', because_of: 'thing' },
    { id: 'c', because_of: 'a' },
  ];
  expect(depthsOf(chain, followed)).toEqual([0, 1, 2, 2, 3]);
});
