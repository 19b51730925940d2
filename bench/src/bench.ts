import type { Verdict } from './gates.ts';

// `only` narrows a bench to the parts it names; what the names are is the bench's own business.
export type BenchOptions = { quick: boolean; only: readonly string[] };

// `npm run bench -- NAME` runs `src/NAME/bench.ts`.
export type BenchModule = { run(options: BenchOptions): Promise<Verdict[]> };
