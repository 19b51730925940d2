import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export const root = join(import.meta.dirname, '../..');
const folder = process.env.STAK_PACKED;
if (folder === undefined) throw new Error('Run these tests with npm run test:packed');

/** Where `run.ts` has installed packages: the projects `server`, `library` and `page`. */
export const inProject = (...path: string[]): string => join(folder, ...path);
export const tarballOf = (name: string): string => inProject('tarballs', `${name}-${version}.tgz`);
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

// Nothing of the process that runs these tests, like its loaders, goes to the programs that others write.
export const clean = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR };

/** Runs a program of Node, or the command of an installed package, there and returns what it prints; it fails with all of it. */
export async function runOutside(
  project: string,
  program: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<string> {
  const options = { cwd: inProject(project), env: { ...clean, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const isFile = /\.[cm]?js$/.test(program);
  const answer = isFile
    ? promisify(execFile)(process.execPath, [program, ...args], options)
    : promisify(execFile)(inProject(project, 'node_modules/.bin', program), args, options);
  const { stdout, stderr } = await answer.catch(({ stdout, stderr }) => {
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
  });
  return stdout + stderr;
}

/** Starts the command of an installed package there. */
export function spawnOutside(project: string, command: string, args: string[]) {
  const child = spawn(inProject(project, 'node_modules/.bin', command), args, {
    cwd: inProject(project),
    env: clean as Record<string, string>,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close').then(([code]) => code as number);
  const firstLine = once(createInterface(child.stdout), 'line').then(([line]) => line as string);
  return { firstLine, closed, endInput: () => child.stdin.end() };
}

export const strict = ['--strict', '--noUncheckedSideEffectImports', '--target', 'es2023'];
export const withNode = [...strict, '--types', 'node'];
export const asProgram = [...withNode, '--module', 'nodenext', '--outDir', 'out'];

export async function writeOutside(project: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = inProject(project, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** The program that a README begins with. */
export async function firstExample(path: string): Promise<string> {
  const readme = await readFile(join(root, path, 'README.md'), 'utf8');
  const found = /^```(?:ts|tsx)\n(.*?)^```$/ms.exec(readme);
  if (!found) throw new Error(`${path}/README.md shows no program`);
  return found[1]!;
}

/** `npx stak start` in an empty folder, until it says where it is. */
export async function startOutside(name: string, env: Record<string, string> = {}) {
  const cwd = inProject('server', name);
  await mkdir(cwd, { recursive: true });
  const child = spawn('npx', ['--no-install', 'stak', 'start', '--port', '0'], {
    cwd,
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = once(child, 'close');
  let url: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    url ??= /Stak is at (\S+)/.exec(line)?.[1];
    if (line.startsWith('To see it move')) break;
  }
  child.stdout.resume();
  if (url === undefined) throw new Error('npx stak start did not say where it is');
  return {
    url,
    cwd,
    async stop() {
      process.kill(-child.pid!, 'SIGTERM');
      await closed;
    },
  };
}

let accounts = 0;
/** An account of its own on a server, and a key to call it with. */
export async function signUp(url: string) {
  const send = async (path: string, body: object, token?: string, method = 'POST') => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const email = `packed-${++accounts}@example.com`;
  const account = { email, password: 'a long enough password', name: 'Packed', cookie: false };
  const { access_token } = await send('/v1/auth/signup', account);
  const { key } = await send('/v1/api-keys', { name: 'packed', permissions: 'admin' }, access_token);
  return {
    token: key!,
    call: (path: string, body: object, method?: string) => send(path, body, key, method),
  };
}
