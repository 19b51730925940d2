import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeSite } from './site.ts';

// Builds the site unless it is newer than all of its sources:
// node --import tsx apps/docs/src/build.ts [FOLDER]

const here = import.meta.dirname;
const root = join(here, '../../..');
const [folder = join(here, '../dist')] = process.argv.slice(2);

const changedMs = (path: string): number =>
  Math.max(...readdirSync(path, { recursive: true }).map(name => statSync(join(path, String(name))).mtimeMs));

const builtMs = statSync(join(folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (Math.max(changedMs(join(root, 'docs')), changedMs(here)) > builtMs) {
  console.log('Building the documentation…');
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { homepage: string };
  const files = await makeSite(join(root, 'docs'), homepage);
  rmSync(folder, { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
