import { describe, expect, it } from 'vitest';
import { describeVerdict, failures } from '../src/gates.ts';
import { printResults } from '../src/http/report.ts';
import { requestNames } from '../src/http/requests.ts';
import { judgeResults, type Results } from '../src/http/targets.ts';

const requestsAt = (rates: Partial<Record<(typeof requestNames)[number], number>>): Results['requests'] =>
  Object.fromEntries(
    requestNames.map(name => {
      const opsPerSecond = rates[name] ?? 1000;
      return [name, { opsPerSecond, p50Ms: 1, p99Ms: 2, cpuUs: 30, rounds: [opsPerSecond] }];
    }),
  ) as Results['requests'];

describe('the targets of the http bench', () => {
  it('are met at their bounds and missed below them', () => {
    const judged = (key: number, session: number) =>
      judgeResults(
        { requests: requestsAt({ constant: 10_000, 'key, whoami': key, 'session, whoami': session }) },
        ['requests'],
      )
        .slice(0, 2)
        .map(({ state }) => state);
    expect(judged(6000, 5000)).toEqual(['met', 'met']);
    expect(judged(5999, 4999)).toEqual(['missed', 'missed']);
  });

  it('name what was missed', () => {
    const memory = { residentMb: 151, privateMb: 90, peakMb: 280 };
    const idle = { memory, corePercent: 0.5 };
    const verdicts = judgeResults({ starting: { readyMs: 2500, one: idle, two: idle } }, ['starting']);
    expect(failures(verdicts).map(describeVerdict)).toEqual([
      'missed        stak start in an empty folder, until it is ready: below 1500 ms (2500 ms)',
      'missed        resident memory of an idle server with one worker: below 150 MB (151 MB)',
      'missed        share of a core that an idle server with one worker takes: below 0.50 % (0.50 %)',
      'missed        share of a core that an idle server with two workers takes: below 0.50 % (0.50 %)',
    ]);
  });

  it('fail when a requested part could not be measured', () => {
    expect(failures(judgeResults({}, ['requests']))).toHaveLength(2);
    expect(failures(judgeResults({}, []))).toHaveLength(0);
  });
});

it('prints each request’s share of the constant response', () => {
  const requests = requestsAt({ bare: 20_000, constant: 10_000, 'key, whoami': 6200 });
  expect(printResults({ requests })).toMatch(
    /API key: GET \/v1\/whoami +6,200 +62 % +31 % +1\.0 ms +2\.0 ms/,
  );
});
