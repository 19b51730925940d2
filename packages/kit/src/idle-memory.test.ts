import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { releaseMemoryWhenIdle } from './idle-memory.ts';
import * as limits from './limits.ts';

const everyMs = 1000;

function open() {
  let utilization = 0;
  let collections = 0;
  const stop = releaseMemoryWhenIdle({
    measure: () => ({ utilization }),
    collect: () => {
      collections += 1;
    },
    everyMs,
  });
  return {
    stop,
    pass(looks: number, use: number): number {
      utilization = use;
      vi.advanceTimersByTime(looks * everyMs);
      return collections;
    },
  };
}

describe('releaseMemoryWhenIdle', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('collects once after each busy time', () => {
    const { pass } = open();
    expect(pass(limits.idleLooks - 1, 0)).toBe(0);
    expect(pass(10, 0)).toBe(1);
    expect(pass(3, 0.5)).toBe(1);
    expect(pass(limits.idleLooks, 0)).toBe(2);
    expect(pass(100, 0)).toBe(2);
  });

  it('waits for a quiet time without interruption', () => {
    const { pass } = open();
    for (let i = 0; i < 5; i++) {
      expect(pass(limits.idleLooks - 1, 0)).toBe(0);
      expect(pass(1, 0.3)).toBe(0);
    }
  });

  it('does not collect for a little work', () => {
    const { pass } = open();
    expect(pass(limits.idleLooks, 0)).toBe(1);
    expect(pass(3, limits.idleUtilization + 0.01)).toBe(1);
    expect(pass(50, 0)).toBe(1);
  });

  it('stops', () => {
    const { pass, stop } = open();
    stop();
    expect(pass(50, 0)).toBe(0);
  });
});
