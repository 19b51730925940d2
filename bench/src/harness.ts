import { median, percentile } from './statistics.ts';

// A closed loop: `inFlight` callers, each of which sends its next call after the response to the last one.
export type Load = { operation: string; inFlight: number; durationMs: number };
export type Round = { calls: number; opsPerSecond: number; p50Ms: number; p95Ms: number; p99Ms: number };
export type Measure = Omit<Round, 'calls' | 'p95Ms'> & { rounds: number[] };

// Something that can be measured, in this process or in another.
export type Runner = { name: string; run(load: Load): Promise<Round> };

// Resolves, or returns, on a response; throws if the response is wrong.
export type Operation = () => unknown;

export async function runClosedLoop(operation: Operation, load: Omit<Load, 'operation'>): Promise<Round> {
  const latencies: number[] = [];
  const start = performance.now();
  const deadline = start + load.durationMs;
  const call = async () => {
    let began = performance.now();
    while (began < deadline) {
      await operation();
      const ended = performance.now();
      latencies.push(ended - began);
      began = ended;
    }
  };
  await Promise.all(Array.from({ length: load.inFlight }, call));
  return summarize(latencies, performance.now() - start);
}

export function summarize(latenciesMs: number[], elapsedMs: number): Round {
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    calls: latenciesMs.length,
    opsPerSecond: (latenciesMs.length / elapsedMs) * 1000,
    p50Ms: percentile(sorted, 0.5),
    p95Ms: percentile(sorted, 0.95),
    p99Ms: percentile(sorted, 0.99),
  };
}

export type Plan = { rounds: number; roundMs: number; warmUpMs: number };

// One round of each contestant, then the next round of each, so that other load on the machine affects all alike. Each
// round starts with another contestant, so that none always follows the same one.
export async function measureInterleaved(
  runners: readonly Runner[],
  load: Omit<Load, 'durationMs'>,
  plan: Plan,
): Promise<Record<string, Measure>> {
  for (const runner of runners) await runner.run({ ...load, durationMs: plan.warmUpMs });
  const rounds = new Map<string, Round[]>(runners.map(({ name }) => [name, []]));
  for (let round = 0; round < plan.rounds; round++) {
    for (let i = 0; i < runners.length; i++) {
      const runner = runners[(round + i) % runners.length]!;
      rounds.get(runner.name)!.push(await runner.run({ ...load, durationMs: plan.roundMs }));
    }
  }
  return Object.fromEntries([...rounds].map(([name, all]) => [name, sumUp(all)]));
}

export function sumUp(rounds: readonly Round[]): Measure {
  return {
    opsPerSecond: median(rounds.map(round => round.opsPerSecond)),
    p50Ms: median(rounds.map(round => round.p50Ms)),
    p99Ms: median(rounds.map(round => round.p99Ms)),
    rounds: rounds.map(round => Math.round(round.opsPerSecond)),
  };
}
