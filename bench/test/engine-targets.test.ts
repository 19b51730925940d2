import { describe, expect, it } from 'vitest';
import { choose } from '../src/engine/bench.ts';
import { contestantNames, isRequired } from '../src/engine/contestants.ts';
import { operationNames } from '../src/engine/operations.ts';
import { readmeSection } from '../src/engine/report.ts';
import { inFlights, type Results } from '../src/engine/results.ts';
import { judgeResults } from '../src/engine/targets.ts';
import { failures, judge, type Target } from '../src/gates.ts';
import type { Measure } from '../src/harness.ts';

const measure = (opsPerSecond: number): Measure => ({ opsPerSecond, p50Ms: 1, p99Ms: 2, rounds: [] });

// Every target met, each by a hair.
const rates = {
  'in-process': { get: 30_000, other: 12_000 },
  'http-server': { get: 1000, other: 1000 },
  dynoxide: { get: 1000, other: 1000 },
  dynalite: { get: 1000, other: 1000 },
  'raw-lmdb': { get: 150_000, other: 30_000 },
};

function goodResults(): Results {
  return {
    operations: operationNames.flatMap(operation =>
      inFlights.map(inFlight => ({
        operation,
        inFlight,
        contestants: Object.fromEntries(
          Object.entries(rates)
            .filter(([name]) => name !== 'dynalite' || operation !== 'transaction')
            .map(([name, { get, other }]) => [name, measure(operation === 'get' ? get : other)]),
        ),
      })),
    ),
    growth: (['get', 'query', 'put'] as const).map(operation => ({
      operation,
      sizes: { 10000: measure(1490), 100000: measure(1200), 1000000: measure(1000) },
    })),
    opening: { emptyMs: 5, fullMs: 10 },
    memory: { items: 1_000_000, seconds: 60, privateMb: 399, mappedMb: 900 },
  };
}

const missed = (results: Results): string[] =>
  failures(judgeResults(results, choose([]))).map(({ name }) => name);

function withRate(operation: string, inFlight: number, contestant: string, opsPerSecond: number): Results {
  const results = goodResults();
  const cell = results.operations.find(one => one.operation === operation && one.inFlight === inFlight)!;
  (cell.contestants as Record<string, Measure>)[contestant] = measure(opsPerSecond);
  return results;
}

describe('the engine’s gate', () => {
  it('passes when every target is met', () => {
    expect(missed(goodResults())).toEqual([]);
    expect(judgeResults(goodResults(), choose([])).every(({ state }) => state === 'met')).toBe(true);
  });

  it.each([
    [
      'get',
      32,
      'in-process',
      29_999,
      ['get, 32 in flight, in-process over dynoxide', 'get, 32 in flight, in-process over raw-lmdb'],
    ],
    [
      'put',
      32,
      'dynoxide',
      1001,
      ['put, 32 in flight, in-process over dynoxide', 'put, 32 in flight, http-server over dynoxide'],
    ],
    [
      'update',
      32,
      'in-process',
      11_999,
      ['update, 32 in flight, in-process over dynoxide', 'update, 32 in flight, in-process over raw-lmdb'],
    ],
    ['query', 1, 'in-process', 11_999, ['query, 1 in flight, in-process over raw-lmdb']],
    ['transaction', 1, 'raw-lmdb', 30_001, ['transaction, 1 in flight, in-process over raw-lmdb']],
    ['get', 1, 'raw-lmdb', 150_001, ['get, 1 in flight, in-process over raw-lmdb']],
    [
      'put',
      1,
      'http-server',
      999,
      ['put, 1 in flight, http-server over dynoxide', 'put, 1 in flight, http-server over dynalite'],
    ],
    ['query', 32, 'dynalite', 1001, ['query, 32 in flight, http-server over dynalite']],
    ['get', 1, 'in-process', Number.NaN, ['get, 1 in flight, in-process over raw-lmdb']],
  ])('fails for %s at %i when %s does %d', (operation, inFlight, contestant, rate, names) => {
    expect(missed(withRate(operation, inFlight, contestant, rate))).toEqual(names);
  });

  it('fails when the store slows down as it grows', () => {
    const results = goodResults();
    results.growth[2]!.sizes[100000] = measure(1500);
    expect(missed(results)).toEqual(['put at 10 k, 100 k and 1 M items, largest difference']);
  });

  it('fails when opening time or memory grow with the store', () => {
    const opening = { ...goodResults(), opening: { emptyMs: 5, fullMs: 10.1 } };
    expect(missed(opening)).toEqual(['opening 1 M items over opening an empty store']);
    const memory = { items: 1_000_000, seconds: 60, privateMb: 400, mappedMb: 0 };
    expect(missed({ ...goodResults(), memory })).toEqual(['resident memory while loading 1 M items']);
  });

  it('fails if a required measurement is missing', () => {
    const results = goodResults();
    for (const cell of results.operations) delete cell.contestants.dynoxide;
    const states = judgeResults(results, choose([])).filter(({ name }) => name.endsWith('dynoxide'));
    expect(states.every(({ state }) => state === 'not measured')).toBe(true);
    expect(missed(results).length).toBe(isRequired('dynoxide') ? states.length : 0);
  });

  it('does not require what was deliberately left out', () => {
    const chosen = choose(['put', 'in-process', 'raw-lmdb']);
    expect(failures(judgeResults({ operations: [], growth: [] }, chosen)).map(({ name }) => name)).toEqual(
      isRequired('raw-lmdb')
        ? ['put, 1 in flight, in-process over raw-lmdb', 'put, 32 in flight, in-process over raw-lmdb']
        : [],
    );
  });
});

describe('a target', () => {
  const target = (bound: Target['bound'], measured?: number): Target => ({
    ...{ name: 'x', limit: 2, unit: 'times', required: false },
    bound,
    measured,
  });

  it.each([
    ['at least', 2, 'met'],
    ['at least', 1.99, 'missed'],
    ['at most', 2, 'met'],
    ['at most', 2.01, 'missed'],
    ['below', 1.99, 'met'],
    ['below', 2, 'missed'],
    ['at least', Number.NaN, 'missed'],
    ['at most', Number.NaN, 'missed'],
    ['below', Number.NaN, 'missed'],
    ['below', undefined, 'not measured'],
  ] as const)('%s 2 with %d is %s', (bound, measured, state) => {
    expect(judge(target(bound, measured)).state).toBe(state);
  });
});

describe('choosing', () => {
  it('selects everything by default', () => {
    expect(choose([])).toMatchObject({ operations: operationNames, contestants: contestantNames });
  });

  it('selects only what is named', () => {
    expect(choose(['growth'])).toMatchObject({ parts: ['growth'] });
    expect(choose(['put'])).toMatchObject({ operations: ['put'], parts: ['operations'] });
  });

  it('refuses an unknown name', () => {
    expect(() => choose(['put', 'putt'])).toThrow('does not know putt');
  });
});

describe('the README’s table', () => {
  it('has a row per operation and a column per contestant', () => {
    const lines = readmeSection(goodResults()).split('\n');
    expect(lines[0]).toContain('Stak in process | Stak over HTTP | dynoxide | dynalite | raw lmdb');
    expect(lines[3]).toBe(
      '| get | 30,000 / 30,000 | 1,000 / 1,000 | 1,000 / 1,000 | 1,000 / 1,000 | 150,000 / 150,000 |',
    );
    expect(lines[6]).toMatch(/^\| transaction of 3 .*\| – \|/);
  });
});
