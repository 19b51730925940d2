import { copyFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// One file for each thing that is loaded on its own, from the sources of this repository alone. A server that runs
// from here starts in half the time and holds no compiler in memory.

const here = path => fileURLToPath(new URL(path, import.meta.url));
// The benches bundle their own server in the same way: node build.mjs [ENTRY FOLDER]
const [entry = here('./src/main.ts'), outdir = here('./dist')] = process.argv.slice(2);

const keepPackagesOutside = {
  name: 'packages stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@stak/') ? undefined : { external: true },
    );
  },
};

rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: [entry],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  outExtension: { '.js': '.mjs' },
  plugins: [keepPackagesOutside],
  logLevel: 'warning',
});

// Threads and processes have files of their own, which nothing imports.
for (const program of ['webhooks/src/transforms/sandbox-worker.mjs', 'lake/src/duck-process.mjs'])
  copyFileSync(here(`../../services/${program}`), join(outdir, basename(program)));
