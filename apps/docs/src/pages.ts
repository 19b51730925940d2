import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export type Page = {
  source: string; // path below docs/, such as guides/webhooks.md
  path: string; // path of the page on the site, such as guides/webhooks
  title: string;
  markdown: string;
};
export type Section = { title: string; pages: Page[] };

// In reading order.
const guides: readonly (readonly [section: string, names: readonly string[]])[] = [
  ['Start', ['quickstart']],
  ['Services', ['accounts', 'inbox', 'webhooks', 'tasks', 'agents', 'lake', 'lake-with-duckdb-spark-athena']],
  [
    'Build on it',
    [
      'define-a-table',
      'consume-a-stream',
      'run-dynamodb-locally',
      'replace-dynamodb-local',
      'sign-in-with-github-and-google',
    ],
  ],
  ['Change it', ['change-stak']],
];

const titleOf = (markdown: string, source: string): string =>
  /^# (.+)$/m.exec(markdown)?.[1]?.replace(/`/g, '') ?? basename(source, '.md');

/** Every page of the folder by section. Pages that no list names go to the last section of their kind. */
export function readSections(docs: string): Section[] {
  const read = (source: string): Page => {
    const markdown = readFileSync(join(docs, source), 'utf8');
    const path = source.replace(/\.md$/, '').toLowerCase();
    return { source, path, title: titleOf(markdown, source), markdown };
  };
  const inFolder = (folder: string): string[] =>
    readdirSync(join(docs, folder))
      .filter(name => name.endsWith('.md'))
      .toSorted();
  const listed = new Set(guides.flatMap(([, names]) => names));
  const others = inFolder('guides').filter(name => !listed.has(basename(name, '.md')));
  const pagesIn = (folder: string, names = inFolder(folder)) =>
    names.map(name => read(folder === '' ? name : `${folder}/${name}`));
  return [
    ...guides.map(([title, names]) => ({
      title,
      pages: pagesIn(
        'guides',
        names.map(name => `${name}.md`),
      ),
    })),
    { title: 'Run it', pages: pagesIn('guides', others) },
    { title: 'Reference', pages: pagesIn('reference') },
    { title: 'Design', pages: pagesIn('') },
    { title: 'Tables', pages: pagesIn('designs') },
    { title: 'Decisions', pages: pagesIn('adr') },
  ];
}
