import { join } from 'node:path';
import { type ContestantProcess, startContestant } from '../contestant-process.ts';
import { type Measure, measureInterleaved, type Plan } from '../harness.ts';
import { moduleOf } from './contestants.ts';
import { shapeOf } from './data.ts';
import type { OperationName } from './operations.ts';
import type { GrowthRow } from './results.ts';
import type { Settings } from './settings.ts';

export const growthOperations: readonly OperationName[] = ['get', 'query', 'put'];

export type Growth = {
  sizes: readonly number[];
  epochMs: number;
  plan: Plan;
  folder: string;
  progress(line: string): void;
};

export const growthFolder = (folder: string, size: number): string => join(folder, `size-${size}`);

// The same engine at several sizes, side by side. Loads the sizes that are missing.
export async function measureGrowth({
  sizes,
  epochMs,
  plan,
  folder,
  progress,
}: Growth): Promise<GrowthRow[]> {
  const runners: ContestantProcess[] = [];
  try {
    for (const size of sizes) {
      progress(`opening ${size} messages`);
      const settings: Settings = { folder: growthFolder(folder, size), shape: shapeOf(size, epochMs) };
      runners.push(await startContestant(String(size), moduleOf('in-process'), settings));
    }
    const rows: GrowthRow[] = [];
    for (const operation of growthOperations) {
      progress(`growth: ${operation}`);
      const measures = await measureInterleaved(runners, { operation, inFlight: 32 }, plan);
      rows.push({ operation, sizes: measures as Record<number, Measure> });
    }
    return rows;
  } finally {
    for (const runner of runners) await runner.close();
  }
}
