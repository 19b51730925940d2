import { expect, it } from 'vitest';
import { openFirst } from './open-first.ts';

it('puts finished tasks after those that are left, each group in its order', () => {
  const tasks = ['completed', 'pending', 'cancelled', 'in_progress'].map((status, id) => ({ id, status }));
  expect(openFirst(tasks).map(one => one.id)).toEqual([1, 3, 0, 2]);
});
