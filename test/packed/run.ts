// Packs everything, installs it outside of the workspace as others would, and tests it there:
//   npm run test:packed [-- --keep]
// npm's cache is asked before the registry. Where neither has what is needed, this says so and succeeds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packAll } from '../../scripts/pack.ts';
import { type Registry, startRegistry, unreachable } from '../registry/registry.ts';

const root = join(import.meta.dirname, '../..');

// As the workspace has them, so that they are in npm's cache. What it does not have is named with its version.
const asHere = async (name: string): Promise<string> => {
  const file = createRequire(join(root, 'apps/console/package.json')).resolve(`${name}/package.json`);
  return `${name}@${(JSON.parse(await readFile(file, 'utf8')) as { version: string }).version}`;
};
const projects: Record<string, { ours: string[]; others: string[]; tools?: string[] }> = {
  server: { ours: ['@stak/server'], others: [] },
  library: {
    ours: ['@stak/kit', '@stak/engine', '@stak/table', '@stak/streams', '@stak/langgraph', '@stak/client'],
    others: [
      '@langchain/core',
      '@langchain/langgraph',
      '@langchain/langgraph-checkpoint',
      '@langchain/langgraph-sdk', // a newer one may need what no registry has yet
      'zod',
      'typescript',
      'vitest',
      '@types/node',
    ],
    tools: [
      'typescript-5@npm:typescript@5.9.3',
      'jest@30.5.2',
      'publint@0.3.25',
      '@arethetypeswrong/cli@0.18.5',
    ],
  },
  page: {
    ours: ['@stak/client', '@stak/inbox-react', '@stak/portal-react'],
    others: ['react', 'react-dom', 'vite', 'typescript', '@types/react', '@types/react-dom'],
  },
  // With the oldest of each peer that the packages allow.
  oldest: {
    ours: [
      ...['@stak/kit', '@stak/engine', '@stak/table', '@stak/streams', '@stak/client'],
      ...['@stak/inbox-react', '@stak/portal-react'],
    ],
    others: ['vite', 'typescript', '@types/node'],
    tools: [
      ...['zod@4.0.0', 'react@18.3.1', 'react-dom@18.3.1', '@types/react@18.3.24', '@types/react-dom@18.3.7'],
      'typescript-5@npm:typescript@5.9.3',
    ],
  },
};

const installMs = 10 * 60_000; // npm may look for ever for a version that does not exist

async function command(program: string, args: string[], cwd: string, env = process.env) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: installMs });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  return { code: code as number, output };
}

// As a reader installs it: by its name, from a registry.
async function installByName(registry: Registry, tarballs: Iterable<string>) {
  await registry.publish(tarballs);
  const project = join(folder, 'guide');
  await mkdir(project);
  const env = { ...process.env, ...registry.env };
  const started = await command('npm', ['init', '-y'], project, env);
  return started.code === 0 ? command('npm', ['install', '@stak/server'], project, env) : started;
}

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const folder = await mkdtemp(join(tmpdir(), 'stak-packed-'));
let registry: Registry | undefined;
try {
  process.exitCode = await run();
} finally {
  await registry?.stop();
  if (values.keep) console.log(`The projects are in ${folder}`);
  else await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<number> {
  console.log('Packing…');
  const tarballs = packAll(folder);
  console.log('Installing…');
  const installed = await Promise.all(
    Object.entries(projects).map(async ([name, { ours, others, tools = [] }]) => {
      const project = join(folder, name);
      await mkdir(project);
      await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
      const packages = [...ours.map(one => tarballs.get(one)!), ...(await Promise.all(others.map(asHere)))];
      // No install script runs: none may be needed.
      const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];
      const install = (source: string) =>
        command('npm', ['install', source, ...flags, ...packages, ...tools], project);
      const first = await install('--prefer-offline');
      // A cache may know of a package, but not of the version that a newer one of another package needs.
      return first.output.includes('ETARGET') ? install('--prefer-online') : first;
    }),
  );
  registry = await startRegistry(join(folder, 'registry'));
  if (registry) installed.push(await installByName(registry, tarballs.values()));
  else
    console.log('Skipped: no guide is run, because neither the cache of npm nor a registry has Verdaccio.');
  const failed = installed.filter(({ code }) => code !== 0);
  if (failed.length > 0 && failed.every(({ output }) => unreachable.test(output))) {
    console.log('Skipped: neither the cache of npm nor a registry has what the projects outside need.');
    return 0;
  }
  for (const { output } of failed) console.error(output);
  if (failed.length > 0) return 1;
  const vitest = spawn(
    join(root, 'node_modules/.bin/vitest'),
    ['run', '--config', 'test/packed/vitest.config.ts'],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, STAK_PACKED: folder, STAK_PACKED_NPM: JSON.stringify(registry?.env ?? null) },
    },
  );
  const [code] = await once(vitest, 'close');
  return code as number;
}
