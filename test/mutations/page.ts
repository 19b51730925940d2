import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf, type Fault, root } from './fault.ts';

// docs/reference/mutations.md: the faults and what became of them in the last run of each.

const pagePath = 'docs/reference/mutations.md';

export type Verdict = 'caught' | 'missed' | 'not run';

const cell = (text: string) => text.replaceAll('|', '\\|');
const row = ({ name, file, why, caughtBy }: Fault, verdict: Verdict) =>
  `| ${name} | ${cell(why)} | \`${file}\` | \`${cell(commandOf(caughtBy))}\` | ${verdict} |`;

export function renderPage(faults: readonly Fault[], verdicts: ReadonlyMap<string, Verdict>): string {
  const of = (fault: Fault) => verdicts.get(fault.name) ?? 'not run';
  const count = (verdict: Verdict) => faults.filter(fault => of(fault) === verdict).length;
  return `# Planted faults

Written by \`npm run test:mutations\`. Each row is a fault that is planted on purpose, alone, in a copy of the checkout; the command beside it has to fail because of it, and passes without it. The texts that are replaced are in [\`test/mutations/faults\`](../../test/mutations/faults).

${faults.length} faults: ${count('caught')} caught, ${count('missed')} missed, ${count('not run')} not run.

| fault | what it would break | planted in | caught by | |
|---|---|---|---|---|
${faults.map(fault => row(fault, of(fault))).join('\n')}
`;
}

export function readVerdicts(text = readPage()): Map<string, Verdict> {
  const rows = text.matchAll(/^\| ([a-z0-9-]+) \|.*\| (caught|missed|not run) \|$/gm);
  return new Map([...rows].map(([, name, verdict]) => [name!, verdict as Verdict]));
}

export const readPage = (): string => readFileSync(join(root, pagePath), 'utf8');
export const writePage = (text: string): void => writeFileSync(join(root, pagePath), text);
