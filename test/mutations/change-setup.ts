import fc from 'fast-check';
import { expect, vi } from 'vitest';

// Runs before each copy of a test file, whose name has the number of the change that holds in it. What modules keep, such
// as parsed expressions, is from another change.

// A change may make a loop endless; the longest of these tests asks a tenth as often.
const asksMost = 100_000_000;

const number = Number(/\.change-(\d+)\.test\.ts$/.exec(expect.getState().testPath ?? '')?.[1] ?? -1);
let asks = 0;
Object.assign(globalThis, {
  stakChange(asked: number): boolean {
    if (++asks > asksMost) throw new Error('This loop does not end.');
    return asked === number;
  },
});
vi.resetModules();
// The same examples each time. The first that fails is enough.
fc.configureGlobal({ seed: 1, endOnFailure: true });
