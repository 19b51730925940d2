import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// One file for each thing that is loaded on its own, from the sources of this repository and of the packages that have
// the most files. A server that runs from here starts in a third of the time and holds no compiler in memory.

const here = path => fileURLToPath(new URL(path, import.meta.url));
// The benches bundle their own server in the same way: node build.mjs [ENTRY FOLDER [METAFILE [COMMIT]]]
const [entry = here('./src/main.ts'), outdir = here('./dist'), metafile, givenCommit] = process.argv.slice(2);

// One bundled file is found and compiled sooner than a hundred, without the code that nobody calls. These
// bring binaries, or files that they look for beside themselves.
const outside = [
  '@duckdb/node-api',
  '@scalar/fastify-api-reference',
  'lmdb',
  'pino',
  'quickjs-emscripten',
  'tsx',
];

const keepPackagesOutside = {
  name: 'packages stay outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && outside.some(name => path === name || path.startsWith(`${name}/`))
        ? { external: true }
        : undefined,
    );
  },
};

function readCommit() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: here('../..'), encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    if (git('rev-parse', '--show-prefix') !== '') return undefined; // a repository around this one
    return git('describe', '--always', '--abbrev=12', '--exclude=*', '--dirty=.changed');
  } catch {
    return undefined;
  }
}
const commit = givenCommit || readCommit();

const programs = [
  './src/store/backup/backup-thread.ts',
  './src/store/lake/lake-thread.ts',
  './src/store/scrub/scrub-thread.ts',
  '../../packages/engine/src/vectors/vector-thread.mjs',
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
  sourcesContent: false, // a trace needs names and lines
  // The engine keeps the text of what it has loaded: without spaces and comments it is half as long, and one character
  // beyond Latin-1, in a comment, doubles it. Names stay, for the traces of errors.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120, // so that they also say where
  legalComments: 'external',
  // For packages that are not modules of ECMAScript.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  outExtension: { '.js': '.mjs' },
  plugins: [keepPackagesOutside],
  logLevel: 'warning',
  define: commit === undefined ? {} : { STAK_COMMIT: JSON.stringify(commit) },
  metafile: metafile !== undefined,
});
if (report) writeFileSync(metafile, JSON.stringify(report));
