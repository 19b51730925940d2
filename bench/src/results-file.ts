import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Verdict } from './gates.ts';
import { rewriteSection } from './readme-section.ts';

const readme = new URL('../../README.md', import.meta.url);

// Stores a complete run: all of it in `results/NAME.json`, and a summary in the README.
export function keepResults(
  name: string,
  { results, verdicts, section }: { results: object; verdicts: readonly Verdict[]; section: string },
): void {
  const targets = verdicts.map(({ required: _, ...verdict }) => verdict);
  const file = new URL(`../results/${name}.json`, import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ machine: describeMachine(), ...results, targets }, null, 2)}\n`);
  rewriteSection(readme, `bench:${name}`, section);
}

export const describeMachine = () => ({
  node: process.version,
  platform: process.platform,
  arch: process.arch,
  cpus: cpus().length,
});
