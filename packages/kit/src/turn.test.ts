import { expect, it } from 'vitest';
import { mapInTurns } from './turn.ts';

it('maps in order, and lets others have a turn in between', async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const numbers = Array.from({ length: 25 }, (_, i) => i);
  expect(await mapInTurns(numbers, 10, n => n * 2)).toEqual(numbers.map(n => n * 2));
  clearImmediate(counting);
  expect(turns).toBe(2);
});
