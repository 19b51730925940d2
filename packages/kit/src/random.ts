import { randomFillSync } from 'node:crypto';

/** A number in [0, 1), like Math.random. */
export type Random = () => number;

const pool = new Uint32Array(1024);
let next = pool.length;

/** Unpredictable random numbers. */
// Cheap, because 1024 numbers at a time are requested from the operating system.
export const systemRandom: Random = () => {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  return pool[next++]! / 2 ** 32;
};

/** Random numbers that are the same for the same seed, for tests. */
// The mixing is MurmurHash3's finalizer over a Weyl sequence.
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}
