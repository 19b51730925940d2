import { rmSync } from 'node:fs';
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

const programs = [
  './src/lake-thread.ts',
  '../../packages/sandbox/src/sandbox-thread.mjs',
  '../../services/lake/src/duck-process.mjs',
  '../../services/lake/src/memory-watch-thread.mjs',
  '../../services/webhooks/src/rules-program.ts',
  '../../services/webhooks/src/transforms/script-program.mjs',
].map(here);

rmSync(outdir, { recursive: true, force: true });
await build({
  // Threads and processes have files of their own, which nothing imports.
  entryPoints: [entry, ...programs],
  entryNames: '[name]',
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
