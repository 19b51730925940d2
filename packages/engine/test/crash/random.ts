// The same sequence for the same seed (mulberry32): a failing round can be run again.
export type Random = ReturnType<typeof createRandom>;

export function createRandom(...seed: (number | string)[]) {
  let state = 2166136261;
  for (const char of seed.join('/')) state = Math.imul(state ^ char.charCodeAt(0), 16777619);

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
  return { below, pick };
}
