import { type Files, findAll, isSource, isTest, isTidy, placeOf, type Rule, sources } from './repository.ts';

const mostLines = 400;

// Files that may be longer, each with its reason.
const longFiles: ReadonlyMap<string, string> = new Map();

const overSources = (files: Files, check: (path: string, text: string) => string[]): string[] =>
  [...sources(files)].flatMap(([path, text]) => (isTidy(path) ? [] : check(path, text)));

export const environmentInConfig: Rule = files =>
  overSources(files, (path, text) => {
    const mayRead =
      path === 'apps/server/src/config/config.ts' || isTest(path) || /^(bench|scripts)\//.test(path);
    const pattern =
      /\bprocess(?:\.env\b|\[['"]env['"]\])|\bimport\.meta\.env\b|\benv\b[^;]*from ['"]node:process['"]/g;
    return mayRead
      ? []
      : findAll(path, text, pattern, 'reads the environment outside apps/server/src/config/config.ts');
  });

export const oneIndexPerPackage: Rule = files =>
  [...files.keys()]
    .filter(path => /(^|\/)index\.([cm]?[jt]s|[jt]sx)$/.test(path))
    .filter(path => !/^((packages|services|apps)\/[^/]+|bench)\/src\/index\.tsx?$/.test(path))
    .map(path => `${path}: an index besides the package's own`);

// Nobody reads or edits these; the generators themselves are kept short.
const isGenerated = (text: string): boolean => text.startsWith('// Generated ');

export const shortFiles: Rule = files =>
  [...sources(files)]
    .map(([path, text]) => ({ path, lines: text.replace(/\n$/, '').split('\n').length }))
    .filter(({ path, lines }) => lines > mostLines && !longFiles.has(path) && !isGenerated(files.get(path)!))
    .map(({ path, lines }) => `${path}: ${lines} lines, more than ${mostLines}`);

// Only in comments, because a task of the to-do API may well have the status TODO.
const leftover = /(?:\/\/|\/\*|^\s*\*|<!--|(?:^|\s)#).*\bTODO\b|\b(?:FIXME|XXX)\b/gm;
const silenced = /@ts-(?:ignore|nocheck)\b/g;
const anyCast = /^(?!\s*(?:\/\/|\*)).*(?:\bas any\s*(?=[)\]};,.&|?:]|$)|<any>)/gm;

export const nothingLeftOver: Rule = files => {
  const complaints: string[] = [];
  for (const [path, text] of files) {
    if (isTidy(path) || path === 'package-lock.json') continue;
    if (isSource(path) || /\.(md|ya?ml|sh|html|css)$/.test(path) || path === '.ci/run')
      complaints.push(...findAll(path, text, leftover, 'unfinished work'));
    if (!isSource(path)) continue;
    complaints.push(...findAll(path, text, silenced, 'silences the compiler'));
    complaints.push(...findAll(path, text, anyCast, 'casts to any'));
  }
  return complaints;
};

const runner = String.raw`\b(?:it|test|describe|suite|bench)(?:\.\w+)*?`;
const focused = new RegExp(String.raw`${runner}\.only\b`, 'g');
const skipped = new RegExp(String.raw`${runner}\.(?:skip|todo|skipIf|runIf)\b(?=(.{0,300}))`, 'gs');
const reason = /\((?:needs|skipped because) [^)\n]+\)/;

// A skipped test says what it lacks: it.skipIf(!binary)('agrees with dynoxide (needs its binary)', () => …).
// vitest.config.ts includes these only.
const unknownTest = /\.(?:test|spec)\.(?!ts$)\w+$|\.spec\.ts$/;

export const everyTestRuns: Rule = files =>
  overSources(files, (path, text) => [
    ...(unknownTest.test(path) ? [`${path}: never runs, because its name does not end in .test.ts`] : []),
    ...findAll(path, text, focused, 'runs alone'),
    ...[...text.matchAll(skipped)]
      .filter(match => !reason.test(match[1]!.split('=>')[0]!))
      .map(match => `${placeOf(path, text, match.index)}: skipped without "(needs …)" in its name`),
  ]);

const nulEscape = /\\(?:0(?![0-9])|x00|u0000|u\{0+\})|from(?:CharCode|CodePoint)\(0\)/g;

// Files where a NUL is not part of a key.
const nulIsNoKey: ReadonlyMap<string, string> = new Map([
  ['packages/client/src/event-stream.ts', 'refuses it'],
  ['packages/http/src/events/event-text.ts', 'refuses it'],
  ['apps/server/src/http/page-files.ts', 'refuses it'],
  ['packages/table/src/client/capacity.ts', 'names a sum in memory'],
  ['packages/table/src/client/cursor.ts', 'is hashed'],
]);

// DynamoDB takes a NUL in a key or a bound, PostgreSQL does not. The engine is what gets the keys.
export const noNulInKeys: Rule = files =>
  overSources(files, (path, text) =>
    isTest(path) ||
    path.startsWith('packages/engine/') ||
    !/^(packages|services|apps)\//.test(path) ||
    nulIsNoKey.has(path)
      ? []
      : findAll(path, text, nulEscape, 'writes a NUL, which no key may hold on every store'),
  );

const upperCaseNames = new Set([
  'README.md',
  'LICENSE',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'GLOSSARY.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'Dockerfile',
  'Caddyfile',
  'Chart.yaml',
  'ISSUE_TEMPLATE', // as GitHub looks for them
  'pull_request_template.md',
]);
const kebabCase = /^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
const vagueName = /^(?:utils?|helpers?|commons?|misc)$/;

export const plainNames: Rule = files => {
  const complaints: string[] = [];
  for (const path of files.keys()) {
    for (const name of path.split('/')) {
      if (!upperCaseNames.has(name) && !kebabCase.test(name))
        complaints.push(`${path}: "${name}" is not kebab-case`);
      if (vagueName.test(name.split('.')[0]!)) complaints.push(`${path}: "${name}" says nothing`);
    }
  }
  return complaints;
};
