import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type DecisionFile = { name: string; text: string };
type Decision = { number: string; name: string; title: string; date: string; area: string; status: string };

const form =
  /^# (?<number>\d{4}): (?<title>.+)\n\nAccepted, (?<date>\d{4}-\d\d-\d\d)\. Area: (?<area>[^.\n]+)\.(?<relations>.*)\n/;
const numbersIn = (text: string): string[] => [...text.matchAll(/\[(\d{4})\]/g)].map(match => match[1]!);

/** Reads the decisions of a folder, except their index. */
export const readDecisions = (folder: string): DecisionFile[] =>
  readdirSync(folder)
    .filter(name => /^\d{4}-.*\.md$/.test(name))
    .toSorted()
    .map(name => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

function parse({ name, text }: DecisionFile): Decision {
  const { number, title, date, area, relations } = form.exec(text)?.groups ?? {};
  if (number !== name.slice(0, 4) || !title || !date || !area || relations === undefined)
    throw new Error(
      `docs/adr/${name} has to begin with "# ${name.slice(0, 4)}: TITLE", an empty line and "Accepted, DATE. Area: AREA."`,
    );
  const [, superseded] = /\bSuperseded in part\. ([^\n]*)/.exec(relations) ?? [];
  const status = superseded
    ? `superseded in part by ${[...new Set(numbersIn(superseded))].join(', ')}`
    : 'accepted';
  return { number, name, title, date, area, status };
}

/** The index of all decisions by area, each with its date and status. */
export function decisionsPage(files: readonly DecisionFile[]): string {
  const decisions = files.map(parse);
  const areas = [...new Set(decisions.map(({ area }) => area))].toSorted();
  return [
    '# Decisions',
    '',
    'Generated from the first lines of each decision by `npm run generate`. A decision is superseded by a later one, never rewritten.',
    ...areas.flatMap(area => [
      '',
      `## ${area}`,
      '',
      '| | Decision | Date | Status |',
      '|---|---|---|---|',
      ...decisions
        .filter(decision => decision.area === area)
        .map(
          ({ number, name, title, date, status }) =>
            `| [${number}](${name}) | ${title} | ${date} | ${status} |`,
        ),
    ]),
    '',
  ].join('\n');
}
