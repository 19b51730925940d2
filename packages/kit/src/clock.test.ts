import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './clock.ts';
import { timerMs } from './limits.ts';
import { manualClock } from './manual-clock.ts';

describe('systemClock', () => {
  afterEach(() => void vi.useRealTimers());

  it('waits longer than one timer can', async () => {
    vi.useFakeTimers();
    const woken = vi.fn();
    const sleeping = systemClock.sleep(2 * timerMs + 5).then(woken);
    await vi.advanceTimersByTimeAsync(2 * timerMs + 4);
    expect(woken).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await sleeping;
    expect(woken).toHaveBeenCalledOnce();
  });

  it('leaves no timer and no listener behind', async () => {
    vi.useFakeTimers();
    const control = new AbortController();
    const removed = vi.spyOn(control.signal, 'removeEventListener');
    const short = systemClock.sleep(1, control.signal);
    await vi.advanceTimersByTimeAsync(1);
    await short;
    expect(removed).toHaveBeenCalledOnce();

    const reason = new Error('enough');
    const long = expect(systemClock.sleep(60_000, control.signal)).rejects.toBe(reason);
    control.abort(reason);
    await long;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('manualClock', () => {
  it('wakes sleepers in chronological order', async () => {
    const clock = manualClock(1000);
    const woken: [string, number][] = [];
    for (const [name, ms] of [
      ['late', 30],
      ['early', 10],
      ['never', 31],
    ] as const)
      void clock.sleep(ms).then(() => woken.push([name, clock.now()]));
    await clock.advance(30);
    expect(woken).toEqual([
      ['early', 1010],
      ['late', 1030],
    ]);
    expect(clock.now()).toBe(1030);
    expect(clock.sleepers()).toBe(1);
  });

  it('rounds a sleep up to whole milliseconds', async () => {
    const clock = manualClock(1000);
    const woken: number[] = [];
    void clock.sleep(562.5).then(() => woken.push(clock.now()));
    await clock.advance(1000);
    expect(woken).toEqual([1563]);
  });

  it('wakes a loop as often as it sleeps within the window', async () => {
    const clock = manualClock(0);
    const ticks: number[] = [];
    const tick = async () => {
      for (;;) {
        await clock.sleep(10);
        ticks.push(clock.now());
      }
    };
    void tick();
    await clock.advance(35);
    expect(ticks).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(35);
  });

  it('rejects with the reason of the signal, before and during the wait', async () => {
    const clock = manualClock();
    const control = new AbortController();
    const during = expect(clock.sleep(10, control.signal)).rejects.toThrow('enough');
    control.abort(new Error('enough'));
    await during;
    await expect(clock.sleep(10, control.signal)).rejects.toThrow('enough');
    expect(clock.sleepers()).toBe(0);
  });

  it('moves no deadline when the wall clock steps', async () => {
    const clock = manualClock(5000);
    let woken = false;
    void clock.sleep(10).then(() => {
      woken = true;
    });
    clock.set(1000);
    await clock.advance(9);
    expect([woken, clock.now()]).toEqual([false, 1009]);
    await clock.advance(1);
    expect([woken, clock.now()]).toEqual([true, 1010]);
  });
});
