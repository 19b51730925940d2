import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { collectLicences } from './licences.ts';
import { type Lock, shrinkwrap } from './shrinkwrap.ts';

// Builds what can be installed elsewhere and packs it: npm run pack [-- --to FOLDER]
// The folder then holds `packages/`, what is in each package, and `tarballs/`. Nothing is published.

const root = join(import.meta.dirname, '..');
// In the order in which they need each other.
const libraries = ['kit', 'engine', 'table', 'streams', 'langgraph', 'client', 'inbox-react', 'portal-react'];

type Manifest = {
  name: string;
  version: string;
  description?: string;
  keywords?: string[];
  exports?: Record<string, string>;
  publishConfig?: { bin?: Record<string, string> };
  sideEffects?: boolean | string[];
  engines?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  repository?: { type: string; url: string };
  homepage?: string;
  bugs?: string;
};

const readJson = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest;
const writeJson = (path: string, value: unknown): void =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
const whole = readJson(join(root, 'package.json'));

// The same in every package.
function sharedFields(source: string, { description, keywords }: Manifest) {
  return {
    version: whole.version,
    description,
    keywords: ['stak', ...(keywords ?? [])],
    license: 'MIT',
    homepage: whole.homepage,
    bugs: whole.bugs,
    repository: { ...whole.repository, directory: source },
    type: 'module',
    engines: whole.engines,
    publishConfig: { access: 'public', provenance: true },
  };
}

// In the checkout `*` means the package beside; elsewhere it is the one of the same release.
const released = (dependencies: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(dependencies).map(([name, range]) => [
      name,
      name.startsWith('@stak/') ? whole.version : range,
    ]),
  );

const inRepositoryOnly = new Set(['./generator', './samples']); // of the client: what makes it

function packLibrary(name: string, staging: string): string {
  const source = `packages/${name}`;
  const manifest = readJson(join(root, source, 'package.json'));
  const target = join(staging, name);
  mkdirSync(target, { recursive: true });
  compile(source, target, staging);
  const commands = Object.entries(manifest.publishConfig?.bin ?? {});
  for (const [, file] of commands) bundleCommand(source, target, file);

  const exports: Record<string, unknown> = {};
  for (const [entry, file] of Object.entries(manifest.exports ?? {})) {
    if (!file.startsWith('./src/') || inRepositoryOnly.has(entry)) continue;
    const built = file.replace('./src/', './dist/');
    if (built.endsWith('.css')) {
      cpSync(join(root, source, file), join(target, built));
      writeFileSync(join(target, `${built}.d.ts`), 'export {};\n'); // TypeScript 7 asks for the types of what is imported
      exports[entry] = { types: `${built}.d.ts`, default: built };
      continue;
    }
    const module = built.replace(/\.tsx?$/, '');
    exports[entry] = { types: `${module}.d.ts`, default: `${module}.js` };
  }
  writeJson(join(target, 'package.json'), {
    name: manifest.name,
    ...sharedFields(source, manifest),
    sideEffects: manifest.sideEffects ?? false,
    exports: { ...exports, './package.json': './package.json' },
    ...(commands.length > 0 && {
      bin: Object.fromEntries(commands.map(([name, file]) => [name, builtFile(file)])),
    }),
    files: ['dist'],
    dependencies: released(manifest.dependencies),
    ...(manifest.peerDependencies && { peerDependencies: manifest.peerDependencies }),
  });
  copyTexts(source, target);
  return target;
}

// A command runs only as built: in the checkout its package has none.
const builtFile = (file: string): string => file.replace('./src/', 'dist/').replace(/\.ts$/, '.js');

// In one file: Node loads that in half of the time of some hundred, and a command is waited for.
function bundleCommand(source: string, target: string, file: string): void {
  const outfile = join(target, builtFile(file));
  const flags = ['--bundle', '--platform=node', '--format=esm', '--target=node20.19', '--packages=external'];
  const esbuild = join(root, 'node_modules/.bin/esbuild');
  run(esbuild, [
    join(root, source, file),
    ...flags,
    '--sourcemap',
    '--log-level=warning',
    `--outfile=${outfile}`,
  ]);
  // Programs of threads are looked for beside the file that starts them.
  for (const program of filesIn(join(root, source, 'src')))
    if (program.endsWith('.mjs')) cpSync(program, join(dirname(outfile), basename(program)));
}

// Each source file becomes a module and its declarations, so that a bundler can leave out what nobody uses.
function compile(source: string, target: string, staging: string): void {
  const config = join(staging, 'tsconfig.json');
  const inRepository = (path: string) => relative(staging, join(root, path));
  writeJson(config, {
    extends: inRepository('tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      sourceMap: true,
      inlineSources: true,
      jsx: 'react-jsx',
      lib: ['es2023', 'es2024.string', 'dom', 'dom.iterable'],
      rootDir: inRepository(`${source}/src`),
      outDir: `${target}/dist`,
      typeRoots: [inRepository('node_modules/@types')],
      // Against the declarations that others will see.
      paths: { '@stak/*': ['./*/dist/index.d.ts'] },
    },
    include: [inRepository(`${source}/src`)],
    exclude: [inRepository(`${source}/src/**/*.test.*`)],
  });
  run(join(root, 'node_modules/.bin/tsc'), ['-p', config]);
  rmSync(config);
  // Programs of threads are JavaScript already.
  const sources = join(root, source, 'src');
  for (const file of filesIn(sources))
    if (file.endsWith('.mjs')) cpSync(file, join(target, 'dist', relative(sources, file)));
  for (const file of filesIn(join(target, 'dist'))) if (file.endsWith('.d.ts')) nameBuiltModules(file);
}

// tsc leaves the names of sources in declarations. A type that no package exports would be named by its place here.
function nameBuiltModules(file: string): void {
  const text = readFileSync(file, 'utf8');
  const strange = /import\("(?:\.\.\/)+[^"]*\/(?:packages|node_modules)\/[^"]*"\)\.\w+/.exec(text)?.[0];
  if (strange !== undefined) throw new Error(`${file} names what its package does not export: ${strange}`);
  writeFileSync(file, text.replaceAll(/((?:from|import\() ?['"]\.{1,2}\/[^'"]*)\.tsx?(['"])/g, '$1.js$2'));
}

// The server with everything of ours in it. What brings binaries stays a dependency.
function packCommand(staging: string): string {
  const source = 'apps/server';
  const manifest = readJson(join(root, source, 'package.json'));
  const target = join(staging, 'stak');
  mkdirSync(join(target, 'bin'), { recursive: true });
  const metafile = join(staging, 'stak.json');
  const entry = join(root, source, 'src/main.ts');
  const { STAK_COMMIT: commit = '' } = process.env; // where there is no Git, as in an image
  run(process.execPath, [join(root, source, 'build.mjs'), entry, join(target, 'dist'), metafile, commit]);
  const handlers = [join(root, source, 'build-handlers.mjs'), join(target, 'dist/handlers')];
  const handlersMetafile = join(staging, 'handlers.json');
  run(process.execPath, [...handlers, handlersMetafile]);
  for (const page of ['console', 'portal'])
    run(process.execPath, [join(root, `apps/${page}/build.mjs`), join(target, `dist/${page}`)]);
  run(process.execPath, ['--import', 'tsx', join(root, 'apps/docs/src/build.ts'), join(target, 'dist/docs')]);
  const { inputs, outside } = readMetafile(metafile);
  for (const name of resolvedIn(join(target, 'dist'))) outside.add(name);
  for (const name of inCheckoutOnly) outside.delete(name);
  cpSync(join(root, reference), join(target, 'dist/scalar.js'));
  const inHandlers = readMetafile(handlersMetafile).inputs;
  rmSync(metafile);
  rmSync(handlersMetafile);
  cpSync(join(root, source, 'bin/node-version.mjs'), join(target, 'bin/node-version.mjs'));
  // The latter is loaded only if the former lets it: an older Node cannot even read it.
  const command = "#!/usr/bin/env node\nimport './node-version.mjs';\n\nawait import('../dist/main.mjs');\n";
  writeFileSync(join(target, 'bin/stak.mjs'), command, { mode: 0o755 });
  writeFileSync(
    join(target, 'THIRD-PARTY-LICENCES.txt'),
    collectLicences(root, [...inputs, ...inHandlers, reference], 'apps/console'),
  );
  const name = '@stak/server'; // `stak` on npm belongs to somebody else
  const dependencies = versionsOf(outside);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  // Each installation has the versions that were tested.
  writeJson(
    join(target, 'npm-shrinkwrap.json'),
    shrinkwrap(lock, { name, version: whole.version, dependencies }),
  );
  writeJson(join(target, 'package.json'), {
    name,
    ...sharedFields(source, { ...manifest, ...whole, keywords: manifest.keywords }),
    bin: { stak: 'bin/stak.mjs' },
    exports: { './package.json': './package.json' },
    files: ['bin', 'dist', '.env.example', 'THIRD-PARTY-LICENCES.txt'],
    dependencies,
  });
  copyTexts(source, target);
  cpSync(join(root, '.env.example'), join(target, '.env.example'));
  return target;
}

// tsx loads sources. Of the other, one file is used, and the package brings eighteen megabytes.
const inCheckoutOnly = ['tsx', '@scalar/fastify-api-reference'];
const reference = 'node_modules/@scalar/fastify-api-reference/dist/js/standalone.js';

type Metafile = {
  inputs: Record<string, object>;
  outputs: Record<string, { imports: { path: string; external?: boolean }[] }>;
};

function readMetafile(path: string): { inputs: string[]; outside: Set<string> } {
  const { inputs, outputs } = JSON.parse(readFileSync(path, 'utf8')) as Metafile;
  const external = Object.values(outputs)
    .flatMap(({ imports }) => imports.filter(one => one.external))
    .map(({ path: specifier }) => specifier)
    .filter(specifier => !isBuiltIn(specifier));
  return { inputs: Object.keys(inputs), outside: new Set(external.map(packageOf)) };
}

// Packages whose files the server looks for, rather than importing them: the bundler does not report those.
const resolvedIn = (folder: string): string[] =>
  filesIn(folder)
    .filter(file => file.endsWith('.mjs'))
    .flatMap(file => [
      ...readFileSync(file, 'utf8').matchAll(/createRequire\d*\([^)]*\)\.resolve\("([^".][^"]*)"\)/g),
    ])
    .map(([, specifier]) => packageOf(specifier!))
    .filter(name => !isBuiltIn(name));

const isBuiltIn = (specifier: string): boolean =>
  specifier.startsWith('node:') || builtinModules.includes(specifier);
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

// As the packages say that go into the bundle.
function versionsOf(names: ReadonlySet<string>): Record<string, string> {
  const declared: Record<string, string> = {};
  for (const wing of ['packages', 'services', 'apps'])
    for (const name of readdirSync(join(root, wing)))
      Object.assign(declared, dependenciesIn(join(root, wing, name, 'package.json')));
  const missing = [...names].filter(name => declared[name] === undefined);
  if (missing.length > 0) throw new Error(`No package of the server declares ${missing.join(', ')}`);
  return Object.fromEntries([...names].sort().map(name => [name, declared[name]!]));
}

function dependenciesIn(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  const { dependencies, optionalDependencies } = readJson(path);
  return { ...dependencies, ...optionalDependencies };
}

function copyTexts(source: string, target: string): void {
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
  // On a registry's page links are relative to nothing.
  const base = `${whole.homepage?.replace(/#.*/, '')}/blob/v${whole.version}`;
  const readme = readFileSync(join(root, source, 'README.md'), 'utf8');
  const absolute = (_: string, path: string): string => {
    const [file = '', heading] = path.split('#');
    return `](${base}/${join(source, file)}${heading === undefined ? '' : `#${heading}`})`;
  };
  writeFileSync(join(target, 'README.md'), readme.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, absolute));
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name));

const run = (command: string, args: string[], cwd = root): void => {
  execFileSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
};

/** Builds every package below `folder` and packs it. Returns the tarballs by the names of their packages. */
export function packAll(folder: string): Map<string, string> {
  const staging = join(folder, 'packages');
  const tarballs = join(folder, 'tarballs');
  for (const path of [staging, tarballs]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
  // The declarations of one name packages of others, which the next one's compiler looks for from there.
  const others = join(staging, 'node_modules');
  symlinkSync(join(root, 'node_modules'), others);
  const built = [...libraries.map(name => packLibrary(name, staging)), packCommand(staging)];
  rmSync(others);
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', tarballs, ...built], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const packed = JSON.parse(output) as { name: string; filename: string }[];
  return new Map(packed.map(({ name, filename }) => [name, join(tarballs, filename)]));
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { to: { type: 'string', default: 'dist' } } });
  for (const [name, file] of packAll(resolve(values.to)))
    console.log(`${name}  ${relative(process.cwd(), file)}`);
}
