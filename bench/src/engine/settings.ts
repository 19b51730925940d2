import type { Shape } from './data.ts';

// The settings of every contestant of this bench. Each has its own `folder`, on the same disk.
export type Settings = { folder: string; shape: Shape };

// Enough that loading does not dominate the run.
export const loadInFlight = 16;
