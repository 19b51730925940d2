import { join } from 'node:path';
import type { Plan } from '../harness.ts';
import { createBench, runParts } from '../parts.ts';
import { measureCosts } from './costs.ts';
import { measureTasks, type OperationSettings } from './operations.ts';
import { printResults, readmeSection } from './report.ts';
import { measureSearch } from './search.ts';
import { judgeResults, type Part, partNames, type Results } from './targets.ts';

type Extent = { plan: Plan; searched: number } & Omit<OperationSettings, 'folder'>;

const full: Extent = {
  plan: { rounds: 7, roundMs: 500, warmUpMs: 1500 },
  small: 1000,
  large: { users: 20, tasksEach: 50_000 },
  searched: 100_000,
};
const quick: Extent = {
  plan: { rounds: 1, roundMs: 100, warmUpMs: 100 },
  small: 400,
  large: { users: 2, tasksEach: 1000 },
  searched: 1000,
};

function measure(parts: readonly Part[], extent: Extent, folder: string): Promise<Results> {
  const { plan, small, large, searched } = extent;
  return runParts<Results, Part>(parts, {
    costs: measureCosts,
    operations: () => measureTasks({ folder: join(folder, 'operations'), small, large }, plan),
    search: () => measureSearch({ folder: join(folder, 'search'), tasks: searched }, plan),
  });
}

export const run = createBench({
  name: 'tasks',
  partNames,
  full,
  quick,
  measure,
  judgeResults,
  printResults,
  readmeSection,
});
