import { expect, it, onTestFinished, vi } from 'vitest';
import { sliceMs } from './limits.ts';
import { mapInBatches, yieldIfBusy, yieldToEventLoop } from './yield.ts';

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

it('yields when the pieces of all callers have taken some milliseconds', async () => {
  let nowMs = 0;
  const frozen = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => frozen.mockRestore());
  const order: string[] = [];
  const work = async (name: string) => {
    for (const piece of [1, 2, 3, 4]) {
      nowMs += 0.4 * sliceMs;
      order.push(`${name}${piece}`);
      await yieldIfBusy();
    }
  };
  let isOver = false;
  const mark = () => {
    order.push('|');
    if (!isOver) setImmediate(mark);
  };
  setImmediate(mark);
  await Promise.all([work('a'), work('b')]);
  isOver = true;
  expect(order.join('')).toBe('a1b1a2b2a3|b3b4|a4');
});
