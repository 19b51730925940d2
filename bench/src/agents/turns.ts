import type { Measure, Plan } from '../harness.ts';
import { measureOperations } from '../in-process-rounds.ts';

export const turnNames = ['engine', 'turn'] as const;
export type TurnName = (typeof turnNames)[number];

// A turn that a rule answers, in process and in memory, compared with the engine calls that it makes.
export type Turns = { measures: Record<TurnName, Measure> };

export async function measureTurns(plan: Plan): Promise<Turns> {
  const module = import.meta.resolve('./turns-script.ts');
  return {
    measures: await measureOperations({ module, settings: {}, names: turnNames, inFlight: 1, plan }),
  };
}
