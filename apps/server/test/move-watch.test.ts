import { expect, test, vi } from 'vitest';
import { type PausableStore, watchMove } from '../src/store/archive/move.ts';

test('a store that cannot be read has not moved, and is checked again', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let read = (): { until: null } | undefined => {
    throw new Error('MDB_PANIC');
  };
  const store = { writePause: { read: () => read() } } as unknown as PausableStore;
  const onMoved = vi.fn();
  const stop = watchMove(store, onMoved);
  vi.advanceTimersByTime(2000);
  expect(onMoved).not.toHaveBeenCalled();
  read = () => ({ until: null });
  vi.advanceTimersByTime(1000);
  expect(onMoved).toHaveBeenCalledOnce();
  stop();
  vi.useRealTimers();
});
