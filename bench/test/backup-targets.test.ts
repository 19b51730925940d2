import { describe, expect, it } from 'vitest';
import { judgeResults, partNames, type Results } from '../src/backup/targets.ts';
import { describeVerdict, failures } from '../src/gates.ts';
import type { Measure } from '../src/harness.ts';

const at = (opsPerSecond: number, p99Ms: number): Measure => ({ opsPerSecond, p50Ms: 1, p99Ms, rounds: [] });
const missed = (results: Results) => failures(judgeResults(results, partNames)).map(describeVerdict);
const snapshot = { items: 1, quiet: at(1, 5), during: at(1, 10), seconds: 1 };

describe('the targets of the backup bench', () => {
  it('are met at their bounds, and missed past them', () => {
    const shipping = { inFlight: 32, measures: { alone: at(1000, 1), shipped: at(901, 1) } };
    expect(missed({ shipping, snapshot })).toEqual([]);
    const worse = { inFlight: 32, measures: { alone: at(1000, 1), shipped: at(899, 1) } };
    expect(missed({ shipping: worse, snapshot: { ...snapshot, during: at(1, 10.1) } })).toHaveLength(2);
  });

  it('name what was not measured', () => {
    expect(missed({})).toHaveLength(2);
  });
});
