import type { BenchModule } from './bench.ts';
import { inDataFolder } from './data-folder.ts';
import type { Verdict } from './gates.ts';
import { keepResults } from './results-file.ts';

// A bench of several parts. `Results` has a property for each; a part that did not run is missing.
type PartsBench<Results, Part extends string, Extent> = {
  name: string;
  partNames: readonly Part[];
  full: Extent;
  quick: Extent; // enough to show that everything runs; the figures mean little and are not stored
  measure(parts: readonly Part[], extent: Extent, folder: string): Promise<Results>;
  judgeResults(results: Results, parts: readonly Part[]): Verdict[];
  printResults(results: Results): string;
  readmeSection(results: Results): string;
};

// Measures the chosen parts, prints the results, and stores those of a complete run.
export const createBench =
  <Results extends object, Part extends string, Extent>(
    bench: PartsBench<Results, Part, Extent>,
  ): BenchModule['run'] =>
  async ({ quick, only }) => {
    const parts = chooseParts(bench.partNames, only);
    const extent = quick ? bench.quick : bench.full;
    const results = await inDataFolder(bench.name, folder => bench.measure(parts, extent, folder));
    const verdicts = bench.judgeResults(results, parts);
    console.log(`\n${bench.printResults(results)}`);
    if (!quick && only.length === 0)
      keepResults(bench.name, { results, verdicts, section: bench.readmeSection(results) });
    return verdicts;
  };

// The parts that `--only` selects; all of them without it.
export function chooseParts<Part extends string>(all: readonly Part[], only: readonly string[]): Part[] {
  if (only.some(name => !all.includes(name as Part))) throw new Error(`--only knows ${all.join(', ')}`);
  return all.filter(part => only.length === 0 || only.includes(part));
}

export async function runParts<Results extends object, Part extends keyof Results & string>(
  parts: readonly Part[],
  works: { [P in Part]: () => Promise<Results[P]> },
): Promise<Results> {
  const results: Partial<Results> = {};
  for (const part of parts) {
    console.log(`… ${part}`); // some of them take minutes
    results[part] = await works[part]();
  }
  return results as Results;
}
