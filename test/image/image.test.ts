import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

// The steps of the Dockerfile, in folders instead of layers, and the server from there: with a tree that nobody may
// write to, as a user without rights where the test itself has them.

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {};

type Step = { instruction: string; text: string };
const steps = (await readFile(join(root, 'deploy/Dockerfile'), 'utf8'))
  .split('\n')
  .flatMap((line): Step[] => {
    const [, instruction, text] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return instruction === undefined ? [] : [{ instruction, text: text! }];
  });
const lastStage = steps.findLastIndex(({ instruction }) => instruction === 'FROM');
const inImage = steps.slice(lastStage);
const textOf = (instruction: string): string =>
  inImage.find(one => one.instruction === instruction)?.text ?? '';

let folder: string;
let server: ChildProcess | undefined;
const pathIn = (path: string) => join(folder, path);
const inFolder = (text: string) => text.replace(/^\/(app|data)/, pathIn('$1'));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-image-'));
  await chmod(folder, 0o755);
  const env = {
    ...process.env,
    npm_config_prefer_offline: 'true',
    SOURCE: root,
    MANIFESTS: pathIn('manifests'),
    OUT: pathIn('out'),
    APP: pathIn('app'),
  };
  for (const { instruction, text } of steps.slice(0, lastStage))
    if (instruction === 'RUN')
      await run('sh', ['-c', text], { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  await run('chmod', ['-R', 'a-w,a+rX', pathIn('app')]);
  await mkdir(pathIn('data'), { mode: 0o700 });
  if (isRoot) await chown(pathIn('data'), 65_534, 65_534);
}, 600_000);
afterAll(async () => {
  server?.kill('SIGKILL');
  await run('chmod', ['-R', 'u+w', pathIn('app')]);
  await rm(folder, { recursive: true, force: true });
});

// The paths of installed packages below a folder, with their versions.
async function versionsIn(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const path of await readdir(folder, { recursive: true })) {
    const [name] = /(?:@[^/]+\/)?[^/]+(?=\/package\.json$)/.exec(path) ?? [];
    const isPackage = new RegExp(`(?:^|/)node_modules/${name}/package\\.json$`).test(`node_modules/${path}`);
    if (name === undefined || !isPackage) continue;
    const { version } = JSON.parse(await readFile(join(folder, path), 'utf8')) as { version: string };
    found.set(path, `${name}@${version}`);
  }
  return found;
}

test('packages are installed before the sources are copied, from nothing but manifests', async () => {
  const texts = steps.map(({ instruction, text }) => `${instruction} ${text}`);
  const build = texts.findIndex(text => /^FROM .* AS build$/.test(text));
  const install = texts.findIndex(text => text.includes('npm ci'));
  expect(texts.slice(build, install).filter(text => text.startsWith('COPY'))).toEqual([
    'COPY --from=manifests /manifests /src',
  ]);
  const files = await readdir(pathIn('manifests'), { recursive: true, withFileTypes: true });
  const names = new Set(files.filter(file => file.isFile()).map(({ name }) => name));
  expect(names).toEqual(new Set(['package.json', 'package-lock.json']));
  const lock = await readFile(join(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version: string; link?: boolean }> };
  for (const [path, { link }] of Object.entries(packages))
    if (!link && !path.includes('node_modules'))
      await expect(stat(pathIn(join('manifests', path, 'package.json'))), path).resolves.toBeDefined();
});

test('every package has the version of the lockfile', async () => {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  const locked = new Set(
    Object.entries(lock.packages).map(
      ([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`,
    ),
  );
  const installed = await versionsIn(pathIn('app/node_modules'));
  const others = [...installed.values()].filter(name => !name.startsWith('@stak/'));
  expect(others.length).toBeGreaterThan(10);
  expect(others.filter(name => !locked.has(name))).toEqual([]);
});

test('declares its user, its stop signal and its volumes', () => {
  expect(textOf('USER')).toBe('node');
  expect(textOf('STOPSIGNAL')).toBe('SIGTERM');
  expect(textOf('VOLUME')).toBe('["/data"]');
});

test('the server runs from a read-only tree, is healthy, and stops on request', async () => {
  const declared = inImage.filter(one => one.instruction === 'ENV').map(({ text }) => text.split(/=(.*)/s));
  const variables = Object.fromEntries(declared.map(([name, value]) => [name!, inFolder(value!)]));
  const env = {
    PATH: process.env.PATH,
    ...variables,
    STAK_HOST: '127.0.0.1',
    STAK_PORT: '0',
    STAK_WORKERS: '2',
    STAK_DRAIN_SECONDS: '0',
    STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  };
  const [program, ...args] = [...JSON.parse(textOf('ENTRYPOINT')), ...JSON.parse(textOf('CMD'))].map(
    inFolder,
  );
  const child = spawn(program!, args, {
    cwd: pathIn('data'),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...nobody,
  });
  server = child;
  const closed = once(child, 'close');
  let url: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    url = /Stak is at (\S+)/.exec(line)?.[1];
    if (url) break;
  }
  child.stdout.resume();
  expect(url).toBeDefined();
  const [, check] = /CMD (\[.*\])$/.exec(textOf('HEALTHCHECK'))!;
  const [probe, ...probeArgs] = JSON.parse(check!) as string[];
  const probeEnv = { ...env, STAK_PORT: new URL(url!).port };
  await run(probe!, probeArgs, { env: probeEnv });
  await expect(run(probe!, probeArgs, { env: { ...env, STAK_PORT: '1' } })).rejects.toThrow();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/console`)).status).toBe(200);
  expect(await readdir(pathIn('data'))).toContain('stak.mdb');
  expect((await stat(pathIn('data/stak.mdb'))).mode & 0o077).toBe(0);

  child.kill(textOf('STOPSIGNAL') as NodeJS.Signals);
  expect((await closed)[0]).toBe(0);
}, 120_000);
