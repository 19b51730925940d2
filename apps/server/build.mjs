import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// One file for each thing that is loaded on its own, from the sources of this repository alone. A server that runs
// from here starts in half the time and holds no compiler in memory.

const here = path => fileURLToPath(new URL(path, import.meta.url));

const keepPackagesOutside = {
  name: 'packages stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@stak/') ? undefined : { external: true },
    );
  },
};

rmSync(here('./dist'), { recursive: true, force: true });
await build({
  entryPoints: [here('./src/main.ts')],
  outdir: here('./dist'),
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
