import { join } from 'node:path';
import { type ContestantProcess, startContestant } from '../contestant-process.ts';
import { measureInterleaved, type Plan } from '../harness.ts';
import { type ContestantName, moduleOf, supports } from './contestants.ts';
import type { Shape } from './data.ts';
import type { OperationName } from './operations.ts';
import { type Cell, inFlights } from './results.ts';
import type { Settings } from './settings.ts';

export type OperationRounds = {
  contestants: readonly ContestantName[];
  operations: readonly OperationName[];
  shape: Shape;
  plan: Plan;
  // How long each operation runs before anything is measured: JavaScript servers and clients are compiled while they
  // run, and a few hundred calls are not enough.
  steadyMs: number;
  folder: string;
  progress(line: string): void;
};

export async function measureOperations(rounds: OperationRounds): Promise<Cell[]> {
  const { contestants, operations, shape, plan, folder, progress } = rounds;
  const runners: ContestantProcess[] = [];
  try {
    for (const name of contestants) {
      progress(`loading ${shape.messages} messages: ${name}`);
      const settings: Settings = { folder: join(folder, name), shape };
      runners.push(await startContestant(name, moduleOf(name), settings));
    }
    progress('warming up');
    for (const runner of runners) {
      for (const operation of operations.filter(name => supports(runner.name, name))) {
        await runner.run({ operation, inFlight: Math.max(...inFlights), durationMs: rounds.steadyMs });
      }
    }
    const cells: Cell[] = [];
    for (const operation of operations) {
      for (const inFlight of inFlights) {
        progress(`${operation}, ${inFlight} in flight`);
        const able = runners.filter(({ name }) => supports(name, operation));
        cells.push({
          operation,
          inFlight,
          contestants: await measureInterleaved(able, { operation, inFlight }, plan),
        });
      }
    }
    return cells;
  } finally {
    for (const runner of runners) await runner.close();
  }
}
