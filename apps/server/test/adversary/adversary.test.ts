import { beforeAll, describe, expect, it } from 'vitest';
import { describeResult, planOf, run } from './run.ts';

// Servers with all their services on a store, streams and destinations that fail, in a time that only jumps: see
// docs/adr/0180. `npm run adversary` runs one seed after the other. STAK_ADVERSARY_SEED gives one.

const given = Number(process.env.STAK_ADVERSARY_SEED);
const isGiven = Number.isInteger(given) && given > 0;
const seeds = isGiven ? [given] : [1, 2];
const shortMs = 4_000; // of load, where nobody looks for a fault

// Loads now everything that is first needed later: time does not wait for files.
beforeAll(() => run({ ...planOf(1), loads: ['tasks'], forMs: 1_000, faults: [] }));

describe('servers on a store that fails', () => {
  it.each(seeds)('keep every promise, and do the same again, seed %i', { timeout: 300_000 }, async seed => {
    const plan = isGiven ? planOf(seed) : { ...planOf(seed), forMs: shortMs };
    const result = await run(plan);
    expect(result.violations, describeResult(plan, result)).toEqual([]);
    if (isGiven) return;
    const again = await run(plan);
    expect(again.history.lines.find((line, i) => line !== result.history.lines[i])).toBeUndefined();
    expect(again.hash).toBe(result.hash);
  });
});
