import { expect, it } from 'vitest';
import { createKeyedLock } from './keyed-lock.ts';

it('runs work with a common key one after the other, and other work alongside', async () => {
  const lock = createKeyedLock();
  const events: string[] = [];
  const open: Record<string, () => void> = {};
  const work = (name: string) => () =>
    new Promise<void>(resolve => {
      events.push(name);
      open[name] = resolve;
    });
  const first = lock.run(['a', 'b'], work('first'));
  const second = lock.run(['b', 'c'], work('second'));
  const third = lock.run(['c', 'a'], work('third'));
  const other = lock.run(['d'], work('other'));
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
  expect(lock.size()).toBe(0);
});

it('continues after a failure', async () => {
  const lock = createKeyedLock();
  const failing = lock.run(['a'], () => Promise.reject(new Error('no')));
  const next = lock.run(['a'], async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});
