import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// The stream handlers for Lambda, with every package that they load: node build-handlers.mjs FOLDER [METAFILE]

const here = path => fileURLToPath(new URL(path, import.meta.url));
const [outdir, metafile] = process.argv.slice(2);

rmSync(outdir, { recursive: true, force: true });
const { metafile: report } = await build({
  entryPoints: [here('./src/aws/lambda-handlers.ts')],
  entryNames: 'index',
  outdir,
  bundle: true,
  splitting: true, // what is imported late is not read before
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  legalComments: 'external',
  // Stores on this machine and the lake: nothing there loads them.
  external: ['@stak/engine', '@duckdb/*'],
  // For packages that are not modules of ECMAScript.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
  metafile: metafile !== undefined,
});
if (report) writeFileSync(metafile, JSON.stringify(report));
