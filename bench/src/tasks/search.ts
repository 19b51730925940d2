import type { Measure, Plan } from '../harness.ts';
import { measureOperations } from '../in-process-rounds.ts';
import { bundledProgram } from './program.ts';

export type SearchSettings = { folder: string; tasks: number };
export type Searching = { tasks: number; measures: Record<'search' | 'scan', Measure> };

export async function measureSearch(settings: SearchSettings, plan: Plan): Promise<Searching> {
  const module = await bundledProgram(import.meta.resolve('./search-script.ts'), settings.folder);
  const names = ['search', 'scan'] as const;
  const measures = await measureOperations({ module, settings, names, inFlight: 1, plan });
  return { tasks: settings.tasks, measures };
}
