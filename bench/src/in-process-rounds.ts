import { startContestant } from './contestant-process.ts';
import { type Measure, measureInterleaved, type Plan } from './harness.ts';

export type InProcessRounds<Name extends string, Settings> = {
  module: string; // the URL of a contestant's module
  settings: Settings;
  names: readonly Name[];
  inFlight: number;
  plan: Plan;
};

// One round of each operation, alternating, all by one contestant in its own process.
export async function measureOperations<Name extends string, Settings>(
  rounds: InProcessRounds<Name, Settings>,
): Promise<Record<Name, Measure>> {
  const { module, settings, names, inFlight, plan } = rounds;
  const contestant = await startContestant('in process', module, settings);
  const runners = names.map(name => ({
    name,
    run: (load: { inFlight: number; durationMs: number }) => contestant.run({ ...load, operation: name }),
  }));
  try {
    return (await measureInterleaved(runners, { operation: '', inFlight }, plan)) as Record<Name, Measure>;
  } finally {
    await contestant.close();
  }
}
