import { describe, expect, it } from 'vitest';
import { describeVerdict, failures } from '../src/gates.ts';
import type { Measure } from '../src/harness.ts';
import { printResults } from '../src/lake/report.ts';
import { judgeResults, partNames, type Results } from '../src/lake/targets.ts';

const at = (p50Ms: number): Measure => ({ opsPerSecond: 1000 / p50Ms, p50Ms, p99Ms: p50Ms, rounds: [] });

const atTheirBounds: Results = {
  insights: {
    tasks: 1_000_000,
    changes: 1000,
    scan: { readUnits: 60_000, pages: 480, ms: 9000 },
    insight: { readUnits: 600 },
    measures: { page: at(5), insight: at(4.9) },
  },
  freshness: {
    perSecond: 20,
    changes: 400,
    bronze: { p50Ms: 900, p95Ms: 2000 },
    insight: { p50Ms: 1000, p95Ms: 2000 },
  },
  capture: { perSecond: 2000, written: 40_000, seconds: 21, lagP50Ms: 900, lagP95Ms: 2000 },
  iceberg: { changes: 200_000, withTables: 8501, withoutTables: 10_000 },
  backlog: {
    few: { changes: 10_000, seconds: 2, privateMb: 100, residentMb: 150 },
    many: { changes: 200_000, seconds: 40, privateMb: 150, residentMb: 900 },
  },
};
const missed = (results: Results) => failures(judgeResults(results, partNames)).map(describeVerdict);

describe('the targets of the lake bench', () => {
  it('are met at their bounds', () => {
    expect(missed(atTheirBounds)).toEqual([]);
  });

  it('name what was missed', () => {
    const { insights, freshness, capture, iceberg, backlog } = atTheirBounds;
    const worse: Results = {
      insights: { ...insights!, insight: { readUnits: 601 }, measures: { page: at(5), insight: at(5) } },
      freshness: {
        ...freshness!,
        bronze: { p50Ms: 1, p95Ms: 2100 },
        insight: { p50Ms: 1, p95Ms: 2200 },
      },
      capture: { ...capture!, seconds: 22, lagP95Ms: 2300 },
      iceberg: { ...iceberg!, withTables: 8400 },
      backlog: { ...backlog!, many: { ...backlog!.many, privateMb: 160 } },
    };
    expect(missed(worse)).toEqual([
      'missed        read units of the document’s scan, over those of an insight: at least 100x (100x)',
      'missed        an insight, over one page of the document’s scan: below 1.00x (1.00x)',
      'missed        a change until it is in bronze, p95: at most 2000 ms (2100 ms)',
      'missed        a change until it is in an insight, p95: at most 2000 ms (2200 ms)',
      'missed        behind the table while it changes 2,000 times a second, p95: at most 2000 ms (2300 ms)',
      'missed        changes a second that were written meanwhile, of those that should be: at least 95 % (91 %)',
      'missed        changes captured a second that tables of Iceberg cost: below 15 % (16 %)',
      'missed        memory with a large backlog, over a small one: at most 1.50x (1.60x)',
    ]);
  });

  it('fail when a requested part could not be measured', () => {
    expect(failures(judgeResults({}, ['insights']))).toHaveLength(2);
    expect(failures(judgeResults({}, []))).toHaveLength(0);
  });

  it('work without memory figures if the system has none', () => {
    const { few, many } = atTheirBounds.backlog!;
    const backlog = {
      few: { changes: few.changes, seconds: few.seconds },
      many: { changes: many.changes, seconds: many.seconds },
    };
    expect(judgeResults({ backlog }, []).at(-1)!.state).toBe('not measured');
    expect(printResults({ backlog })).toContain('200,000 changes at 5,000 a second.');
  });

  it('are printed beside the specification’s approach', () => {
    expect(printResults(atTheirBounds)).toMatch(/the document’s scan\s+60,000\s+9\.0 s/);
  });
});
