import { mkdirSync, writeFileSync } from 'node:fs';
import type { BenchOptions } from '../bench.ts';
import { judge, type Verdict } from '../gates.ts';
import {
  type Load,
  type Measure,
  measureInterleaved,
  type Plan,
  type Round,
  type Runner,
} from '../harness.ts';
import { textTable } from '../table.ts';
import { type Contestant, type OperationName, operationNames } from './contestant.ts';
import { electrodb } from './electrodb.ts';
import { stak } from './stak.ts';
import { toolbox } from './toolbox.ts';

// Measures how long it takes to build a request and to read an item, without sending or storing anything.

const contestants = [stak, electrodb, toolbox];
const full: Plan = { rounds: 5, roundMs: 300, warmUpMs: 500 };
const quick: Plan = { rounds: 1, roundMs: 30, warmUpMs: 30 };
const mostMicroseconds = 5;
const callsAtOnce = 200; // reading the clock costs as much as building a request
const resultsFile = new URL('../../results/table.json', import.meta.url);

type Results = Record<OperationName, Record<string, Measure>>;

export async function run({ quick: isQuick, only }: BenchOptions): Promise<Verdict[]> {
  const chosen = operationNames.filter(name => only.length === 0 || only.includes(name));
  if (chosen.length === 0) throw new Error(`--only knows ${operationNames.join(', ')}`);
  const results = {} as Results;
  for (const operation of chosen) {
    const runners = contestants.map(contestant => runnerOf(contestant, operation));
    results[operation] = await measureInterleaved(
      runners,
      { operation, inFlight: 1 },
      isQuick ? quick : full,
    );
  }
  console.log(`\nMicroseconds an operation, a message of ten attributes\n\n${print(results, chosen)}`);
  if (!isQuick && only.length === 0) keep(results);
  return chosen.map(operation =>
    judge({
      name: `${operation} of a ten-attribute item`,
      measured: microseconds(results[operation][stak.name]!),
      bound: 'at most',
      limit: mostMicroseconds,
      unit: 'µs',
      required: true,
    }),
  );
}

function runnerOf({ name, operations }: Contestant, operation: OperationName): Runner {
  const call = operations[operation];
  return { name, run: async load => runLoop(call, load) };
}

let sink: unknown;

// Processor time, not wall-clock time: nothing here waits, and other load on the machine should not count.
function runLoop(call: () => unknown, { durationMs }: Load): Round {
  const deadline = performance.now() + durationMs;
  const before = process.cpuUsage();
  let calls = 0;
  while (performance.now() < deadline) {
    for (let i = 0; i < callsAtOnce; i++) sink = call();
    calls += callsAtOnce;
  }
  if (sink === undefined) throw new Error('nothing was built');
  const { user, system } = process.cpuUsage(before);
  const eachMs = (user + system) / 1000 / calls;
  return { calls, opsPerSecond: 1000 / eachMs, p50Ms: eachMs, p95Ms: eachMs, p99Ms: eachMs };
}

const microseconds = ({ opsPerSecond }: Measure): number => 1e6 / opsPerSecond;

const print = (results: Results, chosen: readonly OperationName[]): string =>
  textTable([
    ['', ...contestants.map(({ name }) => name)],
    ...chosen.map(operation => [
      operation,
      ...contestants.map(({ name }) => microseconds(results[operation][name]!).toFixed(2)),
    ]),
  ]);

function keep(results: Results): void {
  mkdirSync(new URL('.', resultsFile), { recursive: true });
  const rows = Object.entries(results).map(([operation, measures]) => [
    operation,
    Object.fromEntries(
      Object.entries(measures).map(([name, measure]) => [name, Number(microseconds(measure).toFixed(2))]),
    ),
  ]);
  const content = { node: process.version, microseconds: Object.fromEntries(rows) };
  writeFileSync(resultsFile, `${JSON.stringify(content, null, 2)}\n`);
}
