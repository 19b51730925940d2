import { median } from '../statistics.ts';
import type { Pair, Rounds } from './comparison.ts';
import type { Contender } from './contender.ts';
import { findUnsteadiness, type Probe, probeMachine } from './steadiness.ts';

export type Extent = {
  rounds: number;
  roundMs: number;
  warmUpMs: number;
  repeats: number; // of rounds on an unsteady machine, at most, in the whole run
};

const warmUpParts = 2;

export type Contenders = { baseline: Contender; candidate: Contender };

// Keeps the times of the fixed loop for the whole run, because their median is what is usual.
export function createRounds({ baseline, candidate }: Contenders, extent: Extent, probe = probeMachine) {
  const loopsMs: number[] = [];
  let repeats = 0;
  const look = (): Probe => {
    const seen = probe();
    loopsMs.push(seen.loopMs);
    return seen;
  };

  // The servers take turns, and each goes first in every other round.
  async function measurePair(operation: string, baselineFirst: boolean): Promise<Pair> {
    const run = (contender: Contender) => contender.measure(operation, extent.roundMs);
    const probes = [look()];
    const first = await run(baselineFirst ? baseline : candidate);
    probes.push(look());
    const second = await run(baselineFirst ? candidate : baseline);
    probes.push(look());
    const unsteadiness = findUnsteadiness(probes, median(loopsMs));
    return baselineFirst
      ? { baseline: first, candidate: second, unsteadiness }
      : { baseline: second, candidate: first, unsteadiness };
  }

  return {
    // In parts, so that a disturbance does not leave one of the servers with less compiled code.
    async warmUp(operation: string): Promise<void> {
      for (let part = 0; part < warmUpParts; part++) {
        for (const contender of [baseline, candidate])
          await contender.measure(operation, extent.warmUpMs / warmUpParts);
        look();
      }
    },
    // Rounds on an unsteady machine are repeated a few times; those that remain are marked.
    async measure(operation: string): Promise<Rounds> {
      const pairs: Pair[] = [];
      while (pairs.length < extent.rounds) {
        const pair = await measurePair(operation, pairs.length % 2 === 0);
        if (pair.unsteadiness && repeats++ < extent.repeats) continue;
        pairs.push(pair);
      }
      return { operation, pairs };
    },
  };
}
