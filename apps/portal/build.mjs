import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

// Builds the pages unless those that are there are younger than everything they are made from: node build.mjs [FOLDER]

const here = import.meta.dirname;
const root = join(here, '../..');
const [outDir = join(here, 'dist')] = process.argv.slice(2);

const youngest = path => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(path).map(name => youngest(join(path, name))));
};

const sources = ['src', 'index.html', 'vite.config.ts', 'package.json'].map(name => join(here, name));
const shared = ['packages/client/src', 'packages/inbox-react/src', 'package-lock.json'].map(name =>
  join(root, name),
);
const builtMs = statSync(join(outDir, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (Math.max(...[...sources, ...shared].map(youngest)) > builtMs) {
  console.log('Building the portal…');
  await build({ root: here, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
}
