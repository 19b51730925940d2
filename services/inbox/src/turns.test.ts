import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

it('lets work with a common key run one after the other, and other work at the same time', async () => {
  const turns = createTurns();
  const events: string[] = [];
  const open: Record<string, () => void> = {};
  const work = (name: string) => () =>
    new Promise<void>(resolve => {
      events.push(name);
      open[name] = resolve;
    });
  const first = turns.take(['a', 'b'], work('first'));
  const second = turns.take(['b', 'c'], work('second'));
  const third = turns.take(['c', 'a'], work('third'));
  const other = turns.take(['d'], work('other'));
  await new Promise(resolve => setImmediate(resolve));
  expect(events).toEqual(['first', 'other']);
  open.first!();
  await first;
  await new Promise(resolve => setImmediate(resolve));
  expect(events).toEqual(['first', 'other', 'second']);
  open.second!();
  await second;
  await new Promise(resolve => setImmediate(resolve));
  open.third!();
  open.other!();
  await Promise.all([third, other]);
  expect(events.at(-1)).toBe('third');
});

it('goes on after a failure', async () => {
  const turns = createTurns();
  const failing = turns.take(['a'], () => Promise.reject(new Error('no')));
  const next = turns.take(['a'], async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
