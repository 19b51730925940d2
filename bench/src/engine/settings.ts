import type { Shape } from './data.ts';

// What every contestant of this bench is started with. `folder` is its own, on the same disk as the others'.
export type Settings = { folder: string; shape: Shape };

// Wide enough that loading is not what the run spends its time on.
export const loadInFlight = 16;
