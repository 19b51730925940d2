import type { Operation } from './harness.ts';

// A contestant is a module with a `start`. It runs in its own process, so that no contestant is slowed down by the
// garbage or the optimised code of another.

export type Contestant = {
  operations: Record<string, Operation>;
  // Prepares what a round will need, outside the measured time.
  prepare?(operation: string, durationMs: number): void;
  close(): Promise<void>;
};

export type ContestantModule<Settings> = { start(settings: Settings): Promise<Contestant> };
