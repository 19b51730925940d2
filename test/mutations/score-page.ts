import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './fault.ts';
import { pureParts } from './pure-parts.ts';

// docs/reference/mutation-score.md: how many small changes of the parts that only compute their tests notice.

export const scorePagePath = 'docs/reference/mutation-score.md';

export type Score = { tried: number; noticed: number };

const fileList = (files: readonly string[]) => files.map(file => `\`${file}\``).join(', ');

export function renderScores(scores: ReadonlyMap<string, Score>): string {
  const rows = pureParts.map(({ name, files }) => {
    const { tried, noticed } = scores.get(name) ?? { tried: 0, noticed: 0 };
    const share = tried === 0 ? 'not run' : `${((100 * noticed) / tried).toFixed(1)} %`;
    return `| ${name} | ${fileList(files)} | ${tried} | ${noticed} | ${share} |`;
  });
  return `# Mutation score

Written by \`npm run test:mutation-score\`. In the parts that only compute, one operator, condition, number or call after the other is changed, alone, in a copy of the checkout, and the tests of the part are run. The command prints each change that no test notices. Some of them change nothing that can be observed, so that no part reaches 100 %.

| part | files | changes | noticed | score |
|---|---|--:|--:|--:|
${rows.join('\n')}
`;
}

export function readScores(text = readScorePage()): Map<string, Score> {
  const rows = text.matchAll(/^\| ([a-z ]+) \| `.*` \| (\d+) \| (\d+) \| [\d.]+ % \|$/gm);
  return new Map(
    [...rows].map(([, name, tried, noticed]) => [name!, { tried: Number(tried), noticed: Number(noticed) }]),
  );
}

export const readScorePage = (): string => readFileSync(join(root, scorePagePath), 'utf8');
