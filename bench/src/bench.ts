import type { Verdict } from './gates.ts';

// `only` limits a bench to the named parts; each bench defines its names.
export type BenchOptions = { quick: boolean; only: readonly string[] };

// `npm run bench -- NAME` runs `src/NAME/bench.ts`.
export type BenchModule = { run(options: BenchOptions): Promise<Verdict[]> };
