import { describe, expect, it } from 'vitest';
import { judgeResults, partNames, type Results } from '../src/backup/targets.ts';
import { describeVerdict, failures } from '../src/gates.ts';
import type { Measure } from '../src/harness.ts';

const at = (...rounds: number[]): Measure => ({ opsPerSecond: rounds[0]!, p50Ms: 1, p99Ms: 5, rounds });
const shipped = (rounds: number[], alone = rounds.map(() => 1000)) => ({
  inFlight: 32,
  measures: { alone: at(...alone), shipped: at(...rounds) },
});
const snapshot = (...p99Ratios: number[]) => ({
  items: 1,
  quiet: at(1),
  during: at(1),
  p99Ratios,
  seconds: 1,
});
const missed = (results: Results) => failures(judgeResults(results, partNames)).map(describeVerdict);

describe('the targets of the backup bench', () => {
  it('are met at their bounds, and missed past them', () => {
    expect(missed({ shipping: shipped([901]), snapshot: snapshot(2) })).toEqual([]);
    expect(missed({ shipping: shipped([899]), snapshot: snapshot(2.1) })).toHaveLength(2);
  });

  it('compare halves of one iteration, so that a busy machine changes nothing', () => {
    const busy = shipped([950, 190, 95], [1000, 200, 100]);
    expect(missed({ shipping: busy, snapshot: snapshot(1, 9, 1.5) })).toEqual([]);
  });

  it('name what was not measured', () => {
    expect(missed({})).toHaveLength(2);
  });
});
