import { expect, it } from 'vitest';
import { mapInBatches, yieldToEventLoop } from './yield.ts';

it('maps in order, and yields in between', async () => {
  let ticks = 0;
  const count = () => {
    ticks += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const numbers = Array.from({ length: 25 }, (_, i) => i);
  expect(await mapInBatches(numbers, 10, n => n * 2)).toEqual(numbers.map(n => n * 2));
  clearImmediate(counting);
  expect(ticks).toBe(2);
});

it('continues one of several per iteration, in order of arrival', async () => {
  const order: string[] = [];
  const work = async (name: string) => {
    for (const piece of [1, 2]) {
      await yieldToEventLoop();
      order.push(`${name}${piece}`);
    }
  };
  let isOver = false;
  const mark = () => {
    order.push('|');
    if (!isOver) setImmediate(mark);
  };
  setImmediate(mark);
  await Promise.all([work('a'), work('b'), work('c')]);
  isOver = true;
  expect(order.join('')).toBe('|a1|b1|c1|a2|b2|c2');
});
