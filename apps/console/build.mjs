import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'vite';

// Builds pages unless those that are there are younger than everything they are made from: the console's, or those of
// another app that is made in the same way: node build.mjs [FOLDER [APP]]

const [given, app = import.meta.dirname] = process.argv.slice(2);
const outDir = given ?? join(app, 'dist');
const own = ['src', 'public', 'index.html', 'vite.config.ts', 'package.json'].map(path => join(app, path));
const shared = [
  'packages/client/src',
  'packages/inbox-react/src',
  'packages/kit/src',
  'packages/portal-react/src',
  'package-lock.json',
].map(path => join(app, '../..', path));

function changedMs(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0;
  return Math.max(
    0,
    ...readdirSync(path, { recursive: true }).map(name => statSync(join(path, name)).mtimeMs),
  );
}

const builtMs = statSync(join(outDir, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (Math.max(...[...own, ...shared].map(changedMs)) > builtMs) {
  console.log(`Building the ${basename(app)}…`);
  await build({
    root: app,
    logLevel: 'warn',
    // How long each plugin takes is said on machines that are busy, and nobody can do anything about it.
    build: { outDir, emptyOutDir: true, rolldownOptions: { checks: { pluginTimings: false } } },
  });
}
