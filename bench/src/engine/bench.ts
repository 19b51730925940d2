import { createEngine } from '@stak/engine';
import type { BenchOptions } from '../bench.ts';
import { runScript } from '../child-script.ts';
import { inDataFolder } from '../data-folder.ts';
import type { Verdict } from '../gates.ts';
import type { Plan } from '../harness.ts';
import { keepResults } from '../results-file.ts';
import { absence, type ContestantName, contestantNames } from './contestants.ts';
import { createTable, shapeOf } from './data.ts';
import { growthFolder, measureGrowth } from './growth.ts';
import { measureOpening } from './opening.ts';
import { measureOperations } from './operation-rounds.ts';
import { operationNames } from './operations.ts';
import { printResults, readmeSection } from './report.ts';
import type { Memory, Results } from './results.ts';
import { type Chosen, judgeResults, partNames } from './targets.ts';

type Extent = {
  messages: number;
  sizes: readonly [number, number, number];
  plan: Plan;
  steadyMs: number;
  openings: number;
};

const full: Extent = {
  messages: 20_000,
  sizes: [10_000, 100_000, 1_000_000],
  plan: { rounds: 5, roundMs: 400, warmUpMs: 200 },
  steadyMs: 1500,
  openings: 9,
};
// Enough to show that everything runs. The figures mean little and are not stored.
const quick: Extent = {
  messages: 2000,
  sizes: [2000, 4000, 8000],
  plan: { rounds: 1, roundMs: 50, warmUpMs: 50 },
  steadyMs: 50,
  openings: 1,
};

export async function run(options: BenchOptions): Promise<Verdict[]> {
  const chosen = choose(options.only);
  const extent = options.quick ? quick : full;
  const results = await inDataFolder('engine', folder => measure(chosen, extent, folder));
  const verdicts = judgeResults(results, chosen);
  console.log(`\n${printResults(results)}`);
  if (!options.quick && options.only.length === 0)
    keepResults('engine', { results, verdicts, section: readmeSection(results) });
  return verdicts;
}

// Without a name of a kind, all of that kind are chosen: `--only put` runs put with every contestant, and nothing else.
export function choose(only: readonly string[]): Chosen {
  const pick = <T extends string>(all: readonly T[]): T[] => all.filter(name => only.includes(name));
  const operations = pick(operationNames);
  const contestants = pick(contestantNames);
  const parts = pick(partNames);
  const unknown = only.filter(name => ![...operations, ...contestants, ...parts].includes(name as never));
  if (unknown.length > 0) throw new Error(`--only does not know ${unknown.join(', ')}`);
  const narrowed = operations.length > 0 || contestants.length > 0;
  return {
    operations: operations.length > 0 ? operations : operationNames,
    contestants: contestants.length > 0 ? contestants : contestantNames,
    parts: parts.length > 0 ? parts : narrowed ? ['operations'] : partNames,
  };
}

async function measure(chosen: Chosen, extent: Extent, folder: string): Promise<Results> {
  const { sizes, plan } = extent;
  const epochMs = Date.now();
  const results: Results = { operations: [], growth: [] };
  const wants = (part: Chosen['parts'][number]) => chosen.parts.includes(part);
  if (wants('operations')) {
    const contestants = attending(chosen.contestants);
    const shape = shapeOf(extent.messages, epochMs);
    const { operations } = chosen;
    results.operations = await measureOperations({
      contestants,
      operations,
      shape,
      plan,
      steadyMs: extent.steadyMs,
      folder,
      progress,
    });
  }
  if (!wants('growth') && !wants('opening') && !wants('memory')) return results;

  const largest = sizes[2];
  progress(`loading ${largest} messages`);
  const large = growthFolder(folder, largest);
  results.memory = await runScript<Memory>(import.meta.resolve('./memory-script.ts'), [
    large,
    String(largest),
    String(epochMs),
  ]);
  if (wants('opening')) {
    progress('opening');
    const empty = growthFolder(folder, 0);
    const engine = await createEngine({ path: empty });
    await engine.execute('CreateTable', createTable);
    await engine.close();
    results.opening = await measureOpening({ empty, full: large, times: extent.openings });
  }
  if (wants('growth')) results.growth = await measureGrowth({ sizes, epochMs, plan, folder, progress });
  return results;
}

function attending(names: readonly ContestantName[]): ContestantName[] {
  return names.filter(name => {
    const reason = absence(name);
    if (reason) console.log(`skipping ${name}: ${reason}`);
    return !reason;
  });
}

function progress(line: string): void {
  console.log(`… ${line}`);
}
