import { describe, expect, it } from 'vitest';
import { parseArguments } from '../src/against/arguments.ts';
import { includesLock } from '../src/against/checkout.ts';
import { compare, judgeCpu, type Pair, ratioOf } from '../src/against/comparison.ts';
import { parseInstructions } from '../src/against/instructions.ts';
import { printComparison } from '../src/against/report.ts';
import { createRounds } from '../src/against/rounds.ts';
import { findUnsteadiness, type Probe, parseTicks } from '../src/against/steadiness.ts';
import { usageBetween } from '../src/server/usage.ts';

const pair = (baseline: number, candidate: number): Pair => ({
  baseline: { cpuUs: baseline },
  candidate: { cpuUs: candidate },
});

describe('the arguments', () => {
  it('name a commit, services, and numbers', () => {
    const args = ['main', 'tasks', 'inbox', '--quick', '--rounds', '9', '--workers', '1', '--gate', '1.5'];
    expect(parseArguments(args)).toEqual({
      baseline: 'main',
      services: ['inbox', 'tasks'],
      quick: true,
      rounds: 9,
      workers: 1,
      gate: 1.5,
    });
    expect(parseArguments(['main'])).toMatchObject({ services: ['webhooks', 'inbox', 'agents', 'tasks'] });
  });

  it('are refused if they mean nothing', () => {
    expect(() => parseArguments([])).toThrow('usage');
    expect(() => parseArguments(['main', 'lake'])).toThrow('usage');
    expect(() => parseArguments(['main', '--rounds', '1.5'])).toThrow('--rounds');
    expect(() => parseArguments(['main', '--gate', '0'])).toThrow('--gate');
  });
});

describe('ratios', () => {
  it('are of each round, so that one disturbed round does not change the median', () => {
    const values = [
      { baseline: 100, candidate: 110 },
      { baseline: 300, candidate: 330 },
      { baseline: 100, candidate: 400 },
    ];
    expect(ratioOf(values)).toEqual({ median: 1.1, min: 1.1, max: 4 });
  });

  it('are unknown if the baseline is zero in any round', () => {
    const values = [
      { baseline: 1, candidate: 0 },
      { baseline: 0, candidate: 9 },
    ];
    expect(ratioOf(values)).toBeUndefined();
    expect(ratioOf([{ baseline: 0, candidate: 5 }])).toBeUndefined();
    expect(compare([pair(0, 5)])).toEqual([
      { measure: 'cpuUs', baseline: 0, candidate: 5, ratio: undefined },
    ]);
  });

  it('leave out what one of the servers has no value for', () => {
    expect(compare([{ baseline: { p50Ms: 1 }, candidate: { privateMb: 2 } }])).toEqual([]);
  });

  it('are judged by the median of the processor time', () => {
    const states = (...pairs: Pair[]) =>
      judgeCpu([{ operation: 'ingest', pairs }], 1.5).map(({ state }) => state);
    expect(states(pair(100, 150), pair(100, 150), pair(100, 900))).toEqual(['met']);
    expect(states(pair(100, 151), pair(100, 151), pair(100, 90))).toEqual(['missed']);
    expect(states({ baseline: {}, candidate: {} })).toEqual(['not measured']);
  });
});

describe('steadiness', () => {
  const probe = (loopMs: number, steal = 0, total = 0): Probe => ({ loopMs, ticks: { steal, total } });

  it('allows a quarter more or less for the loop', () => {
    expect(findUnsteadiness([probe(75), probe(125), probe(100)], 100)).toBeUndefined();
    expect(findUnsteadiness([probe(100), probe(126), probe(100)], 100)).toContain('26 % longer');
    expect(findUnsteadiness([probe(100), probe(100), probe(74)], 100)).toContain('26 % less');
  });

  it('allows a twentieth of stolen time', () => {
    expect(findUnsteadiness([probe(100, 50, 1000), probe(100, 60, 1200)], 100)).toBeUndefined();
    expect(findUnsteadiness([probe(100, 50, 1000), probe(100, 62, 1200)], 100)).toContain('6 %');
    expect(findUnsteadiness([{ loopMs: 100 }, { loopMs: 100 }], 100)).toBeUndefined();
  });

  it('reads stolen time without counting guests twice', () => {
    expect(parseTicks('cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2\n')).toEqual({ steal: 80, total: 360 });
  });
});

describe('rounds', () => {
  const contender = (name: string, calls: string[]) => ({
    idle: {},
    operationNames: ['ingest'],
    measure: async () => {
      calls.push(name);
      return { cpuUs: 1 };
    },
  });
  const extent = { rounds: 2, roundMs: 1, warmUpMs: 1, repeats: 1 };

  it('are run by turns, each server first in every other one', async () => {
    const calls: string[] = [];
    const contenders = { baseline: contender('old', calls), candidate: contender('new', calls) };
    const { measure } = createRounds(contenders, extent, () => ({ loopMs: 10 }));
    expect((await measure('ingest')).pairs).toHaveLength(2);
    expect(calls).toEqual(['old', 'new', 'new', 'old']);
  });

  it('are repeated on an unsteady machine, and marked if they may not be repeated again', async () => {
    const calls: string[] = [];
    const contenders = { baseline: contender('old', calls), candidate: contender('new', calls) };
    const loopsMs = [10, 10, 99, 10, 10, 10, 10, 99, 10];
    const { measure } = createRounds(contenders, extent, () => ({ loopMs: loopsMs.shift()! }));
    const { pairs } = await measure('ingest');
    expect(pairs.map(({ unsteadiness }) => unsteadiness !== undefined)).toEqual([false, true]);
    expect(calls).toHaveLength(6);
  });
});

describe('the table', () => {
  it('shows each measure once, and which rounds were unsteady', () => {
    const pairs: Pair[] = [
      { baseline: { cpuUs: 1000, p50Ms: 2 }, candidate: { cpuUs: 500, p50Ms: 2 } },
      { baseline: { cpuUs: 1000, p50Ms: 2 }, candidate: { cpuUs: 600, p50Ms: 4 }, unsteadiness: 'it stood' },
    ];
    expect(printComparison('abc', [{ operation: 'ingest', pairs }]).split('\n')).toEqual([
      'operation  measure               abc  here  ratio    min–max',
      '---------  ------------------  -----  ----  -----  ---------',
      'ingest     processor time, µs  1,000   550   0.55  0.50–0.60',
      '           p50, ms              2.00  3.00   1.50  1.00–2.00',
      'unsteady in 1 of 2 rounds of ingest: it stood',
    ]);
  });
});

describe('processor time', () => {
  const usage = (tickedCpuUs: number, exactCpuUs: number) => ({
    processes: 2,
    tickedCpuUs,
    exactCpuUs,
    writtenBytes: exactCpuUs * 2,
  });

  it('is exact while no thread has ended', () => {
    const spent = usageBetween(usage(100_000, 104_321), usage(1_180_000, 1_104_321));
    expect(spent).toEqual({ cpuUs: 1_000_000, writtenBytes: 2_000_000 });
  });

  it('is in ticks if a thread has ended', () => {
    expect(usageBetween(usage(100_000, 104_321), usage(1_180_000, 904_321)).cpuUs).toBe(1_080_000);
  });
});

it('counts instructions only where the machine does', () => {
  expect(parseInstructions('123456,,instructions:u,1000,100.00,,\n')).toBe(123456);
  expect(parseInstructions('<not supported>,,instructions:u,0,100.00,,\n')).toBeUndefined();
});

it('uses the packages of this checkout only if they include the same versions', () => {
  const lock = (version: string, ...more: string[]) => ({
    packages: {
      '': { version },
      'packages/kit': { version },
      'node_modules/@stak/kit': { resolved: 'packages/kit', link: true },
      'node_modules/lmdb': { version: '3.5.6', integrity: 'a' },
      ...Object.fromEntries(more.map(path => [path, { version, integrity: 'b' }])),
    },
  });
  expect(includesLock(lock('2.0.0', 'node_modules/new'), lock('1.0.0'))).toBe(true);
  expect(includesLock(lock('1.0.0'), lock('1.0.0', 'node_modules/old'))).toBe(false);
  expect(includesLock(lock('2.0.0', 'node_modules/old'), lock('1.0.0', 'node_modules/old'))).toBe(false);
});
