import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const ownSources = ['src', 'public', 'index.html', 'vite.config.ts', 'package.json'];
const sharedSources = [
  'packages/client/src',
  'packages/inbox-react/src',
  'packages/kit/src',
  'package-lock.json',
];

/** Builds the pages of an app into a folder, unless those in it are younger than everything they are made from. */
export async function buildPages(app, name, [outDir = join(app, 'dist')] = process.argv.slice(2)) {
  const root = join(app, '../..');
  const sources = [
    ...ownSources.map(path => join(app, path)),
    ...sharedSources.map(path => join(root, path)),
  ];
  const builtMs = statSync(join(outDir, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.max(...sources.map(changedMs)) <= builtMs) return;
  console.log(`Building the ${name}…`);
  await build({ root: app, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
}

function changedMs(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0;
  return Math.max(
    0,
    ...readdirSync(path, { recursive: true }).map(name => statSync(join(path, name)).mtimeMs),
  );
}
