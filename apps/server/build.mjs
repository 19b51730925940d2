import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// One file for each thing that is loaded on its own, from the sources of this repository and of the packages that have
// the most files. A server that runs from here starts in a third of the time and holds no compiler in memory.

const here = path => fileURLToPath(new URL(path, import.meta.url));
// The benches bundle their own server in the same way: node build.mjs [ENTRY FOLDER [METAFILE]]
const [entry = here('./src/main.ts'), outdir = here('./dist'), metafile] = process.argv.slice(2);

// Of each, one file is found and compiled sooner than a hundred. Others stay outside: they bring binaries or files that
// they look for beside themselves, or are rarely needed.
const bundled = [
  '@asteasolutions/zod-to-openapi',
  '@hono/node-server',
  '@hono/zod-openapi',
  '@hono/zod-validator',
  '@opentelemetry/api',
  'bintrees',
  'cac',
  'hono',
  'jose',
  'openapi3-ts',
  'prom-client',
  'tdigest',
  'undici',
  'zod',
];

const keepPackagesOutside = {
  name: 'packages stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' ||
      path.startsWith('@stak/') ||
      bundled.some(name => path === name || path.startsWith(`${name}/`))
        ? undefined
        : { external: true },
    );
  },
};

const programs = [
  './src/backup/backup-thread.ts',
  './src/lake-thread.ts',
  '../../packages/sandbox/src/sandbox-thread.mjs',
  '../../services/lake/src/duckdb/duck-process.mjs',
  '../../services/lake/src/duckdb/memory-watch-thread.mjs',
  '../../services/webhooks/src/transforms/rules-program.ts',
  '../../services/webhooks/src/transforms/script-program.mjs',
].map(here);

rmSync(outdir, { recursive: true, force: true });
const { metafile: report } = await build({
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
  // The engine keeps the text of what it has loaded: without spaces and comments it is half as long, and one character
  // beyond Latin-1, in a comment, doubles it. Names stay, for the traces of errors.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120, // so that they also say where
  legalComments: 'external',
  // For packages that are not modules of ECMAScript.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  outExtension: { '.js': '.mjs' },
  plugins: [keepPackagesOutside],
  logLevel: 'warning',
  metafile: metafile !== undefined,
});
if (report) writeFileSync(metafile, JSON.stringify(report));
