import type { Measure, Plan } from '../harness.ts';
import { measureOperations } from '../in-process-rounds.ts';

export const readingNames = [
  'two queries',
  'feed, short',
  'feed, long',
  'a get',
  'counts, short',
  'counts, long',
] as const;
export type ReadingName = (typeof readingNames)[number];

// Own messages of a user with a short and one with a long history, and messages to everyone.
export type ReadingSettings = { short: number; long: number; broadcasts: number };
export type Reading = ReadingSettings & { measures: Record<ReadingName, Measure> };

export async function measureReading(settings: ReadingSettings, plan: Plan): Promise<Reading> {
  const module = import.meta.resolve('./reading-script.ts');
  const measures = await measureOperations({ module, settings, names: readingNames, inFlight: 1, plan });
  return { ...settings, measures };
}
