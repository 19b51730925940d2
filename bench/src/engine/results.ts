import type { Measure } from '../harness.ts';
import type { ContestantName } from './contestants.ts';
import type { OperationName } from './operations.ts';

export const inFlights = [1, 32] as const;
export type InFlight = (typeof inFlights)[number];

export type Cell = {
  operation: OperationName;
  inFlight: InFlight;
  contestants: Partial<Record<ContestantName, Measure>>;
};
export type GrowthRow = { operation: OperationName; sizes: Record<number, Measure> };
export type Opening = { emptyMs: number; fullMs: number };
export type Memory = { items: number; seconds: number; privateMb: number; mappedMb: number };

// Parts that were not run are missing.
export type Results = {
  operations: Cell[];
  growth: GrowthRow[];
  opening?: Opening;
  memory?: Memory;
};
