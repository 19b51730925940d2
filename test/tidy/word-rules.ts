import { findAll, isSource, isTidy, placeOf, type Rule, sources } from './repository.ts';

const glossary = 'docs/GLOSSARY.md';

// Where a banned word is the right one.
const allowed: Readonly<Record<string, readonly string[]>> = {
  turn: ['services/agents', 'apps/console', 'apps/portal', 'packages/portal-react', 'apps/server', 'bench'], // of a conversation
  lane: ['services/agents/src'], // a stored attribute
  // A stored attribute, and a field in the output of `stak simulate`.
  place: [
    'services/accounts/src/main-table.ts',
    'services/accounts/src/people/credentials/throttle.ts',
    'apps/server/src/cli/simulate',
    'apps/server/test/simulate.test.ts',
    'apps/server/test/simulate-units.test.ts',
    'apps/server/test/scale-guide.test.ts',
  ],
  shift: ['apps/server', 'services/agents'], // of a time
};

// Names of the language, of browsers, of Node, of LMDB and of MCP.
const builtIn = new Set([
  'shift',
  'unshift',
  'shiftKey',
  'destroySoon',
  'eventTurnBatching',
  'openWorldHint',
]);

const rowsOf = (text: string, heading: string): string[][] =>
  (text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter(line => line.startsWith('| ') && !/^\| (word|instead of) \|/.test(line))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    );

// Comments and strings are not names: keys that are stored keep their words.
const notCode = /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;
const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);

export const glossaryWords: Rule = files => {
  const text = files.get(glossary);
  if (text === undefined) return [];
  const banned = new Map(
    rowsOf(text, 'Words we do not use').flatMap(([words = '', instead = '']) =>
      words.split(', ').map(word => [word, instead] as const),
    ),
  );
  const isExcused = (path: string, word: string): boolean =>
    (allowed[word] ?? []).some(folder => path === folder || path.startsWith(`${folder}/`));
  const findBanned = (path: string, name: string): string | undefined =>
    builtIn.has(name)
      ? undefined
      : wordsOf(name)
          .map(word => (banned.has(word) ? word : word.replace(/s$/, '')))
          .find(word => banned.has(word) && !isExcused(path, word));
  const say = (name: string, word: string): string => `"${name}": write ${banned.get(word)}, not ${word}`;

  const suspicious = new RegExp([...banned.keys()].join('|'), 'i');

  const complaints: string[] = [];
  for (const path of files.keys()) {
    const name = path.split('/').at(-1)!;
    const word = isSource(path) && !isTidy(path) ? findBanned(path, name) : undefined;
    if (word !== undefined) complaints.push(`${path}: ${say(name, word)}`);
  }
  for (const [path, source] of sources(files)) {
    if (isTidy(path) || source.startsWith('// Generated ')) continue;
    const seen = new Set<string>();
    for (const { 0: name, index } of source.replace(notCode, blank).matchAll(/[\w$]+/g)) {
      if (seen.has(name)) continue;
      seen.add(name);
      if (!suspicious.test(name)) continue;
      const word = findBanned(path, name);
      if (word !== undefined) complaints.push(`${placeOf(path, source, index)}: ${say(name, word)}`);
    }
  }
  return complaints;
};

// Every word has one sentence and links to the files that define it. That links lead somewhere is a rule of its own.
export const glossaryRows: Rule = files => {
  const text = files.get(glossary);
  if (text === undefined) return [];
  const words = new Set<string>();
  return text
    .split('\n')
    .filter(line => line.startsWith('| ') && line.split('|').length === 5 && !line.startsWith('| word |'))
    .flatMap(line => {
      const [word = '', meaning = '', defined = ''] = line
        .split('|')
        .slice(1)
        .map(cell => cell.trim());
      const isDouble = words.has(word);
      words.add(word);
      return [
        ...(isDouble ? [`${glossary}: "${word}" is explained twice`] : []),
        ...(meaning.endsWith('.') ? [] : [`${glossary}: "${word}" has no sentence`]),
        ...(findAll(glossary, defined, /\]\([^)]+\.tsx?\)/g, '').length > 0
          ? []
          : [`${glossary}: "${word}" names no file that defines it`]),
      ];
    });
};
