import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Path from the root → text. A rule sees nothing else, so an example of a few lines can break it.
export type Files = ReadonlyMap<string, string>;

// Returns a complaint for each offence; none if the repository is tidy.
export type Rule = (files: Files) => string[];

const root = join(import.meta.dirname, '../..');
const binary = /\.(png|jpe?g|gif|ico|woff2?|mdb|gz|zip|parquet)$/;

export function readRepository(): Files {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = new Map<string, string>();
  for (const path of new Set(listed.split('\0').filter(Boolean))) {
    const absolute = join(root, path);
    if (!existsSync(absolute)) continue; // deleted, and the deletion not committed yet
    files.set(path, binary.test(path) ? '' : readFileSync(absolute, 'utf8'));
  }
  return files;
}

export const isSource = (path: string): boolean => /\.([cm]?[jt]s|[jt]sx)$/.test(path);

export const isTest = (path: string): boolean => /\.test\.[jt]sx?$/.test(path) || /(^|\/)test\//.test(path);

export function* sources(files: Files): Generator<[path: string, text: string]> {
  for (const [path, text] of files) if (isSource(path)) yield [path, text];
}

// `path:line`, where a terminal or an editor can jump to.
export const placeOf = (path: string, text: string, index: number): string =>
  `${path}:${text.slice(0, index).split('\n').length}`;

export const findAll = (path: string, text: string, pattern: RegExp, complaint: string): string[] =>
  [...text.matchAll(pattern)].map(match => `${placeOf(path, text, match.index)}: ${complaint}`);

// This test holds examples of what it forbids.
export const isTidy = (path: string): boolean =>
  path === 'test/tidy.test.ts' || path.startsWith('test/tidy/');
